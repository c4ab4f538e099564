//! `cargo xtask corpus`: every case of the corpus on the software driver, held against what a GPU gave.
//!
//! Prints a line for each kernel, then each case that failed with what the driver had to say about it. The last line is
//!
//! ```text
//! corpus: E exact, T within bound, F failed (<recording>)
//! ```
//!
//! A case that is not in the recording, or whose PTX or inputs have changed since, has failed; cases of modules that no GPU has
//! run yet (`corpus::AWAITED`) only have to run, and a line says how many there are. Before it stand the single
//! instructions: each approximation with the largest errors of the GPU and of the software driver, as parts of the manual's bound,
//! and how many others give the GPU's bits.

use std::collections::{BTreeMap, BTreeSet};

use dacapo_sim::{Detectors, InstructionSet, Machine, Options};
use dacapo_suite::corpus::{self, Case, Recording, RecordingError, Verdict};
use dacapo_suite::session::Session;
use dacapo_suite::single::{self, Judged};

use crate::workspace;

/// How the software driver is made.
#[derive(Clone, Copy)]
pub struct How {
    /// Decides its choices.
    pub seed: u64,
    /// What is looked for meanwhile.
    pub detectors: Detectors,
    /// What of the processor it may use.
    pub instructions: InstructionSet,
}

/// What the cases of one kernel came to.
#[derive(Default)]
struct Tally {
    exact: usize,
    within: usize,
    failed: usize,
    /// The largest part of a bound that was used.
    used: f64,
}

