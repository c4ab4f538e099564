//! `cargo xtask ranks`: every form of work that several ranks do together, on 1, 2, 4 and 8 software devices of one machine.
//!
//! Each form runs with every number of ranks that it makes sense for, under many seeds, with every detector on. Then calls of NCCL
//! and of the driver fail in scenarios, and ranks die (`crates/suite/src/ranks/faults.rs`). The last lines are
//!
//! ```text
//! ranks: N forms x 1, 2, 4, 8 devices x S seeds, F findings
//! faults between ranks: C scenarios, N calls of NCCL, D driver calls, K deaths, 0 hangs, 0 panics, 0 leaked, 0 unnamed
//! ```
//!
//! A failure and what a detector reported count alike. `--full` is 100 seeds and every call of each scenario; without it a few
//! seeds and one call of so many, and the first line says so.

use std::time::Instant;

use dacapo_suite::ranks::{self, RankForm, SIZES, faults};

/// Seeds of a run in full.
const SEEDS_FULL: u64 = 100;
/// Seeds without `--full`.
const SEEDS_FEW: u64 = 4;
/// Without `--full`, one call of NCCL of so many fails, and one driver call of so many.
const STRIDES_FEW: (u64, u64) = (7, 60);
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
    /// Only the faults between ranks
    #[arg(long)]
    faults: bool,
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
    if !scale.faults {
        forms(scale)?;
    }
    if scale.only.is_none() && scale.seed.is_none() && scale.size.is_none() { run_faults(scale.full) } else { Ok(()) }
}

/// Faults between ranks.
fn run_faults(full: bool) -> Result<(), String> {
    let strides = if full { (1, 1) } else { STRIDES_FEW };
    let (began, mut told) = (Instant::now(), Vec::new());
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let tallies = tally(strides, &mut told);
    std::panic::set_hook(hook);
    let [nccl, driver, deaths] = tallies?;
    told.iter().take(10).for_each(|line| println!("{line}\n"));
    let all = nccl.and(driver).and(deaths);
    println!(
        "one call of NCCL of {}, one driver call of {}; {:.1} s",
        strides.0,
        strides.1,
        began.elapsed().as_secs_f64()
    );
    println!(
        "faults between ranks: {} scenarios, {} calls of NCCL, {} driver calls, {} deaths, {} hangs, {} panics, {} leaked, {} unnamed",
        faults::scenarios().len(),
        nccl.struck,
        driver.struck,
        deaths.struck,
        all.hangs,
        all.panics,
        all.leaked,
        all.unnamed
    );
    if all.is_good() { Ok(()) } else { Err("faults between ranks did harm".into()) }
}

fn tally(strides: (u64, u64), told: &mut Vec<String>) -> Result<[faults::Tally; 3], String> {
    let (mut nccl, mut driver) = (faults::Tally::default(), faults::Tally::default());
    for scenario in faults::scenarios() {
        nccl = nccl.and(faults::nccl_calls(&scenario, strides.0, told)?);
        driver = driver.and(faults::driver_calls(&scenario, strides.1, told)?);
    }
    Ok([nccl, driver, faults::deaths(told)?])
}

fn forms(scale: &Scale) -> Result<(), String> {
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
