//! `cargo xtask tidy`: what no compiler checks about the workspace.
//!
//! - Dependencies between crates point one way (docs/ARCHITECTURE.md).
//! - No file is called utils, helpers, common or misc: such a name says nothing.
//! - `dacapo-ptx` forbids unsafe code.
//! - An ignored test says why.
//! - Nothing names a folder of the machine it was written on.
//! - The modules of `dacapo` import in one direction (`direction`).
//! - A public item that the documentation hides stands in docs/holes.md, and nothing else does (`hidden`).
//! - Functions fit on a screen, but for those that are listed (`lengths`).
//! - A program with a mistake is one file with its near miss, and has no line twice (`programs`).
//! - A word that named several types once names one (`words`).
//! - Lists and maps of the documentation are true: who reads the environment (`environment`), folders, crates and areas
//!   (`maps`), what CI runs, the tasks of `cargo xtask`, what is meant to come (`lists`), files that are named (`paths`).
//! - The tables of clients are what `cargo xtask clients --full` wrote (`crate::clients`).
//! - The drawings of docs/pictures are what the library draws (`crate::pictures`).

mod code;
mod direction;
mod environment;
mod excerpts;
mod hidden;
mod lengths;
mod lists;
mod maps;
mod paths;
mod programs;
mod words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory;
use serde_json::Value;

use crate::{clients, pictures, workspace};

/// Which crates of the workspace each may use, outside its tests.
const MAY_USE: &[(&str, &[&str])] = &[
    ("dacapo-driver", &[]),
    ("dacapo-ptx", &[]),
    ("dacapo-nccl", &["dacapo-driver"]),
    ("dacapo-sim", &["dacapo-driver", "dacapo-nccl", "dacapo-ptx"]),
    ("dacapo-libcuda", &["dacapo-driver", "dacapo-sim"]),
    ("dacapo-ledger", &[]),
    ("dacapo-derive", &[]),
    ("dacapo", &["dacapo-derive", "dacapo-driver", "dacapo-ledger", "dacapo-nccl", "dacapo-ptx", "dacapo-sim"]),
    ("dacapo-suite", &["dacapo", "dacapo-driver", "dacapo-nccl", "dacapo-sim"]),
    ("dacapo-cli", &["dacapo", "dacapo-driver", "dacapo-sim"]),
    (
        "dacapo-bench",
        &[
            "dacapo",
            "dacapo-cli",
            "dacapo-driver",
            "dacapo-example-decode",
            "dacapo-example-solve",
            "dacapo-example-train",
        ],
    ),
    ("dacapo-example-train", &["dacapo"]),
    ("dacapo-example-port", &["dacapo"]),
    ("dacapo-example-decode", &["dacapo", "dacapo-driver"]),
    ("dacapo-example-serve", &["dacapo"]),
    ("dacapo-example-solve", &["dacapo"]),
    ("xtask", &["dacapo", "dacapo-driver", "dacapo-ptx", "dacapo-sim", "dacapo-suite", "dacapo-example-train"]),
];

/// Names that say nothing.
const SAYS_NOTHING: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc"];

