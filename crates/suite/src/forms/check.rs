//! What a form answers with, and how one is run.

use std::fmt::{Debug, Display};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use dacapo::device::Counters;
use dacapo::{Device, Error, ErrorKind, Graph, Software};

use super::Form;

/// Why a form failed: a sentence with the line it is about.
pub struct Failure(pub String);

/// What a form answers with.
pub type Outcome = Result<(), Failure>;

impl From<Error> for Failure {
    #[track_caller]
    fn from(error: Error) -> Failure {
        Failure(format!("{}: {error:?}", Location::caller()))
    }
}

impl Failure {
    /// A failure at the caller's line.
    #[track_caller]
    pub(super) fn new(text: impl Display) -> Failure {
        Failure(format!("{}: {text}", Location::caller()))
    }
}

impl Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Both must be equal.
#[track_caller]
pub(crate) fn same<A: PartialEq<B> + Debug, B: Debug>(what: &str, got: A, want: B) -> Outcome {
    if got == want { Ok(()) } else { Err(Failure::new(format!("{what}: got {got:?}, expected {want:?}"))) }
}

/// It must hold.
#[track_caller]
pub(crate) fn holds(what: &str, condition: bool) -> Outcome {
    if condition { Ok(()) } else { Err(Failure::new(format!("it does not hold that {what}"))) }
}

/// It must have been refused, for a reason of the expected kind.
#[track_caller]
pub(crate) fn refused<T>(
    what: &str,
    outcome: Result<T, Error>,
    expected: impl FnOnce(&ErrorKind) -> bool,
) -> Result<Error, Failure> {
    match outcome {
        Ok(_) => Err(Failure::new(format!("{what} was not refused"))),
        Err(error) if expected(error.kind()) => Ok(error),
        Err(error) => Err(Failure::new(format!("{what} was refused for another reason: {error:?}"))),
    }
}

/// A graph must have this many ops and these edges between them, and its report must say the same.
#[track_caller]
pub(super) fn shape<T>(graph: &Graph<T>, ops: usize, edges: &[(usize, usize)]) -> Outcome {
    same("ops of the graph", graph.len(), ops)?;
    same("edges of the graph", graph.dependencies(), edges)?;
    let report = graph.inspect();
    same("ops in the report", report.totals.nodes - report.totals.joins, ops)
}

/// Runs a form and holds the device's counters against those from before: nothing may be left.
///
/// # Errors
///
/// - What the form failed with, a panic, or what is left.
pub fn check(form: &Form, device: &Device) -> Result<(), String> {
    let quiet = || device.synchronize().map_err(|error| format!("the device is not well: {error:?}"));
    quiet()?;
    let before = device.counters();
    let ran = catch_unwind(AssertUnwindSafe(|| (form.body)(device)));
    match ran {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => return Err(failure.0),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            return Err(format!("a panic: {}", text.unwrap_or("without a text")));
        }
    }
    // A stream that was dropped lets go of what waits for it one drain later.
    quiet()?;
    quiet()?;
    let left = device.counters();
    let lasting = |counters: Counters| (counters.allocations, counters.graphs, counters.streams, counters.waiting);
    match lasting(before) == lasting(left) {
        true => Ok(()),
        false => Err(format!("something is left: {before:?} before, {left:?} after")),
    }
}

/// Runs a form on a software device of its own, with every detector on. A finding that the form does not mean is a failure, also one that
/// closing the device makes.
///
/// # Errors
///
/// - What the form failed with, and every finding.
pub fn on_software(form: &Form, seed: u64) -> Result<(), String> {
    on(form, Software::new().seed(seed))
}

/// The same on a driver that answers as one of this version of CUDA.
///
/// # Errors
///
/// - What the form failed with, and every finding.
pub fn on_software_of(form: &Form, seed: u64, version: i32) -> Result<(), String> {
    on(form, Software::new().seed(seed).options(move |options| options.driver_version = version))
}

fn on(form: &Form, software: Software) -> Result<(), String> {
    let all = |options: &mut dacapo_sim::Options| options.detectors = dacapo_sim::Detectors::all();
    let device = software.options(all).open().map_err(|error| format!("no device: {error:?}"))?;
    let machine = device.machine().cloned();
    let outcome = check(form, &device);
    drop(device);
    let findings: Vec<String> =
        machine.iter().flat_map(|machine| machine.findings()).map(|finding| finding.to_string()).collect();
    let meant = findings.len() == form.findings.len()
        && findings.iter().zip(form.findings).all(|(found, word)| found.contains(&format!("[{word}]")));
    let told = || format!("{} findings, {} are meant:\n{}", findings.len(), form.findings.len(), findings.join("\n"));
    match (outcome, meant) {
        (Ok(()), true) => Ok(()),
        (Ok(()), false) => Err(told()),
        (Err(failure), true) => Err(failure),
        (Err(failure), false) => Err(format!("{failure}\n{}", told())),
    }
}
