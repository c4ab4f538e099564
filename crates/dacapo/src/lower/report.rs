//! From a recording or a graph to a report.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use dacapo_driver::Call;

use crate::arrange::{Arrangement, Edge, EdgeChoice, Level, TempPlan, arranged};
use crate::device::{Device, Way};
use crate::inspect::{
    self, Across, Argument, Bytes, Geometry, How, KernelOf, Memory, MemoryKind, Report, Route, Value,
};
use crate::kernel::{Args, KernelDecl, ParamKind};
use crate::lower::calls::{CALLS_OF_JOIN, calls_of, patch_of};
use crate::memory::{Access, Allocation, Extent, Kind, Mode};
use crate::plan::{Shape, What};
use crate::record::{Branch, BranchKind, Node, Recorded, Work};
use crate::value::{Readings, Snapshot, Told};

/// How a recording would be planned.
pub(crate) struct Wanted<'w> {
    pub(crate) label: &'w str,
    pub(crate) shape: Shape,
    pub(crate) edges: &'w EdgeChoice,
    /// Whether each temp has memory of its own.
    pub(crate) apart: bool,
}

/// What a recording consists of, as a graph of it would.
pub(crate) fn report_of(recorded: &Recorded, wanted: &Wanted<'_>) -> Report {
    let order = arranged(&recorded.nodes, wanted.shape).with_edges(&recorded.nodes, &recorded.told, wanted.edges);
    let plan = if wanted.apart { TempPlan::default() } else { TempPlan::new(recorded, &order) };
    let described = Described {
        device: &recorded.device,
        nodes: &recorded.nodes,
        readings: &recorded.readings,
        outputs: &recorded.outputs,
        offsets: plan.offsets().map(|(temp, offset)| (temp.number(), offset)).collect(),
        is_captured: false,
    };
    described.report(wanted.label, &order)
}

/// A branch costs about as much as five tiny kernels (docs/control-flow.md), each of which moves next to nothing.
const SMALL_OPS: usize = 4;
const SMALL_BYTES: usize = 1 << 20;

/// What a recording or a graph is made of.
pub(crate) struct Described<'p> {
    pub(crate) device: &'p Device,
    pub(crate) nodes: &'p [Node],
    pub(crate) readings: &'p Readings,
    pub(crate) outputs: &'p [Arc<Allocation>],
    /// Where temps lie, by the numbers of their allocations.
    pub(crate) offsets: HashMap<u32, u64>,
    /// Whether all of it was captured.
    pub(crate) is_captured: bool,
}

/// What a report is made of, so far.
#[derive(Default)]
struct Made {
    nodes: Vec<inspect::Node>,
    edges: Vec<(usize, usize, Edge)>,
    memories: Memories,
    kernels: Vec<KernelOf>,
    /// Declarations that were looked at, by their addresses, and what is known of them. One may have several addresses.
    declared: HashMap<*const KernelDecl, Option<usize>>,
}

impl Made {
    /// The index of a kernel as it was declared; none if that is not known. Two of one name, symbol and text are one.
    fn kernel(&mut self, decl: &'static KernelDecl) -> Option<usize> {
        let kernels = &mut self.kernels;
        *self.declared.entry(decl).or_insert_with(|| {
            let kernel = KernelOf::new(decl.name, decl.entry, decl.declaration()?);
            let known = kernels.iter().position(|known| *known == kernel);
            Some(known.unwrap_or_else(|| {
                kernels.push(kernel);
                kernels.len() - 1
            }))
        })
    }
}

/// Memories in the order of their first use.
#[derive(Default)]
struct Memories {
    list: Vec<Memory>,
    index: HashMap<u32, usize>,
}

