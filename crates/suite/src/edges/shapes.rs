//! The graphs that forms build, as shapes: what their nodes are, and their edges with the kinds that the library chose.
//!
//! What an edge of a kind costs hangs on the shape of the graph around it. [`of_forms`] collects every shape with a programmatic edge
//! that any form instantiates, on a software device; [`Priced::of`] builds such a graph of tiny kernels, once with its edges and
//! once with full ones, and measures both in turns. Bodies of loops and branches are not looked into.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use dacapo::Software;
use dacapo_driver::types::*;
use dacapo_driver::{Argument, CUresult, Call, Check, Driver, DriverError, Hook, Hooked};

use crate::forms;
use crate::session::{Refused, Session};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A kernel of so many blocks of so many threads.
    Kernel {
        /// Blocks in all.
        blocks: u32,
        /// Threads of each.
        threads: u32,
    },
    /// A fill.
    Fill,
    /// A copy.
    Copy,
    /// A branch or a loop. Built as a branch that is never taken.
    Conditional,
    /// Anything else.
    Other,
}

/// A graph without what it does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// Its nodes, in the order in which they were added.
    pub nodes: Vec<Part>,
    /// From one to another, and whether the edge is programmatic.
    pub edges: Vec<(usize, usize, bool)>,
}

/// Every shape with a programmatic edge that a form instantiates, with the name of one that does.
///
/// # Errors
///
/// - A device that could not be opened. What a form failed with is not looked at.
pub fn of_forms() -> Result<Vec<(&'static str, Shape)>, dacapo::Error> {
    let mut all = BTreeMap::new();
    for form in forms::all() {
        let found: Arc<Mutex<Vec<Shape>>> = Arc::default();
        let into = found.clone();
        // SAFETY: the hook passes every call on; before some of them it asks the driver about the graph.
        let opened = unsafe {
            Software::new().open_hooked(move |machine| {
                let hook = Collecting { driver: machine.clone(), found: into };
                Arc::new(Hooked::new(machine, hook))
            })
        };
        let device = opened?;
        // Forms may fail, and fault, on purpose.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (form.body)(&device)));
        drop(device);
        for shape in found.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            all.entry(shape).or_insert(form.name);
        }
    }
    Ok(all.into_iter().map(|(shape, form)| (form, shape)).collect())
}

struct Collecting<D> {
    driver: D,
    found: Arc<Mutex<Vec<Shape>>>,
}

impl<D: Driver> Hook for Collecting<D> {
    fn around(&self, call: Call, arguments: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        if call == Call::cuGraphInstantiateWithFlags
            && let Some(graph) = arguments.get(1)
            && let Ok(shape) = shape_of(&self.driver, CUgraph::from_bits(graph.bits))
            && shape.edges.iter().any(|(_, _, early)| *early)
        {
            self.found.lock().unwrap_or_else(PoisonError::into_inner).push(shape);
        }
        run()
    }
}

