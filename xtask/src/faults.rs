//! `cargo xtask faults`: every driver call of every scenario fails in turn with every lawful fault.
//!
//! Prints a line for each scenario, then what went wrong with the line to paste that reproduces it. The last line is
//!
//! ```text
//! faults: N injected, 0 leaked, 0 streams capturing, 0 panics, 0 findings
//! ```
//!
//! Any other number is an error, and so is an error that does not name its call, a wrong result, or a device that does not
//! work afterwards: those are counted in a line before it. Without `--full` every so-many-th fault is tried, as
//! continuous integration does, and the first line says so.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dacapo_driver::{Call, lawful};
use dacapo_suite::faults::{self, Scenario, Verdict};

/// Without `--full`, one fault of so many is tried, and no more of a scenario than this: a tuning makes hundreds of calls that
/// are all alike.
const STRIDE: usize = 24;
const SHOTS_MAX: usize = 48;
/// Failures that are printed for each scenario; the rest are counted.
const FAILURES_PRINTED: usize = 3;

/// Which faults are injected.
#[derive(clap::Args)]
pub struct Scale {
    /// Every fault instead of one of 24, and 48 of a scenario at most
    #[arg(long)]
    full: bool,
    /// Only scenarios whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Decides the software driver's choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only this call of the scenario, counted from 0
    #[arg(long)]
    call: Option<u64>,
    /// Only this lawful fault of the call, counted from 0
    #[arg(long)]
    fault: Option<usize>,
}

/// One fault to be tried.
struct Shot<'s> {
    scenario: &'s Scenario,
    call: Call,
    nth: u64,
    which: usize,
}

/// Injects the faults; an error if anything but the promised came of one.
///
/// # Errors
///
/// - What went wrong, in numbers; or no scenario has that name.
pub fn run(scale: &Scale) -> Result<(), String> {
    let only = scale.only.as_deref().unwrap_or_default();
    let scenarios: Vec<Scenario> = faults::all().into_iter().filter(|scenario| scenario.name.contains(only)).collect();
    if scenarios.is_empty() {
        return Err(format!("no scenario's name contains `{only}`"));
    }
    // A panic is counted and told with its fault; those that scenarios mean are many.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = run_all(scale, &scenarios);
    std::panic::set_hook(hook);
    outcome
}

fn run_all(scale: &Scale, scenarios: &[Scenario]) -> Result<(), String> {
    let aimed = scale.call.is_some() || scale.fault.is_some();
    let is_full = scale.full || aimed;
    let mut shots = Vec::new();
    let (mut calls_in_all, mut possible, mut broken) = (0, 0, 0);
    for scenario in scenarios {
        let calls = match faults::calls_of(scenario, scale.seed) {
            Ok(calls) => calls,
            Err(error) => {
                println!("{}: {error}", scenario.name);
                broken += 1;
                continue;
            }
        };
        calls_in_all += calls.len();
        let faults = (0..)
            .zip(&calls)
            .flat_map(|(nth, &call)| (0..lawful(call).len()).map(move |which| Shot { scenario, call, nth, which }));
        let faults: Vec<Shot<'_>> = faults.collect();
        possible += faults.len();
        let stride = if is_full { 1 } else { STRIDE.max(faults.len().div_ceil(SHOTS_MAX)) };
        shots.extend(faults.into_iter().step_by(stride));
    }
    shots.retain(|shot| scale.call.is_none_or(|nth| nth == shot.nth));
    shots.retain(|shot| scale.fault.is_none_or(|which| which == shot.which));
    let scaled = match is_full {
        true => "in full".to_string(),
        false => {
            format!("scaled down: one of {STRIDE}, and {SHOTS_MAX} of a scenario at most; `--full` is all of them")
        }
    };
    println!(
        "{} scenarios, {calls_in_all} driver calls, {possible} lawful faults of them, {} tried ({scaled})",
        scenarios.len(),
        shots.len()
    );
    if !aimed {
        starve(scenarios, scale.seed)?;
    }
    let results = shoot(&shots, scale.seed);
    report(scenarios, &shots, &results, scale.seed)?;
    if broken == 0 { Ok(()) } else { Err(format!("{broken} scenarios fail without any fault")) }
}

