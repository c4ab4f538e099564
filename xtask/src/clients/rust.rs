//! The own tests of crates: built from their packages, each test program run on the software driver.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::install;
use super::outcome::{self, Outcome, Test};
use super::pins::Crate;
use super::program::Workshop;

/// How long a test program may take.
const LIMIT: Duration = Duration::from_secs(600);

/// Builds the tests of a crate and runs them. A test that wants a process of its own gets one; so does one that failed
/// beside others, unless it is known to. One that is known as flaky has eight tries: it depends
/// on time.
///
/// # Errors
///
/// - The crate cannot be had, or its tests do not build.
pub fn run(place: &Workshop, package: &Crate, is_ci: bool, tries: impl Fn(&str) -> usize) -> Result<Vec<Test>, String> {
    let source = install::source(place, package)?;
    let left_out = if is_ci { package.not_in_ci } else { &[] };
    let mut tests = Vec::new();
    for program in build(place, package, &source)? {
        let name = format!("{}-{}", package.name, program.name);
        let run = Run { place, package, program: &program, left_out };
        for mut test in run.all(&name)? {
            let full = program.full_name(&test.name);
            let has_failed = matches!(test.outcome, Outcome::Failed(_));
            let tries = match package.alone.contains(&&*test.name) {
                true => tries(&full).max(1),
                false if has_failed => tries(&full),
                false => 0,
            };
            for _ in 0..tries {
                test.outcome = run.alone(&test.name)?;
                if test.outcome == Outcome::Passed {
                    break;
                }
            }
            tests.push(Test { name: full, ..test });
        }
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
    /// A test's name among all of the package.
    fn full_name(&self, test: &str) -> String {
        if self.name == "lib" { test.to_string() } else { format!("{}::{test}", self.name) }
    }
}

/// How a test program is run.
struct Run<'a> {
    place: &'a Workshop,
    package: &'a Crate,
    program: &'a Program,
    left_out: &'a [&'a str],
}

impl Run<'_> {
    fn command(&self) -> Command {
        let mut command = self.place.command(self.package.name, &self.program.file);
        toolkit(self.place, &mut command);
        command.env("RUST_BACKTRACE", "0");
        self.place_for(&mut command);
        command
    }

    /// Where it stands: in its package, as under cargo. cudarc's NVRTC is the older one, and looks for headers where it
    /// stands, since none are where Linux has them when a toolkit is installed.
    fn place_for(&self, command: &mut Command) {
        let source = self.place.source(self.package);
        // Else it is that of whoever runs this, which tests that compile would take for theirs.
        command.env("CARGO_MANIFEST_DIR", &source).env("CARGO_PKG_NAME", self.package.name);
        match (self.package.name, self.place.site_packages()) {
            ("cudarc", Some(wheels)) => {
                command.current_dir(wheels.join("nvidia/cu13/include"));
                command.env("LD_LIBRARY_PATH", wheels.join("nvidia/cuda_nvrtc/lib"))
            }
            _ => command.current_dir(source),
        };
    }

    /// All of its tests, several at a time.
    fn all(&self, name: &str) -> Result<Vec<Test>, String> {
        let mut command = self.command();
        for test in self.left_out {
            command.args(["--skip", test]);
        }
        let ended = self.place.run(command, name, LIMIT)?;
        if let Ok(tests) = outcome::libtest(&ended.output) {
            return Ok(tests);
        }
        // A test ended the process, or wrote into another's line: each by itself, then.
        let mut list = self.command();
        list.arg("--list");
        let listed = outcome::listed(&self.place.run(list, name, LIMIT)?.output);
        if listed.is_empty() {
            return Err(format!("{name} cannot be run: see {}", self.place.folder.join("out").display()));
        }
        listed.iter().map(|test| Ok(Test::new(test, self.alone(test)?))).collect()
    }

    /// One test in a process of its own, also where it is marked as ignored.
    fn alone(&self, test: &str) -> Result<Outcome, String> {
        let mut command = self.command();
        command.args(["--exact", "--include-ignored", test]);
        let name = format!("{}-alone", self.package.name);
        let ended = self.place.run(command, &name, LIMIT)?;
        Ok(match ended.status {
            Some(status) if status.success() && ended.output.contains("1 passed") => Outcome::Passed,
            Some(status) => Outcome::Failed(format!("by itself: {status}")),
            None => Outcome::Failed(format!("not done after {} s", LIMIT.as_secs())),
        })
    }
}

/// Builds the tests; cargo says which programs came of it.
fn build(place: &Workshop, package: &Crate, source: &Path) -> Result<Vec<Program>, String> {
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
fn toolkit(place: &Workshop, command: &mut Command) {
    // The compiler of this very toolchain: packages in the registry may name another one for themselves.
    let rustc = Path::new(env!("CARGO")).with_file_name("rustc");
    if rustc.exists() {
        command.env("CARGO", env!("CARGO")).env("RUSTC", rustc);
    }
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
pub fn prepare(place: &Workshop) -> Result<(), String> {
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
