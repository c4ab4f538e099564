//! From a graph to a report.

use crate::graph::GraphOptions;
use crate::graph::replayable::Replayable;
use crate::inspect::Report;
use crate::lower::{Described, Wanted};

/// What a graph consists of, with the slots as the last launch saw them.
pub(crate) fn report_of_graph(graph: &Replayable) -> Report {
    let described = Described {
        device: &graph.device,
        nodes: &graph.nodes,
        readings: &graph.readings,
        outputs: graph.outputs(),
        offsets: graph.temp_offsets(),
        is_captured: graph.captured,
    };
    described.report(&graph.name.label, &graph.order)
}

impl GraphOptions {
    /// As a report has it.
    pub(super) fn wanted(&self) -> Wanted<'_> {
        Wanted { label: &self.label, shape: self.asked.shape, edges: &self.asked.edges, apart: self.asked.apart }
    }
}
