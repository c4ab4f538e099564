//! The loop around a round, written in more than one way. All of them give the same bits.
//!
//! - [`eager`]: each round's kernels as launches of their own, then the host reads the residual and decides.
//! - [`rounds`]: a round is one graph, launched again and again; the host still reads the residual after each.
//! - [`launch`]: the whole loop is one graph, launched once; the device looks at the residual itself.
//!
//! In the first two, the device waits for the host once a round.

use std::time::{Duration, Instant};

use dacapo::flow::{above, up_to};
use dacapo::{Recorder, Result, Slot, Stream, copy};

use crate::solver::Solver;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The norm of what is left must fall below this part of the norm of b.
    pub tolerance: f32,
    /// No more rounds than these.
    pub at_most: usize,
}

/// Which of the ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// [`eager`].
    Eager,
    /// [`rounds`].
    Rounds,
    /// [`launch`].
    Launch,
}

impl Way {
    /// Its name, as an option has it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Eager => "eager",
            Way::Rounds => "rounds",
            Way::Launch => "launch",
        }
    }
}

/// How one run of the loop went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How many rounds it took.
    pub rounds: usize,
    /// The squared norm of what was left before the first round.
    pub first: f32,
    /// The same after the last.
    pub last: f32,
    /// Whether the tolerance was reached.
    pub reached: bool,
    /// The solution.
    pub x: Vec<f32>,
    /// The time from the start to the last residual, without making graphs and without reading the solution.
    pub elapsed: Duration,
}

impl Outcome {
    /// The norm of what was left in the end, as a part of that of b.
    pub fn residual(&self) -> f32 {
        if self.first > 0.0 { (self.last / self.first).sqrt() } else { self.last.sqrt() }
    }
}

/// Solves in this way, from the start. `done` is told of each round.
///
/// # Errors
///
/// - What the device answered.
pub fn run(way: Way, solver: &mut Solver, stop: Stop, done: impl Fn()) -> Result<Outcome> {
    match way {
        Way::Eager => eager(solver, stop, done),
        Way::Rounds => rounds(solver, stop, done),
        Way::Launch => launch(solver, stop, done),
    }
}

/// Each round as launches on a stream. `done` is told of each.
///
/// # Errors
///
/// - What the device answered.
pub fn eager(solver: &mut Solver, stop: Stop, done: impl Fn()) -> Result<Outcome> {
    let stream = solver.device().stream()?;
    host_loop(solver, &stream, stop, done, |solver| stream.run(|r: &mut Recorder<'_>| solver.round(r)))
}

/// One graph of a round, recorded before the start and launched for each. `done` is told of each.
///
/// # Errors
///
/// - What the device answered.
pub fn rounds(solver: &mut Solver, stop: Stop, done: impl Fn()) -> Result<Outcome> {
    let stream = solver.device().stream()?;
    let device = solver.device().clone();
    let mut graph = device.graph().label("round").record(|r| solver.round(r))?;
    graph.preload(&stream)?;
    host_loop(solver, &stream, stop, done, |_| graph.launch(&stream).map(drop))
}

/// The start and all rounds as one graph, recorded before the start and launched once. `done` is told of all rounds at the
/// end: before that, nobody on the host knows of one.
///
/// # Errors
///
/// - What the device answered.
pub fn launch(solver: &mut Solver, stop: Stop, done: impl Fn()) -> Result<Outcome> {
    let stream = solver.device().stream()?;
    let device = solver.device().clone();
    let at_most = Slot::new(stop.at_most.try_into().unwrap_or(u32::MAX));
    let mut first = device.scalar(0.0)?;
    let mut graph = device.graph().label("solve").record(|r| {
        solver.start(r, stop.tolerance)?;
        r.run(copy(solver.residual().as_slice(), first.as_mut_slice()))?;
        let go_on = above(solver.residual(), solver.limit());
        r.repeat_while(go_on, up_to(&at_most), |r| solver.round(r)).map(drop)
    })?;
    graph.preload(&stream)?;
    stream.synchronize()?;
    let started = Instant::now();
    graph.launch(&stream)?;
    let last = solver.residual().get(&stream)?;
    let elapsed = started.elapsed();
    let (first, limit, rounds) =
        (first.get(&stream)?, solver.limit().get(&stream)?, solver.rounds().get(&stream)? as usize);
    (0..rounds).for_each(|_| done());
    Ok(Outcome { rounds, first, last, reached: last <= limit, x: solver.solution(&stream)?, elapsed })
}

/// The loop of a host that reads the residual after each round.
fn host_loop(
    solver: &mut Solver,
    stream: &Stream,
    stop: Stop,
    done: impl Fn(),
    mut round: impl FnMut(&mut Solver) -> Result<()>,
) -> Result<Outcome> {
    stream.synchronize()?;
    let started = Instant::now();
    stream.run(|r: &mut Recorder<'_>| solver.start(r, stop.tolerance))?;
    let (first, limit) = (solver.residual().get(stream)?, solver.limit().get(stream)?);
    let (mut rounds, mut last) = (0, first);
    while last > limit && rounds < stop.at_most {
        round(solver)?;
        last = solver.residual().get(stream)?;
        rounds += 1;
        done();
    }
    let elapsed = started.elapsed();
    Ok(Outcome { rounds, first, last, reached: last <= limit, x: solver.solution(stream)?, elapsed })
}
