//! `cargo xtask gpu-pack`: stripped binaries with everything that wants a GPU, and a script that runs them.
//!
//! The pack is for a machine with a GPU and glibc 2.39 that has no Rust: target/gpu-pack/ holds `dacapo-gpu` (what
//! is recorded and checked), `dacapo` (the program itself: bench, soak, demo, doctor) and `run.sh`, nothing else. It must
//! stay under 40 MiB, and is not made from a tree whose commit cannot be told.

use std::path::Path;
use std::process::Command;

use crate::workspace;

const BYTES_MAX: u64 = 40 << 20;

const RUN: &str = r#"#!/bin/sh
# Runs the pack: run.sh [corpus|device|check|programs|forms|all], or run.sh [bench|soak|demo|doctor] with options of `dacapo`.
# Results as JSON go to $OUT, else to results/ beside this script.
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/results}
mkdir -p "$out"
case "$1" in
bench) shift && exec "$here/dacapo" bench --device cuda --json "$out/bench.json" "$@" ;;
soak | demo | doctor) exec "$here/dacapo" "$@" ;;
*) exec "$here/dacapo-gpu" "${1:-all}" "$out" ;;
esac
"#;

/// Builds the pack and prints its size.
pub fn run() -> Result<(), String> {
    let root = workspace::root();
    let commit = commit(&root)?;
    let target = workspace::target(&root);
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "-p", "dacapo-suite", "--bin", "dacapo-gpu"])
        .args(["-p", "dacapo-cli", "--bin", "dacapo"])
        .args(["--config", "profile.release.strip=true", "--config", "profile.release.debug=false"])
        .arg("--target-dir")
        .arg(&target)
        .env("DACAPO_COMMIT", &commit)
        .current_dir(&root)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err("the binaries did not build".into());
    }
    let pack = root.join("target/gpu-pack");
    let at = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(&pack).map_err(|error| at(&pack, error))?;
    let (binaries, script) = ([pack.join("dacapo-gpu"), pack.join("dacapo")], pack.join("run.sh"));
    for (binary, name) in binaries.iter().zip(["dacapo-gpu", "dacapo"]) {
        std::fs::copy(target.join("release").join(name), binary).map_err(|error| at(binary, error))?;
    }
    std::fs::write(&script, RUN).map_err(|error| at(&script, error))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&script, executable).map_err(|error| at(&script, error))?;
    }
    let files = binaries.iter().chain([&script]);
    let bytes = files.filter_map(|path| std::fs::metadata(path).ok()).map(|file| file.len()).sum::<u64>();
    println!("gpu-pack: {:.1} MiB in {}, commit {commit}", bytes as f64 / (1 << 20) as f64, pack.display());
    match bytes <= BYTES_MAX {
        true => Ok(()),
        false => Err(format!("the pack has {bytes} bytes, the limit is {BYTES_MAX}")),
    }
}

/// The commit of the tree, marked where files differ from it.
fn commit(root: &Path) -> Result<String, String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(root).output();
        let output = output.map_err(|error| format!("git: {error}"))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
            false => Err(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr))),
        }
    };
    let head = git(&["rev-parse", "HEAD"])?;
    let changed = !git(&["status", "--porcelain", "--", "crates", "kernels", "Cargo.lock"])?.is_empty();
    Ok(if changed { format!("{head}+changes") } else { head })
}
