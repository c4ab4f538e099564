//! Threads that ask: several requests under way, each awaited and checked.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dacapo::Result;

use crate::model::{WIDTH, Weights, whole};
use crate::server::{Answer, ROWS_MAX, Server};
use crate::waiting::block_on;

/// How many requests a thread has under way.
const UNDER_WAY: usize = 4;

/// What is asked.
#[derive(Clone, Copy)]
pub struct Load {
    /// Threads, each with a lane of its own.
    pub threads: usize,
    /// Requests of each thread.
    pub requests: usize,
    /// Weights are swapped each time so many requests were answered; never, if 0.
    pub swap_every: u64,
}

/// What came of it.
#[derive(Default)]
pub struct Served {
    /// Requests that were answered.
    pub requests: u64,
    /// Rows of them.
    pub rows: u64,
    /// Answers with a wrong number in them.
    pub wrong: u64,
    /// How often the weights were swapped.
    pub swaps: u32,
    /// Graphs that were changed in place by that.
    pub changed: usize,
    /// From the question to the answer, sorted.
    pub latencies: Vec<Duration>,
    /// From the first question to the last answer.
    pub time: Duration,
}

impl Served {
    /// The latency that so many of a hundred requests did not exceed.
    pub fn percentile(&self, of_hundred: usize) -> Duration {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get(last * of_hundred / 100).copied().unwrap_or_default()
    }
}

/// What the threads tell each other.
#[derive(Default)]
struct Shared {
    answered: AtomicU64,
    /// One of them has failed: the others end too.
    failed: AtomicBool,
}

impl Shared {
    fn note<T>(&self, outcome: Result<T>) -> Result<T> {
        self.failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
        outcome
    }
}

/// Serves all requests, swapping weights meanwhile, and waits for the last answer. Then checks all of them.
///
/// # Errors
///
/// - What the device refused, of any thread: the first. The others end too.
pub fn serve(server: &Server, load: Load) -> Result<Served> {
    let shared = Shared::default();
    let mut served = Served::default();
    let begun = Instant::now();
    let answers = thread::scope(|scope| {
        let shared = &shared;
        let ask = |number| scope.spawn(move || shared.note(client(server, number, load.requests, shared)));
        let clients: Vec<_> = (0..load.threads).map(ask).collect();
        let swapped = shared.note(swap(server, load, shared, &mut served));
        let answers =
            clients.into_iter().map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let answers = answers.collect::<Result<Vec<_>>>();
        swapped.and(answers)
    })?;
    served.time = begun.elapsed();
    let all = || answers.iter().flatten();
    served.requests = all().count() as u64;
    served.rows = all().map(|one| (one.rows.len() / WIDTH) as u64).sum();
    served.latencies = all().map(|one| one.latency).collect();
    served.latencies.sort_unstable();
    served.wrong = check(&answers);
    Ok(served)
}

/// Swaps weights while others serve, until all requests are answered.
fn swap(server: &Server, load: Load, shared: &Shared, served: &mut Served) -> Result<()> {
    let all = (load.threads * load.requests) as u64;
    while load.swap_every > 0 && !shared.failed.load(Ordering::Relaxed) {
        let due = load.swap_every * u64::from(served.swaps + 1);
        if due >= all {
            break;
        }
        if shared.answered.load(Ordering::Relaxed) < due {
            thread::sleep(Duration::from_micros(200));
            continue;
        }
        served.changed += server.swap(served.swaps + 1)?;
        served.swaps += 1;
    }
    Ok(())
}

/// One answer with what it must be checked against.
struct Answered {
    rows: Vec<f32>,
    given: Vec<f32>,
    weights: Arc<Weights>,
    latency: Duration,
}

/// One thread: asks, and awaits the oldest answer when enough are under way.
fn client(server: &Server, number: usize, requests: usize, shared: &Shared) -> Result<Vec<Answered>> {
    let mut random = number as u64 + 1;
    let mut under_way: VecDeque<(Vec<f32>, Answer)> = VecDeque::new();
    let mut done = Vec::new();
    let mut finish = |(rows, answer): (Vec<f32>, Answer)| -> Result<()> {
        let Answer { rows: reading, weights, asked } = answer;
        let given = block_on(reading)?;
        done.push(Answered { rows, given, weights, latency: asked.elapsed() });
        shared.answered.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    for _ in 0..requests {
        if shared.failed.load(Ordering::Relaxed) {
            break;
        }
        let count = 1 + (whole(&mut random, 1 << 20) as i64).unsigned_abs() as usize % ROWS_MAX;
        let rows: Vec<f32> = (0..count * WIDTH).map(|_| whole(&mut random, 4)).collect();
        let answer = server.lane(number).ask(&rows)?;
        under_way.push_back((rows, answer));
        if under_way.len() == UNDER_WAY {
            under_way.pop_front().map_or(Ok(()), &mut finish)?;
        }
    }
    under_way.into_iter().try_for_each(finish)?;
    Ok(done)
}

/// Checks every number of every answer, a thread for each list.
fn check(answers: &[Vec<Answered>]) -> u64 {
    let wrong = |one: &&Answered| one.given != one.weights.expected(&one.rows);
    thread::scope(|scope| {
        let checks: Vec<_> =
            answers.iter().map(|list| scope.spawn(move || list.iter().filter(wrong).count() as u64)).collect();
        checks.into_iter().map(|check| check.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum()
    })
}