impl Described<'_> {
    pub(crate) fn report(&self, label: &str, arrangement: &Arrangement) -> Report {
        let mut made = Made::default();
        self.level(arrangement, arrangement.top(), None, &mut made);
        let mut report =
            Report::new(self.device.properties().name.as_str(), label, made.nodes, made.memories.list, made.edges);
        report.kernels = made.kernels;
        report
    }

    /// The nodes and edges of a level; what is inside a node follows it.
    fn level(&self, arrangement: &Arrangement, level: &Level, inside: Option<inspect::Inside>, made: &mut Made) {
        let order = &level.order;
        let mut numbers = Vec::with_capacity(order.steps().len());
        for (step, what) in order.steps().iter().enumerate() {
            let number = made.nodes.len();
            numbers.push(number);
            let into = order.edges_into(step).zip(order.after(step));
            made.edges.extend(
                into.map(|(edge, &before)| (numbers[before as usize], number, level.kind(self.nodes, edge, before))),
            );
            let op = match what.what {
                What::Join => {
                    let calls = self.symbols(CALLS_OF_JOIN);
                    made.nodes.push(inspect::Node { inside, calls, ..inspect::Node::new(inspect::Kind::Join, "join") });
                    continue;
                }
                What::Op(op) => level.node(op),
            };
            let mut told = self.node(op, &mut made.memories);
            let early = order.edges_into(step).any(|edge| level.edges.is_early(edge));
            told.calls = self.symbols(calls_of(&self.nodes[op], early, inside.is_some()));
            told.inside = inside;
            match &self.nodes[op].work {
                Work::Kernel(kernel) => told.kernel = kernel.decl.and_then(|decl| made.kernel(decl)),
                Work::Branch(branch) => told.warnings.extend(self.small(op, branch)),
                _ => {}
            }
            made.nodes.push(told);
            let Work::Branch(branch) = &self.nodes[op].work else { continue };
            for (body, inner) in branch.bodies.iter().enumerate() {
                let inside = Some(inspect::Inside::new(number, body));
                self.level(arrangement, arrangement.body(inner.scope), inside, made);
            }
        }
    }

    /// The names of the calls that add a node; none where the graph was captured, and they were others.
    fn symbols(&self, calls: &[Call]) -> Vec<String> {
        let calls = if self.is_captured { &[] } else { calls };
        calls.iter().map(|call| call.symbol().to_string()).collect()
    }

    /// Of a branch that may cost more than what is inside it: that it may.
    fn small(&self, number: usize, branch: &Branch) -> Option<String> {
        let inside = &self.nodes[number + 1..self.nodes[number].next(number)];
        let bytes: usize = inside.iter().flat_map(|node| &node.access).map(|access| access.place.bytes).sum();
        let is_small =
            inside.len() <= SMALL_OPS && bytes <= SMALL_BYTES && branch.kind == BranchKind::If && !branch.is_guarded;
        (is_small && branch.bodies.len() == 1 && &*self.nodes[number].name == "when").then(|| {
            format!(
                "its body is small ({} ops): kernels that look at the flag themselves may be cheaper than a branch",
                inside.len()
            )
        })
    }

    /// What a node touches, as a report says it. A branch waits for those who touched what its bodies write, as if it read
    /// that; it only does if a body does.
    fn touches<'n>(&self, number: usize, node: &'n Node) -> Cow<'n, [Access]> {
        let Work::Branch(_) = node.work else { return Cow::Borrowed(&node.access) };
        let inside = &self.nodes[number + 1..node.next(number)];
        let works = || inside.iter().filter(|node| !matches!(node.work, Work::Branch(_)));
        // What a body reads and does not write is an access of its own.
        let is_read = |place: &Extent| {
            let reads = |access: &Access| access.mode == Mode::Write && access.place.overlaps(place);
            works().any(|node| node.access.iter().any(reads))
        };
        let mut touches = node.access.to_vec();
        for access in touches.iter_mut().filter(|access| access.mode == Mode::Write) {
            access.mode = if is_read(&access.place) { Mode::Write } else { Mode::Out };
        }
        Cow::Owned(touches)
    }

    fn node(&self, number: usize, memories: &mut Memories) -> inspect::Node {
        let node = &self.nodes[number];
        let kind = match &node.work {
            // A raw kernel has the name of its function.
            Work::Kernel(kernel) if node.name == "fill" && kernel.decl.is_none() && kernel.function.name != "fill" => {
                inspect::Kind::Fill
            }
            Work::Kernel(_) => inspect::Kind::Kernel,
            Work::Copy => inspect::Kind::Copy,
            Work::Fill(_) => inspect::Kind::Fill,
            Work::Upload(_) => inspect::Kind::Upload,
            Work::Download(_) => inspect::Kind::Download,
            Work::Foreign(_) | Work::Captured => inspect::Kind::Foreign,
            Work::Branch(branch) if matches!(branch.kind, BranchKind::While { .. }) => inspect::Kind::Loop,
            Work::Branch(branch) if branch.is_guarded => inspect::Kind::Guarded,
            Work::Branch(_) => inspect::Kind::Branch,
        };
        let mut told = inspect::Node::new(kind, node.name.to_string());
        told.label = node.label.to_string();
        told.location = Some(inspect::Place::from(node.at));
        told.across = across(self.device, node);
        told.patched_by = patch_of(node).map(|call| call.symbol().to_string());
        let touches = self.touches(number, node);
        for access in touches.iter() {
            let bytes = access.place.bytes as u64;
            told.bytes_read += if access.mode == Mode::Out { 0 } else { bytes };
            told.bytes_written += if access.mode.writes() { bytes } else { 0 };
        }
        told.arguments = match &node.work {
            // An element that a memset does not know is filled by a kernel of ours: a fill all the same.
            Work::Kernel(kernel) if kind == inspect::Kind::Fill => {
                let texts = RefCell::new(Vec::new());
                let snapshot = Snapshot::new(self.readings, &node.access).telling(&texts);
                if let Ok(grid) = kernel.grid(&snapshot, &mut Args::default()) {
                    told.geometry = Some(Geometry::new(grid.blocks, grid.threads, grid.shared));
                }
                self.fill_arguments(node, &texts.into_inner(), memories)
            }
            Work::Kernel(kernel) => {
                told.warnings = kernel.function.warnings.clone();
                let texts = RefCell::new(Vec::new());
                let snapshot = Snapshot::new(self.readings, &node.access).telling(&texts);
                if let Ok(grid) = kernel.grid(&snapshot, &mut Args::default()) {
                    told.geometry = Some(Geometry::new(grid.blocks, grid.threads, grid.shared));
                }
                self.kernel_arguments(node, kernel.decl, &texts.into_inner(), memories)
            }
            Work::Fill(recipe) => {
                let texts = RefCell::new(Vec::new());
                recipe(&Snapshot::new(self.readings, &node.access).telling(&texts));
                self.fill_arguments(node, &texts.into_inner(), memories)
            }
            _ => self.memory_arguments(&touches, memories),
        };
        told
    }

    /// What is filled, and with what.
    fn fill_arguments(&self, node: &Node, texts: &[Told], memories: &mut Memories) -> Vec<Argument> {
        let mut arguments = self.memory_arguments(&node.access, memories);
        if let Some(Told::Value(text)) = texts.first() {
            let value = Value::new(text.clone(), text.parse().ok());
            let how = if node.slots.is_empty() { How::Baked { value } } else { How::Slot { value } };
            arguments.push(Argument::new("value", how));
        }
        arguments
    }

    fn memory_arguments(&self, accesses: &[Access], memories: &mut Memories) -> Vec<Argument> {
        accesses.iter().map(|access| self.memory_argument(access, false, memories)).collect()
    }

    fn memory_argument(&self, access: &Access, scalar: bool, memories: &mut Memories) -> Argument {
        let memory = memories.enter(&access.place.allocation, self);
        let start = access.place.start as u64;
        let bytes = Bytes::new(start, start + access.place.bytes as u64);
        let access_ = match access.mode {
            Mode::Read => inspect::Access::Read,
            Mode::Write => inspect::Access::ReadWrite,
            Mode::Out => inspect::Access::Write,
        };
        let how = match scalar {
            true => How::Scalar { memory, bytes, access: access_ },
            false => How::Slice { memory, bytes, access: access_ },
        };
        Argument::new(access.name, how)
    }

    fn kernel_arguments(
        &self,
        node: &Node,
        decl: Option<&'static KernelDecl>,
        texts: &[Told],
        memories: &mut Memories,
    ) -> Vec<Argument> {
        let mut accesses = node.access.iter();
        let mut slots = node.slot_flags;
        let mut arguments = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let param = decl.and_then(|decl| decl.params.get(number));
            let value = |text: &String| Value::new(text.clone(), text.parse().ok());
            let by_value = |text, is_slot| match is_slot {
                true => How::Slot { value: value(text) },
                false => How::Baked { value: value(text) },
            };
            arguments.push(match text {
                Told::Memory => {
                    let Some(access) = accesses.next() else { continue };
                    let scalar = access.len() == 1 && param.is_some_and(|param| param.scalar);
                    self.memory_argument(access, scalar, memories)
                }
                Told::Value(text) => {
                    let name = param.map_or_else(|| format!("argument {number}"), |param| param.name.to_string());
                    let how = match param.map(|param| param.kind) {
                        Some(ParamKind::Derived) => How::Derived { value: value(text) },
                        _ => {
                            let is_slot = slots & 1 == 1;
                            slots >>= 1;
                            by_value(text, is_slot)
                        }
                    };
                    Argument::new(name, how)
                }
                Told::Named { name, text, is_slot } => Argument::new(*name, by_value(text, *is_slot)),
                Told::Computed { name, text } => Argument::new(*name, How::Derived { value: value(text) }),
            });
        }
        arguments.extend(accesses.map(|access| self.memory_argument(access, false, memories)));
        arguments
    }
}

