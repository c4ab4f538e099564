//! `cargo xtask gpu-pack`: stripped binaries with everything that wants a GPU, and a script that runs them.
//!
//! The pack is for a machine with a GPU and glibc 2.39 that has no Rust: target/gpu-pack/ holds `dacapo-gpu` (what
//! is recorded and checked), `dacapo-bench` (everything that is measured, whole models too), `dacapo` (the program itself:
//! soak, demo, doctor), `cudarc` (the scenarios of that client, a test of crates/libcuda) and `run.sh`, nothing else. It
//! must stay under 60 MiB (`tar cJ` makes 18 of 50), and is not made from a tree whose commit cannot be told.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace;

const BYTES_MAX: u64 = 60 << 20;

const RUN: &str = r#"#!/bin/sh
# Runs the pack: run.sh [corpus|singles|device|check|programs|silent|forms|mazes|edges|shapes|pools|declarations|conformance|memory|
# cublaslt|nccl|ranks|two-devices|all|client],
# run.sh nccl quick, run.sh ranks quick,
# run.sh bench with options of `dacapo-bench`, or run.sh [soak|demo|doctor] with options of `dacapo`.
# Results as JSON go to $OUT, else to results/ beside this script.
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/results}
mkdir -p "$out"
case "$1" in
bench) shift && exec "$here/dacapo-bench" --device cuda --report "$out/bench.json" "$@" ;;
nccl | ranks | two-devices) exec "$here/dacapo-gpu" "$1" "${2:-$out}" ;;
client)
    DACAPO_COMMIT=COMMIT "$here/cudarc" record "$out/cudarc-h200.txt" || exit 1
    DACAPO_COMMIT=COMMIT "$here/cudarc" record "$out/cudarc-again.txt" && cmp "$out/cudarc-h200.txt" "$out/cudarc-again.txt"
    ;;
soak | demo | doctor) exec "$here/dacapo" "$@" ;;
*) exec "$here/dacapo-gpu" "${1:-all}" "$out" ;;
esac
"#;

/// Builds the pack and prints its size.
pub fn run() -> Result<(), String> {
    let root = workspace::root();
    let commit = commit(&root)?;
    let target = workspace::target(&root);
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.args(arguments).args(["--release", "--target-dir"]).arg(&target);
        command.args(["--config", "profile.release.strip=true", "--config", "profile.release.debug=false"]);
        command.env("DACAPO_COMMIT", &commit).current_dir(&root).stderr(Stdio::inherit());
        let built = command.output().map_err(|error| format!("cargo: {error}"))?;
        match built.status.success() {
            true => Ok(String::from_utf8_lossy(&built.stdout).into_owned()),
            false => Err("the binaries did not build".to_string()),
        }
    };
    let programs = ["-p", "dacapo-suite", "-p", "dacapo-bench", "-p", "dacapo-cli", "--bins"];
    cargo(&[&["build"], &programs[..]].concat())?;
    let client =
        client(&cargo(&["test", "-p", "dacapo-libcuda", "--test", "cudarc", "--no-run", "--message-format", "json"])?)?;
    let pack = root.join("target/gpu-pack");
    let at = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(&pack).map_err(|error| at(&pack, error))?;
    let script = pack.join("run.sh");
    let binaries = ["dacapo-gpu", "dacapo-bench", "dacapo", "cudarc"].map(|name| pack.join(name));
    let release = target.join("release");
    let built = ["dacapo-gpu", "dacapo-bench", "dacapo"].map(|name| release.join(name)).into_iter().chain([client]);
    for (binary, built) in binaries.iter().zip(built) {
        std::fs::copy(built, binary).map_err(|error| at(binary, error))?;
    }
    std::fs::write(&script, RUN.replace("=COMMIT", &format!("={commit}"))).map_err(|error| at(&script, error))?;
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

/// The test that is the client: its name has a number that only cargo knows.
fn client(messages: &str) -> Result<PathBuf, String> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut tests =
        messages.filter(|message| message["target"]["name"] == "cudarc" && message["profile"]["test"] == true);
    let executable = tests.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.ok_or_else(|| "cargo built no test `cudarc`".to_string())
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
