//! The own tests of crates: built from their packages, each test program run on the software driver.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::install;
use super::outcome::{self, Outcome, Test};
use super::pins::Crate;
use super::program::Place;

/// How long a test program may take.
const LIMIT: Duration = Duration::from_secs(600);

/// Builds the tests of a crate and runs them; those that are to be run by themselves, in processes of their own.
///
/// # Errors
///
/// - The crate cannot be had, or its tests do not build.
pub fn run(place: &Place, package: &Crate, alone: &[&str]) -> Result<Vec<Test>, String> {
    let source = install::source(place, package)?;
    let mut tests = Vec::new();
    for program in build(place, package, &source)? {
        let name = format!("{}-{}", package.name, program.name);
        let mut ran = program.run(place, package, &source, &name)?;
        for test in ran.iter_mut().filter(|test| alone.contains(&&*test.name)) {
            test.outcome = program.run_alone(place, package, &source, &test.name)?;
        }
        if program.name != "lib" {
            ran.iter_mut().for_each(|test| test.name = format!("{}::{}", program.name, test.name));
        }
        tests.extend(ran);
    }
    Ok(tests)
}

/// A test program that cargo built.
struct Program {
    /// `lib`, or the name of a file of `tests/`.
    name: String,
    file: PathBuf,
}

impl Program {
    fn command(&self, place: &Place, package: &Crate, source: &Path) -> Command {
        let mut command = place.command(package.name, &self.file);
        toolkit(place, &mut command);
        command.current_dir(source).env("RUST_BACKTRACE", "0");
        command
    }

    fn run(&self, place: &Place, package: &Crate, source: &Path, name: &str) -> Result<Vec<Test>, String> {
        let ended = place.run(self.command(place, package, source), name, LIMIT)?;
        if let Ok(tests) = outcome::libtest(&ended.output) {
            return Ok(tests);
        }
        // A test ended the process, or wrote into another's line: each by itself, then.
        let mut list = self.command(place, package, source);
        list.arg("--list");
        let listed = outcome::listed(&place.run(list, name, LIMIT)?.output);
        if listed.is_empty() {
            return Err(format!("{name} cannot be run: see {}", place.folder.join("out").display()));
        }
        listed.iter().map(|test| Ok(Test::new(test, self.run_alone(place, package, source, test)?))).collect()
    }

    /// One test in a process of its own, also where it is marked as ignored.
    fn run_alone(&self, place: &Place, package: &Crate, source: &Path, test: &str) -> Result<Outcome, String> {
        let mut command = self.command(place, package, source);
        command.args(["--exact", "--include-ignored", test]);
        let name = format!("{}-alone", package.name);
        let ended = place.run(command, &name, LIMIT)?;
        Ok(match ended.status {
            Some(status) if status.success() && ended.output.contains("1 passed") => Outcome::Passed,
            Some(status) => Outcome::Failed(format!("by itself: {status}")),
            None => Outcome::Failed(format!("not done after {} s", LIMIT.as_secs())),
        })
    }
}

/// Builds the tests; cargo says which programs came of it.
fn build(place: &Place, package: &Crate, source: &Path) -> Result<Vec<Program>, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--no-run", "--locked", "--quiet", "--message-format", "json"]).args(package.arguments);
    cargo.current_dir(source).env("CARGO_TARGET_DIR", place.folder.join("build")).stderr(Stdio::inherit());
    // Warnings of other people's crates are theirs.
    cargo.env("RUSTFLAGS", "--cap-lints=allow");
    toolkit(place, &mut cargo);
    let run = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    if !run.status.success() {
        return Err(format!("the tests of {} do not build", package.name));
    }
    let messages = String::from_utf8_lossy(&run.stdout);
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let programs = messages.filter_map(|message| {
        let file = message["executable"].as_str()?.into();
        let is_library = message["target"]["kind"].as_array()?.iter().any(|kind| kind == "lib");
        let name = message["target"]["name"].as_str()?.to_string();
        Some(Program { name: if is_library { "lib".into() } else { name }, file })
    });
    Ok(programs.collect())
}

/// What crates ask for when they are built: headers, libclang, and a folder with the driver as a linker looks for it.
/// One of cuda-core's tests builds again.
fn toolkit(place: &Place, command: &mut Command) {
    let folder = place.folder.join("toolkit");
    command.env("CUDA_TOOLKIT_PATH", &folder).env("CUDA_LIBRARY_PATH", &folder);
    if let Some(wheels) = place.site_packages() {
        command.env("LIBCLANG_PATH", wheels.join("clang/native"));
    }
    let include = Command::new("gcc").arg("-print-file-name=include").output();
    if let Ok(include) = include {
        let include = String::from_utf8_lossy(&include.stdout).trim().to_string();
        command.env("BINDGEN_EXTRA_CLANG_ARGS", format!("-I{include}"));
    }
}

/// Makes the folder that [`toolkit`] names: headers of the wheels, and the software driver to link with.
///
/// # Errors
///
/// - It cannot be made.
pub fn prepare(place: &Place) -> Result<(), String> {
    let folder = place.folder.join("toolkit");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder.join("lib64")).map_err(failed)?;
    let mut links = vec![(place.library.clone(), folder.join("lib64/libcuda.so"))];
    links.extend(place.toolkit().map(|wheels| (wheels.join("include"), folder.join("include"))));
    for (to, link) in links {
        match std::fs::remove_file(&link) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => std::os::unix::fs::symlink(to, &link).map_err(failed)?,
        }
    }
    Ok(())
}
