//! The program as a stranger gets it: installed from its package, it builds the driver and runs a C program on it, and tests
//! in Python.
//!
//! The driver is built from its package as well: the cache lies below the unpacked packages, whose configuration of
//! cargo says where they are.

use std::path::Path;
use std::process::Command;

use super::outside::{Outside, succeed};
use crate::clients;

/// The workflow for other people's CI; its lines with `dacapo run` are run here as they stand there.
const WORKFLOW: &str = include_str!("../../../docs/ci/github.yml");

/// A program that knows nothing of Dacapo; it opens the driver, or with `-DLINKED` is linked with it.
const CLIENT: &str = include_str!("client.c");

/// Tests that know nothing of Dacapo, as a user of numba-cuda writes them.
const PYTHON: &str = include_str!("test_client.py");

/// Installs the program and runs the client on it, in both ways.
///
/// # Errors
///
/// - Something could not be installed, built or run, or the client found a wrong number.
pub fn run(outside: &Outside) -> Result<(), String> {
    let (root, folder) = (outside.folder().join("installed"), outside.folder());
    let package = format!("packages/dacapo-cli-{}", env!("CARGO_PKG_VERSION"));
    // `--debug`: what is built already is not built again; the driver below is built in release all the same.
    let mut install = outside.cargo();
    succeed(install.args(["install", "--quiet", "--debug", "--path", &package, "--root"]).arg(&root))?;
    let dacapo = |arguments: &[&str]| {
        let mut command = Command::new(root.join("bin/dacapo"));
        command.args(arguments).current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
        command.env_remove("DACAPO_LIBCUDA").env("CARGO_TARGET_DIR", outside.target());
        command
    };
    let library = dacapo(&["libcuda"]).output().map_err(|error| format!("dacapo libcuda: {error}"))?;
    let (path, said) = (String::from_utf8_lossy(&library.stdout), String::from_utf8_lossy(&library.stderr));
    let path = Path::new(path.trim());
    if !library.status.success() || !path.starts_with(folder) {
        return Err(format!("dacapo libcuda: {}: {}\n{said}", library.status, path.display()));
    }
    println!("dacapo libcuda: {}", path.display());
    if Command::new("gcc").arg("--version").output().is_err() {
        println!("NOT RUN: a C program on `dacapo run`, which needs gcc");
        return Ok(());
    }
    std::fs::write(folder.join("client.c"), CLIENT).map_err(|error| format!("client.c: {error}"))?;
    let drivers = path.parent().unwrap_or(folder);
    let line = workflow_line(" -- ./tests")?;
    for (name, how) in [("opened", &["-ldl"][..]), ("linked", &["-DLINKED", "-lcuda"])] {
        let mut gcc = Command::new("gcc");
        gcc.args(["-Wall", "-Werror", "-o", name, "client.c"]).arg("-L").arg(drivers).args(how).current_dir(folder);
        succeed(&mut gcc)?;
        let program = format!("./{name}");
        let line: Vec<&str> = line[..line.len() - 1].iter().copied().chain([program.as_str()]).collect();
        succeed(&mut dacapo(&line))?;
    }
    match std::fs::metadata(folder.join(FINDINGS)).map_or(0, |file| file.len()) {
        0 => {}
        bytes => return Err(format!("{bytes} bytes of findings about a program without a mistake")),
    }
    println!("a C program that opens libcuda.so.1, and one that is linked with it, ran on the installed driver");
    python(outside, &dacapo)
}

/// Tests in Python, with the wheels that `cargo xtask clients` installs, and the workflow's line for them.
fn python(outside: &Outside, dacapo: &dyn Fn(&[&str]) -> Command) -> Result<(), String> {
    if !clients::python_is_there() {
        println!("NOT RUN: tests in Python on `dacapo run`, which need python3 with venv and pip");
        return Ok(());
    }
    let programs = clients::environment(outside.target())?;
    let folder = outside.folder().join("python");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    std::fs::write(folder.join("test_client.py"), PYTHON).map_err(|error| format!("test_client.py: {error}"))?;
    let mut path = programs.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut pytest = dacapo(&workflow_line(" -- python -m pytest")?);
    succeed(pytest.current_dir(&folder).env("PATH", path))?;
    let findings = std::fs::read_to_string(folder.join(FINDINGS)).unwrap_or_default();
    if let Some(line) =
        findings.lines().find(|line| ["error", "unsupported", "bug"].iter().any(|word| line.starts_with(word)))
    {
        return Err(format!("a finding about tests without a mistake: {line}"));
    }
    println!("tests in Python ran on the installed driver");
    Ok(())
}

/// The file that the workflow has findings written to.
const FINDINGS: &str = "findings.txt";

/// What the workflow tells `dacapo` in the line that ends so.
fn workflow_line(end: &str) -> Result<Vec<&'static str>, String> {
    let mut lines = WORKFLOW.lines().filter_map(|line| line.trim().strip_prefix("- run: dacapo run "));
    let line = lines.find(|line| line.ends_with(end));
    let line =
        line.ok_or_else(|| format!("docs/ci/github.yml has no line with `dacapo run` that ends with `{end}`"))?;
    match line.contains(&format!("--findings {FINDINGS} ")) {
        true => Ok(std::iter::once("run").chain(line.split(' ')).collect()),
        false => Err(format!("docs/ci/github.yml runs `dacapo run {line}`, which is not what is looked for here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workflow_has_the_line_that_is_run() {
        let ends = |end: &str| workflow_line(end).map(|words| (words[0], words[words.len() - 1]));
        assert_eq!(ends(" -- ./tests"), Ok(("run", "./tests")));
        assert_eq!(ends(" -- python -m pytest"), Ok(("run", "pytest")));
        assert!(ends(" -- ./other").is_err());
    }
}
