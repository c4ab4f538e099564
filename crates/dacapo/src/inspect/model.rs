//! The parts of a report.
//!
//! A report made by [`Report::new`] or read by `from_json` is consistent: a node's and a memory's `index` is its place in
//! the list, edges lead from a smaller index to a larger one and are sorted, and what refers to a memory refers to one that
//! is there. All else is as the graph had it.

use super::{Across, critical};
use crate::arrange::Edge;
#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

/// The version of the format that this library writes and reads.
///
/// It changes when a field changes its meaning, is removed, or is added and every report must have it. A field that a report
/// may lack does not change it: a report that was saved without such a field is read as one that says nothing there.
pub const VERSION: u32 = 2;

/// A graph or a recording as plain data: [`Graph::inspect`](crate::Graph::inspect),
/// [`GraphBuilder::inspect`](crate::graph::GraphBuilder::inspect). `Display` prints a table.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, copy, fill, graph::Edge};
/// # let device = dacapo::Device::software()?;
/// let (mut x, mut y) = (device.zeros::<f32>(4)?.named("x"), device.zeros::<f32>(4)?);
/// let graph = device.graph().label("step").record(|r| {
///     r.run(fill(&mut x, baked(1.0)))?;
///     r.run(copy(&x, &mut y))
/// })?;
/// let report = graph.inspect(); // outlives the graph
/// assert_eq!((report.label.as_str(), report.nodes.len()), ("step", 2));
/// assert_eq!(report.edges, [(0, 1, Edge::Full)]);
/// assert!(report.to_string().contains("x") && report.to_dot().starts_with("digraph"));
/// # Ok(()) }
/// ```
#[doc(alias = "cudaGraphDebugDotPrint")]
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Report {
    /// The version of the format: [`VERSION`].
    pub version: u32,
    /// The version of the library that made it.
    pub dacapo: String,
    /// The name of the device.
    pub device: String,
    /// The label of the recording; empty if it has none.
    pub label: String,
    /// Nodes in a topological order: ops as they were recorded, with joins in between. What is inside a branch or a loop
    /// follows it.
    pub nodes: Vec<Node>,
    /// The memories that the nodes touch.
    pub memories: Vec<Memory>,
    /// Which node waits for which, as `(before, after, kind)`.
    pub edges: Vec<(usize, usize, Edge)>,
    /// The declared kernels that nodes launch, each once, in the order of their first use.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub kernels: Vec<KernelOf>,
    /// The most expensive path, by the cost model of [`Node::cost`].
    pub critical_path: CriticalPath,
    /// Sums over all nodes.
    pub totals: Totals,
}

/// One node of a [`Report`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::Node;
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// let advance: &Node = &report.nodes[1]; // moves the generator on
/// assert_eq!((advance.name.as_str(), advance.bytes_written), ("philox_advance", 24));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Node {
    /// Its index in [`Report::nodes`].
    pub index: usize,
    /// What it does.
    pub kind: Kind,
    /// The kernel's name, or the op's.
    pub name: String,
    /// The labels around it, outermost first, as in `decode/layer0`; empty if there are none.
    pub label: String,
    /// Where the program made the op.
    pub location: Option<Place>,
    /// The geometry, for a kernel.
    pub geometry: Option<Geometry>,
    /// Its arguments, in the kernel's order.
    pub arguments: Vec<Argument>,
    /// Bytes it may read.
    pub bytes_read: u64,
    /// Bytes it may write.
    pub bytes_written: u64,
    /// Warnings about the kernel's declaration, and that a branch may cost more than what is inside it.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub warnings: Vec<String>,
    /// The kernel that it launches, as it was declared: an index into [`Report::kernels`]. None for what is no kernel, and for
    /// one that was not declared by [`kernels!`](crate::kernels).
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub kernel: Option<usize>,
    /// The driver calls that added it to the driver's graph, in order: `cuGraphAddKernelNode_v2`. Of foreign work, those that
    /// began and ended the capture of its own calls. Of a branch or a loop, that of its condition's handle first, which is
    /// made before all nodes. Empty where it was not added by itself: a guarded branch, or a graph that came of a capture.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub calls: Vec<String>,
    /// The driver call that changes it before a launch for which a slot of it has another value, or memory that it touches
    /// is bound elsewhere: `cuGraphExecKernelNodeSetParams_v2`. None for a node that no launch can change.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub patched_by: Option<String>,
    /// The body that it is in, inside a branch or a loop.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub inside: Option<Inside>,
    /// Of a copy between two devices: from which to which, and how.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub across: Option<Across>,
}

