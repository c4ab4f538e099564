//! The same programs on NVIDIA's driver, as the GPU pack runs them (`dacapo-gpu programs`).

use std::path::Path;
use std::process::Command;

use dacapo_suite::programs::gpu;

#[test]
#[ignore = "needs a GPU: run the GPU pack (cargo xtask gpu-pack)"]
fn programs_do_as_expected() {
    let outcomes = gpu::run_all(|way, names| {
        let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_dacapo-gpu")));
        command.args(["program", way.name()]).args(names);
        command
    });
    let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.passed == Some(false)).collect();
    assert!(failed.is_empty(), "{}\n{failed:#?}", gpu::summary(&outcomes));
}
