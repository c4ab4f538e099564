//! Many programs, on as many threads as there are cores.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dacapo_driver::lawful;

use super::draw::draw;
use super::judge::{Failure, Played, play};
use super::program::{Program, Strike};
use super::tally::Tally;

/// How long a program may take before it counts as one that does not end.
const LONGEST: Duration = Duration::from_secs(60);

/// What came of many programs.
#[derive(Default)]
pub struct Crowd {
    /// How many ran.
    pub programs: u64,
    /// How many of them had threads.
    pub threaded: u64,
    /// In how many a driver call failed.
    pub struck: u64,
    /// How many of them record control flow on the device.
    pub flows: u64,
    /// What occurred.
    pub tally: Tally,
    /// Those that failed, by seed.
    pub found: Vec<Found>,
}

/// A program that failed.
pub struct Found {
    /// Its seed.
    pub seed: u64,
    /// The program, with its strike.
    pub program: Program,
    /// How it failed.
    pub failure: Failure,
}

/// The program of a seed, with its strike if it has one, and what came of it.
pub fn one(seed: u64) -> (Program, Played) {
    let drawn = draw(seed);
    let Some((nth, which)) = drawn.wants_strike else {
        let played = play(&drawn.program, false);
        return (drawn.program, played);
    };
    let mut program = drawn.program;
    let clean = play(&program, true);
    let (calls, opening) = (&clean.calls, clean.opening);
    if clean.failure.is_some() || calls.len() <= opening {
        return (program, clean);
    }
    let at = opening + (nth % (calls.len() - opening) as u64) as usize;
    let call = calls[at];
    let faults = lawful(call);
    if faults.is_empty() {
        return (program, clean);
    }
    let fault = faults[(which % faults.len() as u64) as usize];
    let nth = calls[..=at].iter().filter(|other| **other == call).count() as u64;
    program.strike = Some(Strike { call, nth, code: fault.code, effect: fault.effect });
    let played = play(&program, false);
    (program, played)
}

/// Runs the programs of these seeds. `stop` ends it after so many that failed.
///
/// A program that does not end is handed to `hung`, which does not return: nothing can end its thread.
pub fn many(first: u64, count: u64, workers: usize, stop: usize, hung: impl Fn(u64) + Send + Sync) -> Crowd {
    let next = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let crowd = Mutex::new(Crowd::default());
    let running: Vec<Mutex<Option<(u64, Instant)>>> = (0..workers).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = running
            .iter()
            .map(|mine| {
                let (next, crowd) = (&next, &crowd);
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            break;
                        }
                        let seed = first.wrapping_add(number);
                        *mine.lock().unwrap_or_else(PoisonError::into_inner) = Some((seed, Instant::now()));
                        let (program, played) = one(seed);
                        *mine.lock().unwrap_or_else(PoisonError::into_inner) = None;
                        let mut crowd = crowd.lock().unwrap_or_else(PoisonError::into_inner);
                        crowd.programs += 1;
                        crowd.threaded += u64::from(program.is_threaded());
                        crowd.struck += u64::from(played.is_struck);
                        crowd.flows += u64::from(program.has_flow());
                        crowd.tally.add(&played.tally);
                        if let Some(failure) = played.failure {
                            crowd.found.push(Found { seed, program, failure });
                            if crowd.found.len() >= stop {
                                next.store(count, Ordering::Relaxed);
                            }
                        }
                    }
                })
            })
            .collect();
        let (running, is_over) = (&running, &is_over);
        scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(50));
                for one in running {
                    let now = *one.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some((seed, began)) = now
                        && began.elapsed() > LONGEST
                    {
                        hung(seed);
                    }
                }
            }
        });
        for thread in threads {
            // What panics outside of a program is a mistake of this file.
            thread.join().expect("a worker catches what programs do");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let mut crowd = crowd.into_inner().unwrap_or_else(PoisonError::into_inner);
    crowd.found.sort_by_key(|found| found.seed);
    crowd
}
