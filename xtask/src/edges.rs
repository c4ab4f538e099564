//! `cargo xtask edges`: every legal choice of programmatic edges, on small graphs, with kernels that begin as early as they may.
//!
//! All graphs of up to four kernels over two buffers, and random ones of six over three, some of whose kernels are switched off,
//! signal by themselves or read constants (`crates/suite/src/edges`). What any choice leaves must be what the host computes.
//! Here one of every 41 graphs and 400 random ones; `--full` is all of them and 100,000, best as
//! `cargo run --release -p xtask -- edges --full`. The last line is
//!
//! ```text
//! edges: G graphs, C choices of E edges, 0 wrong, 0 findings
//! ```

mod mutants;

use std::time::Instant;

use dacapo_suite::edges::{Checked, Checker, Draws};

/// How many graphs.
#[derive(clap::Args)]
pub struct Scale {
    /// All small graphs, and 100,000 random ones
    #[arg(long)]
    full: bool,
    /// See that a missing rule is found, each in xtask/mutants/edges; slow
    #[arg(long, conflicts_with = "full")]
    mutants: bool,
}

/// Every so many graphs the device is a fresh one, of another seed.
const OF_A_DEVICE: u64 = 1_000;

/// Checks the graphs.
///
/// # Errors
///
/// - The first choice that gave another result; what the device found.
pub fn run(scale: &Scale) -> Result<(), String> {
    if scale.mutants {
        return mutants::run();
    }
    let began = Instant::now();
    let (step, random) = if scale.full { (1, 100_000) } else { (41, 400) };
    let all = Draws::all(4);
    let small = (0..all.count().unwrap_or(0)).step_by(step).map(|number| (all, number));
    let graphs = small.chain((0..random).map(|number| (Draws::random(), number)));
    let (mut graphs_done, mut sum, mut findings) = (0u64, Checked::default(), 0);
    let mut checker = None;
    for (draws, number) in graphs {
        if graphs_done.checked_rem(OF_A_DEVICE) == Some(0) {
            findings += checker.take().map_or(0, |checker: Checker| checker.device().findings().len());
        }
        let checker = match &mut checker {
            Some(checker) => checker,
            none => none.insert(Checker::new(graphs_done).map_err(|error| format!("{error:#}"))?),
        };
        match checker.check(&draws.graph(number), number).map_err(|error| format!("{error:#}"))? {
            Ok(done) => (sum.edges, sum.choices) = (sum.edges + done.edges, sum.choices + done.choices),
            Err(wrong) => return Err(format!("{draws:?}, graph {number}: {wrong}")),
        }
        graphs_done += 1;
    }
    findings += checker.map_or(0, |checker| checker.device().findings().len());
    let full = if scale.full { "in full" } else { "scaled down: `--full` is all small graphs and 100,000 random ones" };
    println!("{full}, {:.0} s", began.elapsed().as_secs_f64());
    let (choices, edges) = (sum.choices, sum.edges);
    println!("edges: {graphs_done} graphs, {choices} choices of {edges} edges, 0 wrong, {findings} findings");
    if findings == 0 { Ok(()) } else { Err(format!("{findings} findings")) }
}
