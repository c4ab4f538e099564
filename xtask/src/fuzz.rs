//! `cargo xtask fuzz`: calls that nobody would make.
//!
//! Every symbol of the table, also those that are not there yet, with arguments drawn from a seed (`fuzz/draw.rs` says which, and
//! what is the caller's promise). Cases of some hundred calls each run on a machine of their own, counted or live time, from one
//! thread or from several in turns, in two of the program's processes at most. After every call the machine's invariants are
//! checked ([`dacapo_sim::Machine::check`]). A panic, a call of more than ten seconds, a process that dies, or a broken invariant
//! ends it with the seed of the case, the last 20 calls and exit code 1.
//!
//! 100,000 calls by default; `--full` makes a million; `--seed N` runs only the case of that seed.

use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use dacapo_driver::Call;
use dacapo_sim::IMPLEMENTED;

mod callbacks;
mod case;
mod draw;
mod images;
mod journal;
mod scripts;

use case::Case;

/// Calls of the full run.
const FULL: u64 = 1_000_000;
/// Calls of a plain one.
const SCALED: u64 = 100_000;
/// What a call may take.
const LONGEST: Duration = Duration::from_secs(10);

/// How much is to be done.
#[derive(clap::Args)]
pub struct Scale {
    /// A million calls instead of a hundred thousand
    #[arg(long)]
    full: bool,
    /// Only the case of this seed, each call printed before it is made
    #[arg(long)]
    seed: Option<u64>,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// This many calls
    #[arg(long)]
    calls: Option<u64>,
    /// What the parent process has its child do
    #[arg(long, hide = true)]
    inside: bool,
}

