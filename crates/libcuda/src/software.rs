//! The one driver object of the process, made by the first call from what the environment sets.
//!
//! A process that was forked after `cuInit` leaves its parent's alone, and has another for the few calls that answer there.

use std::io::Write as _;
use std::sync::{Arc, OnceLock};

use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Finding, Machine, Options, Time};

use crate::environment::Settings;
use crate::findings::Findings;
use crate::forked;

/// The driver behind every exported symbol.
pub fn driver() -> &'static impl Driver {
    machine()
}

/// A call that the table does not know: unsupported, with a finding.
pub fn absent(symbol: &'static str) -> CUresult {
    if forked::is_child() { forked::refuse(symbol) } else { machine().unknown_symbol(symbol) }
}

/// A name that `cuGetProcAddress` was asked for and does not know: a finding.
pub fn unknown_name(name: &str) {
    machine().unknown_name(name);
}

fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        Settings::read(|name| std::env::var_os(name), |complaint| drop(writeln!(std::io::stderr(), "{complaint}")))
    })
}

/// Where findings go.
pub fn findings() -> &'static Findings {
    static FINDINGS: OnceLock<Findings> = OnceLock::new();
    FINDINGS.get_or_init(|| Findings::open(&settings().findings, settings().format))
}

static DRIVER: OnceLock<Machine> = OnceLock::new();

/// Writes a finding. Nobody asks this machine for those it keeps, and a program may have very many.
fn tell(finding: &Finding) {
    findings().write(finding);
    // A child that was forked must not wait for what other threads of its parent held.
    if let Some(machine) = DRIVER.get().filter(|_| !forked::is_child()) {
        drop(machine.take_findings());
    }
}

fn machine() -> &'static Machine {
    static OF_CHILD: OnceLock<Machine> = OnceLock::new();
    let driver = if forked::is_child() { &OF_CHILD } else { &DRIVER };
    driver.get_or_init(|| {
        let settings = settings();
        if !dacapo_sim::OPTIMISED && !forked::is_child() {
            let _ = writeln!(std::io::stderr(), "dacapo: {}", dacapo_sim::SLOW_BUILD);
        }
        Machine::new(Options {
            seed: settings.seed,
            devices: settings.devices,
            detectors: settings.detectors,
            strict: settings.strict,
            cores: settings.cores,
            capacity: settings.memory,
            // Programs that we did not write poll pinned memory and wait for the clock.
            time: Time::Live,
            on_finding: Some(Arc::new(tell)),
            ..Default::default()
        })
    })
}

pub use dacapo_sim::with_per_thread_default_stream;
