//! `cargo xtask faster COMMIT`: the interpreter as it is against that of another commit, in one run.
//!
//! The other commit is checked out under target/faster/, gets the benchmark of this tree, and is built there; then the
//! two programs take turns (`crates/sim/benches/interpreter/against.rs`). Its last line is
//!
//! ```text
//! interpreter: as fast as it has to be
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace;

/// The benchmark, in its crate and as a package.
const BENCHMARK: &str = "crates/sim/benches/interpreter";
const BUILD: [&str; 6] = ["bench", "-p", "dacapo-sim", "--bench", "interpreter", "--no-run"];

/// Builds both and compares them; `only` keeps the kernels whose name contains it.
///
/// # Errors
///
/// - Git does not know the commit, one of the two does not build, or a kernel is slower than it has to be.
pub fn run(commit: &str, only: Option<&str>) -> Result<(), String> {
    let root = workspace::root();
    let other = checked_out(&root, commit)?;
    let (before, now) = (built(&other)?, built(&root)?);
    println!("{}; {} against {}", processor(), described(&root)?, described(&other)?);
    let mut command = Command::new(now);
    command.arg("--against").arg(before).args(only);
    let status = command.status().map_err(|error| error.to_string())?;
    status.success().then_some(()).ok_or_else(|| "the interpreter is not as fast as it has to be".to_string())
}

/// A folder with the files of `commit` and the benchmark of this tree.
fn checked_out(root: &Path, commit: &str) -> Result<PathBuf, String> {
    let full = git(root, &["rev-parse", "--verify", &format!("{commit}^{{commit}}")])?;
    let folder = workspace::target(root).join("faster").join(&full[..12.min(full.len())]);
    if !folder.join("Cargo.toml").exists() {
        let path = folder.to_string_lossy();
        git(root, &["worktree", "add", "--force", "--detach", &path, &full])?;
    }
    let (from, to) = (root.join(BENCHMARK), folder.join(BENCHMARK));
    // Before it was a folder it was a file, and both would be one too many.
    let _ = std::fs::remove_file(to.with_extension("rs"));
    std::fs::create_dir_all(&to).map_err(|error| error.to_string())?;
    for file in ["main.rs", "against.rs"] {
        std::fs::copy(from.join(file), to.join(file)).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(folder)
}

/// The benchmark of a tree, built in that tree's own target folder.
fn built(tree: &Path) -> Result<PathBuf, String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(BUILD).current_dir(tree).env("CARGO_TARGET_DIR", tree.join("target"));
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let path = said.lines().rev().find_map(|line| line.trim().strip_prefix("Executable")?.split(['(', ')']).nth(1));
    path.map(|path| tree.join(path)).ok_or_else(|| format!("the benchmark does not build:\n{said}"))
}

fn described(tree: &Path) -> Result<String, String> {
    let commit = git(tree, &["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(tree, &["status", "--porcelain", "--", "crates/sim/src", "crates/ptx/src"])?;
    Ok(if changed.is_empty() { commit } else { format!("{commit} with changes") })
}

fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output =
        Command::new("git").args(arguments).current_dir(root).output().map_err(|error| format!("git: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
    }
}

/// What the processor calls itself.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or("an unknown processor".to_string(), |(_, name)| name.trim().to_string())
}
