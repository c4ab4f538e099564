//! One timed replay.

use dacapo_ledger::{MemoryId, Touching};

use super::timeline::timeline;
use super::{Clock, Profile, Timed};
use crate::device::Stream;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Graph, GraphInto, Replayable, report_of_graph};
use crate::inspect::Kind;
use crate::lower::Stamps;
use crate::memory::{Reads, Writes};

impl<T> Graph<T> {
    /// Replays it once, timed: how long each op took on the device, what waited, and the critical path.
    ///
    /// It is a replay like any other: slots, outputs and [`num_replays`](Graph::num_replays) behave as in a launch.
    /// This call waits for it. A second executable graph is built for this call, with a one-thread kernel before and
    /// after each op that stores the device's timer. So it takes far longer than a launch, and foreign work is captured
    /// once more. What the numbers mean: [`Profile`].
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let (device, stream) = { let d = dacapo::Device::software()?; let s = d.stream()?; (d, s) };
    /// let mut y = device.zeros::<f32>(1024)?;
    /// let mut graph = device.graph().label("clear").record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
    /// let profile = graph.profile(&stream)?;
    /// assert_eq!((profile.ops.len(), graph.num_replays()), (1, 1));
    /// println!("{profile}");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Unsupported`]: the graph came from a capture, so its nodes are unknown.
    /// - As [`launch_sync`](Graph::launch_sync).
    #[track_caller]
    pub fn profile(&mut self, stream: &Stream) -> Result<Profile> {
        measure(self.replayable()?, stream, &[])
    }
}

impl<I: Reads, O: Writes> GraphInto<I, O> {
    /// As [`launch`](GraphInto::launch), timed: [`Graph::profile`](crate::Graph::profile).
    ///
    /// # Errors
    ///
    /// - As [`launch`](GraphInto::launch) and [`Graph::profile`](crate::Graph::profile).
    #[track_caller]
    pub fn profile<'a>(&mut self, stream: &Stream, inputs: I::At<'a>, mut outputs: O::At<'a>) -> Result<Profile> {
        let call = (stream, "GraphInto::profile");
        self.with_bound(call, &inputs, &mut outputs, |graph, extra| measure(graph, stream, extra))
    }
}

/// Replays a graph with stamps, waits, and makes a profile of them. `extra` is what this launch has bound.
#[track_caller]
fn measure(graph: &mut Replayable, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<Profile> {
    graph.expect_launchable(stream, "Graph::profile")?;
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
    let line = timeline(stamps, &graph.order.edges(), graph.nodes.len());
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
