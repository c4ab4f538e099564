//! Another recording in place of a graph's, onto the same executable graph where that can be done.
//!
//! - The new op is recorded and planned as ever. Then its nodes are held against the live ones, one by one, by us: the
//!   driver's own update compares less than it seems to, and keeps old attributes in silence.
//! - Where ops, edges and kinds are the same and every kernel is the same function, the nodes that differ are set on the
//!   live executable graph. Everything else that belongs to the recording (memory, slots, outputs, what it keeps) is
//!   replaced together with them; the old memory waits for the last replay of the old.
//! - Otherwise an executable graph is built, as a recording does. Also where the driver refuses to set a node.
//! - After an error the graph is what it was. If nodes had been set already, they are set back by the next launch, which is
//!   refused ([`ErrorKind::Unpatched`](crate::ErrorKind::Unpatched)) for as long as the driver refuses that.
//!
//! A node of another function is never set, although a driver of today does it: whether the functions may stand in for each
//! other (dynamic parallelism, launches from the device) is not known here.

use std::fmt;

use crate::arrange::Arrangement;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::compare::compare;
use crate::graph::making::Drafted;
use crate::graph::{Graph, GraphBuilder, GraphOptions, Replayable, StandIns};
use crate::held::Purpose;
use crate::lower::{AsAllocated, Built, Parts, executable_bytes};
use crate::record::{Node, NodeParams, Op, Recorded, Work};

/// What [`Graph::rerecord`] did: whether it updated the executable graph or built a new one, and what changed in each
/// node.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill, graph::Rerecorded};
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<u32>(4)?;
/// let mut graph = device.record(fill(&mut y, baked(1)))?;
/// let done: Rerecorded = graph.rerecord(fill(&mut y, baked(2)))?;
/// assert!(done.is_updated(), "{done}"); // `Display` says what changed and where
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rerecorded {
    /// Updated or rebuilt.
    pub how: How,
    /// One for each op of the new recording, then the ops of the old one that have no counterpart.
    pub nodes: Vec<NodeChange>,
}

/// What [`Graph::rerecord`] did to the executable graph.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill, graph::How};
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<u32>(4)?;
/// let mut graph = device.record(fill(&mut y, baked(1)))?;
/// assert_eq!(graph.rerecord(fill(&mut y, baked(2)))?.how, How::Updated { set: 1, kept: 0 });
/// let two = |r: &mut dacapo::Recorder<'_>| r.run(fill(&mut y, baked(2))).and_then(|()| r.run(fill(&mut y, baked(3))));
/// assert!(matches!(graph.rerecord(two)?.how, How::Rebuilt { .. })); // another number of nodes
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// It is the same one, with some nodes set to new parameters.
    Updated {
        /// Nodes that were set.
        set: usize,
        /// Nodes that stayed as they were.
        kept: usize,
    },
    /// A new one was built.
    Rebuilt {
        /// The first reason.
        why: String,
    },
}

/// What [`Graph::rerecord`] did to one op.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill, graph::Change};
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<u32>(4)?;
/// let mut graph = device.record(fill(&mut y, baked(1)))?;
/// let done = graph.rerecord(fill(&mut y, baked(1)))?;
/// assert_eq!((done.nodes[0].op.as_str(), &done.nodes[0].change), ("fill", &Change::Kept));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeChange {
    /// The op's name.
    pub op: String,
    /// Its label.
    pub label: String,
    /// File and line that recorded it.
    pub at: String,
    /// What was done to it.
    pub change: Change,
}

/// How a new op differs from the one in its place.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill, graph::Change};
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<u32>(4)?;
/// let mut graph = device.record(fill(&mut y, baked(1)))?;
/// let done = graph.rerecord(fill(&mut y, baked(2)))?;
/// assert!(matches!(&done.nodes[0].change, Change::Set(what) if what.len() == 1), "{done}");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Not in anything that the executable graph knows: the node was kept.
    Kept,
    /// In these parameters, which were set.
    Set(Vec<String>),
    /// In something that cannot be set in place.
    Other(String),
}

impl Rerecorded {
    /// Whether the executable graph is the same one.
    pub fn is_updated(&self) -> bool {
        matches!(self.how, How::Updated { .. })
    }

    fn fresh(why: &str) -> Rerecorded {
        Rerecorded { how: How::Rebuilt { why: why.into() }, nodes: Vec::new() }
    }
}

