//! `dacapo soak`: very many replays by several threads, with slots that change, graphs that are dropped and recorded again.
//!
//! - Graphs are shared by all threads: each replay may follow one by another thread on another stream.
//! - Some graphs stand alone, some share the planned memory of one pool, some draw random numbers, some are those of
//!   caches that hold fewer than are asked for.
//! - Every number is checked, each time before a graph is dropped and at both rests.
//! - At a rest half-way and at one at the end nothing runs and nothing waits to be released: the numbers of live objects must
//!   be the same, and so must the free memory of the device, within 4 MiB.

mod cached;
mod draws;
mod line;
mod part;

use std::fmt;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use dacapo::Stream;
use dacapo::device::Counters;
use dacapo::graph::Pool;
use dacapo::memory::Shared;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::bench::library::Kernels;
use crate::complaint::Complaint;
use crate::output::{Ink, Output, Told, inked};
use crate::target::{Target, Which};
use cached::Cached;
use draws::Draws;
use line::Line;
use part::Part;

const GRAPHS: usize = 12;
const THREADS: usize = 4;
const ELEMENTS: usize = 256;

/// Replays of a graph before it is dropped and recorded again.
const LIFE: u32 = 500;

/// What may change in the device's free memory: drivers keep some of what is given back.
const BYTES_SLACK: u64 = 4 << 20;

/// The most page-locked memory that reads may go through: it grows with how many threads read at the same time, and is
/// kept for the next reads. That is no leak as long as it has an end.
const STAGING_BYTES_MAX: i64 = 1 << 20;

/// The arguments of `dacapo soak`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Where to run; the GPU where there is one, else the software device
    #[arg(long, value_enum)]
    pub device: Option<Which>,
    /// How many replays in all; 1,000,000 on a GPU and 10,000 on the software device if not said
    #[arg(long)]
    pub replays: Option<u64>,
    /// The seed of what is replayed when, and of the software device
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

/// Replays, rests, compares.
///
/// # Errors
///
/// - A refused call, a wrong number, something that leaks.
pub fn run(arguments: &Arguments, output: Output) -> Result<ExitCode, Complaint> {
    let target = Target::open(arguments.device, arguments.seed)?;
    let replays = arguments.replays.unwrap_or(if target.is_software() { 10_000 } else { 1_000_000 });
    let soak = Soak::new(&target, output.progress(replays))?;
    let started = Instant::now();
    soak.phase(replays / 2, arguments.seed)?;
    let middle = soak.rest()?;
    soak.phase(replays - replays / 2, arguments.seed.wrapping_add(1))?;
    let end = soak.rest()?;
    soak.progress.finish_and_clear();
    middle.same(&end)?;
    output.tell(&Report {
        device: target.device().properties().name.clone(),
        is_software: target.is_software(),
        replays,
        recordings: soak.recordings.load(Ordering::Relaxed),
        middle,
        end,
        seconds: started.elapsed().as_secs_f64(),
    });
    Ok(ExitCode::SUCCESS)
}

/// What a soak ended with: nothing was wrong.
struct Report {
    device: String,
    is_software: bool,
    replays: u64,
    recordings: u64,
    middle: Rest,
    end: Rest,
    seconds: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { device, replays, recordings, middle, end, seconds, .. } = self;
        writeln!(f, "{device}: {replays} replays of {GRAPHS} graphs by {THREADS} threads")?;
        writeln!(f, "half-way: {}\nat the end: {}", middle.shown(), end.shown())?;
        let right = inked(f, Ink::Good, "every number right, nothing leaked");
        write!(f, "soak: {replays} replays, {recordings} recordings, {right}, {seconds:.1} s")
    }
}

impl Told for Report {
    fn json(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "device": self.device,
            "simulator": self.is_software,
            "graphs": GRAPHS,
            "threads": THREADS,
            "replays": self.replays,
            "recordings": self.recordings,
            "half_way": self.middle.json(),
            "end": self.end.json(),
            "seconds": self.seconds,
        })
    }
}

/// Everything that the threads share.
struct Soak<'t> {
    target: &'t Target,
    kernels: Kernels,
    /// Read by every graph that adds.
    ones: Shared<f32>,
    /// Of the graphs that share memory.
    pool: Pool,
    parts: Vec<Mutex<Box<dyn Part>>>,
    /// One for each thread, and one for the rests.
    streams: Vec<Stream>,
    recordings: AtomicU64,
    progress: ProgressBar,
}

