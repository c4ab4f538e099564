//! `dacapo-gpu conformance`: the transcripts of all cases, recorded twice.
//!
//! - Cases run one after another in a child process, which tells what it does as it does it. If it dies or is silent for long, the case
//!   is left out, named and counted (one that leaves the context broken against its word too), and another child goes on behind it.
//! - The second round runs from the last case to the first. A case whose transcripts differ depends on its neighbours or
//!   on chance.
//! - A case that breaks its context has a process of its own in both rounds.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use dacapo_driver::{Driver, Nvidia};
use dacapo_suite::conformance::{Recording, all, run};
use dacapo_suite::session::Session;

type Failure = Box<dyn std::error::Error>;
type Transcripts = BTreeMap<String, Vec<String>>;

/// What a child prints when a case is over; no line of a transcript looks like it.
const OVER: &str = "[over]";
/// How long a child may be silent: longer than a gate waits that nobody opens.
const SILENCE: Duration = Duration::from_secs(20);

/// Records both rounds, writes conformance.txt and says what is not the same twice.
pub fn record(_: &Nvidia, session: &mut Session<'_>, folder: &Path) -> Result<bool, Failure> {
    let began = Instant::now();
    let origin =
        format!("GPU {}, driver {}, commit {}", session.device_name()?, session.driver_release(), crate::COMMIT);
    let (first, mut dead) = round(false)?;
    println!("first round: {} cases, {:.1} s", first.len(), began.elapsed().as_secs_f64());
    let first = Recording { origin, cases: first };
    std::fs::write(folder.join("conformance.txt"), first.text())?;
    let (second, dead_again) = round(true)?;
    dead.extend(dead_again);
    let differing: Vec<&String> =
        first.cases.keys().filter(|name| first.cases.get(*name) != second.get(*name)).collect();
    for name in &differing {
        println!("not the same twice: {name}");
        for (one, other) in first.cases[*name].iter().zip(second.get(*name).into_iter().flatten()) {
            if one != other {
                println!("  {one}\n  {other}");
            }
        }
    }
    for name in &dead {
        println!("left out, the process died or hung: {name}");
    }
    let (cases, seconds) = (first.cases.len(), began.elapsed().as_secs_f64());
    let (differing, dead) = (differing.len(), dead.len());
    println!("conformance.txt: {cases} cases, {differing} not the same twice, {dead} left out, {seconds:.1} s");
    Ok(differing + dead == 0)
}

/// `conformance-cases NAME,NAME..`: runs these cases here and tells of each line; none if `task` is another.
pub fn child(task: &str, names: &str) -> Option<ExitCode> {
    (task == "conformance-cases").then(|| match run_here(names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    })
}

fn run_here(names: &str) -> Result<(), Failure> {
    let driver = Nvidia::open()?;
    // Held while the cases run, so that the primary context is not made anew for each.
    let _session = Session::open(&driver)?;
    let cases: BTreeMap<String, _> = all().into_iter().map(|case| (case.name.clone(), case)).collect();
    let mut out = std::io::stdout().lock();
    for name in names.split(',') {
        let case = cases.get(name).ok_or_else(|| format!("no case {name}"))?;
        writeln!(out, "[{name}]")?;
        out.flush()?;
        for line in run(&driver, case)? {
            writeln!(out, "{line}")?;
        }
        // SAFETY: takes nothing.
        let after = unsafe { driver.cuCtxSynchronize() };
        if !case.breaks && !after.is_success() {
            return Err(format!("{name} leaves the context broken: {after}").into());
        }
        writeln!(out, "{OVER}")?;
        out.flush()?;
    }
    Ok(())
}

/// All cases once; the second part names those that did not come to their end.
fn round(backwards: bool) -> Result<(Transcripts, Vec<String>), Failure> {
    let (mut cases, mut done, mut dead) = (all(), Transcripts::new(), Vec::new());
    if backwards {
        cases.reverse();
    }
    let names = |breaks: bool| -> Vec<String> {
        cases.iter().filter(|case| case.breaks == breaks).map(|case| case.name.clone()).collect()
    };
    let mut batches: Vec<Vec<String>> = names(true).into_iter().map(|name| vec![name]).collect();
    batches.push(names(false));
    while let Some(batch) = batches.pop().filter(|batch| !batch.is_empty()) {
        let before = done.len();
        follow(&batch, &mut done)?;
        let ended = done.len() - before;
        if ended < batch.len() {
            dead.push(batch[ended].clone());
            let rest = batch[ended + 1..].to_vec();
            if !rest.is_empty() {
                batches.push(rest);
            }
        }
    }
    Ok((done, dead))
}

/// Runs these cases in a child process and takes down what it tells; returns when it is over, dead or silent.
fn follow(names: &[String], done: &mut Transcripts) -> Result<(), Failure> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["conformance-cases", &names.join(",")])
        .stdout(Stdio::piped())
        .spawn()?;
    let (sender, receiver) = channel();
    let out = child.stdout.take();
    let reader = std::thread::spawn(move || {
        for line in out.into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let (mut name, mut lines) = (String::new(), Vec::new());
    loop {
        match receiver.recv_timeout(SILENCE) {
            Ok(line) if line == OVER => {
                done.insert(std::mem::take(&mut name), std::mem::take(&mut lines));
            }
            Ok(line) => match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some(next) if names.iter().any(|name| name == next) => name = next.to_string(),
                _ => lines.push(line),
            },
            Err(RecvTimeoutError::Timeout) => {
                child.kill()?;
                break;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    child.wait()?;
    drop(receiver);
    let _ = reader.join();
    Ok(())
}
