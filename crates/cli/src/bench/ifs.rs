//! An `if` around a few tiny kernels on the device's clock, taken and not taken: by hand with an IF node, and by the
//! library with a conditional node and with guarded kernels.
//!
//! Each graph is a kernel that looks at a flag, what it decides about, and a kernel behind that.

use dacapo::flow::nonzero;
use dacapo::{Buffer, Graph, Recorder, Scalar};
use dacapo_driver::types::CUfunction;

use super::blocks::Contender;
use super::chain::Way;
use super::compare::{Bench, LIBRARY, RAW, Round, Row};
use super::library::Library;
use super::raw::{self, Choice, KernelNode, PTX, RawGraph, THREADS};
use crate::complaint::Complaint;
use crate::session::Session;

/// A branch to measure.
#[derive(Clone, Copy, Debug)]
pub struct If {
    /// The measurement's name.
    pub name: &'static str,
    /// Kernels inside, and blocks of each.
    kernels: u32,
    blocks: u32,
    /// Whether they run.
    taken: bool,
}

const fn branch(name: &'static str, kernels: u32, blocks: u32, taken: bool) -> If {
    If { name, kernels, blocks, taken }
}

/// Those that are measured. Not taken, a guarded kernel still starts all of its blocks.
pub const IFS: [If; 14] = [
    branch("if-1/taken", 1, 1, true),
    branch("if-1/not-taken", 1, 1, false),
    branch("if-2/taken", 2, 1, true),
    branch("if-2/not-taken", 2, 1, false),
    branch("if-3/taken", 3, 1, true),
    branch("if-3/not-taken", 3, 1, false),
    branch("if-1-of-132-blocks/taken", 1, 132, true),
    branch("if-1-of-132-blocks/not-taken", 1, 132, false),
    branch("if-3-of-132-blocks/taken", 3, 132, true),
    branch("if-3-of-132-blocks/not-taken", 3, 132, false),
    branch("if-1-of-1024-blocks/taken", 1, 1024, true),
    branch("if-1-of-1024-blocks/not-taken", 1, 1024, false),
    branch("if-3-of-1024-blocks/taken", 3, 1024, true),
    branch("if-3-of-1024-blocks/not-taken", 3, 1024, false),
];

/// The side whose kernels look at the flag themselves.
pub const GUARDED: &str = "guarded";

/// Sets a condition to a number in memory, by one thread.
const CHOOSE: &str = ".version 8.0
.target sm_75
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry choose(.param .u64 flag, .param .u64 handle)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [flag];
    cvta.to.global.u64 %rd1, %rd1;
    ld.global.u32 %r1, [%rd1];
    ld.param.u64 %rd2, [handle];
    {
        .param .b64 to;
        st.param.b64 [to], %rd2;
        .param .b32 what;
        st.param.b32 [what], %r1;
        call.uni cudaGraphSetConditional, (to, what);
    }
    ret;
}
";

/// Measures those that were asked for.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<Row>, Complaint> {
    let measured = IFS.into_iter().filter(|of| bench.wants(of.name)).map(|mut of| {
        let launches = Way::BackToBack.launches(bench, of.kernels + 2);
        if bench.small {
            of.blocks = of.blocks.min(2);
        }
        bench.rounds(of.name, |round| measure_one(round, of, launches))
    });
    measured.collect()
}

/// The kernels of the side by hand.
struct Functions<'d> {
    bump: CUfunction,
    choose: CUfunction,
    /// Has the modules with the functions.
    _session: Session<'d>,
}

impl<'d> Functions<'d> {
    fn new(raw: &raw::Raw<'d>) -> Result<Functions<'d>, Complaint> {
        let mut session = Session::open(raw.session().driver())?;
        let (bump, choose) = (session.kernel("bench", PTX, "bump")?, session.kernel("choose", CHOOSE, "choose")?);
        Ok(Functions { bump, choose, _session: session })
    }

    fn graph(&self, raw: &raw::Raw<'d>, (x, flag): (u64, u64), of: If) -> Result<RawGraph<'d>, Complaint> {
        let bump = |after: Option<usize>| KernelNode {
            function: self.bump,
            blocks: [of.blocks, 1, 1],
            threads: THREADS,
            words: vec![x, u64::from(of.blocks * THREADS)],
            after: after.into_iter().collect(),
        };
        let choose = |handle| KernelNode {
            function: self.choose,
            blocks: [1, 1, 1],
            threads: 1,
            words: vec![flag, handle],
            after: Vec::new(),
        };
        raw.graph_with_if(|handle| Choice {
            before: vec![choose(handle)],
            body: (0..of.kernels as usize).map(|at| bump(at.checked_sub(1))).collect(),
            behind: bump(None),
        })
    }
}

/// The library's graph, guarded or not.
struct Ours<'l> {
    library: &'l Library,
    graph: Graph<()>,
    x: Buffer<f32>,
    _flag: Scalar<u32>,
}

impl<'l> Ours<'l> {
    fn new(library: &'l Library, of: If, guarded: bool) -> Result<Ours<'l>, Complaint> {
        let mut x = library.device.zeros::<f32>((of.blocks * THREADS) as usize)?;
        let flag = library.device.scalar(u32::from(of.taken))?;
        let graph = library.device.graph().guarded(guarded).record(|r: &mut Recorder<'_>| {
            r.when(nonzero(&flag), |r| (0..of.kernels).try_for_each(|_| r.run(library.kernels.bump(&mut x))))?;
            r.run(library.kernels.bump(&mut x))
        })?;
        Ok(Ours { library, graph, x, _flag: flag })
    }

    fn block(&mut self, launches: u32) -> Result<f64, Complaint> {
        let (library, graph) = (self.library, &mut self.graph);
        let launch = || {
            drop(graph.launch(&library.stream)?);
            Ok(())
        };
        Way::BackToBack.time(launches, launch, || library.wait())
    }
}

fn measure_one(round: &Round<'_, '_>, of: If, launches: u32) -> Result<Row, Complaint> {
    let (raw, library, way) = (round.raw, round.library, Way::BackToBack);
    let (stream, functions) = (raw.stream()?, Functions::new(raw)?);
    let x = raw.floats(&vec![0.0; (of.blocks * THREADS) as usize])?;
    // Looked at as a whole number: not zero where it is taken.
    let flag = raw.floats(&[if of.taken { 1.0 } else { 0.0 }])?;
    let graph = functions.graph(raw, (x.address(), flag.address()), of)?;
    let mut ours = [Ours::new(library, of, false)?, Ours::new(library, of, true)?];
    let mut sides: Vec<(&'static str, Contender<'_>)> =
        vec![(RAW, Box::new(|| way.time(launches, || Ok(graph.launch(&stream)?), || Ok(stream.synchronize()?))))];
    for (recorded, name) in ours.iter_mut().zip([LIBRARY, GUARDED]) {
        sides.push((name, Box::new(move || recorded.block(launches))));
    }
    let row = round.compare(launches, sides)?;
    let of_each = 1 + if of.taken { of.kernels } else { 0 };
    let bumps = (f64::from(round.launches_in_all(launches)) * f64::from(of_each)) as f32;
    raw::all_equal("the graph by hand", &raw::read_floats(&x)?, bumps)?;
    ours.iter().try_for_each(|recorded| library.all_equal("replays", &recorded.x, bumps))?;
    Ok(row)
}
