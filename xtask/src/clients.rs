//! `cargo xtask clients`: software that nobody here wrote, on the software driver.
//!
//! - Crates: their own tests, from their packages (`rust`).
//! - numba-cuda: its own tests of `cudapy`, from its wheel (`python`).
//! - tinygrad, cuda-bindings, cuda-core, Triton: programs of ours in `tests/clients`, written as their users write.
//!
//! Everything is installed into target/clients, with the versions of `pins`, and run by `dacapo run`. A test that fails is
//! known, with its reason, in `known.txt`, or an error; so is a known one that passes. Without `--full` only cudarc and a
//! part of numba-cuda run. A client whose tools are not on this machine is named as NOT RUN.

mod install;
mod known;
mod outcome;
mod pins;
mod program;
mod python;
mod rust;
mod step;
mod table;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::workspace;
use outcome::Test;
use pins::{CUDA_ASYNC, CUDA_CORE, CUDARC, CUST, Crate};
use program::Workshop;
use python::Suite;

pub use install::python_is_there;

/// How much is run.
#[derive(clap::Args)]
pub struct Scale {
    /// Every client with all of its tests; writes results/clients.txt and the tables of the documentation if nothing is unexplained
    #[arg(long)]
    full: bool,
    /// Only clients whose name contains this, with all of their tests; writes nothing
    #[arg(long, conflicts_with = "full")]
    only: Option<String>,
    /// Only modules of tests in Python whose name contains this
    #[arg(long, requires = "only")]
    module: Option<String>,
    /// Build nothing first: use the driver and the program `dacapo` as they are
    #[arg(long)]
    built: bool,
    /// Run nothing: judge anew what the last run with --full left in target/clients/tests.txt
    #[arg(long, requires = "full")]
    again: bool,
    /// How many processes of tests in Python run at a time; as many as the machine has cores when left out
    #[arg(long)]
    jobs: Option<usize>,
    /// Measures tinygrad's training step as a CUDA graph on two builds of the driver, by turns, and nothing else
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with_all = ["full", "only"])]
    step: Vec<PathBuf>,
}

/// Software that uses the driver.
struct Client {
    name: &'static str,
    version: fn() -> &'static str,
    tests: Tests,
    /// Part of the run in CI.
    is_in_ci: bool,
    /// gcc is needed to build it, or by the client itself.
    needs_gcc: bool,
    /// Of a hundred tests, at least so many pass: a list of known failures must not swallow a client.
    percent_min: usize,
}

/// Where its tests are.
enum Tests {
    /// In its package.
    Crate(&'static Crate),
    /// In its wheel.
    Numba,
    /// In files of ours.
    Ours(&'static [&'static str]),
}

const CLIENTS: [Client; 9] = [
    Client {
        name: "cudarc",
        version: || CUDARC.version,
        tests: Tests::Crate(&CUDARC),
        is_in_ci: true,
        needs_gcc: false,
        percent_min: 96,
    },
    Client {
        name: "cust",
        version: || CUST.version,
        tests: Tests::Crate(&CUST),
        is_in_ci: false,
        needs_gcc: false,
        percent_min: 93,
    },
    Client {
        name: "cuda-async",
        version: || CUDA_ASYNC.version,
        tests: Tests::Crate(&CUDA_ASYNC),
        is_in_ci: false,
        needs_gcc: true,
        percent_min: 100,
    },
    Client {
        name: "cuda-core (Rust)",
        version: || CUDA_CORE.version,
        tests: Tests::Crate(&CUDA_CORE),
        is_in_ci: false,
        needs_gcc: true,
        percent_min: 100,
    },
    Client {
        name: "numba-cuda",
        version: || pins::version("numba-cuda"),
        tests: Tests::Numba,
        is_in_ci: true,
        needs_gcc: false,
        percent_min: 90,
    },
    ours("tinygrad", || pins::version("tinygrad"), &["test_tinygrad", "test_tinygrad_ptx"], false),
    ours("cuda-bindings", || pins::version("cuda-bindings"), &["test_cuda_bindings"], false),
    ours("cuda-core (Python)", || pins::version("cuda-core"), &["test_cuda_core"], false),
    ours("Triton", || pins::version("triton"), &["test_triton"], true),
];

const fn ours(
    name: &'static str,
    version: fn() -> &'static str,
    files: &'static [&'static str],
    needs_gcc: bool,
) -> Client {
    Client { name, version, tests: Tests::Ours(files), is_in_ci: false, needs_gcc, percent_min: 85 }
}

/// numba-cuda's modules, in its wheel and as Python names them.
const CUDAPY: (&str, &str) = ("numba_cuda/numba/cuda/tests/cudapy", "numba.cuda.tests.cudapy.");