/// The shape of a graph.
fn shape_of(driver: &dyn Driver, graph: CUgraph) -> Result<Shape, DriverError> {
    let (mut count, mut edges) = (0, 0);
    // SAFETY: the caller is about to instantiate the graph; with null pointers only the counts are written.
    unsafe {
        driver.cuGraphGetNodes(graph, std::ptr::null_mut(), &mut count).check(Call::cuGraphGetNodes)?;
        let null = std::ptr::null_mut();
        driver
            .cuGraphGetEdges_v2(graph, null, null, std::ptr::null_mut(), &mut edges)
            .check(Call::cuGraphGetEdges_v2)?;
    }
    let mut nodes = vec![CUgraphNode::NULL; count];
    let (mut from, mut to) = (vec![CUgraphNode::NULL; edges], vec![CUgraphNode::NULL; edges]);
    let mut kinds = vec![CUgraphEdgeData::default(); edges];
    // SAFETY: each has room for as many as were counted.
    unsafe {
        driver.cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count).check(Call::cuGraphGetNodes)?;
        let (from, to, kinds) = (from.as_mut_ptr(), to.as_mut_ptr(), kinds.as_mut_ptr());
        driver.cuGraphGetEdges_v2(graph, from, to, kinds, &mut edges).check(Call::cuGraphGetEdges_v2)?;
    }
    let number = |node: &CUgraphNode| nodes.iter().position(|known| known == node).unwrap_or(0);
    let mut edges: Vec<_> = from
        .iter()
        .zip(&to)
        .zip(&kinds)
        .map(|((from, to), kind)| (number(from), number(to), kind.r#type != 0))
        .collect();
    edges.sort_unstable();
    let nodes = nodes.iter().map(|node| part_of(driver, *node)).collect::<Result<_, _>>()?;
    Ok(Shape { nodes, edges })
}

fn part_of(driver: &dyn Driver, node: CUgraphNode) -> Result<Part, DriverError> {
    let mut kind = CU_GRAPH_NODE_TYPE_EMPTY;
    // SAFETY: a node of a graph that is alive; `kind` is valid for the write.
    unsafe { driver.cuGraphNodeGetType(node, &mut kind) }.check(Call::cuGraphNodeGetType)?;
    Ok(match kind {
        CU_GRAPH_NODE_TYPE_KERNEL => {
            let mut params = CUDA_KERNEL_NODE_PARAMS::default();
            // SAFETY: a kernel node; `params` is valid for the write.
            let code = unsafe { driver.cuGraphKernelNodeGetParams_v2(node, &mut params) };
            code.check(Call::cuGraphKernelNodeGetParams_v2)?;
            let product = |x: u32, y: u32, z: u32| x.saturating_mul(y).saturating_mul(z);
            Part::Kernel {
                blocks: product(params.gridDimX, params.gridDimY, params.gridDimZ),
                threads: product(params.blockDimX, params.blockDimY, params.blockDimZ),
            }
        }
        CU_GRAPH_NODE_TYPE_MEMSET => Part::Fill,
        CU_GRAPH_NODE_TYPE_MEMCPY => Part::Copy,
        CU_GRAPH_NODE_TYPE_CONDITIONAL => Part::Conditional,
        _ => Part::Other,
    })
}

/// `CU_GRAPH_COND_ASSIGN_DEFAULT`: every launch begins with the default.
const ASSIGN_DEFAULT: u32 = 1;

/// Adds one to a word of its block, after it has waited.
const PTX: &str = ".version 7.8
.target sm_90
.address_size 64
.visible .entry shape_tiny(.param .u64 words)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    griddepcontrol.wait;
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p, %r1, 0;
    @%p ret;
    ld.param.u64 %rd1, [words];
    mov.u32 %r2, %ctaid.x;
    and.b32 %r2, %r2, 1023;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r3, [%rd1];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd1], %r3;
    ret;
}
";

/// How much is measured: graphs of each kind, turns of each graph, launches of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds, each with graphs and memory of its own: where a driver puts them shows in the times.
    pub rounds: usize,
    /// Turns of a round.
    pub turns: usize,
    /// Launches of a turn.
    pub launches: usize,
}

/// Microseconds of a launch: medians of turns, one for each round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priced {
    /// With full edges.
    pub full: Vec<f64>,
    /// With those that the library chose.
    pub chosen: Vec<f64>,
    /// With full edges, by a second graph: what differs here is noise.
    pub again: Vec<f64>,
}

impl Priced {
    /// Builds a shape of tiny kernels and measures it.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn of(session: &mut Session<'_>, shape: &Shape, effort: Effort) -> Result<Priced, Refused> {
        let mut priced = Priced::default();
        let mut padding = Vec::new();
        for round in 0..effort.rounds {
            // An odd number of kibibytes, another one in each round.
            padding.push(session.buffer(&vec![0; 1024 * (2 * (round * 37 % 64) + 1)])?);
            let [full, chosen, again] = measured(session, shape, round, effort)?;
            priced.full.push(full);
            priced.chosen.push(chosen);
            priced.again.push(again);
        }
        Ok(priced)
    }

    /// How the chosen edges compare with full ones: the median over rounds.
    pub fn ratio(&self) -> f64 {
        let full = self.full.iter().zip(&self.again).map(|(one, other)| (one + other) / 2.0);
        median(self.chosen.iter().zip(full).map(|(chosen, full)| chosen / full).collect())
    }

    /// How two graphs with full edges compare, likewise.
    pub fn noise(&self) -> f64 {
        median(self.again.iter().zip(&self.full).map(|(again, full)| again / full).collect())
    }
}

