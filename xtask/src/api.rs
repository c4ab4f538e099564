//! `cargo xtask api`: the public API of the published crates is what docs/api says.
//!
//! - A text for each crate, a line for each item, read from the sources with syn. `cargo xtask api` writes nothing:
//!   it prints the lines that differ and fails. `cargo xtask bless` writes the texts anew.
//! - What the sources say that is not understood (a re-export that leads nowhere, a macro that is not found) is an
//!   error.
//! - Also counted: the names at the root of `dacapo`, and its items that have an example that runs (`limits`).
//!
//! In reading order: `tree` reads modules, `expand` calls macros, `names` says what a name means, `reach` what a user
//! reaches, `lines` and `impls` tell of it, `paths` and `print` write signatures.
//!
//! Not seen: auto traits (`Send`, `Sync`) of a type, unless an impl says so; lifetimes that an `impl Trait` captures;
//! what a derive of another crate makes; values of constants that are no plain number or text.

mod attributes;
mod examples;
mod expand;
mod gates;
mod impls;
mod limits;
mod lines;
mod macros;
mod names;
mod paths;
mod print;
mod reach;
#[cfg(test)]
mod tests;
mod text;
mod transcribe;
mod tree;

use std::path::{Path, PathBuf};

use limits::Counts;
use lines::Api;
use names::World;
use tree::{Files, Reader};

use crate::workspace;

/// Where the texts are.
pub const FOLDER: &str = "docs/api";

/// The crate whose names and examples are counted.
const COUNTED: &str = "dacapo";

/// The published crates by name and folder. A crate comes behind those that it uses.
const CRATES: &[(&str, &str)] = &[
    ("dacapo-driver", "crates/driver"),
    ("dacapo-ptx", "crates/ptx"),
    ("dacapo-ledger", "crates/ledger"),
    ("dacapo-nccl", "crates/nccl"),
    ("dacapo-sim", "crates/sim"),
    ("dacapo", "crates/dacapo"),
];

/// The API of one crate.
struct Described {
    package: String,
    text: String,
    counts: Counts,
}

/// Compares the texts with the sources; `list_missing` also lists the items without an example.
///
/// # Errors
///
/// - A text differs, a limit is exceeded, or the sources are not understood.
pub fn run(list_missing: bool) -> Result<(), String> {
    let root = workspace::root();
    let (mut differ, mut wrong, mut lines) = (0, Vec::new(), 0);
    let described = published(&root)?;
    for it in &described {
        let file = file_of(&it.package);
        let committed = std::fs::read_to_string(root.join(&file)).unwrap_or_default();
        let changes = text::changes(&committed, &it.text);
        lines += it.text.lines().count();
        differ += changes.len();
        if !changes.is_empty() {
            println!("{} (- committed, + in the sources)\n{}\n", file.display(), changes.join("\n"));
        }
    }
    println!("api: {} crates, {lines} lines, {differ} differ", described.len());
    if differ > 0 {
        wrong.push(format!(
            "the public API is not what {FOLDER} says; if the change is meant, `cargo xtask bless` accepts it \
             (`--only api`: this alone)"
        ));
    }
    for it in described.iter().filter(|it| it.package == COUNTED) {
        if list_missing {
            it.counts.missing().for_each(|item| println!("no example: {item}"));
        }
        println!("{}", it.counts.report(&limits::TODAY));
        wrong.extend(it.counts.judge(&limits::TODAY));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n       ")) }
}

/// Writes the texts anew.
///
/// # Errors
///
/// - The sources are not understood, or a file cannot be written.
pub fn bless(root: &Path) -> Result<(), String> {
    std::fs::create_dir_all(root.join(FOLDER)).map_err(|error| format!("{FOLDER}: {error}"))?;
    for it in published(root)? {
        let file = root.join(file_of(&it.package));
        std::fs::write(&file, it.text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

fn file_of(package: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{package}.txt"))
}

/// Describes the published crates of the workspace.
fn published(root: &Path) -> Result<Vec<Described>, String> {
    describe(CRATES, &|file| std::fs::read_to_string(root.join(file)).ok())
}

/// Describes crates, each of which may use those before it.
fn describe(packages: &[(&str, &str)], files: &Files<'_>) -> Result<Vec<Described>, String> {
    let mut crates = Vec::new();
    for (package, folder) in packages {
        let reader = Reader::read(&package.replace('-', "_"), &Path::new(folder).join("src/lib.rs"), files)?;
        crates.push(expand::expand(reader, &crates)?);
    }
    let world = World::new(crates);
    let reaches = (0..packages.len()).map(|krate| reach::reach(&world, krate)).collect::<Result<Vec<_>, _>>()?;
    let each = packages.iter().enumerate().map(|(krate, (package, _))| {
        let api = Api::new(&world, &reaches, krate, files)?;
        let text = text::text(package, &api.lines);
        let mut items: Vec<_> = api.counted.into_values().collect();
        items.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Described { package: package.to_string(), text, counts: Counts { root_names: api.root_names, items } })
    });
    each.collect()
}
