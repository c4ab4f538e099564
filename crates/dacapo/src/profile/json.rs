//! Profiles as JSON.
//!
//! As of a [report](crate::inspect::Report): the version is read first, and what is read is checked.

use std::fmt;

use serde::Deserialize;

use super::{Profile, VERSION};

/// Why a text is not a profile.
///
/// ```
/// use dacapo::profile::{Profile, ReadError};
/// assert!(matches!(Profile::from_json("{"), Err(ReadError::Syntax(_))));
/// assert!(matches!(Profile::from_json(r#"{ "version": 0 }"#), Err(ReadError::Version { .. })));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// It is a profile of another version of the format.
    Version {
        /// The version it says it has.
        found: u64,
    },
    /// It is not JSON, or not a profile.
    Syntax(String),
    /// It is a profile that contradicts itself.
    Inconsistent(String),
}

impl Profile {
    /// The profile as JSON, pretty-printed, with fields in a fixed order. The clock is a field of it: numbers of a software
    /// device stay counts.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a profile is numbers, texts and lists")
    }

    /// The profile that [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    ///
    /// - The format has another version than [`VERSION`].
    /// - The text is not JSON, or not a profile.
    /// - An index leads nowhere, or to an op that is not earlier.
    pub fn from_json(text: &str) -> Result<Profile, ReadError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }
        let syntax = |error: serde_json::Error| ReadError::Syntax(crate::inspect::told(&error));
        let Versioned { version } = serde_json::from_str(text).map_err(syntax)?;
        if version != u64::from(VERSION) {
            return Err(ReadError::Version { found: version });
        }
        let profile: Profile = serde_json::from_str(text).map_err(syntax)?;
        profile.checked()?;
        Ok(profile)
    }

    pub(crate) fn checked(&self) -> Result<(), ReadError> {
        check(self).map_err(ReadError::Inconsistent)
    }
}

impl Profile {
    pub(crate) fn is_orderly(&self) -> bool {
        self.version == VERSION && self.checked().is_ok()
    }

    /// One without what leads nowhere. Ops are numbered as they stand.
    pub(crate) fn orderly(&self) -> Profile {
        let mut profile = self.clone();
        profile.version = VERSION;
        for (place, op) in profile.ops.iter_mut().enumerate() {
            op.index = place;
            op.after.retain(|before| *before < place);
            op.inside = op.inside.filter(|outer| *outer < place);
        }
        let ops = profile.ops.len();
        profile.critical_path.retain(|op| *op < ops);
        profile
    }
}

/// What a profile promises about its indices.
fn check(profile: &Profile) -> Result<(), String> {
    for (place, op) in profile.ops.iter().enumerate() {
        if op.index != place {
            return Err(format!("op {place} says that it is op {}", op.index));
        }
        if let Some(before) = op.after.iter().find(|before| **before >= place) {
            return Err(format!("op {place} comes after op {before}"));
        }
        if let Some(outer) = op.inside.filter(|outer| *outer >= place) {
            return Err(format!("op {place} is inside op {outer}"));
        }
    }
    let ops = profile.ops.len();
    match profile.critical_path.iter().find(|op| **op >= ops) {
        Some(op) => Err(format!("the critical path leads through op {op}, and there are {ops}")),
        None => Ok(()),
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Version { found } => write!(
                f,
                "this profile has version {found} of the format, and this dacapo ({}) reads version {VERSION}\n\
                 help: make the profile again with this dacapo, or read it with the one that made it",
                env!("CARGO_PKG_VERSION")
            ),
            ReadError::Syntax(what) => write!(f, "this is not a profile: {what}"),
            ReadError::Inconsistent(what) => write!(f, "this profile contradicts itself: {what}"),
        }
    }
}

impl std::error::Error for ReadError {}