/// Fuzzes.
///
/// # Errors
///
/// - The first case that broke the machine, with its seed and its last calls.
pub fn run(scale: &Scale) -> Result<(), String> {
    if scale.inside || scale.seed.is_some() {
        return inside(scale);
    }
    let wanted = scale.calls.unwrap_or(if scale.full { FULL } else { SCALED });
    if wanted != FULL {
        println!("fuzz: scaled down, {wanted} calls of {FULL}");
    }
    // A child makes the calls, so that a process that dies is a finding like any other.
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(&program)
        .args(["fuzz", "--inside", "--calls", &wanted.to_string(), "--first", &scale.first.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut seed = None;
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            match line.strip_prefix("case ") {
                Some(number) => seed = number.parse::<u64>().ok(),
                None => println!("{line}"),
            }
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    let seed = seed.unwrap_or(0);
    if status.code() == Some(1) {
        return Err(format!("reproduce: cargo xtask fuzz --seed {seed}"));
    }
    // It died without a word: the same case again, each call said before it is made.
    let again = Command::new(&program).args(["fuzz", "--seed", &seed.to_string()]).output();
    let said = again.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = said.lines().collect();
    let last = lines[lines.len().saturating_sub(20)..].join("\n");
    Err(format!(
        "the process died ({status}); the last calls of case {seed}:\n{last}\nreproduce: cargo xtask fuzz --seed {seed}"
    ))
}

/// Makes the calls, in this process.
fn inside(scale: &Scale) -> Result<(), String> {
    let started = Instant::now();
    let wanted = scale.calls.unwrap_or(SCALED);
    let aloud = scale.seed.is_some();
    let host = case::host_memory();
    let mut reached = vec![(0u64, 0u64); Call::ALL.len()];
    let mut calls = 0;
    let mut seed = scale.seed.unwrap_or(scale.first);
    journal::listen();
    std::thread::spawn(watch);
    let threads: Vec<(Sender<Turn>, Receiver<Turn>)> = (0..2).map(|_| spawn_thread()).collect();
    loop {
        println!("case {seed}");
        let _ = std::io::stdout().flush();
        journal::clear(aloud);
        calls += run_case(seed, host, &threads, &mut reached)?;
        seed += 1;
        if calls >= wanted || scale.seed.is_some() {
            break;
        }
    }
    callbacks::ask(None);
    let _ = std::fs::remove_dir_all(std::env::temp_dir().join(format!("dacapo-fuzz-{}", std::process::id())));
    let symbols = reached.iter().filter(|(made, _)| *made > 0).count();
    let (refusing, able): (Vec<Call>, Vec<Call>) = IMPLEMENTED.iter().partition(|call| scripts::never_succeeds(**call));
    let symbols_where = |calls: &[Call], succeeded: bool| -> Vec<&str> {
        let wanted = calls.iter().filter(|call| (reached[**call as usize].1 > 0) == succeeded);
        wanted.map(|call| call.symbol()).collect()
    };
    let surprises = symbols_where(&refusing, true);
    if !surprises.is_empty() {
        return Err(format!("{} can succeed: take it out of fuzz/scripts.rs", surprises.join(" ")));
    }
    let never = symbols_where(&able, false);
    println!(
        "fuzz: {} cases, {} of {} symbols that can have answered success, {} more refuse all, {} s",
        seed - scale.seed.unwrap_or(scale.first),
        able.len() - never.len(),
        able.len(),
        refusing.len(),
        started.elapsed().as_secs()
    );
    if !never.is_empty() && scale.seed.is_none() {
        println!("fuzz: never with success: {}", never.join(" "));
    }
    println!(
        "fuzz: {calls} calls, {symbols} symbols reached of {}, 0 panics, 0 hangs, 0 broken invariants",
        Call::ALL.len()
    );
    Ok(())
}

/// Ends the process when a call takes too long.
fn watch() {
    loop {
        std::thread::sleep(Duration::from_millis(200));
        if journal::waiting().is_some_and(|waited| waited > LONGEST) {
            println!("fuzz: a call takes longer than {LONGEST:?}; the last calls:\n{}", journal::last());
            std::process::exit(1);
        }
    }
}

/// A case on its way between threads, with the calls it is to make there and what has become of it.
struct Turn {
    case: Box<Case>,
    reached: Vec<(u64, u64)>,
    calls: u64,
    made: u64,
    goes_on: bool,
    broken: Option<String>,
}

impl Turn {
    /// Makes the calls of this turn, on this thread.
    fn take(&mut self) {
        self.made = 0;
        for _ in 0..self.calls {
            let survived = catch_unwind(AssertUnwindSafe(|| self.case.step(&mut self.reached)));
            self.made += 1;
            self.goes_on = survived.as_ref().is_ok_and(|goes_on| *goes_on);
            let panicked = journal::panic();
            if survived.is_err() || panicked.is_some() {
                self.broken = Some(format!("a panic: {}", panicked.unwrap_or_default()));
            } else if let Some(broken) = self.case.machine.check().first() {
                self.broken = Some(format!("a broken invariant: {broken}"));
            }
            if self.broken.is_some() || !self.goes_on {
                return;
            }
        }
    }
}

/// A thread of the program, which makes calls when it is its turn.
fn spawn_thread() -> (Sender<Turn>, Receiver<Turn>) {
    let (to, turns) = channel::<Turn>();
    let (done, from) = channel();
    std::thread::spawn(move || {
        while let Ok(mut turn) = turns.recv() {
            turn.case.enter_thread();
            turn.take();
            if done.send(turn).is_err() {
                return;
            }
        }
    });
    (to, from)
}

/// Runs one case; the answer is how many calls it made.
fn run_case(
    seed: u64,
    host: *mut u8,
    threads: &[(Sender<Turn>, Receiver<Turn>)],
    reached: &mut Vec<(u64, u64)>,
) -> Result<u64, String> {
    let kind = case::kind(seed);
    let mut case = Box::new(Case::new(seed, kind.live, host));
    case.prelude();
    let mut turn = Turn { case, reached: std::mem::take(reached), calls: 0, made: 0, goes_on: true, broken: None };
    let mut made = 0;
    while made < kind.calls && turn.goes_on && turn.broken.is_none() {
        turn.calls = if kind.threads == 1 { kind.calls } else { 1 + turn.case.below(12) };
        let thread = turn.case.below(kind.threads as u64) as usize;
        match thread.checked_sub(1).and_then(|other| threads.get(other)) {
            None => turn.take(),
            Some((to, from)) => {
                let lost = |_| "a thread of the fuzzer is gone".to_string();
                to.send(turn).map_err(|_| "a thread of the fuzzer is gone".to_string())?;
                turn = from.recv().map_err(lost)?;
            }
        }
        made += turn.made;
    }
    *reached = std::mem::take(&mut turn.reached);
    if let Some(broken) = turn.broken {
        println!("fuzz: case {seed}: {broken}; the last calls:\n{}", journal::last());
        return Err(format!("reproduce: cargo xtask fuzz --seed {seed}"));
    }
    Ok(made)
}