/// Of a copy between two devices: how it goes. The way was opened when it was recorded.
fn across(device: &Device, node: &Node) -> Option<Across> {
    let [source, target] = node.devices()?;
    let route = match device.known_way(if source.is(device) { target } else { source })? {
        Way::Peer => Route::Direct,
        Way::Staged => Route::Staged,
    };
    Some(Across::new(source.ordinal(), target.ordinal(), route))
}

impl Memories {
    fn enter(&mut self, allocation: &Arc<Allocation>, parts: &Described<'_>) -> usize {
        if let Some(&known) = self.index.get(&allocation.number()) {
            return known;
        }
        let output = parts.outputs.iter().any(|output| Arc::ptr_eq(output, allocation));
        let (kind, word) = match allocation.kind() {
            Kind::Device if output => (MemoryKind::Output, "output"),
            Kind::Device | Kind::Arena => (MemoryKind::Buffer, "buffer"),
            Kind::State => (MemoryKind::Buffer, "state"),
            Kind::Host => (MemoryKind::Host, "host"),
            Kind::Temp(_) => (MemoryKind::Temp, "temp"),
            Kind::StandIn(_) => (MemoryKind::StandIn, "stand-in"),
        };
        let index = self.list.len();
        let alignment = if allocation.kind() == Kind::Host { 64 } else { 256 };
        let name = allocation.name().map_or_else(|| format!("{word} {index}"), |name| name.to_string());
        let mut memory = Memory::new(kind, name, allocation.bytes() as u64, alignment);
        // Temps and stand-ins never have a handle outside the recording; of those this says nothing.
        memory.graph_only = matches!(allocation.kind(), Kind::Device | Kind::Host) && !allocation.is_held();
        memory.device = Some(allocation.device()).filter(|its| !its.is(parts.device)).map(Device::ordinal);
        memory.offset = parts.offsets.get(&allocation.number()).copied();
        self.list.push(memory);
        self.index.insert(allocation.number(), index);
        index
    }
}
