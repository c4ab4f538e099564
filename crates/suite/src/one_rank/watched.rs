//! A launch that does not end in time: the communicator dies, everyone is told, and everything else goes on.
//!
//! The stream is made to wait for a word of memory that another thread writes after a while, so that nothing hangs for ever.

use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Join, Reduce};
use dacapo::raw::foreign;
use dacapo::{Buffer, Error, ErrorKind, Graph, Recorder, Slice, Stream};
use dacapo_driver::types::*;
use dacapo_driver::{Call, Check};

use super::Came;
use super::floor::{Floor, Made, done, ms, text};

const LEN: usize = 1000;
const TIMEOUT: Duration = Duration::from_secs(1);
const RELEASED_AFTER: Duration = Duration::from_secs(3);

/// What stands behind the wait.
type Body = fn(&Communicator, &mut Recorder<'_>, &Slice<f32>, &mut Slice<f32>) -> dacapo::Result<()>;

const KINDS: &[(&str, Body)] = &[
    ("all_reduce sum", |comm, r, x, y| r.run(comm.all_reduce(x, y, Reduce::Sum))),
    ("all_reduce avg", |comm, r, x, y| r.run(comm.all_reduce(x, y, Reduce::Average))),
    ("send+recv", |comm, r, x, y| r.run(comm.group().send(x, 0).recv(y, 0).op())),
];

pub(super) fn run(floor: &Floor) -> Made<Came> {
    let mut failed = 0;
    for &(name, body) in KINDS {
        floor.say(format!("{name}, a timeout of {TIMEOUT:?}, the stream goes on after {RELEASED_AFTER:?}:"));
        let before = floor.held()?;
        match late(floor, body) {
            Ok(well) => failed += u32::from(!well),
            Err(why) => {
                floor.say(format!("  FAILED: {why}"));
                failed += 1;
            }
        }
        let began = Instant::now();
        match floor.clean(before) {
            Ok(()) => floor.say(format!("  nothing is left, {:.1} ms later", ms(began))),
            Err(why) => {
                floor.say(format!("  FAILED: {why}"));
                failed += 1;
            }
        }
    }
    // Not on the last line: that says what was counted.
    Ok(Came { well: failed == 0, figure: String::new() })
}

/// What was expected, or FAILED.
fn told<T>(floor: &Floor, what: &str, began: Instant, outcome: &Result<T, Error>, refused: bool) -> bool {
    let took = ms(began);
    let (said, is_rank) = match outcome {
        Ok(_) => ("it was done".to_string(), false),
        Err(error) => (format!("{error:#}"), matches!(error.kind(), ErrorKind::RankFailed { .. })),
    };
    let well = if refused { is_rank } else { outcome.is_ok() };
    let mark = if well { "" } else { "FAILED: " };
    floor.say(format!("  {mark}{what}: {} after {took:.1} ms", said.replace('\n', " | ")));
    well
}

fn late(floor: &Floor, body: Body) -> Made<bool> {
    let device = &floor.device;
    let numbers: Vec<f32> = (0..LEN).map(|at| at as f32).collect();
    let began = Instant::now();
    let bystander = Communicator::alone(device).map_err(text)?;
    let comms = Join::new().timeout(TIMEOUT).all(std::slice::from_ref(device)).map_err(text)?;
    let comm = comms.into_iter().next().ok_or("there is no rank")?;
    floor.say(format!("  two communicators: {:.0} ms", ms(began)));
    let (stream, elsewhere) = (device.stream().map_err(text)?, device.stream().map_err(text)?);
    let (x, mut y) = (device.buffer(&numbers).map_err(text)?, device.zeros::<f32>(LEN).map_err(text)?);
    let mut graph =
        device.graph().label("late step").record(|r: &mut Recorder<'_>| body(&comm, r, &x, &mut y)).map_err(text)?;
    graph.launch(&stream).map_err(text)?;
    if stream.read(&y).map_err(text)? != numbers {
        return Err("the first replay gave another result".to_string());
    }
    let mut theirs = device.zeros::<f32>(LEN).map_err(text)?;
    let mut beside = device.record(bystander.all_reduce(&x, &mut theirs, Reduce::Average)).map_err(text)?;
    beside.launch(&elsewhere).map_err(text)?;
    // What a read and an allocation need for the first time is made now.
    drop((elsewhere.read(&theirs).map_err(text)?, device.buffer(&numbers).map_err(text)?));
    device.synchronize().map_err(text)?;
    let word = Word::new(floor)?;
    word.wait_on(&stream)?;
    let mut well = true;
    let (began, waits) = (Instant::now(), floor.clone());
    let (at, raw) = (word.at, word.stream);
    let releasing = std::thread::spawn(move || {
        std::thread::sleep(RELEASED_AFTER);
        release(&waits, at, raw)
    });
    let ticket = graph.submit(&stream).map_err(text)?;
    while comm.death().is_none() && began.elapsed() < 2 * RELEASED_AFTER {
        std::thread::sleep(Duration::from_millis(1));
    }
    match comm.death() {
        Some(error) => {
            floor.say(format!("  it died {:.0} ms after the launch: {error:#}", ms(began)).replace('\n', " | "))
        }
        None => {
            floor.say("  FAILED: it has not died");
            well = false;
        }
    }
    let now = Instant::now();
    well &= told(floor, "the next launch of the graph", now, &launched(&mut graph, &stream), true);
    let now = Instant::now();
    well &=
        told(floor, "another communicator's graph on another stream", now, &launched(&mut beside, &elsewhere), false);
    let now = Instant::now();
    let is_right = elsewhere.read(&theirs).map(|seen| seen == numbers);
    well &= told(floor, "reading its result", now, &is_right, false) && is_right.is_ok_and(|is_right| is_right);
    floor.say(format!("  (that was {:.0} ms after the launch)", ms(began)));
    let (now, mut z) = (Instant::now(), device.zeros::<f32>(LEN).map_err(text)?);
    floor.say(format!("  new memory after {:.1} ms", ms(now)));
    let now = Instant::now();
    let recorded = device.record(|r: &mut Recorder<'_>| body(&comm, r, &x, &mut z));
    well &= told(floor, "recording with it", now, &recorded.map(drop), true);
    let now = Instant::now();
    let other = goes_on(&bystander, &elsewhere, &numbers);
    well &= told(floor, "another communicator, with new memory and a new graph", now, &other, false);
    floor.say(format!("  (that was {:.0} ms after the launch)", ms(began)));
    let now = Instant::now();
    let waited = ticket.wait();
    well &= told(floor, "waiting for the launch", now, &waited, true);
    let names = waited.as_ref().err().is_some_and(|error| format!("{error:#}").contains("late step"));
    floor.say(if names { "  it names the launch" } else { "  FAILED: it does not name the launch" });
    well &= names;
    floor.say(format!("  (that was {:.0} ms after the launch)", ms(began)));
    releasing.join().map_err(|_| "the releasing thread panicked".to_string())??;
    let now = Instant::now();
    well &= told(floor, "reading the result on that stream", now, &stream.read(&y), true);
    for (what, it) in [
        ("the graph", Box::new(graph) as Box<dyn std::any::Any>),
        ("the communicator", Box::new(comm)),
        ("the other communicator's graph", Box::new(beside)),
        ("the stream", Box::new(stream)),
        ("its memory", Box::new((x, y, z, theirs))),
    ] {
        let now = Instant::now();
        drop(it);
        floor.say(format!("  dropping {what}: {:.1} ms", ms(now)));
    }
    word.end()?;
    let now = Instant::now();
    well &= told(floor, "the device then", now, &device.synchronize(), false);
    let now = Instant::now();
    let fresh = Communicator::alone(device).and_then(|fresh| goes_on(&fresh, &device.stream()?, &numbers));
    well &= told(floor, "a communicator made since", now, &fresh, false);
    let now = Instant::now();
    well &= told(floor, "the other communicator", now, &goes_on(&bystander, &elsewhere, &numbers), false);
    Ok(well)
}

fn launched(graph: &mut Graph<()>, stream: &Stream) -> dacapo::Result<()> {
    graph.launch(stream).map(drop)
}

/// An eager all-reduce and a graph of one, each with its result.
fn goes_on(comm: &Communicator, stream: &Stream, numbers: &[f32]) -> dacapo::Result<()> {
    let device = comm.device();
    let (x, mut y): (Buffer<f32>, _) = (device.buffer(numbers)?, device.zeros::<f32>(numbers.len())?);
    stream.run(comm.all_reduce(&x, &mut y, Reduce::Average))?;
    let is_right = stream.read(&y)? == numbers;
    let mut z = device.zeros::<f32>(numbers.len())?;
    let mut graph = device.record(comm.all_reduce(&x, &mut z, Reduce::Average))?;
    graph.launch(stream)?;
    match is_right && stream.read(&z)? == numbers {
        true => Ok(()),
        false => Err(Error::msg("a result is wrong")),
    }
}

/// A word of device memory, 0 until it is released, and the stream on which it is.
struct Word<'f> {
    floor: &'f Floor,
    at: CUdeviceptr,
    stream: CUstream,
}

impl Word<'_> {
    fn new(floor: &Floor) -> Made<Word<'_>> {
        let (stream, mut at) = (floor.raw_stream()?, 0);
        // SAFETY: `at` is valid for the write.
        done("cuMemAlloc", unsafe { floor.driver.cuMemAlloc_v2(&mut at, 4) })?;
        // SAFETY: the word was just made.
        done("cuMemsetD32", unsafe { floor.driver.cuMemsetD32_v2(at, 0, 1) })?;
        Ok(Word { floor, at, stream })
    }

    /// The stream goes on when the word is released.
    fn wait_on(&self, stream: &Stream) -> Made {
        let (driver, at) = (self.floor.driver.clone(), self.at);
        let mut scratch = self.floor.device.zeros::<u32>(1).map_err(text)?;
        // SAFETY: it touches a word that is given back behind all of this, and ends when that is released.
        let waits = unsafe {
            foreign((), &mut scratch[..], move |stream, (), _| {
                let code = driver.cuStreamWaitValue32_v2(stream.0, at, 1, CU_STREAM_WAIT_VALUE_GEQ);
                code.check(Call::cuStreamWaitValue32_v2).map_err(Error::from)
            })
        };
        stream.run(waits).map_err(text)
    }

    fn end(self) -> Made {
        self.floor.enter()?;
        // SAFETY: what waited for it is over.
        done("cuMemFree", unsafe { self.floor.driver.cuMemFree_v2(self.at) })?;
        self.floor.destroy(self.stream)
    }
}

fn release(floor: &Floor, at: CUdeviceptr, stream: CUstream) -> Made {
    floor.enter()?;
    // SAFETY: the word and the stream are live until this thread has been joined.
    done("cuStreamWriteValue32", unsafe { floor.driver.cuStreamWriteValue32_v2(stream, at, 1, 0) })
}
