//! `cargo xtask mutants`: whether the ledger's tests notice when one of its rules does not hold.
//!
//! Builds the tests of `dacapo-ledger` once with `--cfg dacapo_mutants`, in a target folder of its own. With all rules
//! on they must pass. Then each rule is switched off alone (`DACAPO_RULE_OFF`), and the checker over seeds or, where
//! that finds nothing, the tests of the protocol must fail. A rule that nobody misses is an error.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::workspace;

/// How many seeds the checker tries before a rule counts as not missed by it.
const SEEDS: &str = "800";
/// What one run of a test binary may take. A rule that makes the ledger wait for ever is noticed by that.
const LONGEST: Duration = Duration::from_secs(40);

/// What a run of a test binary said.
enum Verdict {
    Passed,
    Failed(String),
    DidNotEnd,
}

/// Switches each rule off.
///
/// # Errors
///
/// - The tests do not build, or fail with all rules on.
/// - A rule is not missed by any test.
pub fn run() -> Result<(), String> {
    let started = Instant::now();
    let (checker, protocol) = build()?;
    for test in [&checker, &protocol] {
        match test.run(None)? {
            Verdict::Passed => {}
            Verdict::Failed(how) => return Err(format!("with all rules on, {} fails: {how}", test.name)),
            Verdict::DidNotEnd => return Err(format!("with all rules on, {} does not end", test.name)),
        }
    }
    println!("all rules on: {} and {} pass", checker.name, protocol.name);
    let rules = checker.rules()?;
    let mut caught = 0;
    for rule in &rules {
        let mut by = None;
        for test in [&checker, &protocol] {
            by = match test.run(Some(rule))? {
                Verdict::Passed => continue,
                Verdict::Failed(how) => Some(format!("{}, {how}", test.name)),
                Verdict::DidNotEnd => Some(format!("{}, which did not end", test.name)),
            };
            break;
        }
        match &by {
            Some(by) => println!("caught: {rule} by {by}"),
            None => println!("survived: {rule}"),
        }
        caught += usize::from(by.is_some());
    }
    println!("{} s", started.elapsed().as_secs());
    println!("mutants: {caught} of {} rules caught", rules.len());
    if caught < rules.len() || rules.is_empty() {
        return Err("a rule that no test misses is not shown to matter".into());
    }
    Ok(())
}

/// A test binary of the ledger.
struct Test {
    name: &'static str,
    binary: PathBuf,
    arguments: &'static [&'static str],
}

fn build() -> Result<(Test, Test), String> {
    let root = workspace::root();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--package", "dacapo-ledger", "--no-run", "--message-format", "json", "--jobs", "2"])
        .env("RUSTFLAGS", "--cfg dacapo_mutants")
        .env("CARGO_TARGET_DIR", workspace::target(&root).join("mutants"))
        .current_dir(&root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err("the tests of dacapo-ledger do not build with --cfg dacapo_mutants".into());
    }
    let messages: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let binary = |name: &str| {
        let message =
            messages.iter().find(|message| message["target"]["name"] == name && message["executable"].is_string());
        let path = message.and_then(|message| message["executable"].as_str());
        path.map(PathBuf::from).ok_or_else(|| format!("cargo built no test called {name}"))
    };
    Ok((
        Test { name: "checker", binary: binary("checker")?, arguments: &["--baton-only", "--count", SEEDS] },
        Test { name: "protocol", binary: binary("protocol")?, arguments: &[] },
    ))
}

impl Test {
    /// The names of the rules, from the binary that was built with their switches.
    fn rules(&self) -> Result<Vec<String>, String> {
        let output =
            Command::new(&self.binary).arg("--rules").output().map_err(|error| format!("{}: {error}", self.name))?;
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    fn run(&self, rule_off: Option<&str>) -> Result<Verdict, String> {
        let mut command = Command::new(&self.binary);
        command.args(self.arguments).env("RUST_BACKTRACE", "0").stdout(Stdio::piped()).stderr(Stdio::null());
        command.env("DACAPO_RULE_OFF", rule_off.unwrap_or_default());
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
