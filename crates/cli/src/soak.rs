//! `dacapo soak`: very many replays by several threads, with slots that change, graphs that are dropped and recorded again.
//!
//! - Graphs are shared by all threads: each replay may follow one by another thread on another stream.
//! - Every number is checked, each time before a graph is dropped and at both rests.
//! - At a rest half-way and at one at the end nothing runs and nothing waits to be released: the numbers of live objects must
//!   be the same, and so must the free memory of the device, within 4 MiB.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use dacapo::{Buffer, Counters, Device, Graph, Shared, Slot, Stream};

use crate::bench::library::Kernels;
use crate::complaint::Complaint;
use crate::target::{Target, Which};

const GRAPHS: usize = 8;
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
pub fn run(arguments: &Arguments) -> Result<ExitCode, Complaint> {
    let target = Target::open(arguments.device, arguments.seed)?;
    let replays = arguments.replays.unwrap_or(if target.is_software() { 10_000 } else { 1_000_000 });
    let soak = Soak::new(&target)?;
    println!("{}: {replays} replays of {GRAPHS} graphs by {THREADS} threads", target.device().properties().name);
    let started = Instant::now();
    soak.phase(replays / 2, arguments.seed)?;
    let middle = soak.rest()?;
    soak.phase(replays - replays / 2, arguments.seed.wrapping_add(1))?;
    let end = soak.rest()?;
    println!("half-way: {}\nat the end: {}", middle.shown(), end.shown());
    middle.same(&end)?;
    let seconds = started.elapsed().as_secs_f64();
    let recordings = soak.recordings.load(Ordering::Relaxed);
    println!("soak: {replays} replays, {recordings} recordings, every number right, nothing leaked, {seconds:.1} s");
    Ok(ExitCode::SUCCESS)
}

/// Everything that the threads share.
struct Soak<'t> {
    target: &'t Target,
    kernels: Kernels,
    /// Read by every graph.
    ones: Shared<f32>,
    lines: Vec<Mutex<Line>>,
    /// One for each thread, and one for the rests.
    streams: Vec<Stream>,
    recordings: AtomicU64,
}

/// A graph, what it adds to, and what must be there by now.
struct Line {
    graph: Graph<()>,
    slot: Slot<f32>,
    sum: Buffer<f32>,
    expected: f32,
    replays: u32,
}

impl<'t> Soak<'t> {
    fn new(target: &'t Target) -> Result<Soak<'t>, Complaint> {
        let device = target.device();
        let kernels = Kernels::load(device)?;
        let ones = device.buffer(&[1.0f32; ELEMENTS])?.share();
        let lines = (0..GRAPHS).map(|_| Ok(Mutex::new(Line::new(device, &kernels, &ones)?)));
        let lines = lines.collect::<Result<Vec<_>, Complaint>>()?;
        let streams = (0..THREADS).map(|_| device.stream()).collect::<Result<_, _>>()?;
        Ok(Soak { target, kernels, ones, lines, streams, recordings: AtomicU64::new(GRAPHS as u64) })
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
            let mut line = self.lines[choice % GRAPHS].lock().unwrap_or_else(PoisonError::into_inner);
            line.replay(stream, (choice / GRAPHS % 8) as f32)?;
            if line.replays == LIFE {
                line.check(stream)?;
                *line = Line::new(self.target.device(), &self.kernels, &self.ones)?;
                self.recordings.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Checks every number, waits until nothing is left to do, and counts what is alive.
    fn rest(&self) -> Result<Rest, Complaint> {
        for line in &self.lines {
            line.lock().unwrap_or_else(PoisonError::into_inner).check(&self.streams[0])?;
        }
        self.target.device().synchronize()?;
        Ok(Rest { counters: self.target.device().counters(), free_bytes: self.target.free_bytes()? })
    }
}

impl Line {
    fn new(device: &Device, kernels: &Kernels, ones: &Shared<f32>) -> Result<Line, Complaint> {
        let (slot, mut sum) = (Slot::new(0.0), device.zeros(ELEMENTS)?);
        let graph = device.record(|r: &mut dacapo::Recorder<'_>| {
            let mut doubled = r.alloc(ELEMENTS)?;
            r.run(dacapo::copy(ones, &mut doubled))?;
            r.run(kernels.bump(&mut doubled))?;
            r.run(kernels.axpy_slot(&slot, &doubled, &mut sum))
        })?;
        Ok(Line { graph, slot, sum, expected: 0.0, replays: 0 })
    }

    /// Adds twice `value` to every element.
    fn replay(&mut self, stream: &Stream, value: f32) -> Result<(), Complaint> {
        self.slot.set(value);
        drop(self.graph.launch(stream)?);
        self.expected += 2.0 * value;
        self.replays += 1;
        Ok(())
    }

    fn check(&self, stream: &Stream) -> Result<(), Complaint> {
        let whose = format!("after {} replays of a graph", self.replays);
        crate::bench::raw::all_equal(&whose, &stream.read(&self.sum)?, self.expected)
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
