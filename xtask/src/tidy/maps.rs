//! Maps of the documentation are true: folders, crates, areas.
//!
//! - "Inside `crates/..`:" of docs/ARCHITECTURE.md names every file and folder of those sources, and nothing else.
//! - The column *knows* of its map names what each crate uses, as tidy's own list does.
//! - docs/testing.md names the areas of programs with a mistake.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::quoted;

/// The sources that have a map.
const MAPPED: &[&str] = &["crates/dacapo/src", "crates/ptx/src", "crates/sim/src"];

/// What the maps of the folders lack, and what is too much in them. `files` are all of the workspace.
pub fn folders(files: &[PathBuf], architecture: &str) -> Vec<String> {
    let known: BTreeSet<&Path> = files.iter().map(PathBuf::as_path).collect();
    let mut found = Vec::new();
    for folder in MAPPED {
        let heading = format!("Inside `{folder}`:");
        let below = architecture.lines().skip_while(|line| *line != heading).skip(2);
        let rows = below.take_while(|line| line.starts_with('|'));
        let listed: BTreeSet<&str> = rows.flat_map(|row| quoted(row.split('|').nth(1).unwrap_or_default())).collect();
        let exists = |name: &str| {
            let path = Path::new(folder).join(name);
            known.contains(&*path) || name.ends_with('/') && known.iter().any(|file| file.starts_with(&path))
        };
        let gone = listed.iter().filter(|name| !exists(name));
        found.extend(gone.map(|name| format!("docs/ARCHITECTURE.md: {folder} has no `{name}`")));
        let stems: BTreeSet<&str> = listed.iter().map(|name| stem(name)).collect();
        let tops = known.iter().filter_map(|file| file.strip_prefix(folder).ok()?.iter().next()?.to_str()).map(stem);
        let missing: BTreeSet<&str> =
            tops.filter(|name| !stems.contains(name) && !["lib", "tests"].contains(name)).collect();
        found.extend(missing.iter().map(|name| format!("docs/ARCHITECTURE.md: the map of {folder} lacks `{name}`")));
    }
    found
}

/// `visit` of `visit.rs`, `calls` of `calls/`.
fn stem(name: &str) -> &str {
    name.strip_suffix(".rs").or(name.strip_suffix('/')).unwrap_or(name)
}

/// Where the column *knows* and `may_use` differ.
pub fn crates(architecture: &str, may_use: &[(&str, &[&str])]) -> Vec<String> {
    let below = architecture.lines().skip_while(|line| *line != "## The map").skip(1);
    let rows = below.skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = rows.skip(2).map(|row| row.split('|').collect()).collect();
    // In the column a crate is called as its folder is.
    let package = |short: &str| {
        let row =
            rows.iter().find(|row| column(row, 1).first().is_some_and(|folder| folder.ends_with(&format!("/{short}"))));
        row.and_then(|row| column(row, 2).first().copied()).unwrap_or("an unknown crate")
    };
    let mut found = Vec::new();
    for (name, uses) in may_use {
        let Some(row) = rows.iter().find(|row| column(row, 2) == [*name]) else {
            found.push(format!("docs/ARCHITECTURE.md: the map lacks `{name}`"));
            continue;
        };
        let told: BTreeSet<&str> = column(row, 3).into_iter().map(package).collect();
        let uses: BTreeSet<&str> = uses.iter().copied().collect();
        found.extend(uses.difference(&told).map(|other| format!("docs/ARCHITECTURE.md: `{name}` knows `{other}` too")));
        found.extend(
            told.difference(&uses).map(|other| format!("docs/ARCHITECTURE.md: `{name}` does not know `{other}`")),
        );
    }
    found
}

/// What is quoted in a column of a row.
fn column<'t>(row: &[&'t str], index: usize) -> Vec<&'t str> {
    quoted(row.get(index).copied().unwrap_or_default()).collect()
}

/// Where the areas of programs and the line about them differ.
pub fn areas(files: &[PathBuf], testing: &str) -> Vec<String> {
    let below = files.iter().filter_map(|file| file.strip_prefix("crates/suite/src/programs").ok());
    let folders = below.filter(|file| file.iter().count() > 1).filter_map(|file| file.iter().next()?.to_str());
    let areas: BTreeSet<&str> = folders.filter(|area| *area != "program").collect();
    let told: BTreeSet<&str> =
        testing.lines().filter(|line| line.starts_with("The areas: ")).flat_map(quoted).collect();
    let missing = areas.difference(&told).map(|area| format!("docs/testing.md: the areas of programs lack `{area}`"));
    let stale = told.difference(&areas).map(|area| format!("docs/testing.md: there is no area `{area}`"));
    missing.chain(stale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_folder_map_names_all_there_is_and_nothing_else() {
        let map = "Inside `crates/sim/src`:\n\n| folder or file | holds |\n|---|---|\n\
                   | `visit.rs`, `exec/` | `gone.rs` is no name here |\n| `exec/report.rs` | |\n\n| `after.rs` | |\n";
        let there = files(&["crates/sim/src/lib.rs", "crates/sim/src/visit.rs", "crates/sim/src/exec/report.rs"]);
        assert_eq!(folders(&there, map), [""; 0]);
        let other =
            files(&["crates/sim/src/visit/mod.rs", "crates/sim/src/exec/mod.rs", "crates/sim/src/check/mod.rs"]);
        assert_eq!(
            folders(&other, map),
            [
                "docs/ARCHITECTURE.md: crates/sim/src has no `exec/report.rs`",
                "docs/ARCHITECTURE.md: crates/sim/src has no `visit.rs`",
                "docs/ARCHITECTURE.md: the map of crates/sim/src lacks `check`",
            ]
        );
    }

    #[test]
    fn what_a_crate_knows_is_as_listed() {
        let map = "## The map\n\n| folder | package | knows | what |\n|---|---|---|---|\n| `crates/ptx` | `dacapo-ptx` | | |\n\
                   | `crates/sim` | `dacapo-sim` | `ptx` | |\n";
        let ptx: (&str, &[&str]) = ("dacapo-ptx", &[]);
        assert_eq!(crates(map, &[ptx, ("dacapo-sim", &["dacapo-ptx"])]), [""; 0]);
        assert_eq!(
            crates(map, &[ptx, ("dacapo-sim", &["dacapo-driver"]), ("dacapo-new", &[])]),
            [
                "docs/ARCHITECTURE.md: `dacapo-sim` knows `dacapo-driver` too",
                "docs/ARCHITECTURE.md: `dacapo-sim` does not know `dacapo-ptx`",
                "docs/ARCHITECTURE.md: the map lacks `dacapo-new`",
            ]
        );
    }

    #[test]
    fn areas_are_the_folders_with_programs() {
        let folder = "crates/suite/src/programs";
        let there =
            files(&[&format!("{folder}/race/a.rs"), &format!("{folder}/program/b.rs"), &format!("{folder}/mod.rs")]);
        assert_eq!(areas(&there, "The areas: `race`.\n"), [""; 0]);
        assert_eq!(
            areas(&there, "The areas: `launch`.\n"),
            ["docs/testing.md: the areas of programs lack `race`", "docs/testing.md: there is no area `launch`"]
        );
    }
}
