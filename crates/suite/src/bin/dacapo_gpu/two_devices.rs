//! `dacapo-gpu two-devices`: what two GPUs answer where the software driver goes by the manual, and the forms of ranks on both.
//!
//! Each case and each form is a process of its own. two-devices.txt has the transcripts of the cases; what differs from the software
//! driver's is printed, and is no failure: it is what one wants to know. A form that fails is one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dacapo::Device;
use dacapo_driver::{Driver, Nvidia};
use dacapo_suite::conformance::{self, Recording, of_two_devices};
use dacapo_suite::ranks::{self, RankForm};
use dacapo_suite::session::Session;

use crate::COMMIT;
use crate::child::{self, ANSWERED};

/// What the software driver answers.
const WRITTEN: &str = include_str!("../../../recordings/two-devices-software.txt");
/// Anywhere among the arguments: on two software devices, to see that all of this works.
const SOFTWARE: &str = "--software";
/// How long a case or a form may take.
const SECONDS: u64 = 90;

/// `two-devices [FOLDER] [--software]`, and the cases and forms of it; none if the task is another.
pub fn apart(arguments: &[String]) -> Option<ExitCode> {
    let on_gpus = !arguments.iter().any(|argument| argument == SOFTWARE);
    let plain: Vec<&str> = arguments.iter().map(String::as_str).filter(|argument| *argument != SOFTWARE).collect();
    let done = match plain[..] {
        ["two-devices"] => all(&std::env::var_os("OUT").map_or_else(|| PathBuf::from("."), PathBuf::from), on_gpus),
        ["two-devices", folder] => all(Path::new(folder), on_gpus),
        ["two-devices-case", name] => case(name, on_gpus).map(|()| true),
        ["two-devices-form", name] => form(name, on_gpus).map(|()| true),
        _ => return None,
    };
    Some(match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            println!("error: {why}");
            ExitCode::FAILURE
        }
    })
}

/// What the answers are from; an error is why there is nothing to ask.
fn origin(on_gpus: bool) -> Result<String, String> {
    if !on_gpus {
        return Ok(format!("two software devices, commit {COMMIT}"));
    }
    let driver = Nvidia::open().map_err(|error| error.to_string())?;
    let mut devices = 0;
    // SAFETY: a number, and a place that is valid for the write.
    let codes = unsafe { [driver.cuInit(0), driver.cuDeviceGetCount(&mut devices)] };
    if driver.is_software() || codes.iter().any(|code| !code.is_success()) || devices < 2 {
        return Err(format!("two GPUs are wanted; {} has {devices}", driver.path().display()));
    }
    let session = Session::open(&driver).map_err(|refused| refused.to_string())?;
    let name = session.device_name().map_err(|refused| refused.to_string())?;
    Ok(format!("GPU {name} and another one, driver {}, commit {COMMIT}", session.driver_release()))
}

/// The forms that make sense for two ranks.
fn forms() -> impl Iterator<Item = RankForm> {
    ranks::all().into_iter().filter(|form| form.ranks_min <= 2)
}

fn all(folder: &Path, on_gpus: bool) -> Result<bool, String> {
    let origin = match origin(on_gpus) {
        Ok(origin) => origin,
        Err(why) => {
            println!("NOT RUN: {why}");
            return Ok(true);
        }
    };
    println!("{origin}");
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = folder.join("two-devices.txt");
    let mut answers = Recording { origin, ..Recording::default() };
    for case in of_two_devices() {
        let mut lines = Vec::new();
        let answer = listen("two-devices-case", &case.name, on_gpus)?;
        lines.extend(answer.said.lines().map(str::to_string));
        lines.extend(answer.ended.map(|ended| format!("broken off: {ended}")));
        answers.cases.insert(case.name, lines);
        std::fs::write(&file, answers.text()).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let comparison = conformance::compare(&Recording::parse(WRITTEN)?, &answers, "");
    for (name, difference) in &comparison.unexplained {
        println!(
            "DIFFERENT {name}: {}",
            difference.replace("recorded:", "software:").replace("ours:    ", "here:    ")
        );
    }
    let (mut held, mut failed) = (0, 0);
    for form in forms() {
        let answer = listen("two-devices-form", form.name, on_gpus)?;
        let failure = answer.ended.or_else(|| (answer.last != "held").then_some(answer.said));
        match failure {
            None => held += 1,
            Some(why) => {
                failed += 1;
                println!("FAILED {}: {why}", form.name);
            }
        }
    }
    let (matching, cases) = (comparison.matching, comparison.cases);
    println!(
        "two-devices: {matching} of {cases} cases as the software driver, {held} forms of two ranks held, {failed} failed"
    );
    Ok(failed == 0)
}

fn listen(task: &str, name: &str, on_gpus: bool) -> Result<child::Answer, String> {
    let mut command = child::again(&[task, name])?;
    if !on_gpus {
        command.arg(SOFTWARE);
    }
    child::listen(command, SECONDS, |_| ())
}

/// One case in this process.
fn case(name: &str, on_gpus: bool) -> Result<(), String> {
    let listed =
        of_two_devices().into_iter().find(|case| case.name == name).ok_or(format!("there is no case {name}"))?;
    let lines = match on_gpus {
        true => {
            let driver = Nvidia::open().map_err(|error| error.to_string())?;
            let _session = Session::open(&driver).map_err(|refused| refused.to_string())?;
            conformance::run(&driver, &listed).map_err(|refused| refused.to_string())?
        }
        false => conformance::run_in_software(0, &listed).0,
    };
    lines.iter().for_each(|line| println!("{line}"));
    println!("{ANSWERED}");
    Ok(())
}

/// One form in this process, on the first two GPUs.
fn form(name: &str, on_gpus: bool) -> Result<(), String> {
    let listed = forms().find(|form| form.name == name).ok_or(format!("there is no form {name}"))?;
    let held = match on_gpus {
        true => {
            let devices: Result<Vec<Device>, _> = (0..2).map(Device::cuda).collect();
            ranks::on_devices(&listed, &devices.map_err(|error| format!("{error:?}"))?)
        }
        false => ranks::on_software(&listed, 2, 0),
    };
    match held {
        Ok(()) => println!("{ANSWERED} held"),
        Err(why) => println!("{why}\n{ANSWERED} failed"),
    }
    Ok(())
}
