//! Pages: a graph with its time, its memory and its mistakes, as one file of HTML that needs no network.
//!
//! [`Report::html`] shows a graph or a recording. [`Page`] shows more: how long its ops took, what the software device has
//! found at them, what the memory is for, and what has changed since another recording.
//!
//! With `DACAPO_PAGES=FOLDER` in the environment, a graph that is dropped while its thread panics, as in a test that fails, or
//! at whose ops something was found, leaves a page in that folder; with `DACAPO_PAGES=all:FOLDER` every graph does.
//!
//! A page holds its data as JSON, so that it is also a file to read them back from: [`Page::from_html`].

// - [`Page`] is what is shown, as data; [`json`] reads and writes it.
// - [`derived`] is what the page would else have to compute: who waits for whom and why, and what differs.
// - [`kept`] writes pages of what went wrong, where `DACAPO_PAGES` asks for them.
// - [`html`] writes the file: drawings made in Rust, the [`panels`] below them, the data, the style and the script. The script
//   (`script/`) moves and folds the drawings, and tells what is known of an op.

mod derived;
mod html;
mod json;
mod kept;
mod panels;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::inspect::{Finding, Report};
use crate::memory::MemoryReport;
use crate::profile::Profile;

pub use json::ReadError;
pub(crate) use kept::Pages;

/// The version of the format of [`Page`]s that this library writes, and the newest that it reads.
///
/// New optional fields do not change it: readers that do not know them leave them out.
pub const VERSION: u32 = 1;

/// What a page shows: a report, and what else is known of it. [`html`](Page::html) writes the page.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::page::Page;
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<f32>(1024)?;
/// let mut graph = device.graph().label("clear").record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
/// let page = Page::new(graph.inspect()).books(&device.memory_report()?);
/// let html = page.html(); // std::fs::write("graph.html", html)
/// assert!(html.starts_with("<!doctype html>"));
/// assert_eq!(Page::from_html(&html).unwrap(), page);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Page {
    /// The version of the format: [`VERSION`].
    pub page: u32,
    /// The graph or recording.
    pub report: Report,
    /// An earlier one, to compare it with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Report>,
    /// How long its ops took in a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// How long they took in an eager run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eager: Option<Profile>,
    /// What the software device has found, at whichever ops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What the graph's memory is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<Purpose>,
    /// What the device's memory is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub books: Option<Books>,
}

/// Bytes with a purpose, by name.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::page::{Page, Purpose};
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<u8>(16)?;
/// let graph = device.record(dacapo::fill(&mut y, dacapo::baked(1)))?;
/// let page = Page::new(graph.inspect()).memory(&graph.memory());
/// let arena: &Purpose = page.memory.iter().find(|purpose| purpose.name == "arena").unwrap();
/// assert_eq!(arena.bytes, 0); // no temps
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Purpose {
    /// What they are for.
    pub name: String,
    /// How many.
    pub bytes: u64,
}

/// What a device's memory is for: a [`MemoryReport`] as a page has it.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::page::{Books, Page};
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<u8>(16)?;
/// let graph = device.record(dacapo::fill(&mut y, dacapo::baked(1)))?;
/// let books: Books = Page::new(graph.inspect()).books(&device.memory_report()?).books.unwrap();
/// assert!(books.purposes.iter().any(|purpose| purpose.name == "buffers" && purpose.bytes == 16));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Books {
    /// What the library holds.
    pub purposes: Vec<Purpose>,
    /// The most it may hold, if there is a budget.
    pub budget: Option<u64>,
    /// Free bytes of the whole device.
    pub free: u64,
    /// All bytes of the device.
    pub total: u64,
}

impl Page {
    /// A page of a report alone.
    pub fn new(report: Report) -> Page {
        Page {
            page: VERSION,
            report,
            before: None,
            profile: None,
            eager: None,
            findings: Vec::new(),
            memory: Vec::new(),
            books: None,
        }
    }

    /// Compares it with an earlier report: what is added, gone and changed since.
    #[must_use]
    pub fn since(mut self, before: Report) -> Page {
        self.before = Some(before);
        self
    }

    /// With how long its ops took: [`Graph::profile`](crate::Graph::profile), or in an eager run
    /// [`Stream::profile`](crate::Stream::profile). Two of them, one of each, are shown beside each other.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::page::Page;
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut y = device.zeros::<f32>(1024)?;
    /// let mut graph = device.record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
    /// let (replay, eager) = (graph.profile(&stream)?, stream.profile(graph.as_op())?);
    /// let html = Page::new(graph.inspect()).profile(replay).profile(eager).html();
    /// assert!(html.contains("Time"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Page {
        match profile.eager {
            true => self.eager = Some(profile),
            false => self.profile = Some(profile),
        }
        self
    }

    /// With what was found: [`Device::found`](crate::Device::found). Each is shown at its ops.
    #[must_use]
    pub fn findings(mut self, findings: Vec<Finding>) -> Page {
        self.findings = findings;
        self
    }

    /// With what the device's memory is for: [`Device::memory_report`](crate::Device::memory_report).
    #[must_use]
    pub fn books(mut self, report: &MemoryReport) -> Page {
        let purposes = report.held.rows().map(|(name, bytes)| Purpose::new(name, bytes)).to_vec();
        let budget = report.budget.map(|bytes| bytes as u64);
        self.books = Some(Books { purposes, budget, free: report.free as u64, total: report.total as u64 });
        self
    }

    /// The page: a file of HTML that needs no network and nothing beside it.
    ///
    /// If you changed the fields, what leads nowhere is left out: a page can be read back.
    pub fn html(&self) -> String {
        let (report, before) = (self.report.orderly(), self.before.as_ref().map(Report::orderly));
        let is_orderly = |profile: &Option<Profile>| profile.as_ref().is_none_or(Profile::is_orderly);
        let are_borrowed = matches!((&report, &before), (Cow::Borrowed(_), None | Some(Cow::Borrowed(_))));
        if self.page == VERSION && are_borrowed && is_orderly(&self.profile) && is_orderly(&self.eager) {
            return html::written(self);
        }
        html::written(&Page {
            page: VERSION,
            report: report.into_owned(),
            before: before.map(Cow::into_owned),
            profile: self.profile.as_ref().map(Profile::orderly),
            eager: self.eager.as_ref().map(Profile::orderly),
            ..self.clone()
        })
    }
}

impl Purpose {
    pub(crate) fn new(name: &str, bytes: usize) -> Purpose {
        Purpose { name: name.trim().to_string(), bytes: bytes as u64 }
    }
}

impl Report {
    /// A page that shows it: one file of HTML, to be opened from disk in any browser. [`Page`] shows more.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// let mut y = device.zeros::<f32>(1024)?;
    /// let graph = device.record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
    /// let html = graph.inspect().html(); // std::fs::write("graph.html", html)
    /// assert!(html.contains("<svg") && html.contains("fill"));
    /// # Ok(()) }
    /// ```
    pub fn html(&self) -> String {
        Page::new(self.clone()).html()
    }
}
