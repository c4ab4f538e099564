//! Reports whose fields were changed, as reports that can be drawn.
//!
//! The fields of a report are everybody's. What is drawn and shown goes by indices, so it is made of a report that keeps what
//! a report promises about them: of this one, or else of a copy that does.

use std::borrow::Cow;

use super::{Report, VERSION};

/// What a report promises about its indices; else, what is wrong.
pub(crate) fn check(report: &Report) -> Result<(), String> {
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
            if let Some((memory, bytes)) = argument.how.touches() {
                let name = &argument.name;
                if memory >= memories {
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

impl Report {
    /// This report, or one without what leads nowhere: edges, bodies, kernels, and arguments in memories that it does not have.
    /// Nodes and memories are numbered as they stand.
    pub(crate) fn orderly(&self) -> Cow<'_, Report> {
        if self.version == VERSION && check(self).is_ok() {
            return Cow::Borrowed(self);
        }
        let mut report = self.clone();
        let (nodes, memories, kernels) = (self.nodes.len(), self.memories.len(), self.kernels.len());
        report.version = VERSION;
        for (place, node) in report.nodes.iter_mut().enumerate() {
            node.index = place;
            node.inside = node.inside.filter(|inside| inside.node < place);
            node.kernel = node.kernel.filter(|kernel| *kernel < kernels);
            node.arguments.retain(|argument| match argument.how.touches() {
                Some((memory, bytes)) => memory < memories && bytes.start <= bytes.end,
                None => true,
            });
        }
        report.memories.iter_mut().enumerate().for_each(|(place, memory)| memory.index = place);
        report.edges.retain(|(before, after, _)| before < after && *after < nodes);
        report.edges.sort_unstable();
        report.edges.dedup_by_key(|(before, after, _)| (*before, *after));
        report.critical_path.nodes.retain(|node| *node < nodes);
        Cow::Owned(report)
    }
}
