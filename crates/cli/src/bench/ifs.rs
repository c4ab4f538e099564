//! An `if` around a few tiny kernels on the device's clock, taken and not taken: by hand with an IF node, and by the
//! library with a conditional node and with guarded kernels.
//!
//! Each graph is a kernel that looks at a flag, what it decides about, and a kernel behind that.

use dacapo::flow::nonzero;
use dacapo::{Buffer, Graph, Recorder, Scalar};
use dacapo_driver::types::CUfunction;

use super::blocks::Contender;
use super::chain::{ELEMENTS, Way};
use super::compare::{Bench, LIBRARY, RAW, Round, Row};
use super::library::Library;
use super::raw::{self, Choice, KernelNode, PTX, RawGraph, THREADS};
use crate::complaint::Complaint;
use crate::session::Session;

/// Names, kernels inside, and whether they run.
pub const IFS: [(&str, u32, bool); 6] = [
    ("if-1/taken", 1, true),
    ("if-1/not-taken", 1, false),
    ("if-2/taken", 2, true),
    ("if-2/not-taken", 2, false),
    ("if-4/taken", 4, true),
    ("if-4/not-taken", 4, false),
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
    let wanted = IFS.into_iter().filter(|(name, ..)| bench.wants(name));
    let measured = wanted.map(|(name, kernels, taken)| {
        let launches = Way::BackToBack.launches(bench, kernels + 2);
        bench.rounds(name, |round| measure_one(round, kernels, taken, launches))
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

    fn graph(&self, raw: &raw::Raw<'d>, x: u64, flag: u64, kernels: u32) -> Result<RawGraph<'d>, Complaint> {
        let bump = |after: Option<usize>| KernelNode {
            function: self.bump,
            blocks: [ELEMENTS.div_ceil(THREADS), 1, 1],
            threads: THREADS,
            words: vec![x, u64::from(ELEMENTS)],
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
            body: (0..kernels as usize).map(|at| bump(at.checked_sub(1))).collect(),
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
    fn new(library: &'l Library, kernels: u32, taken: bool, guarded: bool) -> Result<Ours<'l>, Complaint> {
        let mut x = library.device.zeros::<f32>(ELEMENTS as usize)?;
        let flag = library.device.scalar(u32::from(taken))?;
        let graph = library.device.graph().guarded(guarded).record(|r: &mut Recorder<'_>| {
            r.when(nonzero(&flag), |r| (0..kernels).try_for_each(|_| r.run(library.kernels.bump(&mut x))))?;
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

fn measure_one(round: &Round<'_, '_>, kernels: u32, taken: bool, launches: u32) -> Result<Row, Complaint> {
    let (raw, library, way) = (&round.raw, &round.library, Way::BackToBack);
    let (stream, functions) = (raw.stream()?, Functions::new(raw)?);
    let x = raw.floats(&[0.0; ELEMENTS as usize])?;
    // Looked at as a whole number: not zero where it is taken.
    let flag = raw.floats(&[if taken { 1.0 } else { 0.0 }])?;
    let graph = functions.graph(raw, x.address(), flag.address(), kernels)?;
    let mut ours = [Ours::new(library, kernels, taken, false)?, Ours::new(library, kernels, taken, true)?];
    let mut sides: Vec<(&'static str, Contender<'_>)> =
        vec![(RAW, Box::new(|| way.time(launches, || Ok(graph.launch(&stream)?), || Ok(stream.synchronize()?))))];
    for (recorded, name) in ours.iter_mut().zip([LIBRARY, GUARDED]) {
        sides.push((name, Box::new(move || recorded.block(launches))));
    }
    let row = round.compare(launches, sides)?;
    let of_each = 1 + if taken { kernels } else { 0 };
    let bumps = (f64::from(round.launches_in_all(launches)) * f64::from(of_each)) as f32;
    raw::all_equal("the graph by hand", &raw::read_floats(&x)?, bumps)?;
    ours.iter().try_for_each(|recorded| library.all_equal("replays", &recorded.x, bumps))?;
    Ok(row)
}
