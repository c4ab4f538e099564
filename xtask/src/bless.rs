//! `cargo xtask bless`: runs the tests that keep expectations beside them with `BLESS=1`, so that what they get becomes
//! what they expect, and prints which files changed. The texts of `cargo xtask api` are written here as well.
//!
//! - A test that fails for another reason than its expectation still fails, and is named.
//! - Nothing is committed: the difference is for a person to read.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{api, workspace};

/// Test targets that know `BLESS=1`, and where each keeps its expectations.
const KEEPERS: &[Keeper] = &[
    Keeper { package: "dacapo-suite", test: "programs", expectations: "crates/suite/src/programs/fail" },
    Keeper { package: "dacapo-ptx", test: "texts", expectations: "crates/ptx/tests" },
    Keeper { package: "dacapo-ptx", test: "docs", expectations: "docs/ptx.md" },
    Keeper { package: "dacapo-libcuda", test: "coverage", expectations: "docs/driver-calls.md" },
    Keeper { package: "dacapo-suite", test: "faults", expectations: "docs/faults.md" },
    Keeper { package: "dacapo", test: "lib error::tests", expectations: "docs/errors.md" },
    Keeper { package: "dacapo-suite", test: "chance", expectations: "crates/suite/tests/chance/printed.rs" },
];

struct Keeper {
    package: &'static str,
    test: &'static str,
    expectations: &'static str,
}

/// Runs the task, for expectations whose package or test contains `only`.
pub fn run(only: Option<&str>) -> Result<(), String> {
    let root = workspace::root();
    let before = texts(&root)?;
    let mut failed = Vec::new();
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    if wanted("api") {
        println!("bless: api");
        failed.extend(api::bless(&root).err().map(|error| format!("api: {error}")));
    }
    for keeper in KEEPERS.iter().filter(|keeper| wanted(keeper.package) || wanted(keeper.test)) {
        let (package, test) = (keeper.package, keeper.test);
        println!("bless: {package}, {test}");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // A test of the library itself is `lib` and what its name begins with.
        let target = test.strip_prefix("lib ").map_or(["--test", test], |name| ["--lib", name]);
        let status = Command::new(cargo)
            .args(["test", "--quiet", "--package", package])
            .args(target)
            .env("BLESS", "1")
            .env("DACAPO_BLESS", "1")
            .current_dir(&root)
            .status()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if !status.success() {
            failed.push(format!("{package} {}", target.join(" ")));
        }
    }
    let changed = changes(&before, &texts(&root)?);
    for line in &changed {
        println!("{line}");
    }
    match changed.len() {
        0 => println!("bless: no expectation changed"),
        1 => println!("bless: 1 expectation changed; read it with `git diff` before you commit it"),
        n => println!("bless: {n} expectations changed; read them with `git diff` before you commit them"),
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => Err(format!("these fail whatever they expect: {}", failed.join(", "))),
    }
}

/// Every expectation with its text, by path from the root.
fn texts(root: &Path) -> Result<BTreeMap<PathBuf, String>, String> {
    let mut texts = BTreeMap::new();
    for expectations in KEEPERS.iter().map(|keeper| keeper.expectations).chain([api::FOLDER]) {
        let mut open = vec![root.join(expectations)];
        while let Some(path) = open.pop() {
            let failed = |error: std::io::Error| format!("{}: {error}", path.display());
            if path.is_dir() {
                for entry in std::fs::read_dir(&path).map_err(failed)? {
                    open.push(entry.map_err(failed)?.path());
                }
            } else if path == root.join(expectations)
                || path.starts_with(root.join(api::FOLDER))
                || path.extension().is_some_and(|e| ["stderr", "listing", "md"].iter().any(|known| e == *known))
            {
                let text = std::fs::read_to_string(&path).map_err(failed)?;
                texts.insert(path.strip_prefix(root).unwrap_or(&path).to_path_buf(), text);
            }
        }
    }
    Ok(texts)
}

/// A line for each file that differs: how many lines came and went.
fn changes(before: &BTreeMap<PathBuf, String>, after: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, new) in after {
        match before.get(path) {
            Some(old) if old == new => {}
            Some(old) => lines.push(format!(" {} | +{} -{}", path.display(), gained(old, new), gained(new, old))),
            None => lines.push(format!(" {} | new, {} lines", path.display(), new.lines().count())),
        }
    }
    lines
}

/// Lines of `new` that `old` does not have, or not as often.
fn gained(old: &str, new: &str) -> usize {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for line in old.lines() {
        *left.entry(line).or_default() += 1;
    }
    let is_new = |line: &&str| match left.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    new.lines().filter(is_new).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_named_with_what_came_and_went() {
        let file = |text: &str| BTreeMap::from([(PathBuf::from("a.stderr"), text.to_string())]);
        assert_eq!(changes(&file("x\ny\n"), &file("x\nz\nz\n")), [" a.stderr | +2 -1"]);
        assert_eq!(changes(&BTreeMap::new(), &file("x\n")), [" a.stderr | new, 1 lines"]);
        assert!(changes(&file("x\n"), &file("x\n")).is_empty());
    }

    #[test]
    fn every_keeper_is_where_it_is_said_to_be() {
        assert!(texts(&workspace::root()).is_ok_and(|texts| texts.len() > 10));
    }
}