/// A kernel as the program declared it by [`kernels!`](crate::kernels).
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, inspect::KernelOf};
/// dacapo::kernels! {
///     unsafe struct Kernels(include_str!("../../kernels/saxpy.ptx")) {
///         fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// # let device = dacapo::Device::software()?;
/// # let k = Kernels::load(&device)?;
/// # let (x, mut y) = (device.zeros::<f32>(8)?, device.zeros::<f32>(8)?);
/// let report = device.graph().inspect(k.saxpy(baked(2.0), &x, &mut y))?;
/// let saxpy: &KernelOf = &report.kernels[report.nodes[0].kernel.unwrap()];
/// let clauses: Vec<&str> = saxpy.declaration.lines().skip(1).map(str::trim).collect();
/// assert_eq!(clauses, ["requires: x.len() == y.len();", "grid: linear(y.len(), 256);", "}"]);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct KernelOf {
    /// Its name in the program.
    pub name: String,
    /// The symbol of its entry point in the module.
    pub entry: String,
    /// Its declaration without comments: a line for the signature and one for each clause.
    pub declaration: String,
}

impl KernelOf {
    /// A kernel of this name and entry point, declared like this.
    pub fn new(name: impl Into<String>, entry: impl Into<String>, declaration: impl Into<String>) -> KernelOf {
        KernelOf { name: name.into(), entry: entry.into(), declaration: declaration.into() }
    }
}

/// A body of a branch or a loop, as what is inside it sees it.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, fill, inspect::Inside};
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<u32>(4)?;
/// let twice = |r: &mut Recorder<'_>| r.repeat_times(baked(2), |r| r.run(fill(&mut y, baked(1)))).map(drop);
/// let report = device.graph().inspect(twice)?;
/// let body: Vec<Option<Inside>> = report.nodes.iter().map(|node| node.inside).collect();
/// assert_eq!(body[..2], [None, None]); // what decides about the first round, and the loop
/// assert_eq!(body[2].map(|inside| (inside.node, inside.body)), Some((1, 0))); // the fill
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Inside {
    /// The branch or loop: an index into [`Report::nodes`].
    pub node: usize,
    /// Which of its bodies, from 0.
    pub body: usize,
}

impl Inside {
    /// The body of this number of a node.
    pub fn new(node: usize, body: usize) -> Inside {
        Inside { node, body }
    }
}

/// What a node does.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::Kind;
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// assert!(report.nodes.iter().all(|node| node.kind == Kind::Kernel));
/// assert_eq!(Kind::Upload.to_string(), "upload");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Kind {
    /// Runs a kernel.
    #[default]
    Kernel,
    /// Copies device memory.
    Copy,
    /// Sets device memory to one value.
    Fill,
    /// Copies from the host to the device.
    Upload,
    /// Copies from the device to the host.
    Download,
    /// Another library's work.
    Foreign,
    /// Runs one of its bodies, or none, as a number on the device says.
    Branch,
    /// A small branch without a node of its own: the kernels of its bodies look at the number on the device themselves.
    Guarded,
    /// Runs its body again and again, as a number on the device says.
    Loop,
    /// Does nothing: it joins many nodes to many others, to save edges.
    Join,
}