impl NodeChange {
    pub(super) fn new(node: &Node, change: Change) -> NodeChange {
        let at = format!("{}:{}", node.at.file(), node.at.line());
        NodeChange { op: node.name.to_string(), label: node.label.to_string(), at, change }
    }
}

impl fmt::Display for Rerecorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.how {
            How::Updated { set, kept } => write!(f, "updated: {set} nodes set, {kept} kept")?,
            How::Rebuilt { why } => write!(f, "rebuilt: {why}")?,
        }
        let width =
            |of: fn(&NodeChange) -> &str| self.nodes.iter().map(|node| of(node).chars().count()).max().unwrap_or(0);
        let (ops, labels, places) = (width(|node| &node.op), width(|node| &node.label), width(|node| &node.at));
        for (number, NodeChange { op, label, at, change }) in self.nodes.iter().enumerate() {
            write!(f, "\n{number:>4}  {op:ops$}  ")?;
            if labels > 0 {
                write!(f, "{label:labels$}  ")?;
            }
            write!(f, "{at:places$}  {change}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Kept => f.write_str("kept"),
            Change::Set(what) => write!(f, "set: {}", what.join(", ")),
            Change::Other(why) => write!(f, "other: {why}"),
        }
    }
}

impl<T> Graph<T> {
    /// Replaces its recording by that of another op, with the same label, pool, arena and shape. The live executable
    /// graph is updated if possible; otherwise a new one is built. The result says which, and why, node by node.
    ///
    /// Setting the nodes that differ is much cheaper than building: one driver call each, and the graph stays
    /// preloaded. A graph with another library's work is always rebuilt, because such work cannot be compared; so is
    /// one whose ops, edges or kernels differ.
    ///
    /// The outputs are those of the new op. While it is recorded, the old memory is still allocated: both must fit.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{baked, fill};
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut y = device.zeros::<f32>(4)?;
    /// let mut graph = device.record(fill(&mut y, baked(1.0)))?;
    /// graph.launch(&stream)?;
    /// let done = graph.rerecord(fill(&mut y, baked(2.0)))?;
    /// assert!(done.is_updated(), "{done}");
    /// graph.launch(&stream)?;
    /// assert_eq!(stream.read(&y)?, [2.0; 4]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`Device::record`](crate::Device::record). The graph is unchanged. The next launch may have to restore
    ///   nodes first, and fails with [`ErrorKind::Unpatched`] as long as the driver refuses that.
    #[track_caller]
    pub fn rerecord<O: Op<Out = T>>(&mut self, op: O) -> Result<Rerecorded> {
        let device = self.device().clone();
        let recording = match self.inner() {
            Some(inner) => inner.recording(&device),
            None => device.graph(),
        };
        self.rerecord_with(recording, op)
    }

    /// [`rerecord`](Graph::rerecord) with other options.
    ///
    /// # Errors
    ///
    /// - As [`rerecord`](Graph::rerecord).
    #[track_caller]
    pub fn rerecord_with<O: Op<Out = T>>(&mut self, recording: GraphBuilder<'_>, op: O) -> Result<Rerecorded> {
        recording.refuse_preload()?;
        let at = std::panic::Location::caller();
        let (recorded, out) = recording.take_down(op)?;
        let done = self.rerecord_recorded(recorded, recording.graph_options(), out);
        done.map(|(done, _)| done).map_err(|error| error.on_line(at))
    }
}

impl<T> Graph<T> {
    /// The same with what was recorded already. Gives the graph as it was, for the caller to drop: what it holds may be the
    /// user's, and panic.
    pub(crate) fn rerecord_recorded(
        &mut self,
        recorded: Recorded,
        options: GraphOptions,
        out: T,
    ) -> Result<(Rerecorded, Graph<T>)> {
        let is_at_home = recorded.device.is(self.device());
        let why = match self.inner() {
            None => "there was no recording",
            Some(_) if !is_at_home => "it is for another device",
            Some(_) => {
                let (fresh, done) = self.replayable()?.rerecord(recorded, options)?;
                return Ok((done, std::mem::replace(self, Graph::new(fresh, out))));
            }
        };
        let fresh = Graph::new(Replayable::make(recorded, options, StandIns::default())?, out);
        Ok((Rerecorded::fresh(why), std::mem::replace(self, fresh)))
    }
}

