//! `cargo xtask conformance`: every conformance case on the software driver, held against what an H200 answered.
//!
//! Prints each case that differs and is not known to, with the lines and what the driver left as findings; then the known
//! ones. The last line is
//!
//! ```text
//! conformance: A of B match <recording>, K known, U unexplained
//! ```

use std::path::Path;

use dacapo_suite::conformance::{self, KNOWN_FILE, RECORDING_FILE, Recording};

use crate::workspace;

/// Runs the cases; an error if one differs without a reason.
///
/// # Errors
///
/// - A case differs; there is no recording; no case has that name.
pub fn run(seed: u64, only: Option<&str>, print: bool) -> Result<(), String> {
    let root = workspace::root();
    let wanted = |name: &str| only.is_none_or(|part| name.contains(part));
    let (mut ours, mut findings) = (Recording::default(), std::collections::BTreeMap::new());
    for case in conformance::all().into_iter().filter(|case| wanted(&case.name)) {
        let (lines, found) = conformance::run_in_software(seed, &case);
        if print {
            println!("[{}]\n{}\n", case.name, lines.join("\n"));
        }
        findings.insert(case.name.clone(), found);
        ours.cases.insert(case.name, lines);
    }
    if ours.cases.is_empty() {
        return Err(format!("no case's name contains `{}`", only.unwrap_or_default()));
    }
    let read = |file: &str| std::fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"));
    let mut recorded = Recording::parse(&read(RECORDING_FILE)?)?;
    recorded.cases.retain(|name, _| wanted(name));
    let known = read(KNOWN_FILE)?;
    let known: Vec<&str> = known.lines().filter(|line| line.split(": ").next().is_some_and(wanted)).collect();
    let comparison = conformance::compare(&recorded, &ours, &known.join("\n"));
    println!("recorded on {}; software driver with seed {seed}", recorded.origin);
    for (name, difference) in &comparison.unexplained {
        println!("DIFFERENT {name}: {difference}");
        for finding in findings.get(name).into_iter().flatten() {
            println!("  finding: {finding}");
        }
    }
    for name in &comparison.retired {
        println!("retired {name}");
    }
    for name in &comparison.known {
        println!("known {name}");
    }
    let file = Path::new(RECORDING_FILE).file_name().unwrap_or_default().to_string_lossy();
    let (matching, cases) = (comparison.matching, comparison.cases);
    let (known, unexplained) = (comparison.known.len(), comparison.unexplained.len());
    println!("conformance: {matching} of {cases} match {file}, {known} known, {unexplained} unexplained");
    if unexplained == 0 { Ok(()) } else { Err(format!("{unexplained} cases differ without a reason")) }
}