/// A place in the program's source.
///
/// ```
/// use dacapo::inspect::Place;
/// let here = Place::from(std::panic::Location::caller());
/// assert!(here.line > 0 && here.column > 0);
/// assert_eq!(Place::new("src/main.rs", 12, 9).to_string(), "src/main.rs:12:9");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Place {
    /// The file, as the compiler calls it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// The geometry of a kernel node.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::Geometry;
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// assert_eq!(report.nodes[0].geometry, Some(Geometry::new([1, 1, 1], [128, 1, 1], 0)));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Geometry {
    /// Blocks in x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block in x, y and z.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub shared: u32,
}

/// One argument of a node.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::Argument;
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// let names: Vec<&str> = report.nodes[0].arguments.iter().map(|argument: &Argument| argument.name.as_str()).collect();
/// assert_eq!(names, ["state", "out", "n"]);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Argument {
    /// The parameter's name.
    pub name: String,
    /// What is passed.
    #[cfg_attr(feature = "json", serde(flatten))]
    pub how: How,
}

/// What is passed to a parameter, and whether it can change between replays.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::How;
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// assert!(matches!(&report.nodes[0].arguments[2].how, How::Derived { value } if value.text == "8")); // from `out`
/// assert!(matches!(&report.nodes[1].arguments[1].how, How::Baked { .. }));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(tag = "how", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum How {
    /// A value that never changes.
    Baked {
        /// The value.
        value: Value,
    },
    /// The value of a slot.
    Slot {
        /// Its value when the report was made.
        value: Value,
    },
    /// A value computed from the other arguments.
    Derived {
        /// Its value when the report was made.
        value: Value,
    },
    /// One value in device memory.
    Scalar {
        /// The memory: an index into [`Report::memories`].
        memory: usize,
        /// Which of its bytes.
        bytes: Bytes,
        /// What is done with them.
        access: Access,
    },
    /// A piece of memory.
    Slice {
        /// The memory: an index into [`Report::memories`].
        memory: usize,
        /// Which of its bytes.
        bytes: Bytes,
        /// What is done with them.
        access: Access,
    },
}

/// A value of an argument, as text and as a number.
///
/// ```
/// use dacapo::inspect::Value;
/// let value = Value::new("1e-5", Some(1e-5));
/// assert_eq!((value.to_string().as_str(), value.number), ("1e-5", Some(1e-5)));
/// assert_eq!(Value::new("NaN", Some(f64::NAN)).number, None); // finite numbers only
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Value {
    /// As `Debug` prints it.
    pub text: String,
    /// The nearest `f64`, if it is a finite number.
    pub number: Option<f64>,
}

/// A half-open range of bytes of a memory.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::{Bytes, How};
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// let How::Slice { bytes, .. } = report.nodes[0].arguments[1].how else { panic!() };
/// assert_eq!((bytes, bytes.to_string().as_str()), (Bytes::new(0, 32), "[0..32]"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Bytes {
    /// The first byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// What a node does with memory.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::{Access, How};
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// let How::Slice { access, .. } = report.nodes[1].arguments[0].how else { panic!() };
/// assert_eq!(access, Access::ReadWrite); // the generator's counter
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Access {
    /// It is read.
    Read,
    /// It is written and not read.
    Write,
    /// It may be read and written.
    ReadWrite,
}

/// One memory that nodes touch: a buffer, a temp, an output.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::Memory;
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// let noise: &Memory = report.memories.iter().find(|memory| memory.name == "noise").unwrap();
/// assert_eq!((noise.bytes, noise.graph_only), (32, false));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Memory {
    /// Its index in [`Report::memories`].
    pub index: usize,
    /// What kind of memory it is.
    pub kind: MemoryKind,
    /// Its name; "buffer 3" if the program gave it none.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// A power of two that divides its address.
    pub alignment: u64,
    /// Only the graph holds it: the program dropped or replaced its handle, and can neither prepare this memory nor
    /// read it.
    pub graph_only: bool,
    /// Of a temp: where it begins in the memory that the graph has for its temps. Temps of which only one is alive at a time
    /// may lie at the same bytes. None for all other memory, for a temp without bytes, and where each temp has memory of its
    /// own: [`GraphBuilder::apart`](crate::graph::GraphBuilder::apart).
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub offset: Option<u64>,
    /// The number of the device that it is on, where that is another one than the graph's.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub device: Option<usize>,
}