/// Checks everything, and lists all that it found.
///
/// # Errors
///
/// - What is untidy, a line each.
pub fn run() -> Result<(), String> {
    let root = workspace::root();
    let mut found = dependencies(&root)?;
    let files = tracked(&root)?;
    found.extend(files.iter().filter_map(|file| name_says_nothing(file)));
    let sources = files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs"));
    let sources: Vec<(&Path, String)> =
        sources.map(|file| (&**file, std::fs::read_to_string(root.join(file)).unwrap_or_default())).collect();
    for (file, text) in &sources {
        found.extend(ignored_without_reason(file, text));
    }
    let all = || sources.iter().map(|(file, text)| (*file, text.as_str()));
    let text_of = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    found.extend(hidden::check(all(), &text_of("docs/holes.md")));
    found.extend(programs::check(all()));
    found.extend(lengths::check(all()));
    found.extend(words::check(all()));
    let architecture = text_of("docs/ARCHITECTURE.md");
    found.extend(direction::check(all(), &architecture));
    found.extend(environment::check(all(), &architecture));
    found.extend(maps::folders(&files, &architecture));
    found.extend(maps::crates(&architecture, MAY_USE));
    found.extend(excerpts::check(&root, all()));
    found.extend(maps::areas(&files, &text_of("docs/testing.md")));
    for document in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "md")) {
        let text = std::fs::read_to_string(root.join(document)).unwrap_or_default();
        found.extend(paths::check(document, &text, &files));
        found.extend(excerpts::dead_links(&root, document, &text));
    }
    let contributing = text_of("CONTRIBUTING.md");
    found.extend(lists::steps(&contributing, &text_of(".ci/run")));
    found.extend(lists::tasks(&contributing, &tasks()));
    let (manifest, ptx) = (text_of("crates/dacapo/Cargo.toml"), text_of("docs/ptx.md"));
    found.extend(lists::to_come(&contributing, &manifest, &ptx, &text_of("docs/driver-calls.md")));
    found.extend(pictures::check(&root));
    found.extend(clients::tidy());
    found.extend(machine_paths(&root, &files));
    if !text_of("crates/ptx/src/lib.rs").contains("#![forbid(unsafe_code)]") {
        found.push("crates/ptx/src/lib.rs: must forbid unsafe code".into());
    }
    if found.is_empty() {
        println!("tidy: {} files, nothing to mend", files.len());
        return Ok(());
    }
    Err(format!("untidy:\n  {}", found.join("\n  ")))
}

fn dependencies(root: &Path) -> Result<Vec<String>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output =
        Command::new(cargo).args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(root).output();
    let output = output.map_err(|error| format!("cargo metadata: {error}"))?;
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
            found.push(format!("{name}: not in the list of crates in xtask/src/tidy.rs"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let uses = dependency["name"].as_str().unwrap_or_default();
            let ours = MAY_USE.iter().any(|(known, _)| *known == uses);
            if ours && dependency["kind"].is_null() && !allowed.contains(&uses) {
                found.push(format!("{name} uses {uses}: dependencies point the other way"));
            }
        }
    }
    Ok(found)
}

/// The names of the tasks of `cargo xtask`.
fn tasks() -> BTreeSet<String> {
    crate::Arguments::command().get_subcommands().map(|task| task.get_name().to_string()).collect()
}

/// What stands between backticks in a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn tracked(root: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    let output = output.map_err(|error| format!("git: {error}"))?;
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

fn name_says_nothing(file: &Path) -> Option<String> {
    let stem = file.file_stem()?.to_str()?;
    SAYS_NOTHING.contains(&stem).then(|| format!("{}: call it after what it holds", file.display()))
}

fn ignored_without_reason(file: &Path, text: &str) -> Vec<String> {
    // Spelled in two pieces, so that this file does not find itself.
    let bare = concat!("#[igno", "re]");
    let lines = text.lines().enumerate().filter(|(_, line)| line.trim() == bare);
    lines.map(|(at, _)| format!("{}:{}: an ignored test says why", file.display(), at + 1)).collect()
}

fn machine_paths(root: &Path, files: &[PathBuf]) -> Vec<String> {
    // The folder that holds this checkout, wherever that is.
    let Some(above) = root.canonicalize().ok().and_then(|root| root.parent().map(Path::to_path_buf)) else {
        return Vec::new();
    };
    let needle = format!("{}/", above.display());
    if needle == "//" {
        return Vec::new();
    }
    let mentions = |file: &&PathBuf| {
        std::fs::read(root.join(file)).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&needle))
    };
    files.iter().filter(mentions).map(|file| format!("{}: names a folder of this machine", file.display())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bare_ignores_are_found() {
        assert!(name_says_nothing(Path::new("crates/sim/src/utils.rs")).is_some());
        assert!(name_says_nothing(Path::new("crates/sim/src/visit.rs")).is_none());
        let bare = concat!("#[igno", "re]\nfn test() {}");
        assert_eq!(ignored_without_reason(Path::new("a.rs"), bare), ["a.rs:1: an ignored test says why"]);
        let reason = "#[ignore = \"needs a GPU\"]\nfn test() {}";
        assert!(ignored_without_reason(Path::new("a.rs"), reason).is_empty());
    }
}
