//! Reports as JSON.
//!
//! The first thing that is read is the version, so that a file of another one is refused as that, and not for a field that
//! it lacks. What is read is checked: a report from a file is as consistent as one from a graph.

use super::{How, Report, VERSION};
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
        let syntax = |error: serde_json::Error| ReadError::Syntax(error.to_string());
        let Versioned { version } = serde_json::from_str(text).map_err(syntax)?;
        if version != u64::from(VERSION) {
            return Err(ReadError::Version { found: version });
        }
        let report: Report = serde_json::from_str(text).map_err(syntax)?;
        report.checked()?;
        Ok(report)
    }

    pub(crate) fn checked(&self) -> Result<(), ReadError> {
        check(self).map_err(ReadError::Inconsistent)
    }
}

/// What a report promises about its indices.
fn check(report: &Report) -> Result<(), String> {
    let (nodes, memories) = (report.nodes.len(), report.memories.len());
    for (place, node) in report.nodes.iter().enumerate() {
        if node.index != place {
            return Err(format!("node {place} says that it is node {}", node.index));
        }
        if let Some(kernel) = node.kernel.filter(|kernel| *kernel >= report.kernels.len()) {
            let kernels = report.kernels.len();
            return Err(format!("node {place} launches kernel {kernel}, and there are {kernels}"));
        }
        for argument in &node.arguments {
            if let How::Scalar { memory, bytes, .. } | How::Slice { memory, bytes, .. } = &argument.how {
                let name = &argument.name;
                if *memory >= memories {
                    return Err(format!("`{name}` of node {place} is in memory {memory}, and there are {memories}"));
                }
                if bytes.start > bytes.end {
                    return Err(format!("`{name}` of node {place} ends before it begins"));
                }
            }
        }
    }
    for (place, memory) in report.memories.iter().enumerate() {
        if memory.index != place {
            return Err(format!("memory {place} says that it is memory {}", memory.index));
        }
    }
    for (before, after, _) in &report.edges {
        if before >= after || *after >= nodes {
            return Err(format!("an edge leads from node {before} to node {after}, and there are {nodes}"));
        }
    }
    if !report.edges.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)) {
        return Err("edges are not sorted, or one is there twice".to_string());
    }
    match report.critical_path.nodes.iter().find(|node| **node >= nodes) {
        Some(node) => Err(format!("the critical path leads through node {node}, and there are {nodes}")),
        None => Ok(()),
    }
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