/// What kind of memory it is.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::MemoryKind;
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// assert!(report.memories.iter().all(|memory| memory.kind == MemoryKind::Buffer));
/// assert_eq!(MemoryKind::StandIn.to_string(), "stand-in"); // memory that each launch is given
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum MemoryKind {
    /// A buffer or a scalar of the program.
    #[default]
    Buffer,
    /// Scratch memory of the recording, gone after a replay.
    Temp,
    /// An output of the recording.
    Output,
    /// Pinned memory of the host.
    Host,
    /// Stands for memory that each launch binds.
    StandIn,
}

/// The most expensive path through the graph, by the cost model of [`Node::cost`]. Not a measurement.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::CriticalPath;
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// let path: &CriticalPath = &report.critical_path;
/// assert_eq!(path.nodes, [0, 1]);
/// assert_eq!(path.cost, report.nodes[0].cost() + report.nodes[1].cost());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct CriticalPath {
    /// The nodes on it, first to last.
    pub nodes: Vec<usize>,
    /// The sum of their costs.
    pub cost: u64,
}

/// Sums over all nodes of a report.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::Totals;
/// # let device = dacapo::Device::software()?;
/// let mut random = dacapo::random::Generator::new(&device, 42)?;
/// let mut y = device.zeros::<f32>(8)?.named("noise");
/// let report = device.graph().inspect(random.uniform(&mut y))?;
/// let totals: Totals = report.totals;
/// assert_eq!((totals.nodes, totals.kernels, totals.edges), (2, 2, 1));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Totals {
    /// Nodes, including joins.
    pub nodes: usize,
    /// Kernels.
    pub kernels: usize,
    /// Joins.
    pub joins: usize,
    /// Edges.
    pub edges: usize,
    /// Edges whose second node is set up while the first ends: [`Edge::Waits`].
    pub edges_waiting: usize,
    /// Edges whose second node is set up while the first runs: [`Edge::Signals`].
    pub edges_signalling: usize,
    /// Bytes that all nodes may read in one replay, with each body of a loop or branch counted once.
    pub bytes_read: u64,
    /// Bytes that all nodes may write in one replay, with each body of a loop or branch counted once.
    pub bytes_written: u64,
    /// Bytes of all memories.
    pub bytes_memory: u64,
    /// The cost of all nodes, by the model of [`Node::cost`]; a loop or branch is one of them, with what is inside it.
    pub cost: u64,
}

impl Report {
    /// Makes a report of these parts: numbers nodes and memories, sorts edges, computes the critical path and the
    /// totals.
    ///
    /// Edges that do not lead from one of the nodes to a later one are left out. Of two between the same nodes, the one that
    /// waits longer is kept.
    pub fn new(
        device: impl Into<String>,
        label: impl Into<String>,
        nodes: Vec<Node>,
        memories: Vec<Memory>,
        edges: Vec<(usize, usize, Edge)>,
    ) -> Report {
        let mut report = Report {
            version: VERSION,
            dacapo: env!("CARGO_PKG_VERSION").to_string(),
            device: device.into(),
            label: label.into(),
            nodes,
            memories,
            edges,
            kernels: Vec::new(),
            critical_path: CriticalPath::default(),
            totals: Totals::default(),
        };
        for (index, node) in report.nodes.iter_mut().enumerate() {
            node.index = index;
            // A body stands behind its branch, or is none.
            node.inside = node.inside.filter(|inside| inside.node < index);
        }
        report.memories.iter_mut().enumerate().for_each(|(index, memory)| memory.index = index);
        let count = report.nodes.len();
        report.edges.retain(|(before, after, _)| before < after && *after < count);
        report.edges.sort_unstable();
        report.edges.dedup_by_key(|(before, after, _)| (*before, *after));
        report.critical_path = critical::path(&report.nodes, &report.edges);
        report.totals = Totals::of(&report);
        report
    }

