//! `cargo xtask programs --mutants`: whether random programs find mistakes in the library.
//!
//! Each patch in `xtask/mutants/programs` is a plausible mistake. It is applied to a copy of the tree under the target
//! folder, `xtask` is built there, and its programs are run until one fails. A mistake that no program finds is an
//! error. The last line is `programs: N of N mutants found`.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::patches::{self, TreeCopy};

/// How many programs are tried.
const PROGRAMS: &str = "6000";

/// Builds and hunts each.
///
/// # Errors
///
/// - A patch does not apply, a mutant does not build, or no program finds it.
pub(super) fn run() -> Result<(), String> {
    let copy = TreeCopy::make("programs-mutants")?;
    let patches = patches::list("programs")?;
    let mut found = 0;
    for patch in &patches {
        let began = Instant::now();
        match copy.with(patch, || hunt(&copy))? {
            Some(how) => {
                found += 1;
                println!("found: {}: {how} ({} s with the build)", patch.name, began.elapsed().as_secs());
            }
            None => println!("not found: {}, by {PROGRAMS} programs", patch.name),
        }
    }
    println!("programs: {found} of {} mutants found", patches.len());
    if found == patches.len() && found > 0 { Ok(()) } else { Err("a mistake that no program finds".into()) }
}

/// Builds and runs; how it was found, if it was.
fn hunt(copy: &TreeCopy) -> Result<Option<String>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--package", "xtask"])
        .env("CARGO_TARGET_DIR", &copy.target)
        .env("RUSTFLAGS", "-Awarnings")
        .current_dir(&copy.tree)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if !built.success() {
        return Err("a mutant does not build".into());
    }
    let ran = Command::new(copy.target.join("debug/xtask"))
        .args(["programs", "--hunt", "--programs", PROGRAMS])
        .env("RUST_BACKTRACE", "0")
        .stderr(Stdio::null())
        .output()
        .map_err(|error| format!("xtask: {error}"))?;
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let how = text.lines().find(|line| line.starts_with("found after ") || line.contains(" does not end"));
    Ok(how.map(str::to_owned).or_else(|| (!ran.status.success()).then(|| "the process ended".into())))
}
