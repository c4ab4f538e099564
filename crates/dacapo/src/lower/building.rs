//! A driver's graph being made of a plan, level by level.
//!
//! - Each level of an arrangement becomes a graph: the recording itself the one that is instantiated, each body the graph
//!   that its conditional node came with.
//! - Every condition has one handle, of the outermost graph, made before the first node. No default is asked for: it would be
//!   assigned once a launch, and not when an outer loop comes round again. The kernel in front of a conditional node sets it.
//! - A guarded branch has neither handle nor node: its bodies are in the graph around it, side by side. What comes behind it
//!   comes behind all that its bodies end in.
//! - A body holds no capture of its own: foreign work inside one is captured apart and added as a child graph.

use dacapo_driver::types::*;
use dacapo_driver::{Call, leaves_undone};
use smallvec::SmallVec;

use crate::arrange::{Arrangement, Level};
use crate::device::{Device, Garbage, Way};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::PointerRoom;
use crate::lower::declared::{declared, named};
use crate::lower::foreign;
use crate::lower::params::{self, Resolve};
use crate::lower::stamps::{StampPlace, Stamps};
use crate::plan::What;
use crate::record::{Branch, BranchKind, Node, NodeParams, Told, Work};
use crate::value::Readings;

/// What a graph is made of.
pub(crate) struct Parts<'p> {
    pub(crate) nodes: &'p [Node],
    /// What recipes gave when the nodes were recorded; empty if that is not known any more.
    pub(crate) told: Vec<Told>,
    pub(crate) arrangement: &'p Arrangement,
    pub(crate) readings: &'p Readings,
    pub(crate) places: &'p dyn Resolve,
}

/// A graph with some of its nodes.
pub(super) struct Building<'d, 'p> {
    graph: Unfinished<'d>,
    nodes: &'p [Node],
    arrangement: &'p Arrangement,
    readings: &'p Readings,
    places: &'p dyn Resolve,
    stamps: Option<&'p Stamps>,
    /// Of each node.
    told: Vec<Told>,
    handles: Vec<u64>,
}

/// What a node comes after, in lists that are used again for each.
#[derive(Default)]
struct Before {
    nodes: Vec<CUgraphNode>,
    /// How it comes after each of them; empty where all edges are full.
    kinds: Vec<CUgraphEdgeData>,
}

impl Before {
    fn clear(&mut self) {
        self.nodes.clear();
        self.kinds.clear();
    }

    /// The edge behind the last node is programmatic.
    fn last_is_programmatic(&mut self) {
        self.all_full(self.nodes.len().saturating_sub(1));
        self.kinds.push(PROGRAMMATIC);
    }

    /// The edges up to so many whose kinds were not said are full.
    fn all_full(&mut self, count: usize) {
        while self.kinds.len() < count {
            self.kinds.push(FULL);
        }
    }
}

/// What the work of an op ends in.
enum Last {
    /// One node.
    One(CUgraphNode),
    /// Several, or what it began with: foreign work alone.
    Several(SmallVec<[CUgraphNode; 1]>),
}

/// The port of a kernel node that signals (`CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC`).
const SIGNALS: u8 = 1;
/// The edge behind which a kernel begins when the one before has signalled or ended.
const PROGRAMMATIC: CUgraphEdgeData = CUgraphEdgeData {
    from_port: SIGNALS,
    to_port: 0,
    r#type: CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC as u8,
    reserved: [0; 5],
};
const FULL: CUgraphEdgeData = CUgraphEdgeData { from_port: 0, to_port: 0, r#type: 0, reserved: [0; 5] };

/// A graph that is not finished, destroyed if it never is.
pub(super) struct Unfinished<'d> {
    pub(super) device: &'d Device,
    pub(super) raw: CUgraph,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: made by `cuGraphCreate` or by a capture, and not given away.
            let code = unsafe { self.device.driver().cuGraphDestroy(self.raw) };
            if leaves_undone(Call::cuGraphDestroy, code) {
                self.device.put(Garbage::Graph(CUgraphExec::NULL, self.raw), Vec::new());
            }
        }
    }
}

impl<'d, 'p> Building<'d, 'p> {
    /// A graph without nodes, with its handles.
    pub(super) fn new(
        device: &'d Device,
        parts: &mut Parts<'p>,
        stamps: Option<&'p Stamps>,
    ) -> Result<Building<'d, 'p>> {
        let mut raw = CUgraph::NULL;
        // SAFETY: `raw` is valid for the write.
        device.check(unsafe { device.driver().cuGraphCreate(&mut raw, 0) }, Call::cuGraphCreate)?;
        let graph = Unfinished { device, raw };
        let handles = handles(&graph, parts.nodes)?;
        // Taken, not copied: what a recipe gave when it was recorded is told once. An attempt after this one runs the recipes
        // again.
        let mut told = std::mem::take(&mut parts.told);
        told.resize_with(parts.nodes.len(), Told::nothing);
        let Parts { nodes, arrangement, readings, places, .. } = *parts;
        Ok(Building { graph, nodes, arrangement, readings, places, stamps, told, handles })
    }

