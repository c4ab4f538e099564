//! `cargo xtask programs`: random safe programs over the library, held against a model on the host.
//!
//! Each is drawn from a seed and run on a fresh software device with every detector on (`crates/suite/src/chance`). How
//! often each kind of thing occurred is printed; a kind that did not occur is an error. The last line is
//!
//! ```text
//! programs: N programs, C with control flow, T threaded, F with faults, 0 wrong, 0 leaked, 0 findings, 0 hangs
//! ```
//!
//! `--full` is 120,000 programs, best as `cargo run --release -p xtask -- programs --full`. One that fails is made
//! shorter and printed as a Rust test; `--seed N` runs one aloud.

mod mutants;

use std::time::{Duration, Instant};

use dacapo_suite::chance::{self, Crowd, Failure};

/// How many programs, and from which seed.
#[derive(clap::Args)]
pub struct Scale {
    /// 120,000 programs instead of 2,000
    #[arg(long)]
    full: bool,
    /// So many programs
    #[arg(long, conflicts_with = "full")]
    programs: Option<u64>,
    /// Only the program of this seed, aloud
    #[arg(long)]
    seed: Option<u64>,
    /// See that programs find the mistakes in xtask/mutants/programs; slow
    #[arg(long)]
    mutants: bool,
    /// Stop at the first program that fails, and say how many it took
    #[arg(long, hide = true)]
    hunt: bool,
}

/// From so many programs on every kind must occur.
const ENOUGH: u64 = 2_000;
/// So many programs that fail end a run: the first ones say enough.
const FAILURES_MAX: usize = 5;

/// How long a program that fails is made shorter.
const SHRINKING: Duration = Duration::from_secs(20);

/// Runs the programs.
///
/// # Errors
///
/// - A program failed, or a kind of thing did not occur.
pub fn run(scale: &Scale) -> Result<(), String> {
    if let Some(seed) = scale.seed {
        return aloud(seed);
    }
    if scale.mutants {
        return mutants::run();
    }
    let count = scale.programs.unwrap_or(if scale.full { 120_000 } else { 2_000 });
    let full = if count >= 100_000 { "in full" } else { "scaled down: `--full` is 120,000" };
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(8));
    println!("{count} programs on {workers} threads ({full})");
    let began = Instant::now();
    let crowd = chance::many(0, count, workers, if scale.hunt { 1 } else { FAILURES_MAX }, hung);
    if let (true, Some(found)) = (scale.hunt, crowd.found.first()) {
        let first = found.failure.to_string().lines().next().unwrap_or_default().to_string();
        println!("found after {} programs, seed {}: {first}", crowd.programs, found.seed);
        return Err("a program failed".into());
    }
    print!("{}", crowd.tally);
    println!("{:.1} s", began.elapsed().as_secs_f64());
    for found in &crowd.found {
        println!("seed {}: {}", found.seed, found.failure);
        println!("reproduce: cargo xtask programs --seed {}", found.seed);
        let short = chance::shrink(&found.program, &found.failure.kind(), SHRINKING);
        println!("made shorter, as a test of crates/suite/tests/chance:\n");
        println!("{}", chance::print(&format!("seed_{}", found.seed), &short));
    }
    let missing = if count >= ENOUGH && crowd.found.is_empty() { crowd.tally.missing() } else { Vec::new() };
    println!("{}", verdict(&crowd, 0));
    match (crowd.found.len(), missing.as_slice()) {
        (0, []) => Ok(()),
        (0, missing) => Err(format!("did not occur: {}", missing.join(", "))),
        (failed, _) => Err(format!("{failed} programs failed")),
    }
}

fn verdict(crowd: &Crowd, hangs: u64) -> String {
    let of = |wanted: fn(&Failure) -> bool| crowd.found.iter().filter(|found| wanted(&found.failure)).count();
    format!(
        "programs: {} programs, {} with control flow, {} threaded, {} with faults, {} wrong, {} leaked, {} findings, \
         {hangs} hangs",
        crowd.programs,
        crowd.flows,
        crowd.threaded,
        crowd.struck,
        of(|failure| matches!(failure, Failure::Wrong(_) | Failure::Panic(_))),
        of(|failure| matches!(failure, Failure::Leaked(_))),
        of(|failure| matches!(failure, Failure::Finding(_))),
    )
}

/// A program that does not end: nothing can end its thread, so that the process ends with it.
fn hung(seed: u64) {
    // Without its fault, if it has one: that is known only to a run.
    println!("seed {seed} does not end:\n{}", chance::print(&format!("seed_{seed}"), &chance::draw(seed).program));
    println!("{}", verdict(&Crowd::default(), 1));
    std::process::exit(1);
}

fn aloud(seed: u64) -> Result<(), String> {
    let (program, played) = chance::one(seed);
    println!("{}", chance::print(&format!("seed_{seed}"), &program));
    print!("{}", played.tally);
    match played.failure {
        None => {
            println!("seed {seed}: as the model says");
            Ok(())
        }
        Some(failure) => Err(format!("seed {seed}: {failure}")),
    }
}
