//! Pages as JSON, and read back from it or from the page.

use serde::Deserialize;

use super::{PAGE_VERSION, Page};
use crate::inspect::{ReadError, Report};

/// Where the data of a page begins and ends in its HTML.
pub(super) const DATA: &str = "<script type=\"application/json\" id=\"data\">";
pub(super) const END: &str = "</script>";

impl Page {
    /// The page's data as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers, texts and lists, and no map has another key than a text")
    }

    /// The page that [`to_json`](Self::to_json) wrote, or one of a report that [`Report::to_json`] wrote.
    ///
    /// # Errors
    ///
    /// - The format has another version than [`PAGE_VERSION`], or the report another than [`VERSION`](super::super::VERSION).
    /// - The text is not JSON, or no page, or contradicts itself.
    pub fn from_json(text: &str) -> Result<Page, ReadError> {
        #[derive(Deserialize)]
        struct Versioned {
            page: Option<u64>,
        }
        let syntax = |error: serde_json::Error| ReadError::Syntax(error.to_string());
        let Versioned { page } = serde_json::from_str(text).map_err(syntax)?;
        match page {
            None => Report::from_json(text).map(Page::new),
            Some(page) if page != u64::from(PAGE_VERSION) => Err(ReadError::PageVersion { found: page }),
            Some(_) => {
                let page: Page = serde_json::from_str(text).map_err(syntax)?;
                page.report.checked()?;
                page.before.as_ref().map_or(Ok(()), Report::checked)?;
                for profile in [&page.profile, &page.eager].into_iter().flatten() {
                    profile.expect_consistent().map_err(ReadError::Inconsistent)?;
                }
                Ok(page)
            }
        }
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

/// JSON inside a script element: nothing in it can end that.
pub(super) fn in_script<T: serde::Serialize>(data: &T) -> String {
    let json = serde_json::to_string(data).expect("numbers, texts and lists, and no map has another key than a text");
    // In JSON, these stand in texts alone.
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