    /// With all of its nodes.
    pub(super) fn filled(mut self) -> Result<Building<'d, 'p>> {
        let (raw, mut first) = (self.graph.raw, Vec::new());
        if let Some(stamps) = self.stamps {
            for place in StampPlace::firsts() {
                first = vec![stamps.add(self.graph.device, raw, &first, place)?];
            }
        }
        let arrangement = self.arrangement;
        self.level(arrangement.top(), raw, &first)?;
        Ok(self)
    }

    pub(super) fn into_parts(self) -> (Unfinished<'d>, &'p [Node], Vec<Told>, Vec<u64>) {
        (self.graph, self.nodes, self.told, self.handles)
    }

    /// Adds the nodes of a level to its graph; those that wait for nothing come after `first`. What each step ends in.
    fn level(&mut self, level: &Level, graph: CUgraph, first: &[CUgraphNode]) -> Result<Ends> {
        let order = &level.order;
        let mut ends = Ends::with_capacity(order.steps().len());
        let (mut before, mut edge) = (Before::default(), 0);
        for (number, step) in order.steps().iter().enumerate() {
            before.clear();
            for &earlier in order.after(number) {
                ends.of(earlier, &mut before.nodes);
                // Between stamps nothing may overlap: a profile has full edges only.
                if self.stamps.is_none() && level.edges.is_early(edge) {
                    before.last_is_programmatic();
                }
                edge += 1;
            }
            if !before.kinds.is_empty() {
                before.all_full(before.nodes.len());
            }
            if before.nodes.is_empty() {
                before.nodes.extend_from_slice(first);
            }
            match step.what {
                What::Join => ends.push(add_empty(self.graph.device, graph, &before.nodes)?),
                What::Op(op) => {
                    let node = level.node(op);
                    let last = match self.stamps {
                        None => self.op(node, level.edges.signals(node), graph, &before)?,
                        Some(stamps) => self.stamped(node, graph, &mut before, stamps)?,
                    };
                    match last {
                        Last::One(node) => ends.push(node),
                        Last::Several(nodes) => ends.push_all(nodes),
                    }
                }
            }
        }
        Ok(ends)
    }

    /// Adds what an op is, with a stamp before it and one behind it.
    fn stamped(&mut self, number: usize, graph: CUgraph, before: &mut Before, stamps: &Stamps) -> Result<Last> {
        let device = self.graph.device;
        before.nodes = vec![stamps.add(device, graph, &before.nodes, StampPlace::Before(number))?];
        let last = match self.op(number, false, graph, before)? {
            Last::One(node) => SmallVec::from_slice(&[node]),
            Last::Several(nodes) => nodes,
        };
        Ok(Last::One(stamps.add(device, graph, &last, StampPlace::Behind(number))?))
    }

    /// Adds what an op is.
    fn op(&mut self, number: usize, signals: bool, graph: CUgraph, before: &Before) -> Result<Last> {
        let device = self.graph.device;
        let (node, told) = (&self.nodes[number], &mut self.told[number]);
        if let Work::Kernel(kernel) = &node.work {
            told.function = match &kernel.guard {
                Some(guard) => guard.function.raw,
                None if signals => kernel.function.signalling(device)?.unwrap_or(&kernel.function).raw,
                None => kernel.function.raw,
            };
        }
        match &mut told.params {
            Some(params) => params.fill_in(node, self.places, &self.handles),
            None => told.params = NodeParams::of(device, node, self.readings, self.places, &self.handles, None)?,
        }
        if let Work::Branch(branch) = &node.work {
            return match branch.is_guarded {
                true => self.guarded(branch, graph, &before.nodes).map(Last::Several),
                false => self.branch(number, branch, graph, &before.nodes).map(Last::One),
            };
        }
        if graph != self.graph.raw && is_staged(device, node) {
            let what = "a copy between devices that are no peers".to_string();
            return Err(node.blame(Error::new(ErrorKind::NotInBody { what })));
        }
        let Told { handle, function, params } = told;
        match params {
            Some(params) => {
                *handle = add(device, graph, before, node, *function, params).map_err(|error| node.blame(error))?;
                Ok(Last::One(*handle))
            }
            None => self.foreign(number, graph, &before.nodes).map(Last::Several),
        }
    }

