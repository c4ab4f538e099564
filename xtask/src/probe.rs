//! `cargo xtask probe`: does the software driver answer as an H200 was observed to answer?
//!
//! `probe/probe.c` asks a `libcuda.so.1` some 1,300 questions, a line each; `probe/observed.txt` is what NVIDIA's driver
//! answered. This builds the program, runs it on ours, and compares line by line, by the case's name:
//!
//! - *as observed*: the same text;
//! - *unsupported*: the text differs, and the software driver left a finding that says "unsupported" in that very case.
//!   Each case that differs is run once more, alone in its process and with a findings file of its own, to know that;
//! - *different*: everything else. These lines are printed.
//!
//! Cases of `probe/undefined.txt` have no stable answer and are in neither file's count.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{libcuda, workspace};

/// The header that probe.c is written against, pinned.
const HEADER_WHEEL: &str = "nvidia-cuda-runtime==13.0.96";

/// Runs the probe; with a name, only cases that contain it.
///
/// # Errors
///
/// - What could not be built or run.
/// - More lines differ than the bounds allow (only when the whole probe was run).
pub fn run(only: Option<&str>) -> Result<(), String> {
    let started = Instant::now();
    let root = workspace::root();
    let folder = workspace::target(&root).join("dacapo");
    let library = libcuda::build()?;
    let program = build(&root.join("xtask/probe"), &folder, &library)?;
    let observed = lines(&read(&root.join("xtask/probe/observed.txt"))?);
    let wanted: BTreeMap<&String, &String> =
        observed.iter().filter(|(name, _)| only.is_none_or(|only| name.contains(only))).collect();

    let answers = answers(&program, &library, &folder.join("probe-todo.txt"), wanted.keys().copied(), None)?;
    let differing: Vec<&String> =
        wanted.iter().filter(|(name, text)| answers.get(**name) != Some(text)).map(|(name, _)| *name).collect();
    let mut unsupported = Vec::new();
    let mut different = Vec::new();
    let mut matching = wanted.len() - differing.len();
    for name in differing {
        let (text, left_unsupported) = alone(&program, &library, &folder, name)?;
        if text.as_ref() == Some(wanted[name]) {
            // Alone it answers as observed: the first answer was spoilt by a neighbour on a loaded machine.
            matching += 1;
        } else if left_unsupported {
            unsupported.push(name);
        } else {
            different.push((name, text.unwrap_or_else(|| " (no answer)".into())));
        }
    }
    for (name, text) in &different {
        println!("different {name}\n  observed:{}\n  ours:    {text}", wanted[*name]);
    }
    for name in &unsupported {
        println!("unsupported {name}");
    }
    println!("{} s", started.elapsed().as_secs());
    println!(
        "probe: {matching} of {} lines as observed, {} unsupported, {} different",
        wanted.len(),
        unsupported.len(),
        different.len()
    );
    let (all, as_observed, differ) = (wanted.len(), matching, different.len());
    if only.is_none() && (as_observed * 100 < all * 80 || differ * 100 > all * 3) {
        return Err("at least 80 % of the lines must be as observed and at most 3 % different".into());
    }
    Ok(())
}

/// Builds probe.c against our library.
fn build(source: &Path, folder: &Path, library: &Path) -> Result<PathBuf, String> {
    let include = header(folder)?;
    let program = folder.join("probe");
    let gcc = Command::new("gcc")
        .args(["-std=gnu11", "-O1", "-w"])
        .arg(format!("-I{}", include.display()))
        .arg(source.join("probe.c"))
        .arg(library)
        .args(["-lpthread", "-Wl,--allow-shlib-undefined", "-o"])
        .arg(&program)
        .status()
        .map_err(|error| format!("gcc could not be run: {error}"))?;
    if gcc.success() { Ok(program) } else { Err("gcc could not build probe.c".into()) }
}

/// The folder of cuda.h, fetched once into target/.
fn header(folder: &Path) -> Result<PathBuf, String> {
    let include = folder.join("cuda-header/nvidia/cu13/include");
    if include.join("cuda.h").exists() {
        return Ok(include);
    }
    let pip = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
        .arg(folder.join("cuda-header"))
        .arg(HEADER_WHEEL)
        .status()
        .map_err(|error| format!("python3 could not be run: {error}"))?;
    if pip.success() && include.join("cuda.h").exists() {
        Ok(include)
    } else {
        Err(format!("cuda.h could not be fetched from the wheel {HEADER_WHEEL}"))
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The lines of a probe's output: name and answer.
fn lines(text: &str) -> BTreeMap<String, String> {
    let cases = text.lines().filter_map(|line| line.strip_prefix("case "));
    cases
        .filter_map(|line| line.split_once(' ')?.1.split_once(':'))
        .map(|(name, answer)| (name.to_string(), answer.to_string()))
        .collect()
}

/// Runs the named cases.
fn answers<'a>(
    program: &Path,
    library: &Path,
    todo: &Path,
    names: impl Iterator<Item = &'a String>,
    findings: Option<&Path>,
) -> Result<HashMap<String, String>, String> {
    let list: Vec<&str> = names.map(String::as_str).collect();
    fs::write(todo, list.join("\n")).map_err(|error| format!("{}: {error}", todo.display()))?;
    let output = Command::new(program)
        .env("LD_LIBRARY_PATH", library.parent().unwrap_or(Path::new(".")))
        .env("PROBE_TODO", todo)
        .env("DACAPO_FINDINGS", findings.unwrap_or(Path::new("/dev/null")))
        .env_remove("PROBE_ONLY")
        .stderr(Stdio::null())
        .output()
        .map_err(|error| format!("{} could not be run: {error}", program.display()))?;
    Ok(lines(&String::from_utf8_lossy(&output.stdout)).into_iter().collect())
}

/// Runs one case alone, and says whether it left a finding that something is not supported.
fn alone(program: &Path, library: &Path, folder: &Path, name: &String) -> Result<(Option<String>, bool), String> {
    let findings = folder.join("probe-findings.txt");
    let _ = fs::remove_file(&findings);
    let mut found = answers(program, library, &folder.join("probe-todo.txt"), std::iter::once(name), Some(&findings))?;
    let left = fs::read_to_string(&findings).unwrap_or_default();
    Ok((found.remove(name), left.lines().any(|line| line.starts_with("unsupported: "))))
}
