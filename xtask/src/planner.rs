//! `cargo xtask planner`: how small the memory is that temps are planned into, and that nothing alive is shared.
//!
//! Runs the library's own tests of it: the thirty committed traces against the exact largest live set, one line each, then
//! random traces against the definition. The last two lines are
//!
//! ```text
//! planner: W of 30 traces within 5 % of the largest live set
//! planner: N random traces, ... pairs of temps share bytes, 0 of them while both may be alive
//! ```
//!
//! `--full` is a million random traces, in a release build; without it there are some thousands, as in `cargo test`.

use std::process::{Command, Stdio};

use crate::workspace;

/// Thousands of random traces in full.
const FULL: u64 = 1000;
/// And without `--full`.
const FEW: u64 = 4;

/// How many random traces.
#[derive(clap::Args)]
pub struct Scale {
    /// A million random traces instead of 4,000
    #[arg(long)]
    full: bool,
}

/// Runs both.
///
/// # Errors
///
/// - The tests do not build, or one of them fails.
pub fn run(scale: &Scale) -> Result<(), String> {
    let (thousands, profile) = if scale.full { (FULL, "release") } else { (FEW, "dev") };
    for test in ["traces::at_least_27_of_30_traces", "property::what_may_be_alive"] {
        let output = Command::new(env!("CARGO"))
            .args(["test", "--quiet", "--profile", profile, "-p", "dacapo", "--lib"])
            .args([&format!("plan::tests::layouts::{test}"), "--", "--nocapture"])
            .env("DACAPO_PLANNER_THOUSANDS", thousands.to_string())
            .current_dir(workspace::root())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cargo test: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        // Of what the harness says beside the test, nothing.
        let noise = ["running ", "test result: ", "."];
        for line in text.lines().filter(|line| !line.is_empty() && !noise.iter().any(|start| line.starts_with(start))) {
            println!("{line}");
        }
        if !output.status.success() {
            return Err(format!("`cargo test -p dacapo --lib {test}` fails"));
        }
        if !text.contains("planner: ") {
            return Err(format!("there is no test {test}"));
        }
    }
    Ok(())
}
