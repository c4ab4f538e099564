//! Patches that break something on purpose, applied one at a time to a copy of the tree.
//!
//! The copy lies under the target folder, and keeps what was built of it between runs: a patch costs the build of what
//! it changes. `cargo xtask mutants` breaks rules of the ledger like this, `cargo xtask programs --mutants` the library.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace;

/// What the line before a patch begins with that says which rule it breaks.
const BREAKS: &str = "Breaks the rule: ";

/// A file of `xtask/mutants`.
pub struct Patch {
    file: PathBuf,
    /// The file's name, without the ending.
    pub name: String,
    /// The sentence of the first line, where that begins with `Breaks the rule: `.
    pub opt_rule: Option<String>,
}

/// The patches in a folder of `xtask/mutants`, by name.
///
/// # Errors
///
/// - The folder, or a file in it, cannot be read.
pub fn list(folder: &str) -> Result<Vec<Patch>, String> {
    let folder = workspace::root().join("xtask/mutants").join(folder);
    let files = std::fs::read_dir(&folder).map_err(|error| failed(&folder, &error))?;
    let mut files: Vec<PathBuf> = files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "patch"))
        .collect();
    files.sort();
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).map_err(|error| failed(&file, &error))?;
        let opt_rule = text.lines().next().and_then(|line| line.strip_prefix(BREAKS)).map(str::to_owned);
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Patch { file, name, opt_rule })
    };
    files.into_iter().map(read).collect()
}

/// A copy of the workspace, with a target folder of its own.
pub struct TreeCopy {
    root: PathBuf,
    /// Where the copy is.
    pub tree: PathBuf,
    /// What `CARGO_TARGET_DIR` is to be for it.
    pub target: PathBuf,
}

impl TreeCopy {
    /// Copies the workspace to `home` in the target folder: what git knows, and what it does not ignore. Only what
    /// differs is written, so that nothing is built anew that is the same.
    ///
    /// # Errors
    ///
    /// - A file cannot be listed, read or written.
    pub fn make(home: &str) -> Result<Self, String> {
        let root = workspace::root();
        let home = workspace::target(&root).join(home);
        let copy = TreeCopy { root, tree: home.join("tree"), target: home.join("target") };
        let names = copy.names()?;
        for name in &names {
            let to = copy.tree.join(name);
            // What was removed and is not yet committed is listed as well.
            let Ok(bytes) = std::fs::read(copy.root.join(name)) else { continue };
            if std::fs::read(&to).is_ok_and(|known| known == bytes) {
                continue;
            }
            let folder = to.parent().unwrap_or(&copy.tree);
            std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
            std::fs::write(&to, bytes).map_err(|error| failed(&to, &error))?;
        }
        copy.remove_others(&copy.tree, &names)?;
        Ok(copy)
    }

    /// The files of the workspace, relative to its root.
    fn names(&self) -> Result<HashSet<PathBuf>, String> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&self.root)
            .output()
            .map_err(|error| format!("git: {error}"))?;
        if !output.status.success() {
            return Err("git does not list the files of the workspace".into());
        }
        let names = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
    }

    /// Removes what an earlier copy left and the workspace no longer has: cargo would find a test there and build it.
    fn remove_others(&self, folder: &Path, names: &HashSet<PathBuf>) -> Result<(), String> {
        let entries = std::fs::read_dir(folder).map_err(|error| failed(folder, &error))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.strip_prefix(&self.tree).unwrap_or(&path);
            if path.is_dir() {
                self.remove_others(&path, names)?;
            } else if !names.contains(name) || !self.root.join(name).exists() {
                std::fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
            }
        }
        Ok(())
    }

    /// Applies a patch, does something with the broken tree, and takes the patch out again.
    ///
    /// # Errors
    ///
    /// - The patch does not apply.
    /// - What `judge` answers.
    pub fn with<T>(&self, patch: &Patch, judge: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        self.apply(patch, &[])?;
        let judged = judge();
        self.apply(patch, &["--reverse"])?;
        judged
    }

    fn apply(&self, patch: &Patch, how: &[&str]) -> Result<(), String> {
        let inside = self.tree.strip_prefix(&self.root);
        let inside = inside.map_err(|_| "the target folder is not in the workspace".to_string())?;
        let status = Command::new("git")
            .arg("apply")
            .arg(format!("--directory={}", inside.display()))
            .args(how)
            .arg(&patch.file)
            .current_dir(&self.root)
            .status()
            .map_err(|error| format!("git: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("{} does not apply", patch.file.display())) }
    }
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A patch that the sources have moved away from is found by `cargo test`, and not by whoever looks for mutants next.
    #[test]
    fn every_patch_applies_to_the_tree_as_it_is() {
        for (folder, count) in [("programs", 16), ("ledger", 62), ("edges", 5)] {
            let patches = list(folder).unwrap();
            assert_eq!(patches.len(), count, "xtask/mutants/{folder}");
            for Patch { file, .. } in patches {
                let mut git = Command::new("git");
                git.args(["apply", "--check"]).arg(&file).current_dir(workspace::root());
                let checked = git.output().unwrap();
                let said = String::from_utf8_lossy(&checked.stderr).into_owned();
                assert!(checked.status.success(), "{}: make it anew with `git diff`: {said}", file.display());
            }
        }
    }

    #[test]
    fn every_patch_of_the_ledger_says_in_a_sentence_which_rule_it_breaks() {
        let mut known = HashSet::new();
        for Patch { name, opt_rule, .. } in list("ledger").unwrap() {
            let rule = opt_rule.unwrap_or_else(|| panic!("{name}: the first line begins with `{BREAKS}`"));
            assert!(rule.ends_with('.'), "{name}: {rule}");
            assert!(known.insert(rule), "{name}: another patch breaks the same rule");
        }
    }
}
