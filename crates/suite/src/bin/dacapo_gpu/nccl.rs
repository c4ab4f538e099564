//! `dacapo-gpu nccl`: questions to NCCL, each in a process of its own.
//!
//! What a question said before it hung or broke stands in the file, with how it ended. The file is written after every answer.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use dacapo_driver::{Driver, Nvidia};
use dacapo_suite::nccl::library::{self, Opened};
use dacapo_suite::nccl::{Desk, QUESTIONS, quick};
use dacapo_suite::session::Session;

use crate::COMMIT;
use crate::child::{self, ANSWERED, Answer};

/// After this no more questions are asked: a call to the machine has ten minutes.
const ALL_MAX: Duration = Duration::from_secs(540);

/// `nccl [FOLDER]`, `nccl quick` and `nccl-question NAME`; none if the task is another.
pub fn apart(arguments: &[String]) -> Option<ExitCode> {
    let argument = arguments.get(1).map(String::as_str);
    let done = match (arguments.first()?.as_str(), argument) {
        ("nccl", Some("quick")) => here(quick),
        ("nccl", folder) => {
            let folder = folder.map(PathBuf::from).or_else(|| std::env::var_os("OUT").map(PathBuf::from));
            record(&folder.unwrap_or_else(|| PathBuf::from(".")))
        }
        ("nccl-question", Some(name)) => match QUESTIONS.iter().find(|question| question.name == name) {
            Some(question) => here(question.ask),
            None => Err(format!("there is no question `{name}`")),
        },
        _ => return None,
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("error: {why}");
            ExitCode::FAILURE
        }
    })
}

/// The driver, with a device, and NCCL; or why not, which is no error. No context is made: a child has its own.
pub fn machine() -> Result<(Nvidia, Opened), String> {
    let opened = library::open()?;
    let but = |why: String| format!("{why}; NCCL {} at {} is there", opened.release(), opened.path.display());
    let driver = Nvidia::open().map_err(|error| but(error.to_string()))?;
    if driver.is_software() {
        return Err(but(format!("{} is the software driver, on which NCCL does not run", driver.path().display())));
    }
    let mut devices = 0;
    // SAFETY: a number, and a place that is valid for the write.
    let codes = unsafe { [driver.cuInit(0), driver.cuDeviceGetCount(&mut devices)] };
    if codes.iter().any(|code| !code.is_success()) || devices == 0 {
        return Err(but(format!("no device: cuInit {}, cuDeviceGetCount {} {devices}", codes[0], codes[1])));
    }
    Ok((driver, opened))
}

/// Asks in this process.
fn here(ask: fn(&Desk) -> Result<(), String>) -> Result<(), String> {
    let (driver, opened) = match machine() {
        Ok(machine) => machine,
        Err(why) => {
            println!("NOT RUN: {why}");
            return Ok(());
        }
    };
    // Threads that hang go on using both until the process ends.
    let (driver, nccl) = (Box::leak(Box::new(driver)), Box::leak(Box::new(opened.nccl)));
    let desk = Desk::new(driver, nccl, |line| println!("{line}"))?;
    ask(&desk)?;
    println!("{ANSWERED}");
    Ok(())
}

fn record(folder: &Path) -> Result<(), String> {
    let (driver, opened) = match machine() {
        Ok(machine) => machine,
        Err(why) => {
            println!("NOT RUN: {why}");
            return Ok(());
        }
    };
    let file = folder.join("nccl-facts.txt");
    let mut text = head(&driver, &opened)?;
    print!("{text}");
    let began = Instant::now();
    let mut broken = Vec::new();
    for question in QUESTIONS.iter().filter(|question| is_asked(question.name)) {
        let mut answer = format!("\n{}: {}\n", question.name, question.asks);
        if began.elapsed() > ALL_MAX {
            answer.push_str("  NOT ASKED: there was no time left\n");
            broken.push(question.name);
        } else {
            let mut command = child::again(&["nccl-question", question.name])?;
            command.envs(question.environment.iter().copied()).env(library::VARIABLE, &opened.path);
            let Answer { said, ended, .. } = child::listen(command, question.seconds, |_| {})?;
            said.lines().for_each(|line| answer.extend(["  ", line, "\n"]));
            if let Some(ended) = ended {
                answer.extend(["  BROKEN OFF: ", &ended, "\n"]);
                broken.push(question.name);
            }
        }
        print!("{answer}");
        text.push_str(&answer);
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        std::fs::write(&file, &text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let _ = write!(text, "\nasked in {:.0} s; broken off: {}\n", began.elapsed().as_secs_f64(), broken.join(", "));
    println!("\nasked in {:.0} s; broken off: {}", began.elapsed().as_secs_f64(), broken.join(", "));
    std::fs::write(&file, &text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Whether `DACAPO_ONLY` lets this one through.
fn is_asked(name: &str) -> bool {
    let Ok(only) = std::env::var("DACAPO_ONLY") else { return true };
    only.split(',').any(|part| match part.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == part,
    })
}

pub fn head(driver: &Nvidia, opened: &Opened) -> Result<String, String> {
    let session = Session::open(driver).map_err(|error| error.to_string())?;
    let gpu = session.device_name().map_err(|error| error.to_string())?;
    let (release, cuda) = (session.driver_release(), driver.version());
    let mut text = format!("{gpu}\ndriver {release} (CUDA {}.{})\n", cuda / 1000, cuda % 1000 / 10);
    let _ = writeln!(text, "NCCL {} at {}", opened.release(), opened.path.display());
    let _ = writeln!(text, "commit {COMMIT}");
    Ok(text)
}
