//! Conjugate gradients of `examples/solve`, from the start until the tolerance holds, by one launch.
//!
//! - `solve/device` and `solve/host-launch`: against a graph of the same kernels and the same WHILE, made by hand. The time
//!   on the host is taken with a right-hand side that needs one round: a launch costs the host the same however many follow,
//!   and after 3 ms of waiting it varies by more than what is looked for.
//! - `solve/round`: against a graph of one round by hand, with the residual read back after each; microseconds a round of
//!   the whole, from the first launch until the host knows that it is over. Beside them the library's own graph of a round.
//!
//! Every side starts anew each time and must end with the same bits after the same number of rounds.

mod by_hand;

use std::time::Instant;

use dacapo::flow::{above, up_to};
use dacapo::{Graph, Recorder, Slot};
use dacapo_cli::bench::blocks::{Contender, each};
use dacapo_cli::bench::compare::{Bench, LIBRARY, RAW, Round, Row};
use dacapo_cli::bench::library::Library;
use dacapo_cli::bench::raw::Raw;
use dacapo_cli::complaint::Complaint;
use dacapo_example_solve::{Problem, Solver};

use by_hand::{ByHand, RoundByHand};

/// Until the residual is this part of what it was.
const TOLERANCE: f32 = 1e-5;
/// No solver comes near it.
const ROUNDS_MAX: u32 = 5000;

/// The names of the measurements.
pub const DEVICE: &str = "solve/device";
pub const HOST_LAUNCH: &str = "solve/host-launch";
pub const ROUND: &str = "solve/round";

/// Measures what was asked for.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<Row>, Complaint> {
    let side = if bench.small { 12 } else { 128 };
    let (problem, short) = (Problem::random(side, 1), Problem::sine(side));
    let launches = bench.launches(1, 20, 10, 20);
    let mut rows = Vec::new();
    if bench.wants(DEVICE) {
        rows.push(bench.rounds(DEVICE, |round| whole(round, &problem, Way::Device, launches))?);
    }
    if bench.wants(HOST_LAUNCH) {
        rows.push(bench.rounds(HOST_LAUNCH, |round| whole(round, &short, Way::HostLaunch, 5 * launches))?);
    }
    if bench.wants(ROUND) {
        rows.push(bench.rounds(ROUND, |round| a_round(round, &problem, launches.div_ceil(4)))?);
    }
    Ok(rows)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Replays back to back, by the device's clock.
    Device,
    /// The call alone, on an idle device.
    HostLaunch,
}

/// The whole loop by one launch, recorded and by hand.
fn whole(round: &Round<'_, '_>, problem: &Problem, way: Way, launches: u32) -> Result<Row, Complaint> {
    let (raw, again) = (ByHand::new(round.raw, problem)?, ByHand::new(round.raw_again, problem)?);
    let mut recorded = OneLaunch::new(round.library, problem)?;
    let by_hand: Contender<'_> = Box::new(|| raw.block(round.raw, way, launches));
    let by_hand_again: Contender<'_> = Box::new(|| again.block(round.raw_again, way, launches));
    let replayed: Contender<'_> = Box::new(|| recorded.block(round.library, round.raw, way, launches));
    let row = round.compare(launches, vec![(RAW, by_hand), (LIBRARY, replayed), ("raw again", by_hand_again)])?;
    let want = raw.outcome()?;
    same("the second graph by hand", &want, &again.outcome()?)?;
    same("replays", &want, &outcome(&recorded.solver, round.library)?)?;
    Ok(row)
}

