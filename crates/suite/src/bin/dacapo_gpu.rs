//! `dacapo-gpu`: everything that wants a GPU, in one binary.
//!
//! ```text
//! dacapo-gpu corpus|singles|device|check|programs|silent|forms|edges|shapes|mazes|pools|declarations|conformance|memory|
//!            cublaslt|all|nccl|ranks|two-devices [FOLDER]
//! ```
//!
//! - `corpus` records what NVIDIA's driver makes of every case of the corpus: corpus.json. A case that gives other
//!   bits the second time is a mistake in the case, and is reported.
//! - `singles` records what single instructions give: approx.json and ptx-facts.json; singles.raw holds every result.
//! - `device` records what the device says of itself: device.json.
//! - `check` runs the bodies of this crate: check.json.
//! - `programs` runs the programs, with their mistakes and without, and compares what is refused with the committed
//!   reports: programs.json. They run in child processes: this binary again, as `program WAY NAME..`.
//! - `silent` makes the mistakes that a GPU does not notice, each in a process of its own (`program silent NAME`):
//!   programs-silent.txt.
//! - `forms` runs every form of recording and launching on device 0, in this process: forms.json. It
//!   runs under `compute-sanitizer --tool memcheck --report-api-errors no` too: some forms are about calls that the
//!   driver refuses. What `--tool initcheck` says of it: results/initcheck-h200.txt. `DACAPO_ONLY` has parts of the
//!   names that are run, with commas between them.
//! - `edges` runs random small graphs with many choices of programmatic edges, and compares with the host: edges.txt.
//! - `shapes` measures the graphs that forms build, made of tiny kernels, with the library's edges and with full ones: shapes.txt.
//! - `mazes` runs random recordings of control flow here and on the software device: mazes.txt.
//! - `pools` replays eight bucketed graphs of one pool in a thousand orders: pools.txt.
//! - `declarations` measures what the check of declarations adds to loading a module of 100 entries: declarations.txt.
//!   It runs in a child process, because a driver reads once whether it keeps compiled code.
//! - `conformance` records the transcripts of the conformance cases, twice, and says which are not the same twice:
//!   conformance.txt. They run in child processes: this binary again, as `conformance-cases NAME,NAME..`.
//! - `memory` measures the device memory of executable graphs: executable-memory.json. Each case runs in a child process
//!   (`memory-case CASE`): a driver keeps what it once took.
//! - `cublaslt` replays a graph with products in it while all else is dropped, and compares the library with the kernels
//!   that stand in for it: cublaslt.txt. `DACAPO_REPLAYS` says how many replays, 10,000 without it; with
//!   `DACAPO_ONLY=survive` nothing is compared.
//! - `nccl` asks NCCL what its manual does not say, with one rank: nccl-facts.txt. `DACAPO_LIBNCCL` names the library, else it is
//!   looked for; without it, or without a GPU, nothing is run and it says so. Each question is asked in a child process
//!   (`nccl-question NAME`); `DACAPO_ONLY` has the names that are asked, with commas between them, a `*` at the end for all that begin so.
//!   `nccl quick` captures and replays every collective once in this process, for `compute-sanitizer`. Not among `all`.
//! - `ranks` runs the library's own collectives with NCCL and one rank: its forms, graphs that outlive all else, what a launch costs
//!   beside a graph captured by hand, broken captures, a launch that hangs, buckets beside kernels: ranks-h200.txt and
//!   ranks-profile.txt. It finds the library and answers without one as `nccl` does. Each part runs in a child process
//!   (`ranks-part NAME FOLDER`). `ranks quick` runs the first three in this process with few replays, for `compute-sanitizer`;
//!   `--software` runs either on a software device: ranks-software.txt. Not among `all`.
//! - `two-devices` wants two GPUs: it asks them what the software driver has from the manual alone, says where they differ, and runs
//!   the forms of ranks on both: two-devices.txt. With one GPU nothing is run, and it says so. `--software` runs it on two software
//!   devices. Not among `all`.
//! - Results go to FOLDER, else to `$OUT`, else to the working directory.
//!
//! One process and one context for all else. PTX is embedded; the driver is the machine's own (`DACAPO_LIBCUDA` names another). The
//! software driver may be checked, but not recorded: it answers as the GPU it is compared with.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use dacapo::Device;
use dacapo_driver::Nvidia;
use dacapo_suite::corpus::{self, Case};
use dacapo_suite::programs::gpu::{self, Outcome};
use dacapo_suite::programs::{Way, silent};
use dacapo_suite::replay::capture_and_replay;
use dacapo_suite::session::Session;
use dacapo_suite::{device, forms, single, table};
use serde::Serialize;