/// The median of some numbers, of which there is at least one.
pub fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// One round: full edges, those that were chosen, full edges again.
fn measured(session: &mut Session<'_>, shape: &Shape, round: usize, effort: Effort) -> Result<[f64; 3], Refused> {
    let words = session.buffer(&[0; 4096])?;
    let function = session.kernel("shapes", PTX, "shape_tiny")?;
    let driver = session.driver();
    let mut stream = CUstream::NULL;
    // SAFETY: `stream` is valid for the write.
    told(unsafe { driver.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING) }, Call::cuStreamCreate)?;
    let build = |early: bool| Built::new(driver, shape, early, function, words.address());
    // The graph that is built first has no advantage: it is another one in the next round.
    let mut graphs = [const { None }; 3];
    for at in 0..3 {
        let at = (at + round) % 3;
        graphs[at] = Some(build(at == 1)?);
    }
    let mut times = [const { Vec::new() }; 3];
    for turn in 0..=effort.turns {
        for at in 0..3 {
            // Who is first changes from turn to turn; the first turn warms up.
            let at = (at + turn) % 3;
            let Some(graph) = &graphs[at] else { continue };
            let began = Instant::now();
            for _ in 0..effort.launches {
                // SAFETY: the graph is alive until this function has waited for the stream, and so is what it touches.
                told(unsafe { driver.cuGraphLaunch(graph.exec, stream) }, Call::cuGraphLaunch)?;
            }
            session.synchronize(stream, "a shape")?;
            if turn > 0 {
                times[at].push(began.elapsed().as_secs_f64() * 1e6 / effort.launches as f64);
            }
        }
    }
    drop(graphs);
    // SAFETY: ours, and nothing is on it.
    told(unsafe { driver.cuStreamDestroy_v2(stream) }, Call::cuStreamDestroy_v2)?;
    Ok(times.map(median))
}

fn told(code: CUresult, call: Call) -> Result<(), Refused> {
    crate::session::checked(code, call, "a shape")
}

/// An executable graph and what it was made of.
struct Built<'d> {
    driver: &'d dyn Driver,
    graph: CUgraph,
    exec: CUgraphExec,
}

impl Drop for Built<'_> {
    fn drop(&mut self) {
        // SAFETY: both are ours, or null, which is refused; the driver lets what runs complete.
        unsafe {
            let _ = self.driver.cuGraphExecDestroy(self.exec);
            let _ = self.driver.cuGraphDestroy(self.graph);
        }
    }
}

impl<'d> Built<'d> {
    fn new(
        driver: &'d dyn Driver,
        shape: &Shape,
        early: bool,
        function: CUfunction,
        words: CUdeviceptr,
    ) -> Result<Built<'d>, Refused> {
        let mut built = Built { driver, graph: CUgraph::NULL, exec: CUgraphExec::NULL };
        // SAFETY: `graph` is valid for the write.
        told(unsafe { driver.cuGraphCreate(&mut built.graph, 0) }, Call::cuGraphCreate)?;
        let mut nodes = Vec::new();
        for part in &shape.nodes {
            nodes.push(add(driver, built.graph, *part, function, words)?);
        }
        for &(from, to, is_early) in &shape.edges {
            let kind = match is_early && early {
                true => CUgraphEdgeData { from_port: 1, to_port: 0, r#type: 1, reserved: [0; 5] },
                false => CUgraphEdgeData::default(),
            };
            // SAFETY: one edge between two nodes of this graph, with its kind.
            let code = unsafe { driver.cuGraphAddDependencies_v2(built.graph, &nodes[from], &nodes[to], &kind, 1) };
            told(code, Call::cuGraphAddDependencies_v2)?;
        }
        // SAFETY: `exec` is valid for the write; the graph is ours.
        let code = unsafe { driver.cuGraphInstantiateWithFlags(&mut built.exec, built.graph, 0) };
        told(code, Call::cuGraphInstantiateWithFlags)?;
        Ok(built)
    }
}

