//! Solves a Poisson problem by conjugate gradients, in three ways, and checks all of them.
//!
//! - Two right-hand sides: a smooth one, whose solution is known, and a random one.
//! - Every way must give what plain Rust gives, bit for bit; the residual is computed anew on the host; the error must fall
//!   with the square of the step. Otherwise the exit code is 1.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use dacapo::{Device, Result};
use dacapo_example_solve::verdict::{self, Check};
use dacapo_example_solve::ways::{self, Way};
use dacapo_example_solve::{Outcome, Problem, Solver, Stop, reference};
use indicatif::{ProgressBar, ProgressStyle};

/// Solves a Poisson problem on the unit square by conjugate gradients, with every number of the loop in device memory.
///
/// A smooth right-hand side, whose solution is known, then a random one. The exit code is 0 when every way gave what plain
/// Rust gives to the last bit, the tolerance was reached, and residual and error are as they must be; 1 when not, 2 when an
/// option is wrong or the device refused.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Inner points of a row, and rows
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u16).range(2..=4096))]
    size: u16,
    /// What the residual must fall to, as a part of the right-hand side's norm
    #[arg(long, default_value_t = 1e-5, value_parser = tolerance)]
    tolerance: f32,
    /// No more rounds than these
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    at_most: u32,
    /// Who runs the loop, and how
    #[arg(long, value_enum, default_value_t = Which::All)]
    way: Which,
    /// Where to solve
    #[arg(long, value_enum, default_value_t = Where::Best)]
    device: Where,
    /// Decides the random right-hand side
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    /// Kernel by kernel; the host reads the residual after each round
    Eager,
    /// A graph of one round; the host reads the residual after each launch
    Rounds,
    /// A graph of the whole loop, launched once; the device decides
    Launch,
    /// All of them, compared
    All,
}

#[derive(Clone, Copy, ValueEnum)]
enum Where {
    /// A GPU where there is one, else the software device
    Best,
    /// The first GPU
    Cuda,
    /// The software device: no GPU, no speed, the same results
    Software,
}

fn tolerance(text: &str) -> std::result::Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "not a number".to_string())?;
    // Below, the residual itself is nothing but rounding.
    if (1e-7..1.0).contains(&value) { Ok(value) } else { Err("must be at least 1e-7 and below 1".to_string()) }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::from(2)
        }
    }
}

/// Solves, prints, and says whether all checks held.
fn run(arguments: &Arguments) -> Result<bool> {
    let device = match arguments.device {
        Where::Best => Device::best()?,
        Where::Cuda => Device::cuda(0)?,
        Where::Software => Device::software()?,
    };
    let (side, seed) = (usize::from(arguments.size), arguments.seed);
    let stop = Stop { tolerance: arguments.tolerance, at_most: arguments.at_most as usize };
    println!("{}: {side} x {side} points, f32", device.properties().name);
    let mut checks = Vec::new();
    let problems = [
        ("smooth", Problem::smooth(side), Problem::smooth(side / 2)),
        ("random", Problem::random(side, seed), Problem::random(side / 2, seed)),
    ];
    for (name, problem, coarse) in &problems {
        let reference = reference::solve(problem, stop);
        let mut solver = Solver::new(&device, problem)?;
        let kernels = solver.kernels_per_round()?;
        println!("{name} right-hand side: {} rounds of {kernels} kernels", reference.rounds);
        for &way in arguments.way.ways() {
            let outcome = solve(&mut solver, way, stop, reference.rounds)?;
            if !device.is_software() {
                println!("  {}", times(way, &outcome));
            }
            let found = [
                Some(verdict::same(&outcome, &reference)),
                Some(verdict::reached(&outcome, stop)),
                Some(verdict::residual(problem, &outcome)),
                verdict::error(problem, coarse, &outcome, stop),
            ];
            let named = |check: Check| Check { what: format!("{name}, {}: {}", way.name(), check.what), ..check };
            checks.extend(found.into_iter().flatten().map(named));
        }
    }
    if device.is_software() {
        println!("no times: those of the software device say nothing about a GPU");
    }
    checks.extend(device.findings().into_iter().map(|what| Check { what, held: false }));
    for check in &checks {
        println!("{}  {}", if check.held { "ok    " } else { "FAILED" }, check.what);
    }
    Ok(checks.iter().all(|check| check.held))
}

/// One way, with a bar where there is a terminal.
fn solve(solver: &mut Solver, way: Way, stop: Stop, rounds: usize) -> Result<Outcome> {
    if !solver.device().is_software() {
        // The first launches of a process load what later ones find.
        ways::run(way, solver, Stop { at_most: 3, ..stop }, || ())?;
    }
    let progress = ProgressBar::new(rounds as u64);
    if let Ok(style) = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len}") {
        progress.set_style(style);
    }
    progress.set_message(way.name());
    let outcome = ways::run(way, solver, stop, || progress.inc(1));
    progress.finish_and_clear();
    outcome
}

fn times(way: Way, outcome: &Outcome) -> String {
    let all = outcome.elapsed.as_secs_f64();
    let each = all * 1e6 / outcome.rounds.max(1) as f64;
    format!("{:<8} {:>9.3} ms, {each:>7.2} us a round", way.name(), all * 1e3)
}

impl Which {
    fn ways(self) -> &'static [Way] {
        match self {
            Which::Eager => &[Way::Eager],
            Which::Rounds => &[Way::Rounds],
            Which::Launch => &[Way::Launch],
            Which::All => &[Way::Eager, Way::Rounds, Way::Launch],
        }
    }
}