/// The modules of numba-cuda that CI runs: kernels of every kind, and quick to compile.
const CUDAPY_IN_CI: &[&str] = &[
    "test_array",
    "test_array_args",
    "test_array_reductions",
    "test_blackscholes",
    "test_boolean",
    "test_constmem",
    "test_cooperative_groups",
    "test_cuda_array_interface",
    "test_device_func",
    "test_dispatcher",
    "test_forall",
    "test_globals",
    "test_gufunc",
    "test_idiv",
    "test_localmem",
    "test_powi",
    "test_random",
    "test_recursion",
    "test_reduction",
    "test_sm",
    "test_sync",
    "test_transpose",
    "test_vectorize",
    "test_warp_ops",
];

/// Runs the clients and compares with what is known.
///
/// # Errors
///
/// - A client cannot be installed or built, or a test's outcome is neither a pass nor known.
pub fn run(scale: &Scale) -> Result<(), String> {
    let started = Instant::now();
    let list = known::committed()?;
    let chosen: Vec<&Client> = CLIENTS
        .iter()
        .filter(|client| match &scale.only {
            Some(only) => client.name.contains(only.as_str()),
            None => scale.full || client.is_in_ci,
        })
        .collect();
    if chosen.is_empty() {
        return Err(format!("no client's name contains `{}`", scale.only.as_deref().unwrap_or_default()));
    }
    let (runnable, missing) = sort_out(&chosen);
    missing.iter().for_each(|line| println!("{line}"));
    if runnable.is_empty() {
        println!("clients: 0 tests of 0 clients, 0 passed, 0 known, 0 unexplained");
        return Ok(());
    }
    let place = Workshop::new(scale.built || scale.again)?;
    if !scale.again {
        install_for(&place, &runnable, scale)?;
    }
    if !scale.step.is_empty() {
        return step::run(&place, &scale.step);
    }
    println!("{}", installed(started));
    let (lines, unexplained) = run_all(&place, &runnable, scale, &list)?;
    let last = summary(&lines);
    unexplained.iter().for_each(|line| println!("unexplained: {line}"));
    println!("{} s in all", started.elapsed().as_secs());
    println!("{last}");
    // What is unexplained is mended first: a table with it would say that this is how it is.
    if scale.full && missing.is_empty() && unexplained.is_empty() {
        let head = "What `cargo xtask clients --full` printed last. Times are those of a machine with 2 cores.\n";
        let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
        table::write(&place.root, &format!("{head}{body}{last}\n"), &list)?;
    }
    match unexplained.len() {
        0 => Ok(()),
        count => Err(format!("{count} outcomes that nobody has explained")),
    }
}

fn installed(started: Instant) -> String {
    format!("installed and built in {} s", started.elapsed().as_secs())
}

/// Which clients can run here, and a line for each that cannot.
fn sort_out<'a>(chosen: &[&'a Client]) -> (Vec<&'a Client>, Vec<String>) {
    let (has_python, has_gcc) = (install::python_is_there(), install::gcc_is_there());
    let (mut runnable, mut missing) = (Vec::new(), Vec::new());
    for client in chosen {
        if !has_python {
            missing.push(format!("{}: NOT RUN: python3 with venv and pip is not there", client.name));
        } else if client.needs_gcc && !has_gcc {
            missing.push(format!("{}: NOT RUN: gcc is not there", client.name));
        } else {
            runnable.push(*client);
        }
    }
    (runnable, missing)
}

/// What these clients need beside themselves.
fn install_for(place: &Workshop, clients: &[&Client], scale: &Scale) -> Result<(), String> {
    install::wheels(&place.folder, &pins::BASE)?;
    if !scale.step.is_empty() || clients.iter().any(|client| !client.is_in_ci) {
        install::wheels(&place.folder, &pins::REST)?;
    }
    rust::prepare(place)
}

