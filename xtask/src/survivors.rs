//! `cargo xtask survivors`: small changes to the library's code that no test notices.
//!
//! cargo-mutants lists the changes it can make in the folders that safety rests on. Sorted by file and place, every sixth
//! is made, one at a time, in a copy of the tree, and the tests of `dacapo` and `dacapo-ledger` must fail. Doctests and
//! the tests that compile other crates are left out: they take minutes. What survives is run once more against the forms
//! of the suite with `--forms --names FILE`.
//!
//! Without `--full` or `--names` the selection is only listed. A full run takes an hour or two on two cores, so it is not
//! part of CI; results/survivors.txt has the last one. The last line is
//!
//! ```text
//! survivors: N mutants, U do not compile, C of V caught (P %), S survived
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::workspace;

/// Another version has other mutants.
const TOOL: &str = "27.1.0";
/// Which of the sorted list are made: the first, and every so many behind it.
const EVERY: usize = 6;
/// What one mutant's tests may take, in seconds. A mutant that waits for ever is noticed by that.
const LONGEST: &str = "90";
/// Where mutants are made.
const FILES: [&str; 8] = [
    "crates/dacapo/src/arrange/**/*.rs",
    "crates/dacapo/src/device/**/*.rs",
    "crates/dacapo/src/graph/**/*.rs",
    "crates/dacapo/src/kernel/**/*.rs",
    "crates/dacapo/src/memory/**/*.rs",
    "crates/dacapo/src/plan/**/*.rs",
    "crates/dacapo/src/record/**/*.rs",
    "crates/ledger/src/**/*.rs",
];

/// What is run.
#[derive(clap::Args)]
pub struct Scale {
    /// Make every selected mutant and run the tests
    #[arg(long)]
    full: bool,
    /// Make the mutants that this file names instead, one on a line as the list has them
    #[arg(long, value_name = "FILE", conflicts_with = "full")]
    names: Option<PathBuf>,
    /// Run the forms of the suite instead of the library's own tests
    #[arg(long)]
    forms: bool,
    /// How many at the same time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// Lists or makes mutants.
///
/// # Errors
///
/// - cargo-mutants is not there in the version that is pinned, or could not run.
pub fn run(scale: &Scale) -> Result<(), String> {
    expect_tool()?;
    let root = workspace::root();
    let out = workspace::target(&root).join("survivors");
    std::fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let selected = match &scale.names {
        Some(file) => named(file)?,
        None => every_sixth(&root, &out)?,
    };
    if !scale.full && scale.names.is_none() {
        selected.iter().for_each(|name| println!("{name}"));
        println!("survivors: {} mutants selected; `--full` makes them", selected.len());
        return Ok(());
    }
    let config = configure(&out, &selected, scale.forms)?;
    let jobs = scale.jobs.to_string();
    let arguments = ["--timeout", LONGEST, "--no-shuffle", "-v", "-V", "-j", &jobs, "-o"];
    let mut command = mutants(&root, &config);
    // Debug information of any kind only makes the builds longer.
    command.args(arguments).arg(&out).env("CARGO_PROFILE_DEV_DEBUG", "0");
    if scale.forms {
        // cargo-mutants would look for these tests in the packages that it changes. That they pass is seen in CI.
        command.args(["--baseline", "skip"]);
    }
    // Its exit code says whether something survived, which is told below.
    command.status().map_err(|error| format!("cargo mutants: {error}"))?;
    println!("{}", Outcome::read(&out.join("mutants.out/outcomes.json"), &selected)?);
    Ok(())
}

fn expect_tool() -> Result<(), String> {
    let said = Command::new(env!("CARGO")).args(["mutants", "--version"]).output();
    let said = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_string()).unwrap_or_default();
    match said.as_str() == format!("cargo-mutants {TOOL}") {
        true => Ok(()),
        false => Err(format!(
            "cargo-mutants {TOOL} is needed, there is `{said}`: cargo install cargo-mutants --version {TOOL} --locked"
        )),
    }
}