impl Replayable {
    /// Makes what shall stand in this one's place. With the executable graph of this one, if the answer is "updated".
    fn rerecord(&mut self, recorded: Recorded, options: GraphOptions) -> Result<(Replayable, Rerecorded)> {
        let mut drafted = Drafted::new(recorded, &options, false)?;
        drafted.find_signalling()?;
        let params = drafted.params(self.built.handles())?;
        let mut nodes = compare(self, &drafted, &params);
        let reason = |nodes: &[NodeChange]| {
            let other = nodes.iter().enumerate().find_map(|(number, node)| match &node.change {
                Change::Other(why) => Some(format!("op {number}, `{}`: {why}", node.op)),
                _ => None,
            });
            // Also where neither has an op that we know of: what was captured is still in the executable graph.
            let captured = self.captured.then(|| "the graph was captured: its nodes are not known".into());
            other
                .or(captured)
                .or_else(|| (self.order != drafted.order).then(|| difference(&self.order, &drafted.order).into()))
        };
        let mut why = reason(&nodes);
        if why.is_none() {
            if options.preload && !self.preloaded {
                self.preload_now()?;
            }
            match self.set_nodes(&drafted.recorded.nodes, params, &nodes) {
                Ok(set) => {
                    let kept = nodes.len() - set;
                    return Ok((
                        self.hand_over(drafted, options),
                        Rerecorded { how: How::Updated { set, kept }, nodes },
                    ));
                }
                Err((_, error)) if matches!(error.kind(), ErrorKind::Lost { .. }) => return Err(error),
                Err((number, error)) => {
                    let told = format!("the driver refused to set it: {}", error.chain());
                    why = Some(format!("op {number}, `{}`: {told}", nodes[number].op));
                    nodes[number].change = Change::Other(told);
                }
            }
        }
        let built = drafted.build()?;
        let how = How::Rebuilt { why: why.unwrap_or_default() };
        Ok((Replayable::assemble(drafted, options, StandIns::default(), built)?, Rerecorded { how, nodes }))
    }

    /// Sets the nodes that differ: how many. If one is refused, which, and those that were set must be set back before the
    /// next launch.
    fn set_nodes(
        &mut self,
        nodes: &[Node],
        params: Vec<Option<NodeParams>>,
        changes: &[NodeChange],
    ) -> std::result::Result<usize, (usize, Error)> {
        let mut set: Vec<u32> = Vec::new();
        for (number, params) in params.into_iter().enumerate() {
            let (Change::Set(_), Some(params)) = (&changes[number].change, params) else { continue };
            set.push(number as u32);
            let told = match self.device.make_current() {
                Ok(()) => self.built.patch(&self.device, number, &nodes[number], params),
                Err(error) => Err(error),
            };
            if let Err(error) = told {
                self.set_back(&set);
                return Err((number, nodes[number].blame(error)));
            }
        }
        for (number, node) in nodes.iter().enumerate().filter(|(number, _)| changes[*number].change == Change::Kept) {
            self.built.keep(&self.device, number, node);
        }
        Ok(set.len())
    }
}

/// What is different about two orders of the same ops.
fn difference(old: &Arrangement, new: &Arrangement) -> &'static str {
    match old.edges() == new.edges() {
        true => "its edges are of other kinds",
        false => "the order of its ops is another",
    }
}

/// Whether two nodes launch the same function.
pub(super) fn same_function(old: &Work, new: &Work) -> bool {
    match (old, new) {
        (Work::Kernel(old), Work::Kernel(new)) => old.function.raw == new.function.raw,
        _ => false,
    }
}

impl Drafted {
    /// What the driver shall be told of each node; none for what cannot be said. The conditions are those of the live graph: a
    /// graph of another number of them is built.
    fn params(&mut self, handles: &[u64]) -> Result<Vec<Option<NodeParams>>> {
        let Recorded { nodes, told, readings, device, .. } = &mut self.recorded;
        let params = nodes
            .iter()
            .zip(told)
            .map(|(node, told)| NodeParams::of(device, node, readings, &AsAllocated, handles, told.take_prepared()));
        params.collect()
    }

    fn build(&mut self) -> Result<Built> {
        let Recorded { nodes, told, readings, device, .. } = &mut self.recorded;
        let booking = device.book(Purpose::Executables, executable_bytes(nodes, &self.order))?;
        let told = std::mem::take(told);
        let parts = Parts { nodes, told, arrangement: &self.order, readings, places: &AsAllocated };
        Built::new(device, parts, booking)
    }
}