/// Runs the corpus; an error if any case failed.
///
/// `only` keeps the cases whose name contains it; `why` also prints where bounds come from. A case with a finding has failed.
///
/// # Errors
///
/// - A case failed; the text says how many.
pub fn run(how: How, only: Option<&str>, why: bool) -> Result<(), String> {
    let How { seed, instructions, .. } = how;
    let recording = corpus::committed(&workspace::root());
    match &recording {
        Ok(recording) => {
            let set = instructions.min(InstructionSet::widest());
            println!("recorded on {}; software driver with seed {seed}, {set}", recording.origin());
        }
        Err(error) => println!("no recording: {error}"),
    }
    let cases = corpus::all().into_iter().filter(|case| only.is_none_or(|part| case.name().contains(part)));
    let (mut tallies, mut failures) = (BTreeMap::<String, Tally>::new(), Vec::new());
    let mut software = Software::new(how);
    let mut reasons = BTreeMap::<&'static str, BTreeSet<String>>::new();
    let mut awaited = 0;
    for case in cases {
        let kernel = format!("{}/{}", case.module, case.kernel);
        let (verdict, report) = software.judge(&case, &recording);
        let Some(verdict) = verdict else {
            awaited += 1;
            continue;
        };
        for bound in case.outputs().flat_map(|(_, output)| &output.planes) {
            if let Some(why) = bound.why() {
                reasons.entry(why).or_default().insert(kernel.clone());
            }
        }
        let tally = tallies.entry(kernel).or_default();
        match verdict {
            Verdict::Exact => tally.exact += 1,
            Verdict::Within { used, .. } => {
                tally.within += 1;
                tally.used = tally.used.max(used);
            }
            Verdict::Failed(why) => {
                tally.failed += 1;
                failures.push(format!("{}: {why}{report}", case.name()));
            }
        }
    }
    println!("{:<46} {:>6} {:>7} {:>7}  bound used", "kernel", "exact", "within", "failed");
    for (kernel, tally) in &tallies {
        let used = if tally.within > 0 { format!("{:.2}", tally.used) } else { String::new() };
        println!("{kernel:<46} {:>6} {:>7} {:>7}  {used}", tally.exact, tally.within, tally.failed);
    }
    if why {
        println!("\nwhere bounds come from (u = 2^-23; see crates/suite/src/corpus/bound.rs)");
        for (why, kernels) in &reasons {
            println!("- {}\n  {why}", kernels.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
        }
    }
    if only.is_none() {
        failures.extend(singles(how));
    }
    for failure in &failures {
        println!("FAILED {failure}");
    }
    println!("{}", made_for(&tallies));
    if awaited > 0 {
        println!("{awaited} cases of {} ran, and await a recording", corpus::AWAITED.join(", "));
    }
    let sum = |part: fn(&Tally) -> usize| tallies.values().map(part).sum::<usize>();
    let failed = sum(|tally| tally.failed);
    let broken = failures.len() - failed;
    println!(
        "corpus: {} exact, {} within bound, {failed} failed ({})",
        sum(|tally| tally.exact),
        sum(|tally| tally.within),
        corpus::RECORDING_FILE
    );
    match (failed, broken) {
        (0, 0) => Ok(()),
        (0, _) => Err(format!("{broken} single instructions failed")),
        _ => Err(format!("{failed} cases of the corpus failed")),
    }
}

/// For which architectures the kernels that ran were compiled.
fn made_for(tallies: &BTreeMap<String, Tally>) -> String {
    let mut counts = BTreeMap::<(String, &str), usize>::new();
    for kernel in tallies.keys() {
        let module = kernel.split('/').next().unwrap_or_default();
        let text = corpus::ptx(module).unwrap_or_default();
        let target = text.lines().find_map(|line| line.strip_prefix(".target ")).unwrap_or("unknown");
        let maths = if module.ends_with(".fast") { "fast" } else { "default" };
        *counts.entry((target.replace("sm_", "compute_"), maths)).or_default() += 1;
    }
    let parts: Vec<String> =
        counts.iter().map(|((arch, maths), count)| format!("{count} for {arch} ({maths} maths)")).collect();
    format!("{} kernels: {}", tallies.len(), parts.join(", "))
}

/// Runs every single instruction; gives what failed.
fn singles(how: How) -> Vec<String> {
    let root = workspace::root();
    let recordings = [single::APPROX_FILE, single::FACTS_FILE].map(|file| single::committed(&root, file));
    let mut failures: Vec<String> = recordings.iter().filter_map(|recording| recording.clone().err()).collect();
    let options = Options { seed: how.seed, instructions: how.instructions, ..Options::default() };
    let machine = Machine::new(options);
    let mut session = match Session::open(&machine) {
        Ok(session) => session,
        Err(refused) => return vec![refused.to_string()],
    };
    let (mut exact, mut apart) = (0, Vec::new());
    println!(
        "\n{:<24} {:>6} {:>8} {:>9} {:>9} {:>10}",
        "approximation", "inputs", "bounded", "GPU used", "ours used", "same bits"
    );
    for one in single::all() {
        let recording = &recordings[usize::from(!one.is_approx())];
        let Some(recorded) = recording.as_ref().ok().and_then(|recording| recording.singles.get(&one.name)) else {
            failures.push(format!("{}: not in the recording", one.name));
            continue;
        };
        match single::run(&mut session, &one).map(|ours| single::judge(&one, &ours, recorded)) {
            Ok(Judged::Exact) => exact += 1,
            Ok(Judged::Within(errors)) => println!(
                "{:<24} {:>6} {:>8} {:>9.3} {:>9.3} {:>10}",
                one.name, errors.inputs, errors.bounded, errors.gpu, errors.ours, errors.same_bits
            ),
            Ok(Judged::Apart { differ }) => apart.push(format!("{} ({differ} of the results kept)", one.name)),
            Ok(Judged::Failed(why)) => failures.push(format!("{}: {why}", one.name)),
            Err(refused) => failures.push(format!("{}: {refused}", one.name)),
        }
    }
    println!("{exact} other instructions give the GPU's bits on every input; not followed: {}", apart.join(", "));
    failures
}

/// A machine that is replaced after a fault: nothing works on a device whose context is broken, and the next case is
/// not to blame.
struct Software {
    how: How,
    machine: Machine,
}

impl Software {
    fn new(how: How) -> Software {
        let How { seed, detectors, instructions } = how;
        Software { how, machine: Machine::new(Options { seed, detectors, instructions, ..Options::default() }) }
    }

    /// Runs one case; the second part is what the driver reported about it. No verdict: nothing is wrong, and it awaits a
    /// recording.
    fn judge(&mut self, case: &Case, recording: &Result<Recording, RecordingError>) -> (Option<Verdict>, String) {
        let awaits = recording.as_ref().is_ok_and(|recording| recording.awaits(case));
        let recorded = match recording {
            Ok(recording) => recording.outputs(case).map_err(|error| error.to_string()),
            // Why is said once, at the top.
            Err(_) => Err("there is no recording".to_string()),
        };
        let machine = self.machine.clone();
        let ran = Session::open(&machine)
            .map_err(corpus::Failure::from)
            .and_then(|mut session| corpus::run(&mut session, case));
        let findings = machine.take_findings();
        let report: String = findings.iter().map(|finding| format!("\n{finding}")).collect();
        match (ran, recorded) {
            (Ok(_), Err(_)) if awaits && findings.is_empty() => (None, report),
            (Ok(got), Ok(want)) if findings.is_empty() => (Some(corpus::compare(case, &got, &want)), report),
            // The outputs may be right; a finding about a kernel that a GPU ran without complaint is wrong all the same.
            (Ok(_), Ok(_)) => (Some(Verdict::Failed("the driver reported a finding".into())), report),
            (Ok(_), Err(error)) => (Some(Verdict::Failed(error)), report),
            (Err(failure), _) => {
                self.machine = Software::new(self.how).machine;
                (Some(Verdict::Failed(failure.to_string())), report)
            }
        }
    }
}