fn mutants(root: &Path, config: &Path) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(["mutants", "--workspace", "--config"]).arg(config).current_dir(root);
    command
}

fn named(file: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_string).collect())
}

/// Every sixth mutant of the sorted list.
fn every_sixth(root: &Path, out: &Path) -> Result<Vec<String>, String> {
    let config = configure(out, &[], false)?;
    let listed = mutants(root, &config).arg("--list").output().map_err(|error| format!("cargo mutants: {error}"))?;
    if !listed.status.success() {
        return Err(String::from_utf8_lossy(&listed.stderr).into_owned());
    }
    let mut names: Vec<String> = String::from_utf8_lossy(&listed.stdout).lines().map(str::to_string).collect();
    names.sort_by_key(|name| place(name));
    Ok(names.into_iter().step_by(EVERY).collect())
}

/// File, line, column and the change of a name: `file:line:column: change`.
fn place(name: &str) -> (String, usize, usize, String) {
    let mut parts = name.splitn(4, ':');
    let mut next = || parts.next().unwrap_or_default();
    let (file, line, column) = (next().to_string(), next().parse().unwrap_or(0), next().parse().unwrap_or(0));
    (file, line, column, next().to_string())
}

/// A configuration of cargo-mutants for these mutants; for all, if there are none.
fn configure(out: &Path, names: &[String], forms: bool) -> Result<PathBuf, String> {
    let (packages, tests): (&[&str], &[&str]) = match forms {
        true => (&["dacapo-suite"], &["--test=forms", "--test=pools", "--test=cache", "--test=device"]),
        false => (
            &["dacapo", "dacapo-ledger"],
            &[
                "--lib",
                "--test=capture",
                "--test=checker",
                "--test=holes",
                "--test=promises",
                "--test=protocol",
                "--test=founding",
            ],
        ),
    };
    let exact: Vec<String> = names.iter().map(|name| format!("^{}$", escaped(name))).collect();
    let list = |name: &str, items: &[&str]| {
        let items: String = items.iter().map(|item| format!("    '''{item}''',\n")).collect();
        format!("{name} = [\n{items}]\n")
    };
    let exact: Vec<&str> = exact.iter().map(String::as_str).collect();
    let text = [
        list("examine_globs", &FILES),
        list("test_package", packages),
        list("additional_cargo_test_args", tests),
        list("examine_re", &exact),
    ];
    let path = out.join("mutants.toml");
    std::fs::write(&path, text.concat()).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// A name as a regular expression that matches it alone.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// What became of the selected mutants.
#[derive(Default)]
struct Outcome {
    unviable: usize,
    caught: usize,
    survived: Vec<String>,
}

impl Outcome {
    /// Only of those that were selected: cargo-mutants does not let every kind of mutant be left out by name.
    fn read(path: &Path, selected: &[String]) -> Result<Outcome, String> {
        let at = |error: String| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
        let json: Value = serde_json::from_str(&text).map_err(|error| at(error.to_string()))?;
        let selected: BTreeSet<&str> = selected.iter().map(String::as_str).collect();
        let mut outcome = Outcome::default();
        for one in json["outcomes"].as_array().into_iter().flatten() {
            let Some(name) = one["scenario"]["Mutant"]["name"].as_str().filter(|name| selected.contains(name)) else {
                continue;
            };
            match one["summary"].as_str() {
                Some("Unviable") => outcome.unviable += 1,
                Some("CaughtMutant" | "Timeout") => outcome.caught += 1,
                _ => outcome.survived.push(name.to_string()),
            }
        }
        Ok(outcome)
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.survived.iter().try_for_each(|name| writeln!(f, "survived: {name}"))?;
        let viable = self.caught + self.survived.len();
        let rate = 100.0 * self.caught as f64 / viable.max(1) as f64;
        let (all, unviable, caught, survived) =
            (viable + self.unviable, self.unviable, self.caught, self.survived.len());
        write!(
            f,
            "survivors: {all} mutants, {unviable} do not compile, {caught} of {viable} caught ({rate:.1} %), {survived} survived"
        )
    }
}