#[path = "dacapo_gpu/child.rs"]
mod child;
#[path = "dacapo_gpu/conformance.rs"]
mod conformance;
#[path = "dacapo_gpu/cublaslt.rs"]
mod cublaslt;
#[path = "dacapo_gpu/declarations.rs"]
mod declarations;
#[path = "dacapo_gpu/edges.rs"]
mod edges;
#[path = "dacapo_gpu/mazes.rs"]
mod mazes;
#[path = "dacapo_gpu/memory.rs"]
mod memory;
#[path = "dacapo_gpu/nccl.rs"]
mod nccl;
#[path = "dacapo_gpu/pools.rs"]
mod pools;
#[path = "dacapo_gpu/ranks.rs"]
mod ranks;
#[path = "dacapo_gpu/shapes.rs"]
mod shapes;
#[path = "dacapo_gpu/two_devices.rs"]
mod two_devices;

/// The commit this binary was built from; `cargo xtask gpu-pack` sets it.
const COMMIT: &str = match option_env!("DACAPO_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((first, rest)) = arguments.split_first()
        && first == "program"
    {
        return program(rest);
    }
    if let [first, argument] = arguments.as_slice()
        && let Some(done) = conformance::child(first, argument).or_else(|| memory::child(first, argument))
    {
        return done;
    }
    if let Some(done) = nccl::apart(&arguments)
        .or_else(|| ranks::apart(&arguments))
        .or_else(|| two_devices::apart(&arguments))
        .or_else(|| declarations::without_cache(&arguments))
    {
        return done;
    }
    let folder = arguments.get(1).map(PathBuf::from).or_else(|| std::env::var_os("OUT").map(PathBuf::from));
    let folder = folder.unwrap_or_else(|| PathBuf::from("."));
    // What is only checked, and what is recorded.
    let (tasks, records): (&[Task], bool) = match arguments.first().map(String::as_str) {
        Some("corpus") => (&[record_corpus], true),
        Some("singles") => (&[record_singles], true),
        Some("device") => (&[record_device], true),
        Some("check") => (&[check], false),
        Some("programs") => (&[run_programs], false),
        Some("silent") => (&[run_silent], false),
        Some("forms") => (&[run_forms], false),
        Some("edges") => (&[edges::run], false),
        Some("shapes") => (&[shapes::run], true),
        Some("mazes") => (&[mazes::run], false),
        Some("pools") => (&[pools::run], false),
        Some("declarations") => (&[declarations::run], false),
        Some("conformance") => (&[conformance::record], true),
        Some("memory") => (&[memory::record], true),
        Some("cublaslt") => (&[cublaslt::run], false),
        Some("all") => (
            &[
                check,
                run_programs,
                run_silent,
                run_forms,
                edges::run,
                shapes::run,
                mazes::run,
                pools::run,
                declarations::run_apart,
                record_device,
                record_corpus,
                record_singles,
                conformance::record,
                memory::record,
                cublaslt::run,
            ],
            true,
        ),
        _ => {
            eprintln!(
                "usage: dacapo-gpu corpus|singles|device|check|programs|silent|forms|edges|shapes|mazes|pools|declarations|conformance|\
                 memory|cublaslt|all|nccl|ranks|two-devices [FOLDER]"
            );
            return ExitCode::from(2);
        }
    };
    match run(tasks, records, &folder) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A task says whether all was well; an error means that it could not be done.
type Task = fn(&Nvidia, &mut Session<'_>, &std::path::Path) -> Result<bool, Box<dyn std::error::Error>>;

fn run(tasks: &[Task], records: bool, folder: &std::path::Path) -> Result<bool, Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    let driver = Nvidia::open()?;
    if driver.is_software() && records {
        return Err(format!("{} is the software driver; only a GPU is recorded", driver.path().display()).into());
    }
    let mut session = Session::open(&driver)?;
    println!("{}, driver {}, commit {COMMIT}", session.device_name()?, session.driver_release());
    let mut well = true;
    for task in tasks {
        well &= task(&driver, &mut session, folder)?;
    }
    Ok(well)
}

fn record_corpus(
    _: &Nvidia,
    session: &mut Session<'_>,
    folder: &std::path::Path,
) -> Result<bool, Box<dyn std::error::Error>> {
    let (recording, failures) = corpus::record(session, COMMIT)?;
    for (case, failure) in &failures {
        println!("failed: {case}: {failure}");
    }
    let unstable: Vec<Case> = corpus::all()
        .into_iter()
        .filter(|case| recording.cases.contains_key(&case.name()))
        .filter(|case| corpus::run(session, case).ok() != recording.outputs(case).ok())
        .collect();
    for case in &unstable {
        println!("not the same twice: {}", case.name());
    }
    let text = serde_json::to_string_pretty(&recording)?;
    std::fs::write(folder.join("corpus.json"), &text)?;
    println!(
        "corpus.json: {} cases, {} failed, {} not the same twice, {} bytes",
        recording.cases.len(),
        failures.len(),
        unstable.len(),
        text.len()
    );
    Ok(failures.is_empty() && unstable.is_empty())
}

fn record_singles(
    _: &Nvidia,
    session: &mut Session<'_>,
    folder: &std::path::Path,
) -> Result<bool, Box<dyn std::error::Error>> {
    let mut raw = Vec::new();
    let ([approx, facts], refused) = single::record(session, COMMIT, |single, results| {
        raw.extend_from_slice(format!("{} {} {}\n", single.name, single.out.bytes(), results.len()).as_bytes());
        results.iter().for_each(|word| raw.extend_from_slice(&word.to_le_bytes()[..single.out.bytes()]));
    })?;
    for (name, refused) in &refused {
        println!("refused: {name}: {refused}");
    }
    std::fs::write(folder.join("singles.raw"), &raw)?;
    for (file, recording) in [("approx.json", &approx), ("ptx-facts.json", &facts)] {
        let text = serde_json::to_string_pretty(recording)?;
        std::fs::write(folder.join(file), &text)?;
        println!("{file}: {} instructions, {} bytes", recording.singles.len(), text.len());
    }
    Ok(refused.is_empty())
}

fn record_device(
    _: &Nvidia,
    session: &mut Session<'_>,
    folder: &std::path::Path,
) -> Result<bool, Box<dyn std::error::Error>> {
    let answers = device::ask(session, COMMIT)?;
    std::fs::write(folder.join("device.json"), serde_json::to_string_pretty(&answers)?)?;
    println!("device.json: {} attributes", answers.attributes.len());
    Ok(true)
}

/// What `check` writes.
#[derive(Serialize)]
struct Checks {
    gpu: String,
    driver: String,
    commit: &'static str,
    checks: Vec<Check>,
}

#[derive(Serialize)]
struct Check {
    name: &'static str,
    passed: bool,
    detail: String,
}

fn check(
    driver: &Nvidia,
    session: &mut Session<'_>,
    folder: &std::path::Path,
) -> Result<bool, Box<dyn std::error::Error>> {
    let replayed = capture_and_replay(session, 20);
    let mistakes = table::mistakes(driver);
    let checks = vec![
        Check {
            name: "capture three kernels, replay 20 times, check the numbers",
            passed: replayed.is_ok(),
            detail: replayed.err().map(|error| error.to_string()).unwrap_or_default(),
        },
        Check {
            name: "every call of the table is in the library, from the version the table says",
            passed: mistakes.is_empty(),
            detail: mistakes.join("; "),
        },
    ];
    for check in &checks {
        println!("{}: {} {}", check.name, if check.passed { "passed" } else { "FAILED" }, check.detail);
    }
    let passed = checks.iter().all(|check| check.passed);
    let (gpu, driver) = (session.device_name()?, session.driver_release());
    let checks = Checks { gpu, driver, commit: COMMIT, checks };
    std::fs::write(folder.join("check.json"), serde_json::to_string_pretty(&checks)?)?;
    Ok(passed)
}

/// What `programs` writes.
#[derive(Serialize)]
struct Programs {
    gpu: String,
    driver: String,
    commit: &'static str,
    programs: Vec<Outcome>,
}

fn run_programs(
    _: &Nvidia,
    session: &mut Session<'_>,
    folder: &std::path::Path,
) -> Result<bool, Box<dyn std::error::Error>> {
    let this = std::env::current_exe()?;
    let programs = gpu::run_all(|way, names| {
        let mut command = Command::new(&this);
        command.args(["program", way.name()]).args(names);
        command
    });
    for failed in programs.iter().filter(|outcome| outcome.passed == Some(false)) {
        let (way, codes) = (failed.way.name(), failed.codes.join(", "));
        println!("FAILED: {way} of {}: {}; refused: {codes}", failed.name, failed.note);
    }
    println!("{}", gpu::summary(&programs));
    let passed = programs.iter().all(|outcome| outcome.passed != Some(false));
    let (gpu, driver) = (session.device_name()?, session.driver_release());
    let programs = Programs { gpu, driver, commit: COMMIT, programs };
    std::fs::write(folder.join("programs.json"), serde_json::to_string_pretty(&programs)?)?;
    Ok(passed)
}

fn run_silent(
    _: &Nvidia,
    session: &mut Session<'_>,
    folder: &std::path::Path,
) -> Result<bool, Box<dyn std::error::Error>> {
    let this = std::env::current_exe()?;
    let ended = silent::run_all(|name| {
        let mut command = Command::new(&this);
        command.args(["program", "silent", name]);
        command
    });
    let text = silent::render(&session.device_name()?, &session.driver_release(), COMMIT, &ended);
    std::fs::write(folder.join("programs-silent.txt"), &text)?;
    print!("{text}");
    Ok(ended.iter().all(|ended| ended.is_silent()))
}

/// What `forms` writes.
#[derive(Serialize)]
struct Forms {
    gpu: String,
    driver: String,
    commit: &'static str,
    forms: Vec<FormRun>,
}

#[derive(Serialize)]
struct FormRun {
    name: &'static str,
    passed: bool,
    ms: f64,
    detail: String,
}

fn run_forms(
    _: &Nvidia,
    session: &mut Session<'_>,
    folder: &std::path::Path,
) -> Result<bool, Box<dyn std::error::Error>> {
    let device = Device::cuda(0)?;
    let (mut runs, only) = (Vec::new(), std::env::var("DACAPO_ONLY").unwrap_or_default());
    for form in forms::all().into_iter().filter(|form| only.split(',').any(|part| form.name.contains(part))) {
        if let Some(lacks) = form.lacks() {
            println!("{:<36} NOT RUN: there is no {lacks} here", form.name);
            continue;
        }
        let began = std::time::Instant::now();
        let outcome = forms::check(&form, &device);
        let ms = began.elapsed().as_secs_f64() * 1e3;
        let (passed, detail) = (outcome.is_ok(), outcome.err().unwrap_or_default());
        println!("{:<36} {} {ms:>9.2} ms {detail}", form.name, if passed { "passed" } else { "FAILED" });
        runs.push(FormRun { name: form.name, passed, ms, detail });
    }
    let passed = runs.iter().filter(|run| run.passed).count();
    let (gpu, driver) = (session.device_name()?, session.driver_release());
    println!("forms on {gpu}, driver {driver}: {passed} of {}", runs.len());
    let all = passed == runs.len();
    let forms = Forms { gpu, driver, commit: COMMIT, forms: runs };
    std::fs::write(folder.join("forms.json"), serde_json::to_string_pretty(&forms)?)?;
    Ok(all)
}

/// `program WAY NAME..`: runs these programs here, for the process that started this one.
fn program(arguments: &[String]) -> ExitCode {
    if let [way, name] = arguments
        && way == "silent"
    {
        let done = Nvidia::open().map_err(Into::into).and_then(|nvidia| silent::run_here(Arc::new(nvidia), name));
        return match done {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::from(2)
            }
        };
    }
    let Some((way, names)) = arguments.split_first().and_then(|(way, names)| Some((Way::named(way)?, names))) else {
        eprintln!("usage: dacapo-gpu program mistake|near-miss NAME..");
        return ExitCode::from(2);
    };
    let done = Nvidia::open().map_err(Into::into).and_then(|nvidia| gpu::run_here(Arc::new(nvidia), way, names));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