fn add(
    driver: &dyn Driver,
    graph: CUgraph,
    part: Part,
    function: CUfunction,
    mut words: CUdeviceptr,
) -> Result<CUgraphNode, Refused> {
    let (mut node, none, mut context) = (CUgraphNode::NULL, std::ptr::null(), CUcontext::NULL);
    // SAFETY: `context` is valid for the write.
    told(unsafe { driver.cuCtxGetCurrent(&mut context) }, Call::cuCtxGetCurrent)?;
    let (code, call) = match part {
        Part::Kernel { blocks, threads } => {
            let mut arguments = [(&raw mut words).cast()];
            let params = CUDA_KERNEL_NODE_PARAMS {
                func: function,
                gridDimX: blocks.max(1),
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: threads.clamp(1, 1024),
                blockDimY: 1,
                blockDimZ: 1,
                kernelParams: arguments.as_mut_ptr(),
                ..CUDA_KERNEL_NODE_PARAMS::default()
            };
            // SAFETY: `node` is valid for the write; the one argument is an address with 1,024 words behind it.
            (
                unsafe { driver.cuGraphAddKernelNode_v2(&mut node, graph, none, 0, &params) },
                Call::cuGraphAddKernelNode_v2,
            )
        }
        Part::Fill => {
            let params =
                CUDA_MEMSET_NODE_PARAMS { dst: words, elementSize: 4, width: 1, height: 1, ..Default::default() };
            // SAFETY: as above; one word is set.
            (
                unsafe { driver.cuGraphAddMemsetNode(&mut node, graph, none, 0, &params, context) },
                Call::cuGraphAddMemsetNode,
            )
        }
        Part::Copy => {
            let params = CUDA_MEMCPY3D {
                srcMemoryType: CU_MEMORYTYPE_DEVICE,
                srcDevice: words,
                dstMemoryType: CU_MEMORYTYPE_DEVICE,
                dstDevice: words + 64,
                WidthInBytes: 4,
                Height: 1,
                Depth: 1,
                ..CUDA_MEMCPY3D::default()
            };
            // SAFETY: as above; one word is copied to another.
            (
                unsafe { driver.cuGraphAddMemcpyNode(&mut node, graph, none, 0, &params, context) },
                Call::cuGraphAddMemcpyNode,
            )
        }
        Part::Conditional => return add_branch(driver, graph, context, function, words),
        Part::Other => {
            // SAFETY: as above.
            (unsafe { driver.cuGraphAddEmptyNode(&mut node, graph, none, 0) }, Call::cuGraphAddEmptyNode)
        }
    };
    told(code, call)?;
    Ok(node)
}

/// Adds a branch that is never taken: its condition is zero in every launch, and nobody sets it.
fn add_branch(
    driver: &dyn Driver,
    graph: CUgraph,
    ctx: CUcontext,
    function: CUfunction,
    words: CUdeviceptr,
) -> Result<CUgraphNode, Refused> {
    let mut handle = 0;
    // SAFETY: `handle` is valid for the write; the graph is the caller's.
    let code = unsafe { driver.cuGraphConditionalHandleCreate(&mut handle, graph, ctx, 0, ASSIGN_DEFAULT) };
    told(code, Call::cuGraphConditionalHandleCreate)?;
    let params = CUDA_CONDITIONAL_NODE_PARAMS {
        handle,
        r#type: CU_GRAPH_COND_TYPE_IF,
        size: 1,
        phGraph_out: std::ptr::null_mut(),
        ctx,
    };
    let (mut node, none) = (CUgraphNode::NULL, std::ptr::null());
    // SAFETY: the struct that a conditional node takes, all of it initialised.
    let mut params = unsafe { CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_CONDITIONAL, params) };
    // SAFETY: `node` and `params` are valid for the write; there are no dependencies.
    let code = unsafe { driver.cuGraphAddNode_v2(&mut node, graph, none, std::ptr::null(), 0, &mut params) };
    told(code, Call::cuGraphAddNode_v2)?;
    // SAFETY: of that type, filled in by the driver, which gives an array of as many graphs as were asked for.
    let body = unsafe { *params.read::<CUDA_CONDITIONAL_NODE_PARAMS>().phGraph_out };
    add(driver, body, Part::Kernel { blocks: 1, threads: 32 }, function, words)?;
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_many_shapes_and_each_can_be_built_of_tiny_kernels() {
        let shapes = of_forms().unwrap();
        assert!(shapes.len() >= 20, "{}", shapes.len());
        let machine = dacapo_sim::Machine::new(dacapo_sim::Options::default());
        let mut session = Session::open(&machine).unwrap();
        for (form, shape) in &shapes {
            let effort = Effort { rounds: 1, turns: 1, launches: 1 };
            let priced = Priced::of(&mut session, shape, effort).unwrap_or_else(|refused| panic!("{form}: {refused}"));
            assert!(priced.ratio() > 0.0);
        }
        assert!(machine.findings().is_empty(), "{:?}", machine.findings());
    }
}
