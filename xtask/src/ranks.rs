//! `cargo xtask ranks`: every form of work that several ranks do together, on 1, 2, 4 and 8 software devices of one machine.
//!
//! Each form runs with every number of ranks that it makes sense for, under many seeds, with every detector on. The last line is
//!
//! ```text
//! ranks: N forms x 1, 2, 4, 8 devices x S seeds, F findings
//! ```
//!
//! A failure and what a detector reported count alike. `--full` is 100 seeds; without it a few, and the first line says so.

use std::time::Instant;

use dacapo_suite::ranks::{self, RankForm, SIZES};

/// Seeds of a run in full.
const SEEDS_FULL: u64 = 100;
/// Seeds without `--full`.
const SEEDS_FEW: u64 = 4;
/// Failures of one form that are printed; the rest are counted.
const FAILURES_PRINTED: usize = 3;

/// Which forms are run, and how often.
#[derive(clap::Args)]
pub struct Scale {
    /// 100 seeds instead of 4
    #[arg(long)]
    full: bool,
    /// Only this seed
    #[arg(long, conflicts_with = "full")]
    seed: Option<u64>,
    /// Only forms whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Only with so many ranks
    #[arg(long)]
    size: Option<usize>,
}

/// Runs the forms.
///
/// # Errors
///
/// - What failed, in numbers; or no form has that name.
pub fn run(scale: &Scale) -> Result<(), String> {
    let only = scale.only.as_deref().unwrap_or_default();
    let forms: Vec<RankForm> = ranks::all().into_iter().filter(|form| form.name.contains(only)).collect();
    if forms.is_empty() {
        return Err(format!("no form's name contains `{only}`"));
    }
    let seeds: Vec<u64> = match scale.seed {
        Some(seed) => vec![seed],
        None => (0..if scale.full { SEEDS_FULL } else { SEEDS_FEW }).collect(),
    };
    let full = if seeds.len() as u64 >= SEEDS_FULL { "in full" } else { "scaled down: `--full` is 100 seeds" };
    println!("{} forms, {} seeds ({full})", forms.len(), seeds.len());
    // A panic is a failure of the form, and is told with it.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let (mut findings, mut runs) = (0, 0);
    for form in &forms {
        let began = Instant::now();
        let mut failures = Vec::new();
        let sizes =
            SIZES.into_iter().filter(|size| *size >= form.ranks_min && scale.size.is_none_or(|only| only == *size));
        for (size, seed) in sizes.flat_map(|size| seeds.iter().map(move |seed| (size, *seed))) {
            runs += 1;
            failures.extend(ranks::on_software(form, size, seed).err().map(|failure| (size, seed, failure)));
        }
        let word = if failures.is_empty() { "passed" } else { "FAILED" };
        println!("{:<36} {word} {:>7.2} s", form.name, began.elapsed().as_secs_f64());
        for (size, seed, failure) in failures.iter().take(FAILURES_PRINTED) {
            println!("\nseed {seed:#x} failed in {} on {size} devices: {failure}", form.name);
            println!("reproduce: cargo xtask ranks --only {} --size {size} --seed {seed}\n", form.name);
        }
        findings += failures.len();
    }
    std::panic::set_hook(hook);
    println!("{runs} runs");
    println!("ranks: {} forms x 1, 2, 4, 8 devices x {} seeds, {findings} findings", forms.len(), seeds.len());
    if findings == 0 { Ok(()) } else { Err(format!("{findings} runs of forms failed")) }
}