    fn foreign(&mut self, number: usize, graph: CUgraph, after: &[CUgraphNode]) -> Result<SmallVec<[CUgraphNode; 1]>> {
        let (device, node) = (self.graph.device, &self.nodes[number]);
        let captured = match graph == self.graph.raw {
            true => foreign::capture(device, graph, after, node),
            false => foreign::capture_apart(device, graph, after, node),
        };
        captured.map_err(|broken| {
            if broken.graph_is_gone {
                // The driver has destroyed the graph with the capture.
                self.graph.raw = CUgraph::NULL;
            }
            if let Some(panic) = broken.panic {
                std::panic::resume_unwind(panic);
            }
            self.nodes[number].blame(broken.error)
        })
    }

    /// Adds a conditional node, and fills the graphs of its bodies.
    fn branch(&mut self, number: usize, branch: &Branch, graph: CUgraph, after: &[CUgraphNode]) -> Result<CUgraphNode> {
        let (device, handle) = (self.graph.device, self.handles[branch.condition as usize]);
        let op = &self.nodes[number];
        let added = named(device, op, || add_branch(device, graph, after, branch, handle));
        let (node, graphs) = added.map_err(|error| op.blame(error))?;
        self.told[number].handle = node;
        let arrangement = self.arrangement;
        for (body, graph) in branch.bodies.iter().zip(graphs) {
            self.level(arrangement.body(body.scope), graph, &[])?;
        }
        Ok(node)
    }

    /// Adds the bodies of a guarded branch: all that they end in.
    fn guarded(
        &mut self,
        branch: &Branch,
        graph: CUgraph,
        after: &[CUgraphNode],
    ) -> Result<SmallVec<[CUgraphNode; 1]>> {
        let (arrangement, mut last) = (self.arrangement, Vec::new());
        for body in &branch.bodies {
            let level = arrangement.body(body.scope);
            let ends = self.level(level, graph, after)?;
            level.order.leaves().for_each(|step| ends.of(step, &mut last));
        }
        Ok(last.into_iter().collect())
    }
}

/// Whether it is a copy from or to memory that this device has no access to: in a body both ends must be at hand (the
/// programming guide on conditional nodes).
fn is_staged(device: &Device, node: &Node) -> bool {
    let is_far = |other: &&Device| !other.is(device);
    let far = node.devices().and_then(|devices| devices.into_iter().find(is_far));
    far.is_some_and(|far| device.known_way(far) == Some(Way::Staged))
}

/// A handle for the condition of each conditional node; 0 for a number that none has.
fn handles(graph: &Unfinished<'_>, nodes: &[Node]) -> Result<Vec<u64>> {
    let mut handles = Vec::new();
    for node in nodes {
        let Work::Branch(branch) = &node.work else { continue };
        if branch.is_guarded {
            continue;
        }
        let (device, number) = (graph.device, branch.condition as usize);
        let mut handle = 0;
        // SAFETY: `handle` is valid for the write, and the graph is ours.
        let code =
            unsafe { device.driver().cuGraphConditionalHandleCreate(&mut handle, graph.raw, device.context(), 0, 0) };
        device.check(code, Call::cuGraphConditionalHandleCreate).map_err(|error| node.blame(error))?;
        if handles.len() <= number {
            handles.resize(number + 1, 0);
        }
        handles[number] = handle;
    }
    Ok(handles)
}

/// Adds a conditional node: itself, and the graphs of its bodies.
fn add_branch(
    device: &Device,
    graph: CUgraph,
    after: &[CUgraphNode],
    branch: &Branch,
    handle: u64,
) -> Result<(CUgraphNode, SmallVec<[CUgraph; 2]>)> {
    let params = CUDA_CONDITIONAL_NODE_PARAMS {
        handle,
        r#type: match branch.kind {
            BranchKind::If => CU_GRAPH_COND_TYPE_IF,
            BranchKind::While { .. } => CU_GRAPH_COND_TYPE_WHILE,
            BranchKind::Switch => CU_GRAPH_COND_TYPE_SWITCH,
        },
        size: branch.bodies.len() as u32,
        phGraph_out: std::ptr::null_mut(),
        ctx: device.context(),
    };
    // SAFETY: the struct that a conditional node takes, all of it initialised.
    let mut params = unsafe { CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_CONDITIONAL, params) };
    let mut node = CUgraphNode::NULL;
    // SAFETY: `node` and `params` are valid for the write; the dependencies are nodes of this graph.
    let code = unsafe {
        device.driver().cuGraphAddNode_v2(&mut node, graph, after.as_ptr(), std::ptr::null(), after.len(), &mut params)
    };
    device.check(code, Call::cuGraphAddNode_v2)?;
    // SAFETY: of that type; the driver has filled it in.
    let added = unsafe { params.read::<CUDA_CONDITIONAL_NODE_PARAMS>() };
    // SAFETY: the driver gives an array of `size` graphs that lives as long as the node.
    let graphs = unsafe { std::slice::from_raw_parts(added.phGraph_out, branch.bodies.len()) };
    Ok((node, graphs.iter().copied().collect()))
}

