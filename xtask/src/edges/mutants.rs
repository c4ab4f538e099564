//! `cargo xtask edges --mutants`: whether the check finds out when a rule of programmatic edges is missing.
//!
//! Each patch in `xtask/mutants/edges` takes one away; its first line says which. It is applied to a copy of the tree under the
//! target folder, `xtask` is built there, and its `edges` must fail. The last line is `edges: N of N rules missed`.

use std::process::{Command, Stdio};

use crate::patches::{self, TreeCopy};

/// Takes each rule away.
///
/// # Errors
///
/// - A patch does not apply, or does not build, or nothing is found wrong with it.
pub(super) fn run() -> Result<(), String> {
    let copy = TreeCopy::make("edges-mutants")?;
    let patches = patches::list("edges")?;
    let mut found = 0;
    for patch in &patches {
        match copy.with(patch, || check(&copy))? {
            Some(how) => {
                found += 1;
                println!("missed: {}: {how}", patch.name);
            }
            None => println!("NOT missed: {}: {}", patch.name, patch.opt_rule.as_deref().unwrap_or("it says no rule")),
        }
    }
    println!("edges: {found} of {} rules missed", patches.len());
    if found == patches.len() && found > 0 { Ok(()) } else { Err("a rule without which nothing is wrong".into()) }
}

/// What is found wrong, if anything is.
fn check(copy: &TreeCopy) -> Result<Option<String>, String> {
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
    let ran = Command::new(copy.target.join("debug/xtask")).arg("edges").stdout(Stdio::null()).output();
    let ran = ran.map_err(|error| format!("xtask: {error}"))?;
    let said = String::from_utf8_lossy(&ran.stderr).lines().next().unwrap_or("the process ended").to_string();
    Ok((!ran.status.success()).then_some(said))
}
