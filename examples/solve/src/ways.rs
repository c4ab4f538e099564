//! The loop around a round, written in more than one way. All of them give the same bits.
//!
//! - [`eager`]: each round's kernels as launches of their own, then the host reads the residual and decides.
//! - [`rounds`]: a round is one graph, launched again and again; the host still reads the residual after each.
//!
//! In both, the device waits for the host once a round. The way without that, the whole loop in one launch, needs loops on
//! the device; it belongs here, as a third function with the same signature over [`Solver::round`],
//! [`Solver::residual`], [`Solver::limit`] and [`Solver::rounds`].

use std::time::{Duration, Instant};

use dacapo::{Recorder, Result, Stream};

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
}

impl Way {
    /// Its name, as an option has it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Eager => "eager",
            Way::Rounds => "rounds",
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
