//! dacapo and cudarc in one process, on one driver: our `libcuda.so.1`, opened by both.
//!
//! ```text
//! interop [NAME..]        the test: every scenario under three seeds
//! interop scenario NAME   one scenario, on whatever `libcuda.so.1` this process finds; a GPU's, too
//! ```
//!
//! Every scenario is a process of its own, because each library opens one driver in a process. One that makes no mistake
//! must leave no finding; one that makes a mistake on purpose names what is found.

mod contexts;
mod slices;
mod streams;
mod tracking;
mod views;
mod work;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, LaunchConfig};
use cudarc::nvrtc::Ptx;
use dacapo::Device;

const SEEDS: [u64; 3] = [0, 7, 0x5eed];

/// What a scenario answers: anything may fail, and then it says why.
type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A name, what shows it, and the finding that it must leave; empty for none.
type Scenario = (&'static str, fn() -> Outcome, &'static str);

fn all() -> Vec<Scenario> {
    let areas: [&[Scenario]; 6] = [
        contexts::SCENARIOS,
        streams::SCENARIOS,
        slices::SCENARIOS,
        views::SCENARIOS,
        work::SCENARIOS,
        tracking::SCENARIOS,
    ];
    areas.concat()
}

/// Both libraries on one context.
fn both() -> Result<(Arc<CudaContext>, Device), Box<dyn std::error::Error>> {
    let context = CudaContext::new(0)?;
    let device = Device::from_cudarc(&context)?;
    Ok((context, device))
}

/// `y += a * x` of cudarc's, over `n` elements.
fn saxpy(context: &Arc<CudaContext>) -> Result<CudaFunction, Box<dyn std::error::Error>> {
    Ok(context.load_module(Ptx::from_src(include_str!("../cudarc/kernels.ptx")))?.load_function("saxpy")?)
}

fn one_block(threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["scenario", name] => scenario(name),
        // Cargo's own flags mean nothing here.
        names => test(&names.iter().copied().filter(|name| !name.starts_with('-')).collect::<Vec<_>>()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn scenario(name: &str) -> Result<(), String> {
    let scenario = all().into_iter().find(|(known, ..)| *known == name);
    let (_, body, _) = scenario.ok_or_else(|| format!("there is no scenario `{name}`"))?;
    body().map_err(|error| format!("{error:?}"))
}

fn test(names: &[&str]) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("interop-{}", std::process::id()));
    let wrong = prepare(&folder).map(|()| run(&folder, names));
    let _ = std::fs::remove_dir_all(&folder);
    let (count, wrong) = wrong?;
    println!("interop: {count} scenarios x {} seeds, {} wrong", SEEDS.len(), wrong.len());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// One library under both names, so that both libraries open the same one.
fn prepare(folder: &Path) -> Result<(), String> {
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    let built = test.ancestors().skip(1).take(2).map(|folder| folder.join("libdacapo_libcuda.so"));
    let built = built.into_iter().find(|path| path.exists()).ok_or("cargo builds the library before its tests")?;
    let at = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(at)?;
    std::fs::copy(&built, folder.join("libcuda.so.1")).map_err(at)?;
    std::os::unix::fs::symlink("libcuda.so.1", folder.join("libcuda.so")).map_err(at)
}

fn run(folder: &Path, names: &[&str]) -> (usize, Vec<String>) {
    let is_chosen = |(name, ..): &Scenario| names.is_empty() || names.iter().any(|chosen| name.contains(chosen));
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, _, expected) in all().into_iter().filter(is_chosen) {
        count += 1;
        for seed in SEEDS {
            let findings = folder.join(format!("{name}.{seed}"));
            let said = process(folder, name, seed, &findings);
            let findings = std::fs::read_to_string(findings).unwrap_or_default();
            match said {
                Ok(()) if findings.is_empty() == expected.is_empty() && findings.contains(expected) => {}
                Ok(()) => wrong.push(format!("{name} (DACAPO_SEED={seed}): found, not `{expected}`:\n{findings}")),
                Err(error) => wrong.push(format!("{name} (DACAPO_SEED={seed}): {error}\n{findings}")),
            }
        }
    }
    (count, wrong)
}

fn process(folder: &Path, name: &str, seed: u64, findings: &PathBuf) -> Result<(), String> {
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(test);
    command.args(["scenario", name]).env("LD_LIBRARY_PATH", folder);
    command.env("DACAPO_SEED", seed.to_string()).env("DACAPO_FINDINGS", findings);
    let output = command.output().map_err(|error| format!("did not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
