//! Scenarios as processes: this binary again, several at a time, each with a limit of time.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, sys};

use crate::transcript::{Scenario, raw};

/// Longer than any scenario: one that hangs is killed and says so.
const LIMIT: Duration = Duration::from_secs(60);

/// What one process did.
#[derive(Clone, Default)]
pub struct Run {
    output: String,
    ending: Option<String>,
    /// What the software driver reported.
    pub findings: String,
}

impl Run {
    /// Its transcript, and a last line if it did not end well.
    pub fn lines(&self) -> String {
        let ending = self.ending.as_ref().map(|ending| format!("process: {ending}\n"));
        format!("{}{}", self.output, ending.unwrap_or_default())
    }
}

/// Runs all of them, `jobs` at a time, with what `environment` says for each.
pub fn run(
    scenarios: &[&'static Scenario],
    jobs: usize,
    environment: impl Fn(&Scenario) -> Vec<(&'static str, PathBuf)> + Sync,
) -> Vec<Run> {
    let runs = Mutex::new(vec![Run::default(); scenarios.len()]);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let run = one(scenario, environment(scenario));
                    let at = scenarios.iter().position(|other| other.name == scenario.name);
                    if let (Some(at), Ok(mut runs)) = (at, runs.lock()) {
                        runs[at] = run;
                    }
                }
            });
        }
    });
    runs.into_inner().unwrap_or_default()
}

fn one(scenario: &Scenario, environment: Vec<(&'static str, PathBuf)>) -> Run {
    match process(scenario, environment) {
        Ok(run) => run,
        Err(error) => Run { ending: Some(format!("did not start: {error}")), ..Run::default() },
    }
}

fn process(scenario: &Scenario, environment: Vec<(&'static str, PathBuf)>) -> std::io::Result<Run> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["scenario", scenario.name]).envs(environment).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let began = Instant::now();
    let ending = loop {
        match child.try_wait()? {
            Some(status) if status.success() => break None,
            Some(status) => break Some(status.to_string()),
            None if began.elapsed() > LIMIT => {
                child.kill()?;
                child.wait()?;
                break Some("did not end".to_string());
            }
            None => std::thread::sleep(Duration::from_millis(3)),
        }
    };
    // A transcript is far shorter than what a pipe holds, so it can be read at the end.
    let mut output = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut output)?;
    }
    Ok(Run { output, ending, findings: String::new() })
}

/// Our library under the names that cudarc looks for, in a folder of its own.
pub struct Software {
    folder: PathBuf,
}

impl Software {
    /// Puts the library where a loader finds it.
    pub fn prepare() -> Result<Software, String> {
        let test = std::env::current_exe().map_err(|error| error.to_string())?;
        let built = test.ancestors().skip(1).take(2).map(|folder| folder.join("libdacapo_libcuda.so"));
        let built = built.into_iter().find(|path| path.exists()).ok_or("cargo builds the library before its tests")?;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cudarc-{}", std::process::id()));
        let at = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(&folder).map_err(at)?;
        // Both names: cudarc asks for the first one first, and another driver of the machine may have it.
        for name in ["libcuda.so", "libcuda.so.1"] {
            std::fs::copy(&built, folder.join(name)).map_err(at)?;
        }
        Ok(Software { folder })
    }

    /// Runs scenarios on it; what it reports comes with each.
    pub fn run(&self, scenarios: &[&'static Scenario], seed: u64) -> Vec<Run> {
        let report = |scenario: &Scenario| self.folder.join(format!("{}.{seed}", scenario.name.replace('/', ".")));
        let environment = |scenario: &Scenario| {
            vec![
                ("LD_LIBRARY_PATH", self.folder.clone()),
                ("DACAPO_FINDINGS", report(scenario)),
                ("DACAPO_SEED", PathBuf::from(seed.to_string())),
            ]
        };
        let jobs = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        let mut runs = run(scenarios, jobs, environment);
        for (run, scenario) in runs.iter_mut().zip(scenarios) {
            run.findings = std::fs::read_to_string(report(scenario)).unwrap_or_default();
        }
        runs
    }
}

impl Drop for Software {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Whether this process finds the software driver.
pub fn is_software() -> bool {
    // SAFETY: the library is opened once and stays; the symbol is only looked for.
    unsafe { sys::culib().get::<*const ()>(b"dacapo_software_driver\0").is_ok() }
}

/// Device, driver and commit, for the head of a recording.
pub fn about() -> String {
    let device = CudaContext::new(0).and_then(|context| context.name()).unwrap_or_else(|_| "no device".to_string());
    let release = std::fs::read_to_string("/sys/module/nvidia/version")
        .or_else(|_| std::fs::read_to_string("/proc/driver/nvidia/version"))
        .unwrap_or_default();
    let is_release =
        |word: &&str| word.matches('.').count() == 2 && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let release = release.split_whitespace().find(is_release).unwrap_or("unknown").to_string();
    let commit = std::env::var("DACAPO_COMMIT").unwrap_or_else(|_| "unknown".to_string());
    let mut version = 0;
    let _ = raw!(sys::cuDriverGetVersion(&raw mut version));
    format!("{device}, driver {release} (CUDA {version}), commit {commit}")
}
