//! Tests in Python: modules of a client's own package, or of ours in `tests/clients`.
//!
//! Each module is a process. A test that fails there, or that is not reached, is run once more in a process of its own,
//! and that counts: what is said of a test does not depend on what a test before it left behind, such as a context that a
//! fault has ended.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::outcome::{self, Outcome, Test};
use super::program::Workshop;

/// How long a module may take.
const LIMIT: Duration = Duration::from_secs(600);

/// How long a test in a process of its own may take.
const LIMIT_ALONE: Duration = Duration::from_secs(200);

/// The modules of a package in the environment, by file name.
///
/// # Errors
///
/// - There is no such folder.
pub fn modules(place: &Workshop, folder: &str) -> Result<Vec<String>, String> {
    let path = place.site_packages().unwrap_or_default().join(folder);
    let entries = std::fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names = names.filter_map(|name| name.strip_suffix(".py").map(str::to_string));
    let mut names: Vec<String> = names.filter(|name| name.starts_with("test_")).collect();
    names.sort();
    Ok(names)
}

/// Some modules of a client.
pub struct Suite<'a> {
    /// The client's name.
    pub client: &'static str,
    /// What stands before the modules' names, with a dot behind it, or nothing.
    pub prefix: &'static str,
    /// The modules.
    pub modules: &'a [String],
    /// What the environment has beside what `dacapo run` sets.
    pub environment: &'a [(&'static str, String)],
}

impl Suite<'_> {
    /// Runs the modules, several at a time.
    ///
    /// # Errors
    ///
    /// - A process cannot be started.
    pub fn run(&self, place: &Workshop, jobs: usize) -> Result<Vec<Test>, String> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(vec![Ok(Vec::new()); self.modules.len()]);
        std::thread::scope(|scope| {
            for _ in 0..jobs.max(1) {
                scope.spawn(|| {
                    while let Some((index, module)) =
                        self.modules.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed))
                    {
                        let tests = self.module(place, module);
                        done.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[index] = tests;
                    }
                });
            }
        });
        let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(done.into_iter().collect::<Result<Vec<_>, String>>()?.concat())
    }

    fn module(&self, place: &Workshop, module: &str) -> Result<Vec<Test>, String> {
        let (mut tests, missing) = self.process(place, module, module, LIMIT)?;
        // Not a class that could not be set up, nor a module that could not be imported: these are no tests to run again.
        let is_test = |name: &str| name.starts_with(&format!("{module}.")) && !name.contains(' ');
        let is_suspect = |test: &Test| matches!(test.outcome, Outcome::Failed(_)) && is_test(&test.name);
        let failed: Vec<String> = tests.iter().filter(|test| is_suspect(test)).map(|test| test.name.clone()).collect();
        tests.retain(|test| !is_suspect(test));
        for name in failed.into_iter().chain(missing) {
            let (ran, _) = self.process(place, &name, &format!("{module}-alone"), LIMIT_ALONE)?;
            let ended = ran.into_iter().find(|test| test.name == name);
            let lost = || Test::new(&name, Outcome::Failed("it ended the process, or took too long".into()));
            tests.push(ended.unwrap_or_else(lost));
        }
        if tests.is_empty() {
            tests.push(Test::new(module, Outcome::Failed("the module ran no test".into())));
        }
        Ok(tests)
    }

    fn process(
        &self,
        place: &Workshop,
        what: &str,
        file: &str,
        limit: Duration,
    ) -> Result<(Vec<Test>, Vec<String>), String> {
        let name = format!("{}-{file}", self.client);
        let report = place.folder.join(format!("out/{name}.report.txt"));
        match std::fs::remove_file(&report) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("{}: {error}", report.display()));
            }
            _ => {}
        }
        let mut command = self.command(place);
        command.arg(&report).arg(format!("{}{what}", self.prefix));
        place.run(command, &name, limit)?;
        let text = std::fs::read_to_string(&report).unwrap_or_default();
        Ok(outcome::report(&text, self.prefix))
    }

    fn command(&self, place: &Workshop) -> Command {
        let programs = place.root.join("tests/clients");
        let mut command = place.command(self.client, &place.python());
        command.arg(programs.join("unittests.py")).env("PYTHONPATH", programs).current_dir(scratch(place));
        // Nothing of one run may answer for another.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// A folder for what tests write where they stand.
fn scratch(place: &Workshop) -> PathBuf {
    place.folder.join("out")
}
