//! The last calls, for a report: what was called, with which numbers, and what it answered.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dacapo_driver::{CUresult, Call};

/// Calls that a report shows.
const KEPT: usize = 20;

struct Entry {
    call: Call,
    arguments: Vec<(&'static str, u64)>,
    code: Option<CUresult>,
}

struct Journal {
    last: VecDeque<Entry>,
    began: Option<Instant>,
    /// The last panic of any thread.
    panic: Option<String>,
    /// Print each call before it is made.
    aloud: bool,
}

static JOURNAL: Mutex<Journal> = Mutex::new(Journal { last: VecDeque::new(), began: None, panic: None, aloud: false });

fn with<R>(body: impl FnOnce(&mut Journal) -> R) -> R {
    body(&mut JOURNAL.lock().unwrap_or_else(PoisonError::into_inner))
}

fn line(entry: &Entry) -> String {
    let arguments: Vec<String> = entry.arguments.iter().map(|(name, bits)| format!("{name}: {bits:#x}")).collect();
    let answer = entry.code.map_or("...".to_string(), |code| code.to_string());
    format!("{}({}) -> {answer}", entry.call.symbol(), arguments.join(", "))
}

/// A case begins.
pub(super) fn clear(aloud: bool) {
    with(|journal| {
        journal.last.clear();
        journal.aloud = aloud;
    });
}

/// A call begins.
pub(super) fn begin(call: Call, arguments: &[(&'static str, u64)]) {
    with(|journal| {
        if journal.last.len() == KEPT {
            journal.last.pop_front();
        }
        let entry = Entry { call, arguments: arguments.to_vec(), code: None };
        if journal.aloud {
            println!("  {}", line(&entry));
        }
        journal.last.push_back(entry);
        journal.began = Some(Instant::now());
    });
}

/// It has answered.
pub(super) fn end(code: CUresult) {
    with(|journal| {
        journal.began = None;
        if let Some(last) = journal.last.back_mut() {
            last.code = Some(code);
        }
    });
}

/// How long the call that is being made has taken so far.
pub(super) fn waiting() -> Option<Duration> {
    with(|journal| journal.began.map(|began| began.elapsed()))
}

/// Keeps what panics say, of every thread.
pub(super) fn listen() {
    std::panic::set_hook(Box::new(|info| {
        let said = info.to_string();
        with(|journal| journal.panic = Some(said));
    }));
}

/// What a panic since the last question has said.
pub(super) fn panic() -> Option<String> {
    with(|journal| journal.panic.take())
}

/// The last calls, a line each.
pub(super) fn last() -> String {
    with(|journal| journal.last.iter().map(|entry| format!("  {}\n", line(entry))).collect())
}
