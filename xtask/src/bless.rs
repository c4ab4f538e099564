//! `cargo xtask bless`: runs the tests that keep expectations beside them with `DACAPO_BLESS=1`, so that what they get
//! becomes what they expect, and prints which files changed. The texts of `cargo xtask api` and the drawings of docs/pictures
//! are written here as well.
//!
//! - A test that fails for another reason than its expectation still fails, and is named.
//! - Nothing is committed: the difference is for a person to read.
//! - There is no other variable, and no test that looks at it and is not run here.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{api, pictures, workspace};

/// What a test looks at: `1` makes what it gets what it expects.
const VARIABLE: &str = "DACAPO_BLESS";

/// Tests that look at it, and where they keep their expectations.
const KEEPERS: &[Keeper] = &[
    Keeper::new("dacapo", &["--lib", "plan::"], "crates/dacapo/tests/plan"),
    Keeper::new("dacapo", &["--lib", "inspect::"], "crates/dacapo/tests/inspect"),
    Keeper::new("dacapo", &["--lib", "error::tests"], "docs/errors.md"),
    Keeper::new("dacapo-ptx", &["--test", "texts"], "crates/ptx/tests"),
    Keeper::new("dacapo-ptx", &["--test", "docs"], "docs/ptx.md"),
    Keeper::new("dacapo-libcuda", &["--test", "coverage"], "docs/driver-calls.md"),
    Keeper::new("dacapo-suite", &["--test", "programs"], "crates/suite/src/programs"),
    Keeper::new("dacapo-suite", &["--test", "rank_mistakes"], "crates/suite/src/ranks/mistakes"),
    Keeper::new("dacapo-suite", &["--test", "faults"], "docs/faults.md"),
    Keeper::new("dacapo-suite", &["--test", "two_devices"], "crates/suite/recordings/two-devices-software.txt"),
    Keeper::new("dacapo-suite", &["--test", "chance"], "crates/suite/tests/chance/printed.rs"),
    Keeper::new("dacapo-example-decode", &["--test", "refusals"], "examples/decode/tests/checkpoints/refused.txt"),
];

struct Keeper {
    package: &'static str,
    /// Which tests of the package, as `cargo test` is told.
    tests: &'static [&'static str],
    /// A file, or a folder of which every file counts.
    expectations: &'static str,
}

impl Keeper {
    const fn new(package: &'static str, tests: &'static [&'static str], expectations: &'static str) -> Keeper {
        Keeper { package, tests, expectations }
    }

    /// As it is named to the person.
    fn name(&self) -> String {
        format!("{} {}", self.package, self.tests.join(" "))
    }
}

/// Runs the task, for expectations whose name contains `only`: `api`, `pictures`, or package and tests as `cargo test` takes them.
pub fn run(only: Option<&str>) -> Result<(), String> {
    let root = workspace::root();
    let before = texts(&root)?;
    let mut failed = Vec::new();
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    if wanted("api") {
        println!("bless: api");
        failed.extend(api::bless(&root).err().map(|error| format!("api: {error}")));
    }
    if wanted("pictures") {
        println!("bless: pictures");
        failed.extend(pictures::bless(&root).err().map(|error| format!("pictures: {error}")));
    }
    for keeper in KEEPERS.iter().filter(|keeper| wanted(&keeper.name())) {
        println!("bless: {}", keeper.name());
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["test", "--quiet", "--package", keeper.package])
            .args(keeper.tests)
            .env(VARIABLE, "1")
            .current_dir(&root)
            .status()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if !status.success() {
            failed.push(keeper.name());
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
    for expectations in KEEPERS.iter().map(|keeper| keeper.expectations).chain([api::FOLDER, pictures::FOLDER]) {
        let mut open = vec![root.join(expectations)];
        while let Some(path) = open.pop() {
            let failed = |error: std::io::Error| format!("{}: {error}", path.display());
            if path.is_dir() {
                for entry in std::fs::read_dir(&path).map_err(failed)? {
                    open.push(entry.map_err(failed)?.path());
                }
            } else {
                let text = String::from_utf8_lossy(&std::fs::read(&path).map_err(failed)?).into_owned();
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

    /// Files below `folder`, in name and text.
    fn sources(folder: &Path, into: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).expect("folders of the workspace can be listed") {
            let path = entry.expect("readable").path();
            match path.extension() {
                _ if path.is_dir() => sources(&path, into),
                Some(extension) if extension == "rs" => {
                    let text = std::fs::read_to_string(&path).expect("a source is text");
                    into.push((path.display().to_string(), text));
                }
                _ => {}
            }
        }
    }

    /// The variables of the environment that a text reads, by name.
    fn variables(text: &str) -> Vec<&str> {
        let calls = text.split("env::var").skip(1);
        let names = calls.filter_map(|rest| rest.strip_prefix("_os").unwrap_or(rest).strip_prefix("(\""));
        names.filter_map(|rest| Some(rest.split_once('"')?.0)).collect()
    }

    /// What is wrong with a source: it can be blessed by another variable, or nobody blesses its package.
    fn fault(file: &str, text: &str) -> Option<String> {
        let read = variables(text);
        if let Some(other) = read.iter().find(|name| name.contains("BLESS") && **name != VARIABLE) {
            return Some(format!("{file}: reads {other}, the variable is {VARIABLE}"));
        }
        let is_kept = |keeper: &Keeper| {
            let folder = keeper.package.strip_prefix("dacapo-").unwrap_or(keeper.package);
            let is_at = |place: String| file.contains(&place);
            is_at(format!("crates/{folder}/"))
                || folder.strip_prefix("example-").is_some_and(|name| is_at(format!("examples/{name}/")))
        };
        let can_be = read.contains(&VARIABLE) || text.contains("is_blessing()");
        (can_be && !KEEPERS.iter().any(is_kept)).then(|| format!("{file}: can be blessed, and nobody does"))
    }

    #[test]
    fn whoever_can_be_blessed_is_and_by_one_variable() {
        let mut found = Vec::new();
        ["crates", "examples"].iter().for_each(|folder| sources(&workspace::root().join(folder), &mut found));
        let faults: Vec<String> = found.iter().filter_map(|(file, text)| fault(file, text)).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        let readers = found.iter().filter(|(_, text)| variables(text).contains(&VARIABLE));
        assert!(readers.count() >= 5, "nobody looks at {VARIABLE}");
    }

    #[test]
    fn another_variable_and_a_package_that_nobody_blesses_are_found() {
        let reads = |name: &str| format!("if std::env::var_os(\"{name}\").is_some() {{}}");
        assert_eq!(fault("crates/ptx/tests/texts.rs", &reads(VARIABLE)), None);
        assert_eq!(fault("crates/driver/tests/table.rs", &reads("DACAPO_SEED")), None);
        assert!(fault("crates/ptx/tests/texts.rs", &reads("PTX_BLESS")).is_some());
        assert!(fault("crates/ptx/tests/texts.rs", "std::env::var(\"BLESS\")").is_some());
        assert!(fault("crates/driver/tests/table.rs", &reads(VARIABLE)).is_some());
    }
}
