//! Programs that must not compile: each fails with the code, the words and the line that it names, and its near miss,
//! the same program with the marked line replaced, compiles.
//!
//! A program in `ui/` says what is expected of it:
//!
//! - `// error: E0502`: the error's code; `none` for an error without one, a lint's name for a lint.
//! - `// says: words`: the text of that error, its labels and notes included, has these words. May be repeated.
//! - `//~` ends the line that the error is on; `// where: anywhere` says that it may be on any.
//! - `//+ code`: what stands in place of the marked line in the near miss. Each program has one, so that it fails for
//!   that line and not for another reason.
//! - `// stage: codegen`: the error comes only when code is made of it, as those of constants do.
//!
//! Each program is given to `rustc` with the library as it was built for this very test, so nothing is fetched or built
//! again. Messages are matched by code and by words, not whole: compilers word them differently from version to version.

#![cfg(feature = "software")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

#[path = "ui/expectation.rs"]
mod expectation;

use expectation::{Program, errors_of};

#[test]
fn what_must_not_compile_does_not_and_its_near_miss_does() {
    let programs = Program::all(&folder());
    assert!(programs.len() >= 65, "only {} programs: some are gone", programs.len());
    let bench = Bench::new();
    let (next, threads) = (AtomicUsize::new(0), std::thread::available_parallelism().map_or(1, |n| n.get().min(8)));
    let complaints: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut complaints = Vec::new();
                    while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        complaints.extend(bench.judge(program));
                    }
                    complaints
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no worker panics")).collect()
    });
    assert!(complaints.is_empty(), "{} of {}:\n\n{}", complaints.len(), programs.len(), complaints.join("\n"));
}

/// What the promises point to when they are kept by the compiler.
#[test]
fn every_program_says_what_is_expected_of_it() {
    for program in Program::all(&folder()) {
        assert!(program.why.len() > 10, "{}: no `// why:` line", program.name);
        assert!(program.near_miss.is_some(), "{}: no `//+` line", program.name);
        assert!(program.marked.is_some() || program.anywhere, "{}: no line is marked with `//~`", program.name);
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")
}

/// The library and the kit, built, and a place for what comes out.
struct Bench {
    dependencies: PathBuf,
    library: PathBuf,
    kit: PathBuf,
    out: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let this = std::env::current_exe().expect("this test has a path");
        let dependencies = this.parent().expect("it lies in a folder").to_path_buf();
        let library = newest_library(&dependencies);
        let out = dependencies.join(format!("compile-fail-{}", std::process::id()));
        std::fs::create_dir_all(&out).expect("the target folder can be written");
        let mut bench = Bench { dependencies, library, kit: PathBuf::new(), out };
        let kit = folder().join("kit/lib.rs");
        let built = bench.rustc(&kit, "kit", "metadata,link");
        assert!(built.status.success(), "the kit does not compile:\n{}", String::from_utf8_lossy(&built.stderr));
        bench.kit = bench.out.join("libkit.rlib");
        bench
    }

    fn rustc(&self, source: &Path, name: &str, emit: &str) -> Output {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = Command::new(rustc);
        command.args(["--edition", "2024", "--crate-type", "lib", "--error-format", "json", "-A", "unused"]);
        command.args(["--crate-name", name, "--emit", emit, "--out-dir"]).arg(&self.out).arg(source);
        command.arg("-L").arg(format!("dependency={}", self.dependencies.display()));
        command.arg("--extern").arg(format!("dacapo={}", self.library.display()));
        if !self.kit.as_os_str().is_empty() {
            command.arg("--extern").arg(format!("kit={}", self.kit.display()));
        }
        command.output().expect("rustc can be run")
    }

    /// What is wrong with a program: that it compiles, fails otherwise than it says, or that its near miss fails.
    fn judge(&self, program: &Program) -> Option<String> {
        let emit = if program.codegen { "obj" } else { "metadata" };
        let outcome = self.rustc(&program.path, &program.name, emit);
        let said = String::from_utf8_lossy(&outcome.stderr);
        if let Err(complaint) = program.check(&errors_of(&said)) {
            return Some(format!("{}: {complaint}", program.name));
        }
        let name = format!("{}_near_miss", program.name);
        let near_miss = self.out.join(format!("{name}.rs"));
        std::fs::write(&near_miss, program.near_miss.as_deref()?).expect("the target folder can be written");
        let outcome = self.rustc(&near_miss, &name, emit);
        let errors = errors_of(&String::from_utf8_lossy(&outcome.stderr));
        match outcome.status.success() {
            true => None,
            false => Some(format!("{}: its near miss does not compile either:\n{}", program.name, render(&errors))),
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.out);
    }
}

fn render(errors: &[expectation::Reported]) -> String {
    errors.iter().map(|error| error.rendered.as_str()).collect()
}

/// The library as Cargo has built it last: it builds it before this test whenever it has changed.
fn newest_library(dependencies: &Path) -> PathBuf {
    let listed = std::fs::read_dir(dependencies).expect("the folder of this test can be listed");
    let built = |path: &Path| path.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let libraries = listed.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("libdacapo-") && name.ends_with(".rlib")
    });
    libraries.max_by_key(|path| built(path)).expect("Cargo has built the library for this test")
}
