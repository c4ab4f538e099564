//! The program as a stranger gets it: installed from its package, it builds the driver and runs a C program on it.
//!
//! The driver is built from its package as well: the cache lies below the unpacked packages, whose configuration of
//! cargo says where they are.

use std::path::Path;
use std::process::Command;

use super::outside::{Outside, succeed};

/// The workflow for other people's CI; its line with `dacapo run` is run here as it stands there.
const WORKFLOW: &str = include_str!("../../../docs/ci/github.yml");

/// A program that knows nothing of Dacapo; it opens the driver, or with `-DLINKED` is linked with it.
const CLIENT: &str = include_str!("client.c");

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
    let line = workflow_line()?;
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
    Ok(())
}

/// The file that the workflow has findings written to.
const FINDINGS: &str = "findings.txt";

/// What the workflow tells `dacapo`; the last word is the program.
fn workflow_line() -> Result<Vec<&'static str>, String> {
    let line = WORKFLOW.lines().find_map(|line| line.trim().strip_prefix("- run: dacapo run "));
    let line = line.ok_or("docs/ci/github.yml has no line with `dacapo run`")?;
    match line.contains(&format!("--findings {FINDINGS} ")) && line.ends_with(" -- ./tests") {
        true => Ok(std::iter::once("run").chain(line.split(' ')).collect()),
        false => Err(format!("docs/ci/github.yml runs `dacapo run {line}`, which is not what is looked for here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workflow_has_the_line_that_is_run() {
        assert_eq!(workflow_line().map(|words| (words[0], words[words.len() - 1])), Ok(("run", "./tests")));
    }
}
