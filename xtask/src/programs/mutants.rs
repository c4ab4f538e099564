//! `cargo xtask programs --mutants`: whether random programs find mistakes in the library.
//!
//! Each patch in `xtask/mutants/programs` is a plausible mistake. It is applied to a copy of the tree under the target
//! folder, `xtask` is built there, and its programs are run until one fails. A mistake that no program finds is an
//! error. The last line is `programs: N of N mutants found`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::workspace;

/// How many programs are tried.
const PROGRAMS: &str = "6000";

/// Builds and hunts each.
///
/// # Errors
///
/// - A patch does not apply, a mutant does not build, or no program finds it.
pub(super) fn run() -> Result<(), String> {
    let root = workspace::root();
    let home = workspace::target(&root).join("programs-mutants");
    let tree = home.join("tree");
    copy_tree(&root, &tree)?;
    let patches = patches(&root)?;
    let mut found = 0;
    for patch in &patches {
        let name = patch.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        apply(&root, &tree, patch, false)?;
        let began = Instant::now();
        let outcome = hunt(&tree, &home.join("target"));
        apply(&root, &tree, patch, true)?;
        match outcome? {
            Some(how) => {
                found += 1;
                println!("found: {name}: {how} ({} s with the build)", began.elapsed().as_secs());
            }
            None => println!("not found: {name}, by {PROGRAMS} programs"),
        }
    }
    println!("programs: {found} of {} mutants found", patches.len());
    if found == patches.len() && found > 0 { Ok(()) } else { Err("a mistake that no program finds".into()) }
}

fn patches(root: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = root.join("xtask/mutants/programs");
    let files = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut patches: Vec<PathBuf> = files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "patch"))
        .collect();
    patches.sort();
    Ok(patches)
}

/// Copies what differs, so that nothing is built anew that is the same.
fn copy_tree(root: &Path, tree: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git: {error}"))?;
    for name in String::from_utf8_lossy(&output.stdout).split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), tree.join(name));
        let Ok(bytes) = std::fs::read(&from) else { continue };
        if std::fs::read(&to).is_ok_and(|known| known == bytes) {
            continue;
        }
        let folder = to.parent().unwrap_or(tree);
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        std::fs::write(&to, bytes).map_err(|error| failed(&to, error))?;
    }
    Ok(())
}

fn apply(root: &Path, tree: &Path, patch: &Path, is_back: bool) -> Result<(), String> {
    let inside = tree.strip_prefix(root).map_err(|_| "the target folder is not in the workspace".to_string())?;
    let mut command = Command::new("git");
    command.arg("apply").arg(format!("--directory={}", inside.display())).current_dir(root);
    if is_back {
        command.arg("--reverse");
    }
    let status = command.arg(patch).status().map_err(|error| format!("git: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{} does not apply", patch.display())) }
}

/// Builds and runs; how it was found, if it was.
fn hunt(tree: &Path, target: &Path) -> Result<Option<String>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--package", "xtask"])
        .env("CARGO_TARGET_DIR", target)
        .env("RUSTFLAGS", "-Awarnings")
        .current_dir(tree)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if !built.success() {
        return Err("a mutant does not build".into());
    }
    let ran = Command::new(target.join("debug/xtask"))
        .args(["programs", "--hunt", "--programs", PROGRAMS])
        .env("RUST_BACKTRACE", "0")
        .stderr(Stdio::null())
        .output()
        .map_err(|error| format!("xtask: {error}"))?;
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let how = text.lines().find(|line| line.starts_with("found after ") || line.contains(" does not end"));
    Ok(how.map(str::to_owned).or_else(|| (!ran.status.success()).then(|| "the process ended".into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A patch that the library has moved away from is found by `cargo test`, and not by whoever looks for mutants next.
    #[test]
    fn every_patch_applies_to_the_tree_as_it_is() {
        let root = workspace::root();
        let patches = patches(&root).unwrap();
        assert_eq!(patches.len(), 10);
        for patch in patches {
            let checked =
                Command::new("git").args(["apply", "--check"]).arg(&patch).current_dir(&root).output().unwrap();
            let said = String::from_utf8_lossy(&checked.stderr).into_owned();
            assert!(checked.status.success(), "{}: make it anew with `git diff`: {said}", patch.display());
        }
    }
}
