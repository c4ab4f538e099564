//! Conformance: what the driver answers to some hundred small programs, written down on a GPU and compared here.
//!
//! - A case is a function that is handed a driver and makes calls. Its transcript (calls, codes, data, counts, canonical
//!   names) is written by the verbs it uses; no case says what the answer should be.
//! - `dacapo-gpu conformance` records all cases on NVIDIA's driver, twice, the second time in another process and
//!   backwards: what is not the same twice is a question without an answer, and a mistake in the case.
//! - `cargo xtask conformance` and `cargo test -p dacapo-suite` run them on the software driver and compare.
//! - What differs and stays so is listed with its reason in [`KNOWN_FILE`].
//!
//! Not asked here: what `xtask/probe/probe.c` asks already; times, register counts, addresses.

mod arguments;
mod case;
mod cases;
mod names;
mod transcript;
mod verbs;
mod verbs_graph;
mod verbs_link;
mod verbs_memory;
mod verbs_module;
mod verbs_old;
mod verbs_texture;
mod verbs_two;

use dacapo_driver::{CUresult, Driver};

pub use case::Case;
pub use transcript::{Comparison, Recording, compare};

/// What an H200 answered, from the workspace's root.
pub const RECORDING_FILE: &str = "crates/suite/recordings/conformance-h200.txt";
/// What the software driver answers to the cases of two devices: read from the manual, for `dacapo-gpu two-devices` to hold GPUs
/// against it.
pub const TWO_DEVICES_FILE: &str = "crates/suite/recordings/two-devices-software.txt";
/// Where the software driver differs, and why.
pub const KNOWN_FILE: &str = "crates/suite/recordings/conformance-known.txt";

/// A case: its name, `area.what`, and what it does.
pub struct Listed {
    /// `area.what`
    pub name: String,
    /// It leaves the context broken, so a process (or a machine) is its own.
    pub breaks: bool,
    /// How many devices it wants.
    pub devices: u8,
    body: fn(&mut Case<'_>),
}

/// All cases that one device is enough for, by name.
pub fn all() -> Vec<Listed> {
    by_name(cases::all())
}

/// Those that want two devices, by name. No machine with two GPUs has been asked: see [`TWO_DEVICES_FILE`].
pub fn of_two_devices() -> Vec<Listed> {
    by_name(cases::of_two_devices())
}

fn by_name(mut cases: Vec<Listed>) -> Vec<Listed> {
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

/// Runs one case and returns its transcript, a line a call.
///
/// # Errors
///
/// - There is no device, or its context is broken.
pub fn run(driver: &dyn Driver, case: &Listed) -> Result<Vec<String>, crate::session::Refused> {
    let contexts = case::open(driver, i32::from(case.devices))?;
    case::settle(driver, &contexts);
    let mut running = Case::new(driver, contexts);
    // Loaded before the case begins: loading may wait for the device, and so for a closed gate.
    running.function("gate");
    (case.body)(&mut running);
    let lines = running.end(case.breaks);
    for device in 0..i32::from(case.devices) {
        // SAFETY: retained in `open`.
        let _: CUresult = unsafe { driver.cuDevicePrimaryCtxRelease_v2(device) };
    }
    Ok(lines)
}

/// Runs one case on a software driver of its own; the second part is what that driver reported.
pub fn run_in_software(seed: u64, case: &Listed) -> (Vec<String>, Vec<String>) {
    let machine = dacapo_sim::Machine::new(dacapo_sim::Options {
        seed,
        devices: usize::from(case.devices),
        ..Default::default()
    });
    // Held while the case runs, as on a GPU: there all cases share one primary context.
    let session = crate::session::Session::open(&machine);
    let lines = run(&machine, case).unwrap_or_else(|refused| vec![refused.to_string()]);
    let findings = machine.take_findings().iter().map(|finding| finding.to_string()).collect();
    drop(session);
    (lines, findings)
}