/// No memory from each allocation of each scenario on.
fn starve(scenarios: &[Scenario], seed: u64) -> Result<(), String> {
    let (mut starved, mut told, mut bad) = (0, 0, 0);
    for scenario in scenarios {
        let calls = faults::calls_of(scenario, seed)?;
        for (nth, _) in (0..).zip(&calls).filter(|(_, call)| faults::TAKES_MEMORY.contains(call)) {
            let verdict = faults::starve(scenario, seed, nth);
            starved += usize::from(verdict.struck.is_some());
            told += usize::from(verdict.out_of_memory);
            if !verdict.is_good() {
                bad += 1;
                println!("{} without memory from call {nth} on: {}", scenario.name, verdict.lines().join("; "));
            }
        }
    }
    println!("out of memory: from each of {starved} allocations on, {told} errors with the numbers, {bad} wrong");
    if bad == 0 { Ok(()) } else { Err(format!("{bad} times something went wrong without memory")) }
}

/// One worker a core takes the shots in turn.
fn shoot(shots: &[Shot<'_>], seed: u64) -> Vec<(Verdict, Duration)> {
    let results: Vec<Mutex<(Verdict, Duration)>> = shots.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((shot, place)) = shots.iter().zip(&results).nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let began = Instant::now();
                    let verdict = faults::inject(shot.scenario, seed, shot.nth, shot.which);
                    let result = (verdict, began.elapsed());
                    *place.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = result;
                }
            });
        }
    });
    results.into_iter().map(|result| result.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)).collect()
}

fn report(
    scenarios: &[Scenario],
    shots: &[Shot<'_>],
    results: &[(Verdict, Duration)],
    seed: u64,
) -> Result<(), String> {
    let (mut injected, mut leaked, mut capturing, mut panics, mut findings, mut wrong) = (0, 0, 0, 0, 0, 0);
    for scenario in scenarios {
        let mine = || shots.iter().zip(results).filter(|(shot, _)| shot.scenario.name == scenario.name);
        let struck = mine().filter(|(_, (verdict, _))| verdict.struck.is_some()).count();
        let bad: Vec<_> = mine().filter(|(_, (verdict, _))| !verdict.is_good()).collect();
        let time: Duration = mine().map(|(_, (_, time))| *time).sum();
        let word = if bad.is_empty() { "passed" } else { "FAILED" };
        println!("{:<32} {word} {struck:>6} injected {:>8.1} s", scenario.name, time.as_secs_f64());
        injected += struck;
        for (_, (verdict, _)) in mine() {
            leaked += verdict.leaked.len();
            capturing += verdict.capturing;
            panics += verdict.panics.len();
            findings += verdict.findings.len();
            wrong += verdict.wrong.len();
        }
        for (shot, (verdict, _)) in bad.iter().take(FAILURES_PRINTED) {
            let (call, fault) = verdict.struck.map_or((shot.call, None), |(call, fault)| (call, Some(fault)));
            let fault = fault.map_or(String::new(), |fault| format!(", {} ({:?})", fault.code, fault.effect));
            println!("  call {} ({}){fault}:", shot.nth, call.symbol());
            verdict.lines().iter().for_each(|line| println!("    {line}"));
            println!(
                "    reproduce: cargo xtask faults --only {} --seed {seed} --call {} --fault {}",
                scenario.name, shot.nth, shot.which
            );
        }
        if bad.len() > FAILURES_PRINTED {
            println!("  {} more failed", bad.len() - FAILURES_PRINTED);
        }
    }
    if wrong > 0 {
        println!("faults: {wrong} wrong: errors that do not name the call, wrong results, devices that do not work on");
    }
    println!(
        "faults: {injected} injected, {leaked} leaked, {capturing} streams capturing, {panics} panics, {findings} findings"
    );
    match leaked + capturing + panics + findings + wrong {
        0 => Ok(()),
        bad => Err(format!("{bad} things went wrong after a fault")),
    }
}
