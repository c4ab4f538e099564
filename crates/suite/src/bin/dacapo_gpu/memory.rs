//! `dacapo-gpu memory`: how much device memory executable graphs take, each case in a process of its own.

use std::path::Path;
use std::process::{Command, ExitCode};

use dacapo_driver::Nvidia;
use dacapo_suite::footprint::{self, Case, Measured, Recording};
use dacapo_suite::session::Session;

type Failure = Box<dyn std::error::Error>;

/// Measures every case and writes executable-memory.json.
pub fn record(_: &Nvidia, session: &mut Session<'_>, folder: &Path) -> Result<bool, Failure> {
    let this = std::env::current_exe()?;
    let (mut cases, mut failed) = (Vec::new(), 0);
    for case in footprint::all() {
        let output = Command::new(&this).args(["memory-case", &serde_json::to_string(&case)?]).output()?;
        match serde_json::from_slice::<Measured>(&output.stdout) {
            Ok(measured) => {
                println!("{}", serde_json::to_string(&measured)?);
                cases.push(measured);
            }
            Err(_) => {
                println!("FAILED: {case:?}: {}", String::from_utf8_lossy(&output.stderr));
                failed += 1;
            }
        }
    }
    let (gpu, driver) = (session.device_name()?, session.driver_release());
    println!("executable-memory.json: {} cases, {failed} failed", cases.len());
    let recording = Recording { gpu, driver, commit: crate::COMMIT.to_string(), cases };
    std::fs::write(folder.join("executable-memory.json"), serde_json::to_string_pretty(&recording)?)?;
    Ok(failed == 0)
}

/// `memory-case JSON`: measures this case here; none if `task` is another.
pub fn child(task: &str, case: &str) -> Option<ExitCode> {
    (task == "memory-case").then(|| match run_here(case) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    })
}

fn run_here(case: &str) -> Result<(), Failure> {
    let case: Case = serde_json::from_str(case)?;
    let driver = Nvidia::open()?;
    let mut session = Session::open(&driver)?;
    println!("{}", serde_json::to_string(&footprint::measure(&mut session, case)?)?);
    Ok(())
}