/// Runs them one after another, or reads what became of them; prints a line for each.
fn run_all(
    place: &Workshop,
    clients: &[&Client],
    scale: &Scale,
    list: &[known::Known],
) -> Result<(Vec<table::Line>, Vec<String>), String> {
    let (mut lines, mut unexplained, mut log) = (Vec::new(), Vec::new(), String::new());
    // A run of a part does not take the place of a whole one.
    let path = place.folder.join(if scale.full { "tests.txt" } else { "tests-of-a-part.txt" });
    let logged = std::fs::read_to_string(&path).unwrap_or_default();
    for client in clients {
        let started = Instant::now();
        let (tests, seconds) = if scale.again {
            let (tests, seconds) = outcome::logged(&logged, client.name);
            if tests.is_empty() {
                return Err(format!("{} has no test of {}: run with --full first", path.display(), client.name));
            }
            (tests, seconds)
        } else {
            let _ = std::fs::remove_file(place.findings(client.file_name()));
            (client.run(place, scale, list)?, started.elapsed().as_secs())
        };
        outcome::log(&mut log, client.name, &tests, seconds);
        let is_whole = scale.module.is_none() && !is_ci(scale);
        let mut verdict = known::judge(client.name, &tests, list, is_whole);
        if scale.module.is_none() {
            verdict.hold_to(client.name, if is_whole { client.percent_min } else { 0 });
        }
        let line = table::Line {
            client: client.name.into(),
            version: (client.version)().into(),
            what: client.what(scale),
            tests: verdict.tests,
            passed: verdict.passed,
            known: verdict.known,
            skipped: verdict.skipped,
            unexplained: verdict.unexplained.len(),
            seconds,
        };
        println!("{line}");
        unexplained.extend(verdict.unexplained);
        lines.push(line);
    }
    if !scale.again {
        install::write(&path, &log)?;
    }
    Ok((lines, unexplained))
}

fn summary(lines: &[table::Line]) -> String {
    let sum = |count: fn(&table::Line) -> usize| lines.iter().map(count).sum::<usize>();
    format!(
        "clients: {} tests of {} clients, {} passed, {} known, {} unexplained",
        sum(|line| line.tests),
        lines.len(),
        sum(|line| line.passed),
        sum(|line| line.known),
        sum(|line| line.unexplained)
    )
}

/// Whether only that part is run which CI has time for.
fn is_ci(scale: &Scale) -> bool {
    !scale.full && scale.only.is_none()
}

impl Client {
    /// Its name in names of files.
    fn file_name(&self) -> &'static str {
        match self.tests {
            Tests::Crate(package) => package.name,
            Tests::Numba => "numba-cuda",
            Tests::Ours(files) => files[0],
        }
    }

    fn what(&self, scale: &Scale) -> String {
        match self.tests {
            Tests::Crate(package) if is_ci(scale) && !package.not_in_ci.is_empty() => {
                format!("own tests without {} slow (all with --full)", package.not_in_ci.len())
            }
            Tests::Crate(_) => "own tests".into(),
            Tests::Numba if !is_ci(scale) => "own tests (`cudapy`)".into(),
            Tests::Numba => format!("{} modules of its own tests (all with --full)", CUDAPY_IN_CI.len()),
            Tests::Ours(files) => {
                files.iter().map(|file| format!("`tests/clients/{file}.py`")).collect::<Vec<_>>().join(" and ")
            }
        }
    }

    fn run(&self, place: &Workshop, scale: &Scale, list: &[known::Known]) -> Result<Vec<Test>, String> {
        let jobs = scale.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
        let (prefix, modules) = match self.tests {
            Tests::Crate(package) => {
                return rust::run(place, package, is_ci(scale), |test| known::tries(list, self.name, test));
            }
            Tests::Numba if !is_ci(scale) => (CUDAPY.1, python::modules(place, CUDAPY.0)?),
            Tests::Numba => (CUDAPY.1, CUDAPY_IN_CI.iter().map(ToString::to_string).collect()),
            Tests::Ours(files) => ("", files.iter().map(ToString::to_string).collect()),
        };
        let is_wanted = |module: &String| scale.module.as_deref().is_none_or(|part| module.contains(part));
        let modules: Vec<String> = modules.into_iter().filter(is_wanted).collect();
        let text = |path: PathBuf| path.display().to_string();
        let ptxas = text(place.root.join("tests/clients/ptxas"));
        let mut environment = vec![
            ("TRITON_CACHE_DIR", text(place.folder.join("out/triton-cache"))),
            ("TRITON_PTXAS_PATH", ptxas.clone()),
            ("TRITON_PTXAS_BLACKWELL_PATH", ptxas),
        ];
        if let (Tests::Ours(_), Some(toolkit)) = (&self.tests, place.toolkit()) {
            // Where tinygrad looks for headers.
            environment.push(("CUDA_PATH", text(toolkit)));
        }
        Suite { client: self.file_name(), prefix, modules: &modules, environment: &environment }.run(place, jobs)
    }
}

/// The folder with the programs of an environment that has numba-cuda, cuda-core and NVIDIA's compilers.
///
/// # Errors
///
/// - A wheel cannot be had.
pub fn environment(target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("clients");
    install::wheels(&folder, &pins::BASE)?;
    Ok(folder.join("venv/bin"))
}

/// Clients and versions, as results/clients.txt must have them.
fn versions() -> Vec<(&'static str, &'static str)> {
    CLIENTS.iter().map(|client| (client.name, (client.version)())).collect()
}

/// What is untrue in the documentation's tables.
pub fn tidy() -> Vec<String> {
    table::check(&workspace::root(), &versions())
}