impl<'t> Soak<'t> {
    fn new(target: &'t Target, progress: ProgressBar) -> Result<Soak<'t>, Complaint> {
        let device = target.device();
        let mut soak = Soak {
            target,
            kernels: Kernels::load(device)?,
            ones: device.buffer(&[1.0f32; ELEMENTS * GRAPHS])?.share(),
            pool: device.pool(),
            parts: Vec::new(),
            streams: (0..THREADS).map(|_| device.stream()).collect::<Result<_, _>>()?,
            recordings: AtomicU64::new(0),
            progress,
        };
        for number in 0..GRAPHS {
            let part = soak.part(number, &soak.streams[0])?;
            soak.parts.push(Mutex::new(part));
        }
        Ok(soak)
    }

    /// A fresh one in the place of this number.
    fn part(&self, number: usize, stream: &Stream) -> Result<Box<dyn Part>, Complaint> {
        let device = self.target.device();
        let recorded = self.recordings.fetch_add(1, Ordering::Relaxed);
        Ok(match number % 4 {
            0 => Box::new(Line::new(device, &self.kernels, &self.ones, ELEMENTS, None)?),
            // Of different sizes: the pool's memory is that of the largest.
            1 => Box::new(Line::new(device, &self.kernels, &self.ones, ELEMENTS * (number + 1), Some(&self.pool))?),
            2 => Box::new(Draws::new(device, stream, recorded)?),
            _ => Box::new(Cached::new(device, &self.ones, ELEMENTS)?),
        })
    }

    /// So many replays, shared out among the threads.
    fn phase(&self, replays: u64, seed: u64) -> Result<(), Complaint> {
        let left = AtomicU64::new(replays);
        std::thread::scope(|scope| {
            let threads = self.streams.iter().enumerate();
            let threads: Vec<_> = threads
                .map(|(thread, stream)| {
                    let left = &left;
                    scope.spawn(move || self.work(stream, left, seed.wrapping_mul(THREADS as u64) + thread as u64))
                })
                .collect();
            // All are waited for, also when one failed: the first failure is told.
            let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            ended.into_iter().try_for_each(|ended| match ended {
                Ok(done) => done,
                Err(_) => Err(Complaint::new("a thread panicked")),
            })
        })
    }

    fn work(&self, stream: &Stream, left: &AtomicU64, seed: u64) -> Result<(), Complaint> {
        let mut chance = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
        while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            // The generator of Knuth's MMIX; its high bits are the good ones.
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let choice = (chance >> 33) as usize;
            let number = choice % GRAPHS;
            let mut part = self.parts[number].lock().unwrap_or_else(PoisonError::into_inner);
            part.replay(stream, choice / GRAPHS % 8)?;
            self.progress.inc(1);
            if part.replays() == LIFE {
                part.check(stream)?;
                *part = self.part(number, stream)?;
            }
        }
        Ok(())
    }

    /// Checks every number, waits until nothing is left to do, and counts what is alive.
    fn rest(&self) -> Result<Rest, Complaint> {
        for part in &self.parts {
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            part.check(&self.streams[0])?;
            part.settle();
        }
        self.target.device().synchronize()?;
        Ok(Rest { counters: self.target.device().counters(), free_bytes: self.target.free_bytes()? })
    }
}

/// What is alive when nothing runs.
struct Rest {
    counters: Counters,
    free_bytes: u64,
}

impl Rest {
    fn shown(&self) -> String {
        format!("{:?}, {} MiB free", self.counters, self.free_bytes >> 20)
    }

    fn json(&self) -> Value {
        let Counters { allocations, graphs, streams, modules, waiting, staging_bytes } = self.counters;
        json!({
            "allocations": allocations,
            "graphs": graphs,
            "streams": streams,
            "modules": modules,
            "waiting": waiting,
            "staging_bytes": staging_bytes,
            "free_bytes": self.free_bytes,
        })
    }

    /// Refuses when there is more or less than before.
    fn same(&self, later: &Rest) -> Result<(), Complaint> {
        let objects = |counters: Counters| Counters { staging_bytes: 0, ..counters };
        if later.counters.staging_bytes > STAGING_BYTES_MAX || objects(self.counters) != objects(later.counters) {
            let what = format!("live objects changed: {:?} half-way, {:?} at the end", self.counters, later.counters);
            return Err(Complaint::new(what).help("something leaks or is released twice: this is a bug"));
        }
        let bytes = self.free_bytes.abs_diff(later.free_bytes);
        if bytes > BYTES_SLACK {
            return Err(Complaint::new(format!("free device memory changed by {bytes} bytes"))
                .help("something leaks: this is a bug, unless another program uses the same device"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(graphs: i64, staging_bytes: i64, free_bytes: u64) -> Rest {
        let counters = Counters { allocations: 17, graphs, streams: 4, modules: 1, waiting: 0, staging_bytes };
        Rest { counters, free_bytes }
    }

    #[test]
    fn one_graph_more_is_a_leak_and_so_are_five_mebibytes() {
        let middle = rest(8, 65536, 1 << 30);
        assert_eq!(middle.same(&rest(8, 65536, 1 << 30)), Ok(()));
        assert!(middle.same(&rest(9, 65536, 1 << 30)).is_err());
        assert!(middle.same(&rest(8, 65536, (1 << 30) - (5 << 20))).is_err());
        assert_eq!(middle.same(&rest(8, 65536, (1 << 30) - (3 << 20))), Ok(()));
    }

    #[test]
    fn memory_that_reads_go_through_may_grow_up_to_an_end() {
        let middle = rest(8, 65536, 1 << 30);
        assert_eq!(middle.same(&rest(8, 4 * 65536, 1 << 30)), Ok(()));
        assert!(middle.same(&rest(8, 2 << 20, 1 << 30)).is_err());
    }
}
