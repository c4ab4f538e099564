//! `cargo xtask forms`: every form of recording and launching, on a fresh software device for each of many seeds.
//!
//! Prints a line for each form, then each failure with the line to paste that reproduces it. The last line is
//!
//! ```text
//! forms: N forms x S seeds, F findings
//! ```
//!
//! A failure and what a detector reported count alike. A form for which this machine lacks something is named and not counted. `--full` is 200 seeds; without it a few, as continuous
//! integration runs them, and the first line says so.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dacapo_suite::forms::{self, Form};

/// Seeds of a run in full.
const SEEDS_FULL: u64 = 200;
/// Seeds without `--full`.
const SEEDS_FEW: u64 = 10;
/// Failures of one form that are printed; the rest are counted.
const FAILURES_PRINTED: usize = 3;

/// Which forms are run, and how often.
#[derive(clap::Args)]
pub struct Scale {
    /// 200 seeds instead of 10
    #[arg(long)]
    full: bool,
    /// So many seeds
    #[arg(long, conflicts_with = "full")]
    seeds: Option<u64>,
    /// Only this seed
    #[arg(long, conflicts_with_all = ["full", "seeds"], value_parser = seed)]
    seed: Option<u64>,
    /// Only forms whose name contains this
    #[arg(long)]
    only: Option<String>,
}

fn seed(text: &str) -> Result<u64, std::num::ParseIntError> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    }
}

/// What became of one form.
#[derive(Default)]
struct Tally {
    time: Duration,
    failures: Vec<(u64, String)>,
}

/// Runs the forms; an error if one failed or a detector reported anything.
///
/// # Errors
///
/// - What failed, in numbers; or no form has that name.
pub fn run(scale: &Scale) -> Result<(), String> {
    let only = scale.only.as_deref().unwrap_or_default();
    let forms: Vec<Form> = forms::all().into_iter().filter(|form| form.name.contains(only)).collect();
    if forms.is_empty() {
        return Err(format!("no form's name contains `{only}`"));
    }
    let seeds: Vec<u64> = match (scale.seed, scale.seeds) {
        (Some(seed), _) => vec![seed],
        (None, Some(count)) => (0..count).collect(),
        (None, None) => (0..if scale.full { SEEDS_FULL } else { SEEDS_FEW }).collect(),
    };
    let (missing, forms): (Vec<Form>, Vec<Form>) = forms.into_iter().partition(|form| form.lacks().is_some());
    let full = if seeds.len() as u64 >= SEEDS_FULL { "in full" } else { "scaled down: `--full` is 200 seeds" };
    println!("{} forms, {} seeds ({full})", forms.len(), seeds.len());
    // A panic is a failure of the form, and is told with it.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let tallies = run_all(&forms, &seeds);
    std::panic::set_hook(hook);
    let mut findings = 0;
    for (form, tally) in forms.iter().zip(&tallies) {
        let word = if tally.failures.is_empty() { "passed" } else { "FAILED" };
        println!("{:<36} {word} {:>9.1} ms a seed", form.name, tally.time.as_secs_f64() * 1e3 / seeds.len() as f64);
        findings += tally.failures.len();
    }
    for form in &missing {
        println!("{:<36} NOT RUN: there is no {} here", form.name, form.lacks().unwrap_or_default());
    }
    for (form, tally) in forms.iter().zip(&tallies) {
        for (seed, failure) in tally.failures.iter().take(FAILURES_PRINTED) {
            println!("\nseed {seed:#x} failed in {}: {failure}", form.name);
            println!("reproduce: cargo xtask forms --only {} --seed {seed:#x}", form.name);
        }
        if tally.failures.len() > FAILURES_PRINTED {
            println!("\n{}: {} more seeds failed", form.name, tally.failures.len() - FAILURES_PRINTED);
        }
    }
    println!("forms: {} forms x {} seeds, {findings} findings", forms.len(), seeds.len());
    if findings == 0 { Ok(()) } else { Err(format!("{findings} runs of forms failed")) }
}

/// One worker a core takes the forms in turn.
fn run_all(forms: &[Form], seeds: &[u64]) -> Vec<Tally> {
    let tallies: Vec<Mutex<Tally>> = forms.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((form, place)) = forms.iter().zip(&tallies).nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let began = Instant::now();
                    let failed = |&seed: &u64| forms::on_software(form, seed).err().map(|failure| (seed, failure));
                    let failures = seeds.iter().filter_map(failed).collect();
                    let tally = Tally { time: began.elapsed(), failures };
                    *place.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = tally;
                }
            });
        }
    });
    tallies.into_iter().map(|tally| tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)).collect()
}