/// One launch, against loops of the host.
fn a_round(round: &Round<'_, '_>, problem: &Problem, launches: u32) -> Result<Row, Complaint> {
    let library = round.library;
    let mut raw = RoundByHand::new(round.raw, problem)?;
    let mut recorded = OneLaunch::new(library, problem)?;
    let mut solver = Solver::new(&library.device, problem)?;
    let mut start = library.device.record(|r| solver.start(r, TOLERANCE))?;
    let mut one = library.device.record(|r| solver.round(r))?;
    let by_hand: Contender<'_> = Box::new(|| raw.block(launches));
    let at_once: Contender<'_> = Box::new(|| {
        timed(launches, || {
            recorded.graph.launch(&library.stream)?;
            let rounds = recorded.solver.rounds().get(&library.stream)?;
            Ok(rounds)
        })
    });
    let by_rounds: Contender<'_> = Box::new(|| {
        timed(launches, || {
            start.launch(&library.stream)?;
            let limit = solver.limit().get(&library.stream)?;
            let mut rounds = 0;
            loop {
                one.launch(&library.stream)?;
                rounds += 1;
                if solver.residual().get(&library.stream)? <= limit || rounds == ROUNDS_MAX {
                    return Ok(rounds);
                }
            }
        })
    });
    let sides = vec![(RAW, by_hand), (LIBRARY, at_once), ("a graph a round", by_rounds)];
    let row = round.compare(launches, sides)?;
    let want = raw.outcome()?;
    same("one launch", &want, &outcome(&recorded.solver, library)?)?;
    same("a graph a round", &want, &outcome(&solver, library)?)?;
    Ok(row)
}

/// Microseconds a round of so many whole solutions; `solve` says how many rounds one took.
fn timed(launches: u32, mut solve: impl FnMut() -> Result<u32, Complaint>) -> Result<f64, Complaint> {
    let (begun, mut rounds) = (Instant::now(), 0);
    for _ in 0..launches {
        rounds += solve()?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(rounds))
}

/// The library's side: the whole loop as one graph.
struct OneLaunch {
    solver: Solver,
    graph: Graph<()>,
    /// Kept, so that it is a number that could change, as a program has it.
    _at_most: Slot<u32>,
}

impl OneLaunch {
    fn new(library: &Library, problem: &Problem) -> Result<OneLaunch, Complaint> {
        let (mut solver, at_most) = (Solver::new(&library.device, problem)?, Slot::new(ROUNDS_MAX));
        let mut graph = library.device.record(|r: &mut Recorder<'_>| {
            solver.start(r, TOLERANCE)?;
            let go_on = above(solver.residual(), solver.limit());
            r.repeat_while(go_on, up_to(&at_most), |r| solver.round(r)).map(drop)
        })?;
        graph.preload(&library.stream)?;
        library.wait()?;
        Ok(OneLaunch { solver, graph, _at_most: at_most })
    }

    fn block(&mut self, library: &Library, raw: &Raw<'_>, way: Way, launches: u32) -> Result<f64, Complaint> {
        if way == Way::HostLaunch {
            let launch = || Ok(self.graph.launch(&library.stream).map(drop)?);
            return each(launches, launch, || library.wait());
        }
        let (start, end) = (raw.event(true)?, raw.event(true)?);
        raw.record_on(&start, &library.stream)?;
        for _ in 0..launches {
            self.graph.launch(&library.stream)?;
        }
        raw.record_on(&end, &library.stream)?;
        library.wait()?;
        Ok(end.microseconds_since(&start)? / f64::from(launches))
    }
}

/// What a solver ended with: how many rounds, and the solution's bits.
type Ended = (u32, Vec<u32>);

fn outcome(solver: &Solver, library: &Library) -> Result<Ended, Complaint> {
    let (rounds, x) = (solver.rounds().get(&library.stream)?, solver.solution(&library.stream)?);
    Ok((rounds, x.into_iter().map(f32::to_bits).collect()))
}

fn same(whose: &str, want: &Ended, got: &Ended) -> Result<(), Complaint> {
    if want.0 == 0 || want.0 == ROUNDS_MAX {
        return Err(Complaint::new(format!("the graph by hand ended after {} rounds", want.0)));
    }
    if want == got {
        return Ok(());
    }
    let what = match want.0 == got.0 {
        true => "other bits in the solution".to_string(),
        false => format!("{} rounds instead of {}", got.0, want.0),
    };
    Err(Complaint::new(format!("{whose}: {what}"))
        .help("this is a bug; `dacapo doctor` tells whether the driver works at all"))
}
