//! Pages as JSON, and read back from it or from the page.

use std::fmt;

use serde::Deserialize;

use super::{Page, VERSION};
use crate::inspect::{self, Report};
use crate::profile;

/// Where the data of a page begins and ends in its HTML.
pub(super) const DATA: &str = "<script type=\"application/json\" id=\"data\">";
pub(super) const END: &str = "</script>";

/// Why a text is not a page.
///
/// ```
/// use dacapo::page::{Page, ReadError};
/// assert!(matches!(Page::from_html("<html></html>"), Err(ReadError::Syntax(_))));
/// assert!(matches!(Page::from_json(r#"{ "page": 4000 }"#), Err(ReadError::Version { found: 4000 })));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// It is a page of another version of the format.
    Version {
        /// The version it says it has.
        found: u64,
    },
    /// Its report is none that can be read.
    Report(inspect::ReadError),
    /// Its profile is none that can be read.
    Profile(profile::ReadError),
    /// It is not JSON, or not a page.
    Syntax(String),
}

impl Page {
    /// The page's data as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers, texts and lists, and no map has another key than a text")
    }

    /// The page that [`to_json`](Self::to_json) wrote, or one of a report that [`Report::to_json`] wrote.
    ///
    /// # Errors
    ///
    /// - The format has another version than [`VERSION`], its report another than [`inspect::VERSION`],
    ///   or its profile another than [`profile::VERSION`].
    /// - The text is not JSON, or no page, or contradicts itself.
    pub fn from_json(text: &str) -> Result<Page, ReadError> {
        let syntax = |error: serde_json::Error| ReadError::Syntax(inspect::told(&error));
        let versions: Versions = serde_json::from_str(text).map_err(syntax)?;
        if versions.page.is_none() {
            return Ok(Page::new(Report::from_json(text)?));
        }
        versions.expect_known()?;
        let page: Page = serde_json::from_str(text).map_err(syntax)?;
        page.report.checked()?;
        page.before.as_ref().map_or(Ok(()), Report::checked)?;
        for profile in [&page.profile, &page.eager].into_iter().flatten() {
            profile.checked()?;
        }
        Ok(page)
    }

    /// The page that [`html`](Self::html) wrote.
    ///
    /// # Errors
    ///
    /// - It is no page, or as [`from_json`](Self::from_json).
    pub fn from_html(text: &str) -> Result<Page, ReadError> {
        let no_page = || ReadError::Syntax("there is no data of a page in this HTML".to_string());
        let (_, data) = text.split_once(DATA).ok_or_else(no_page)?;
        let (data, _) = data.split_once(END).ok_or_else(no_page)?;
        Page::from_json(data)
    }
}

/// The versions of a page and of its parts, which are looked at first: of another version, nothing else may be as it is known.
#[derive(Deserialize)]
struct Versions {
    page: Option<u64>,
    report: Option<Part>,
    before: Option<Part>,
    profile: Option<Part>,
    eager: Option<Part>,
}

#[derive(Deserialize)]
struct Part {
    version: u64,
}

impl Versions {
    fn expect_known(&self) -> Result<(), ReadError> {
        let other = |part: &Option<Part>, known: u32| {
            part.as_ref().map(|part| part.version).filter(|version| *version != u64::from(known))
        };
        if let Some(found) = self.page.filter(|page| *page != u64::from(VERSION)) {
            return Err(ReadError::Version { found });
        }
        if let Some(found) = [&self.report, &self.before].into_iter().find_map(|part| other(part, inspect::VERSION)) {
            return Err(inspect::ReadError::Version { found }.into());
        }
        let profiles = [&self.profile, &self.eager].into_iter();
        match profiles.filter_map(|part| other(part, profile::VERSION)).next() {
            Some(found) => Err(profile::ReadError::Version { found }.into()),
            None => Ok(()),
        }
    }
}

/// JSON inside a script element: nothing in it can end that.
pub(super) fn in_script<T: serde::Serialize>(data: &T) -> String {
    let json = serde_json::to_string(data).expect("numbers, texts and lists, and no map has another key than a text");
    // In JSON, these stand in texts alone.
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

impl From<inspect::ReadError> for ReadError {
    fn from(error: inspect::ReadError) -> ReadError {
        ReadError::Report(error)
    }
}

impl From<profile::ReadError> for ReadError {
    fn from(error: profile::ReadError) -> ReadError {
        ReadError::Profile(error)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Version { found } => write!(
                f,
                "this page has version {found} of the format, and this dacapo ({}) reads version {VERSION}\n\
                 help: open it in a browser, or make it again with this dacapo",
                env!("CARGO_PKG_VERSION"),
            ),
            ReadError::Report(error) => error.fmt(f),
            ReadError::Profile(error) => error.fmt(f),
            ReadError::Syntax(what) => write!(f, "this is not a page: {what}"),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadError::Report(error) => error.source(),
            ReadError::Profile(error) => error.source(),
            _ => None,
        }
    }
}
