//! `cargo xtask libcuda`: the software driver as a `libcuda.so.1`, for programs that we did not write.
//!
//! Builds crates/libcuda in release and puts it under `target/dacapo/` by that name, and by the name without a number,
//! which some programs look for first. The copy is opened and looked through before it is shown: what is printed is
//! complete, or an error.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dacapo_driver::{Call, Nvidia, PerThreadTwin};
use serde_json::Value;

/// Builds the library, prints its path and how much it exports.
///
/// # Errors
///
/// - What failed, in words: the build, the copy, or a look at the result.
pub fn run() -> Result<(), String> {
    let path = build()?;
    let twins = Call::ALL.iter().filter(|call| call.per_thread_twin() != PerThreadTwin::None).count();
    println!("{}", path.display());
    println!(
        "{} symbols: {} entry points, {twins} twins for the per-thread default stream, and `dacapo_software_driver`",
        Call::ALL.len() + twins + 1,
        Call::ALL.len()
    );
    println!("use it: LD_LIBRARY_PATH={} PROGRAM", path.parent().unwrap_or(Path::new(".")).display());
    Ok(())
}

/// Builds the library and says where it is.
///
/// # Errors
///
/// As [`run`].
pub fn build() -> Result<PathBuf, String> {
    let built = cargo_build()?;
    let folder = target_folder()?.join("dacapo");
    let path = folder.join("libcuda.so.1");
    // Copied beside it and renamed: a program that has the old file open keeps it whole.
    let copy = folder.join("libcuda.so.1.new");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    std::fs::copy(&built, &copy).map_err(|error| format!("{} to {}: {error}", built.display(), copy.display()))?;
    std::fs::rename(&copy, &path).map_err(|error| format!("{}: {error}", path.display()))?;
    name_without_number(&folder)?;
    check(&path)?;
    Ok(path)
}

/// `libcuda.so`, a link to the library: a program that asks for this name first must not find another driver by it.
fn name_without_number(folder: &Path) -> Result<(), String> {
    let link = folder.join("libcuda.so");
    let said = |error: std::io::Error| format!("{}: {error}", link.display());
    match std::fs::remove_file(&link) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(said(error)),
        _ => {}
    }
    std::os::unix::fs::symlink("libcuda.so.1", &link).map_err(said)
}

/// What a program that links against it needs: every symbol of the table.
fn check(path: &Path) -> Result<(), String> {
    // SAFETY: it is the library of this workspace, built above.
    let driver = unsafe { Nvidia::open_path(path) }.map_err(|error| error.to_string())?;
    if !driver.is_software() {
        return Err(format!("{} does not say that it is the software driver", path.display()));
    }
    match driver.lacking().as_slice() {
        [] => Ok(()),
        [first, ..] => Err(format!("{} does not export `{}`", path.display(), first.symbol())),
    }
}

/// Builds crates/libcuda in release; cargo itself says which file came of it.
fn cargo_build() -> Result<PathBuf, String> {
    let messages =
        cargo(&["build", "--release", "--package", "dacapo-libcuda", "--message-format", "json-render-diagnostics"])?;
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "dacapo_libcuda")
        .filter_map(|message| message["filenames"].as_array().cloned())
        .flatten()
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .find(|file| file.extension().is_some_and(|extension| extension == "so"))
        .ok_or_else(|| "cargo built no shared library from crates/libcuda".to_string())
}

fn target_folder() -> Result<PathBuf, String> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| "cargo metadata names no target folder".into())
}

/// Runs cargo in the workspace and returns what it printed; its complaints go to the terminal.
fn cargo(arguments: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let run = Command::new(cargo).args(arguments).current_dir(workspace).stderr(Stdio::inherit()).output();
    let run = run.map_err(|error| format!("cargo could not be run: {error}"))?;
    if !run.status.success() {
        return Err(format!("cargo {} failed", arguments[0]));
    }
    String::from_utf8(run.stdout).map_err(|_| format!("cargo {} printed what is not text", arguments[0]))
}
