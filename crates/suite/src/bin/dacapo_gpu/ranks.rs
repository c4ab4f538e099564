//! `dacapo-gpu ranks`: the library's collectives with one rank, on a GPU with NVIDIA's NCCL.
//!
//! Each part is a process of its own; what it said before it hung or broke stands in the file, with how it ended. The file is written
//! after every part, and its last line says what came of all.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use dacapo_suite::nccl::library;
use dacapo_suite::one_rank::{Came, Floor, PARTS, Part};

use crate::child::{self, ANSWERED};
use crate::{COMMIT, nccl};

/// After this no more parts are done: a call to the machine has ten minutes.
const ALL_MAX: Duration = Duration::from_secs(500);
/// Anywhere among the arguments: on a software device.
const SOFTWARE: &str = "--software";

/// `ranks [quick|FOLDER] [--software]` and `ranks-part NAME FOLDER [--software]`; none if the task is another.
pub fn apart(arguments: &[String]) -> Option<ExitCode> {
    let on_gpu = !arguments.iter().any(|argument| argument == SOFTWARE);
    let plain: Vec<&str> = arguments.iter().map(String::as_str).filter(|argument| *argument != SOFTWARE).collect();
    let done = match plain[..] {
        ["ranks", "quick"] => quick(on_gpu),
        ["ranks"] => all(&std::env::var_os("OUT").map_or_else(|| PathBuf::from("."), PathBuf::from), on_gpu),
        ["ranks", folder] => all(Path::new(folder), on_gpu),
        ["ranks-part", name, folder] => match PARTS.iter().find(|part| part.name == name) {
            Some(part) => here(part, Path::new(folder), false, on_gpu).map(|came| {
                println!("{ANSWERED} {} {}", if came.well { "well" } else { "NOT" }, came.figure);
                true
            }),
            None => Err(format!("there is no part `{name}`")),
        },
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

/// Does a part in this process.
fn here(part: &Part, folder: &Path, is_quick: bool, on_gpu: bool) -> Result<Came, String> {
    let tell = |line: &str| println!("{line}");
    let floor = match on_gpu {
        true => Floor::cuda(folder, is_quick, tell)?,
        false => Floor::software(folder, is_quick, tell)?,
    };
    (part.run)(&floor)
}

/// What begins the file; an error is why there is nothing to run on.
fn head(on_gpu: bool) -> Result<(String, Option<PathBuf>), String> {
    if !on_gpu {
        return Ok((format!("the software device\ncommit {COMMIT}\n"), None));
    }
    let (driver, opened) = nccl::machine()?;
    Ok((nccl::head(&driver, &opened)?, Some(opened.path)))
}

/// In this process, for tools that look on.
fn quick(on_gpu: bool) -> Result<bool, String> {
    match head(on_gpu) {
        Ok((head, _)) => print!("{head}"),
        Err(why) => {
            println!("NOT RUN: {why}");
            return Ok(true);
        }
    }
    let mut well = true;
    let mut figures = Vec::new();
    for part in PARTS.iter().filter(|part| part.is_quick) {
        println!("\n{}: {}", part.name, part.does);
        let came = here(part, Path::new("."), true, on_gpu)?;
        well &= came.well;
        figures.push(came.figure);
    }
    println!("\n{}", last_line(&figures));
    Ok(well)
}

fn last_line(figures: &[String]) -> String {
    let figures: Vec<&str> = figures.iter().map(String::as_str).filter(|figure| !figure.is_empty()).collect();
    format!("ranks: {}", figures.join(", "))
}

fn all(folder: &Path, on_gpu: bool) -> Result<bool, String> {
    let (mut text, library) = match head(on_gpu) {
        Ok(head) => head,
        Err(why) => {
            println!("NOT RUN: {why}");
            return Ok(true);
        }
    };
    print!("{text}");
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = folder.join(if on_gpu { "ranks-h200.txt" } else { "ranks-software.txt" });
    let write = |text: &str| std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()));
    let (began, mut well, mut figures) = (Instant::now(), true, Vec::new());
    for part in PARTS {
        let began_part = Instant::now();
        let mut put = |line: &str| {
            println!("{line}");
            text.extend([line, "\n"]);
        };
        put(&format!("\n{}: {}", part.name, part.does));
        if began.elapsed() > ALL_MAX {
            put("  NOT RUN: there was no time left");
            (well, figures) = (false, [figures, vec![format!("{} NOT RUN", part.name)]].concat());
            continue;
        }
        let folder = folder.to_str().ok_or("the folder's name is no text")?;
        let mut command = child::again(&["ranks-part", part.name, folder])?;
        match &library {
            Some(path) => command.env(library::VARIABLE, path),
            None => command.arg(SOFTWARE),
        };
        let answer = child::listen(command, part.seconds, |line| println!("  {line}"))?;
        answer.said.lines().for_each(|line| text.extend(["  ", line, "\n"]));
        let mut put = |line: &str| {
            println!("{line}");
            text.extend([line, "\n"]);
        };
        let figure = match (&answer.ended, answer.last.split_once(' ')) {
            (Some(ended), _) => {
                put(&format!("  BROKEN OFF: {ended}"));
                well &= !part.must;
                format!("{} BROKEN OFF", part.name)
            }
            (None, split) => {
                let (is_well, figure) = split.unwrap_or((&answer.last, ""));
                well &= is_well == "well" || !part.must;
                match (is_well, figure) {
                    ("well", figure) => figure.to_string(),
                    (_, "") => format!("{} NOT well", part.name),
                    (_, figure) => figure.to_string(),
                }
            }
        };
        put(&format!("  ({:.1} s)", began_part.elapsed().as_secs_f64()));
        figures.push(figure);
        write(&text)?;
    }
    let _ = write!(text, "\n{}\n", last_line(&figures));
    println!("\n{}", last_line(&figures));
    write(&text)?;
    Ok(well)
}