/// The nodes that each step ends in: one, except for guarded branches, and for foreign work, which may end in several or in
/// what it began with.
struct Ends {
    one: Vec<CUgraphNode>,
    /// Of the steps whose one node is null.
    several: Vec<(u32, SmallVec<[CUgraphNode; 1]>)>,
}

impl Ends {
    fn with_capacity(steps: usize) -> Ends {
        Ends { one: Vec::with_capacity(steps), several: Vec::new() }
    }

    fn push(&mut self, node: CUgraphNode) {
        self.one.push(node);
    }

    fn push_all(&mut self, nodes: SmallVec<[CUgraphNode; 1]>) {
        self.several.push((self.one.len() as u32, nodes));
        self.one.push(CUgraphNode::NULL);
    }

    /// Adds those of a step that are not there yet.
    #[inline]
    fn of(&self, step: u32, into: &mut Vec<CUgraphNode>) {
        let one = self.one[step as usize];
        if !one.is_null() {
            // Two steps never end in the same node of their own.
            into.push(one);
            return;
        }
        let several = self.several.iter().find(|(of, _)| *of == step);
        for &node in several.iter().flat_map(|(_, nodes)| nodes) {
            if !into.contains(&node) {
                into.push(node);
            }
        }
    }
}

fn add_empty(device: &Device, graph: CUgraph, after: &[CUgraphNode]) -> Result<CUgraphNode> {
    let mut handle = CUgraphNode::NULL;
    // SAFETY: `handle` is valid for the write; the dependencies are nodes of this graph.
    let code = unsafe { device.driver().cuGraphAddEmptyNode(&mut handle, graph, after.as_ptr(), after.len()) };
    device.check(code, Call::cuGraphAddEmptyNode)?;
    Ok(handle)
}

fn add(
    device: &Device,
    graph: CUgraph,
    Before { nodes: after, kinds }: &Before,
    node: &Node,
    function: CUfunction,
    params: &mut NodeParams,
) -> Result<CUgraphNode> {
    let driver = device.driver();
    let (mut handle, first, count) = (CUgraphNode::NULL, after.as_ptr(), after.len());
    params::want_shared(device, node, function, params)?;
    match params {
        NodeParams::Kernel { prepared } => {
            let grid = prepared.grid;
            let (code, call) = declared(device, node, &mut prepared.args, |args| {
                let mut room = PointerRoom::new();
                let raw = params::kernel_params(function, grid, args.pointers(&mut room));
                // SAFETY: `handle` is valid for the write; the dependencies are nodes of this graph, with a kind for each
                // where there are kinds; the function's module is held by the node; there is a pointer for each parameter,
                // to as many bytes as it has, in place until the call returns, by when the driver has copied them.
                unsafe {
                    if kinds.is_empty() {
                        let code = driver.cuGraphAddKernelNode_v2(&mut handle, graph, first, count, &raw);
                        (code, Call::cuGraphAddKernelNode_v2)
                    } else {
                        let mut raw = CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_KERNEL, raw);
                        let code = driver.cuGraphAddNode_v2(&mut handle, graph, first, kinds.as_ptr(), count, &mut raw);
                        (code, Call::cuGraphAddNode_v2)
                    }
                }
            });
            device.check(code, call)?;
        }
        NodeParams::Copy { source, target, bytes } => {
            let raw = params::copy_params(*source, *target, *bytes);
            // SAFETY: as above; the places are inside memory that the graph will hold.
            let code = named(device, node, || unsafe {
                driver.cuGraphAddMemcpyNode(&mut handle, graph, first, count, &raw, device.context())
            });
            device.check(code, Call::cuGraphAddMemcpyNode)?;
        }
        NodeParams::Fill { target, value, size, count: elements } => {
            let raw = params::fill_params(*target, *value, *size, *elements);
            // SAFETY: as above.
            let code = named(device, node, || unsafe {
                driver.cuGraphAddMemsetNode(&mut handle, graph, first, count, &raw, device.context())
            });
            device.check(code, Call::cuGraphAddMemsetNode)?;
        }
        NodeParams::Nothing => return add_empty(device, graph, after),
    }
    Ok(handle)
}
