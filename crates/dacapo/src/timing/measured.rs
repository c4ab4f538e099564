//! One timed replay.

use dacapo_ledger::{MemoryId, Touching};

use super::timeline::timeline;
use crate::device::Stream;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Graph, GraphInto, Replayable, report_of_graph};
use crate::inspect::{self, Kind, Report};
use crate::lower::{OpStamps, Stamps};
use crate::memory::{Reads, Writes};
#[cfg(feature = "json")]
use crate::page::Pages;
use crate::profile::{Clock, Profile, Timed, VERSION};

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
        let at = std::panic::Location::caller();
        measure(self.replayable()?, stream, &[]).map_err(|error| error.on_line(at))
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
    touched.push(stamps.touched());
    graph.launch_stamped(stream, &touched, &stamps)?;
    let (first, ops) = stamps.read(stream)?;
    let subject = Subject {
        report: report_of_graph(graph),
        // Joins do nothing, and have no stamps: the edges are those that they stand for.
        edges: graph.order.edges(),
        clock: Clock::of(&graph.device),
        eager: false,
    };
    let profile = subject.profile(&first, &ops);
    #[cfg(feature = "json")]
    if Pages::of(&graph.device).is_some() {
        graph.profile = Some(Box::new(profile.clone()));
    }
    Ok(profile)
}

/// What was stamped.
pub(super) struct Subject {
    pub(super) report: Report,
    /// Between ops, by their numbers.
    pub(super) edges: Vec<(usize, usize)>,
    pub(super) clock: Clock,
    pub(super) eager: bool,
}

impl Subject {
    pub(super) fn profile(self, first: &[u64], stamps: &[OpStamps]) -> Profile {
        let Subject { report, edges, clock, eager } = self;
        let inside = insides(&report);
        let line = timeline(first, stamps, &edges, &inside);
        let nodes = report.nodes.into_iter().filter(|node| node.kind != Kind::Join);
        let ops = nodes.zip(line.ops).enumerate().map(|(index, (node, op))| Timed {
            index,
            inside: inside[index],
            runs: op.runs,
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
            version: VERSION,
            device: report.device,
            label: report.label,
            eager,
            clock,
            step_ns: line.step,
            stamp_ns: line.stamp,
            total_ns: line.total,
            ops: ops.collect(),
            critical_path: line.critical_path,
        }
    }
}

/// The branch or loop that each op is in. A report counts joins, ops are counted without.
fn insides(report: &Report) -> Vec<Option<usize>> {
    let mut ops = 0;
    let mut number = |node: &inspect::Node| {
        let number = ops;
        ops += usize::from(node.kind != Kind::Join);
        number
    };
    let numbers: Vec<usize> = report.nodes.iter().map(&mut number).collect();
    let nodes = report.nodes.iter().filter(|node| node.kind != Kind::Join);
    nodes.map(|node| node.inside.map(|inside| numbers[inside.node])).collect()
}
