//! `cargo xtask nvrtc`: the tests of CUDA C compiled at run time, with a real NVRTC.
//!
//! The library comes from the wheel that `cargo xtask kernels` compiles with; `cargo test` alone runs these tests where it
//! finds one and says so where it does not. Here a test that does not run is a failure.

use std::path::PathBuf;
use std::process::Command;

use crate::{kernels, workspace};

/// Runs the tests and the forms that compile.
///
/// # Errors
///
/// - There is no NVRTC to be had, or a test failed.
pub fn run() -> Result<(), String> {
    let python = kernels::environment()?;
    let library = library(&python).ok_or("the wheel has no libnvrtc.so.12")?;
    let runs: [&[&str]; 3] = [
        &["test", "-p", "dacapo", "--features", "nvrtc", "--test", "nvrtc"],
        &["test", "-p", "dacapo-bench", "--bin", "dacapo-bench", "left_out"],
        &["run", "-p", "xtask", "--quiet", "--", "forms", "--only", "nvrtc/"],
    ];
    for arguments in runs {
        let mut command = Command::new(env!("CARGO"));
        command.args(arguments).current_dir(workspace::root());
        command.env("DACAPO_LIBNVRTC", &library).env("DACAPO_NEED_NVRTC", "1");
        let status = command.status().map_err(|error| format!("cargo: {error}"))?;
        if !status.success() {
            return Err(format!("cargo {}: {status}", arguments.join(" ")));
        }
    }
    Ok(())
}

/// The library in the environment of this Python.
fn library(python: &std::path::Path) -> Option<PathBuf> {
    let lib = python.parent()?.parent()?.join("lib");
    let versions = std::fs::read_dir(lib).ok()?.flatten().map(|entry| entry.path());
    let files = versions.map(|version| version.join("site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
    files.into_iter().find(|file| file.exists())
}