    /// The name of a memory, for tables.
    pub(super) fn memory_name(&self, index: usize) -> String {
        self.memories.get(index).map_or_else(|| format!("memory {index}"), |memory| memory.name.clone())
    }
}

impl Totals {
    pub(super) fn of(report: &Report) -> Totals {
        let nodes = &report.nodes;
        let of_kind = |edge: Edge| report.edges.iter().filter(|(_, _, kind)| *kind == edge).count();
        let count = |kind: Kind| nodes.iter().filter(|node| node.kind == kind).count();
        let sum = |among: &dyn Fn(&&Node) -> bool, of: &dyn Fn(&Node) -> u64| {
            nodes.iter().filter(among).fold(0u64, |sum, node| sum.saturating_add(of(node)))
        };
        // The bytes of a branch are those of its bodies, which are counted themselves.
        let moves = |node: &&Node| !node.has_bodies();
        let outer = |node: &&Node| node.inside.is_none();
        Totals {
            nodes: nodes.len(),
            kernels: count(Kind::Kernel),
            joins: count(Kind::Join),
            edges: report.edges.len(),
            edges_waiting: of_kind(Edge::Waits),
            edges_signalling: of_kind(Edge::Signals),
            bytes_read: sum(&moves, &|node| node.bytes_read),
            bytes_written: sum(&moves, &|node| node.bytes_written),
            bytes_memory: report.memories.iter().fold(0, |sum, memory| sum.saturating_add(memory.bytes)),
            cost: sum(&outer, &Node::cost),
        }
    }
}

impl Node {
    /// A node without label, place, geometry and arguments; its index is given by [`Report::new`].
    pub fn new(kind: Kind, name: impl Into<String>) -> Node {
        Node { kind, name: name.into(), ..Node::default() }
    }

    /// Whether it is a loop or a branch.
    pub(super) fn has_bodies(&self) -> bool {
        matches!(self.kind, Kind::Branch | Kind::Guarded | Kind::Loop)
    }
}

impl Memory {
    /// A memory; its index is given by [`Report::new`].
    pub fn new(kind: MemoryKind, name: impl Into<String>, bytes: u64, alignment: u64) -> Memory {
        Memory { kind, name: name.into(), bytes, alignment, ..Memory::default() }
    }
}

impl Argument {
    /// An argument.
    pub fn new(name: impl Into<String>, how: How) -> Argument {
        Argument { name: name.into(), how }
    }
}

impl How {
    /// Which memory it is in, and which bytes of it.
    pub(super) fn touches(&self) -> Option<(usize, Bytes)> {
        match *self {
            How::Scalar { memory, bytes, .. } | How::Slice { memory, bytes, .. } => Some((memory, bytes)),
            _ => None,
        }
    }
}

impl Value {
    /// A value with its text, and as a number if it is one.
    pub fn new(text: impl Into<String>, number: Option<f64>) -> Value {
        Value { text: text.into(), number: number.filter(|number| number.is_finite()) }
    }
}

impl Bytes {
    /// The bytes from `start` up to `end`.
    pub fn new(start: u64, end: u64) -> Bytes {
        Bytes { start, end }
    }
}

impl Geometry {
    /// A geometry.
    pub fn new(blocks: [u32; 3], threads: [u32; 3], shared: u32) -> Geometry {
        Geometry { blocks, threads, shared }
    }
}

impl Place {
    /// A place.
    pub fn new(file: impl Into<String>, line: u32, column: u32) -> Place {
        Place { file: file.into(), line, column }
    }
}

impl From<&std::panic::Location<'_>> for Place {
    fn from(location: &std::panic::Location<'_>) -> Place {
        Place::new(location.file(), location.line(), location.column())
    }
}
