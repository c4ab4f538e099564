//! Reports as JSON.
//!
//! The first thing that is read is the version, so that a file of another one is refused as that, and not for a field that
//! it lacks. What is read is checked: a report from a file is as consistent as one from a graph.

use super::orderly::check;
use super::{Report, VERSION};
use serde::Deserialize;
use std::fmt;

/// Why a text is not a report.
///
/// ```
/// use dacapo::inspect::{ReadError, Report};
/// assert!(matches!(Report::from_json("{"), Err(ReadError::Syntax(_))));
/// assert!(matches!(Report::from_json(r#"{ "version": 0 }"#), Err(ReadError::Version { .. })));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// It is a report of another version of the format.
    Version {
        /// The version it says it has.
        found: u64,
    },
    /// It is not JSON, or not a report.
    Syntax(String),
    /// It is a report that contradicts itself.
    Inconsistent(String),
}

impl Report {
    /// The report as JSON, pretty-printed, with fields in a fixed order.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .expect("a report is numbers, texts and lists, and no map has another key than a text")
    }

    /// The report that [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    ///
    /// - The format has another version than [`VERSION`].
    /// - The text is not JSON, or not a report.
    /// - An index leads nowhere, or an edge backwards.
    pub fn from_json(text: &str) -> Result<Report, ReadError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }
        let syntax = |error: serde_json::Error| ReadError::Syntax(told(&error));
        let Versioned { version } = serde_json::from_str(text).map_err(syntax)?;
        if version != u64::from(VERSION) {
            return Err(ReadError::Version { found: version });
        }
        let report: Report = serde_json::from_str(text).map_err(syntax)?;
        report.checked()?;
        Ok(report)
    }

    /// What is wrong with one that is part of something else.
    pub(crate) fn checked(&self) -> Result<(), ReadError> {
        if self.version != VERSION {
            return Err(ReadError::Version { found: u64::from(self.version) });
        }
        check(self).map_err(ReadError::Inconsistent)
    }
}

/// What a reader says, in a few lines: it quotes what it did not expect, whole, and says where at the end.
pub(crate) fn told(error: &serde_json::Error) -> String {
    const HEAD: usize = 200;
    const TAIL: usize = 100;
    let text = error.to_string();
    let count = text.chars().count();
    if count <= HEAD + TAIL {
        return text;
    }
    let (head, tail): (String, String) = (text.chars().take(HEAD).collect(), text.chars().skip(count - TAIL).collect());
    format!("{head} … {tail}")
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Version { found } => write!(
                f,
                "this report has version {found} of the format, and this dacapo ({}) reads version {VERSION}\n\
                 help: make the report again with this dacapo, or read it with the one that made it",
                env!("CARGO_PKG_VERSION")
            ),
            ReadError::Syntax(what) => write!(f, "this is not a report: {what}"),
            ReadError::Inconsistent(what) => write!(f, "this report contradicts itself: {what}"),
        }
    }
}

impl std::error::Error for ReadError {}
