//! What a document names is there: files behind links, and paths of the workspace.
//!
//! - A link to a file is looked for from the document's own folder, a path between backticks from the root.
//! - A path is what begins with a folder of the root, such as `docs/`. One with a star or a bracket is a pattern, and is not
//!   looked for; nor is anything behind a `#` or a `:`.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::quoted;

/// The folders of the root that documents speak of.
const FOLDERS: &[&str] = &[".ci/", "crates/", "docs/", "examples/", "kernels/", "results/", "xtask/"];

/// What `text`, the document `file`, names and is not among `files`.
pub fn check(file: &Path, text: &str, files: &[PathBuf]) -> Vec<String> {
    let mut known: BTreeSet<&Path> = BTreeSet::new();
    known.extend(files.iter().flat_map(|file| file.ancestors()));
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let links = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        let links = links.filter(|target| !target.contains("://") && !target.starts_with('#'));
        let links = links.map(|target| (target, plain(&folder.join(bare(target)))));
        let paths = quoted(line).filter(|path| FOLDERS.iter().any(|folder| path.starts_with(folder)));
        let paths = paths.filter(|path| !path.contains(|c: char| "*<>{} ".contains(c)));
        let paths = paths.map(|path| (path, plain(Path::new(bare(path)))));
        let gone = links.chain(paths).filter(|(_, path)| !known.contains(path.as_path()));
        found.extend(gone.map(|(name, _)| format!("{}:{}: there is no `{name}`", file.display(), at + 1)));
    }
    found
}

/// Without a heading or a line behind it.
fn bare(target: &str) -> &str {
    target.split(['#', ':']).next().unwrap_or(target)
}

/// Without `..` in it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let files = ["docs/holes.md", "docs/testing.md", "README.md", "crates/sim/src/lib.rs"].map(PathBuf::from);
        check(Path::new("docs/testing.md"), text, &files)
    }

    #[test]
    fn links_and_paths_that_are_there_are_right() {
        assert_eq!(found("[holes](holes.md#a), [readme](../README.md), [here](#below), [out](https://a/b)\n"), [""; 0]);
        assert_eq!(
            found("`crates/sim/src/lib.rs:7`, `crates/sim`, `crates/*/x.rs`, `crates/<name>/`, `lib.rs`\n"),
            [""; 0]
        );
    }

    #[test]
    fn what_is_gone_is_named_with_its_line() {
        assert_eq!(
            found("\n[seeds](seeds.md) and `docs/seeds.md`\n"),
            ["docs/testing.md:2: there is no `seeds.md`", "docs/testing.md:2: there is no `docs/seeds.md`"]
        );
    }
}
