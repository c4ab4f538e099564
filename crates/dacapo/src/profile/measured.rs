//! One timed replay.

use dacapo_ledger::{Access as Touching, MemoryId};

use super::timeline::timeline;
use super::{Clock, Profile, Timed};
use crate::device::Stream;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Replayable, report_of_graph};
use crate::inspect::Kind;
use crate::lower::Stamps;
use crate::record::refuse_inside;

/// Replays a graph with stamps, waits, and makes a profile of them. `extra` is what this launch has bound.
#[track_caller]
pub(crate) fn measure(graph: &mut Replayable, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<Profile> {
    if !stream.device().is(&graph.device) {
        return Err(Error::new(ErrorKind::WrongDevice));
    }
    refuse_inside("Graph::profile")?;
    if graph.captured {
        let (what, needs) = ("a profile of a captured graph".into(), "a recorded graph".into());
        return Err(Error::new(ErrorKind::Unsupported { what, needs }));
    }
    let stamps = Stamps::new(&graph.device, graph.nodes.len())?;
    let mut touched = extra.to_vec();
    touched.push((stamps.memory(), Touching::Write));
    graph.launch_stamped(stream, &touched, &stamps)?;
    Ok(profile_of(graph, &stamps.read(stream)?))
}

fn profile_of(graph: &Replayable, stamps: &[u64]) -> Profile {
    let report = report_of_graph(graph);
    let line = timeline(stamps, &graph.order.op_edges(), graph.nodes.len());
    // Joins do nothing, and have no stamps.
    let nodes = report.nodes.into_iter().filter(|node| node.kind != Kind::Join);
    let ops = nodes.zip(line.ops).enumerate().map(|(index, (node, op))| Timed {
        index,
        kind: node.kind,
        name: node.name,
        label: node.label,
        location: node.location,
        start_ns: op.start,
        end_ns: op.end,
        time_ns: op.time,
        gap_ns: op.gap,
        after: op.after,
        critical: line.critical_path.contains(&index),
        lane: op.lane,
    });
    Profile {
        device: report.device,
        label: report.label,
        clock: if graph.device.is_software() { Clock::Software } else { Clock::Gpu },
        step_ns: line.step,
        stamp_ns: line.stamp,
        total_ns: line.total,
        ops: ops.collect(),
        critical_path: line.critical_path,
    }
}
