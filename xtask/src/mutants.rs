//! `cargo xtask mutants`: whether the ledger's tests notice when one of its rules is broken.
//!
//! Each patch in `xtask/mutants/ledger` breaks one rule of `dacapo-ledger`; its first line says which. It is applied to
//! a copy of the tree under the target folder. Then the checker over seeds or, where that finds nothing, the tests of
//! the protocol must fail. Without a patch both must pass. A patch that does not apply or does not build is an error,
//! and so is one that no test notices. The last line is `mutants: N of N rules caught`.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::patches::{self, TreeCopy};

/// The tests, in the order in which they are tried. One is built only if those before it noticed nothing.
const TESTS: [Test; 2] = [
    // How many seeds, before a rule counts as not missed by it.
    Test { name: "checker", arguments: &["--baton-only", "--count", "800"] },
    // One after the other, so that the same one is always the first to fail.
    Test { name: "protocol", arguments: &["--test-threads", "1"] },
];
/// What one run of a test binary may take. A rule whose breaking makes the ledger wait for ever is noticed by that. Far more
/// than a run needs, so that a busy machine is not taken for it.
const LONGEST: Duration = Duration::from_secs(300);

/// What a run of a test binary said.
enum Verdict {
    Passed,
    Failed(String),
    DidNotEnd,
}

/// Breaks each rule.
///
/// # Errors
///
/// - A patch does not apply, or the tests do not build with it.
/// - The tests fail without a patch.
/// - A rule is not missed by any test.
pub fn run() -> Result<(), String> {
    let started = Instant::now();
    let copy = TreeCopy::make("mutants")?;
    if let Some(by) = noticed(&copy)? {
        return Err(format!("with all rules on, a test fails: {by}"));
    }
    println!("all rules on: {} pass", TESTS.map(|test| test.name).join(" and "));
    let patches = patches::list("ledger")?;
    let mut caught = 0;
    for patch in &patches {
        let by = copy.with(patch, || noticed(&copy)).map_err(|error| format!("{}: {error}", patch.name))?;
        match &by {
            Some(by) => println!("caught: {} by {by}", patch.name),
            None => println!("survived: {}: {}", patch.name, patch.opt_rule.as_deref().unwrap_or("it says no rule")),
        }
        caught += usize::from(by.is_some());
    }
    println!("{} s", started.elapsed().as_secs());
    println!("mutants: {caught} of {} rules caught", patches.len());
    if caught < patches.len() || patches.is_empty() {
        return Err("a rule that no test misses is not shown to matter".into());
    }
    Ok(())
}

/// The first test that does not pass on the copy as it is now, and what it says.
fn noticed(copy: &TreeCopy) -> Result<Option<String>, String> {
    for test in TESTS {
        match test.run(&test.build(copy)?)? {
            Verdict::Passed => {}
            Verdict::Failed(how) => return Ok(Some(format!("{}, {how}", test.name))),
            Verdict::DidNotEnd => return Ok(Some(format!("{}, which did not end", test.name))),
        }
    }
    Ok(None)
}

/// A test target of the ledger.
#[derive(Clone, Copy)]
struct Test {
    name: &'static str,
    arguments: &'static [&'static str],
}

impl Test {
    /// Builds it as cheaply as can be: only this target, and of that only what changed.
    fn build(&self, copy: &TreeCopy) -> Result<PathBuf, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["test", "--quiet", "--package", "dacapo-ledger", "--test", self.name, "--no-run"])
            .args(["--message-format", "json-render-diagnostics", "--jobs", "2"])
            .env("CARGO_TARGET_DIR", &copy.target)
            .env("CARGO_INCREMENTAL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("RUSTFLAGS", "-Awarnings")
            .current_dir(&copy.tree)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cargo: {error}"))?;
        if !output.status.success() {
            return Err(format!("{} does not build", self.name));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let built =
            messages.find(|message| message["target"]["name"] == self.name && message["executable"].is_string());
        let path = built.as_ref().and_then(|message| message["executable"].as_str());
        path.map(PathBuf::from).ok_or_else(|| format!("cargo built no test called {}", self.name))
    }

    fn run(&self, binary: &PathBuf) -> Result<Verdict, String> {
        let mut command = Command::new(binary);
        command.args(self.arguments).env("RUST_BACKTRACE", "0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", self.name))?;
        // Read beside the waiting, so that a full pipe does not stop the child.
        let mut pipe = child.stdout.take().ok_or("a piped output is there")?;
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            pipe.read_to_string(&mut text).map(|_| text).unwrap_or_default()
        });
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| format!("{}: {error}", self.name))? {
                break status;
            }
            if started.elapsed() > LONGEST {
                // It may have ended meanwhile; either way nothing is left running.
                let _ = child.kill();
                let _ = child.wait();
                return Ok(Verdict::DidNotEnd);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let text = reader.join().unwrap_or_default();
        if status.success() { Ok(Verdict::Passed) } else { Ok(Verdict::Failed(first_failure(&text))) }
    }
}

/// What failed first, in the words of the checker (a seed) or of the test harness (a test).
fn first_failure(text: &str) -> String {
    let line = text.lines().find(|line| line.starts_with("seed ") || line.ends_with("... FAILED"));
    let line = line.unwrap_or("without saying what");
    line.trim_start_matches("test ").trim_end_matches(" ... FAILED").replace(" failed: ", ": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_named_in_one_line() {
        let seed = "seed 17 failed: no order on object 3 between\n  Read by ...";
        assert_eq!(first_failure(seed), "seed 17: no order on object 3 between");
        let test = "running 2 tests\ntest order::a ... ok\ntest order::b ... FAILED\n";
        assert_eq!(first_failure(test), "order::b");
    }
}
