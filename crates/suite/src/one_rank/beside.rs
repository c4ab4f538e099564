//! Recordings beside a thread whose driver calls can break captures.
//!
//! Each recording begins with foreign work that does nothing but count: it is called once for each time that the graph is built, so
//! that it shows how often a broken capture was built again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Reduce};
use dacapo::raw::foreign;
use dacapo::{ErrorKind, Recorder, Stream};
use dacapo_driver::CUresult;

use super::Came;
use super::floor::{Floor, Made, done, ms, text};

const LEN: usize = 256;
/// Of the recordings beside one disturbance.
const TIME_MAX: Duration = Duration::from_secs(12);

/// What the other thread does, again and again.
struct Disturbance {
    name: &'static str,
    /// Memory comes and goes, and a stream is asked.
    asks: bool,
    /// The whole context is waited for: this breaks every capture in it.
    waits: bool,
    pause: Duration,
}

const DISTURBANCES: &[Disturbance] = &[
    Disturbance { name: "nothing", asks: false, waits: false, pause: Duration::from_millis(1) },
    Disturbance {
        name: "cuMemAlloc, cuMemFree, cuStreamQuery without a pause",
        asks: true,
        waits: false,
        pause: Duration::ZERO,
    },
    Disturbance {
        name: "these and cuCtxSynchronize, every 2 ms",
        asks: true,
        waits: true,
        pause: Duration::from_millis(2),
    },
];

/// On an H200 (driver 580.159.04) the driver itself ends the process then, inside `cuCtxSynchronize`; so it does without this
/// library and without NCCL (`xtask/probe/synchronize_beside_capture.c`).
const UNPACED: Disturbance =
    Disturbance { name: "cuCtxSynchronize without a pause", asks: false, waits: true, pause: Duration::ZERO };

/// What came of the recordings beside one disturbance.
#[derive(Default)]
struct Tally {
    /// How many recordings there were: a slow machine does not get to all.
    of: u64,
    survived: u64,
    wrong: u64,
    builds: u64,
    again: u64,
    /// Recordings that were refused, by kind.
    refused: BTreeMap<String, u64>,
}

pub(super) fn run(floor: &Floor) -> Made<Came> {
    let (mut survived, mut of, mut well) = (0, 0, true);
    for disturbance in DISTURBANCES {
        let tally = told(floor, disturbance)?;
        (survived, of) = (survived + tally.survived, of + tally.of);
        well &= tally.survived == tally.of && tally.of > 0;
    }
    Ok(Came { well, figure: format!("captures survived {survived} of {of}") })
}

pub(super) fn run_unpaced(floor: &Floor) -> Made<Came> {
    let Tally { survived, of, wrong, .. } = told(floor, &UNPACED)?;
    // A graph that is there and wrong is never right.
    Ok(Came { well: wrong == 0, figure: format!("unpaced {survived} of {of}") })
}

/// Recordings beside one disturbance, and says what came of them.
fn told(floor: &Floor, disturbance: &Disturbance) -> Made<Tally> {
    let (tally, calls, refusals) = disturbed(floor, disturbance, floor.times(200, 20) as u64)?;
    let refused: Vec<String> = tally.refused.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    floor.say(format!(
        "beside {}: {} of {} survived, {} wrong; built {} times, {} of the recordings more than once; refused: {}; \
         the other thread made {calls} rounds of calls, in which {refusals} calls were refused for a capture",
        disturbance.name,
        tally.survived,
        tally.of,
        tally.wrong,
        tally.builds,
        tally.again,
        if refused.is_empty() { "none".to_string() } else { refused.join(", ") }
    ));
    Ok(tally)
}

fn disturbed(floor: &Floor, disturbance: &Disturbance, recordings: u64) -> Made<(Tally, u64, u64)> {
    let over = AtomicBool::new(false);
    let comm = Communicator::alone(&floor.device).map_err(text)?;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| disturb(floor, disturbance, &over));
        let recorded = recorded(floor, comm, recordings);
        over.store(true, Ordering::Relaxed);
        let (calls, refused) = other.join().map_err(|_| "the other thread panicked".to_string())??;
        Ok((recorded?, calls, refused))
    })
}

/// 1 if the call was refused because a capture was under way.
fn ended(call: &str, code: CUresult) -> Made<u64> {
    if (900..=909).contains(&code.0) { Ok(1) } else { done(call, code).map(|()| 0) }
}

/// Until it is over: how many rounds, and how many of its calls were refused because a capture was under way.
fn disturb(floor: &Floor, disturbance: &Disturbance, over: &AtomicBool) -> Made<(u64, u64)> {
    let stream = floor.raw_stream()?;
    let (mut rounds, mut refused) = (0, 0);
    while !over.load(Ordering::Relaxed) {
        if disturbance.asks {
            let mut at = 0;
            // SAFETY: `at` is valid for the write.
            let made = unsafe { floor.driver.cuMemAlloc_v2(&mut at, 1 << 20) };
            refused += ended("cuMemAlloc", made)?;
            // SAFETY: the stream is live.
            refused += ended("cuStreamQuery", unsafe { floor.driver.cuStreamQuery(stream) })?;
            if made.is_success() {
                // SAFETY: made above, and nobody else has it.
                refused += ended("cuMemFree", unsafe { floor.driver.cuMemFree_v2(at) })?;
            }
        }
        if disturbance.waits {
            // SAFETY: it takes nothing.
            refused += ended("cuCtxSynchronize", unsafe { floor.driver.cuCtxSynchronize() })?;
        }
        rounds += 1;
        if !disturbance.pause.is_zero() {
            std::thread::sleep(disturbance.pause);
        }
    }
    floor.destroy(stream)?;
    Ok((rounds, refused))
}

fn recorded(floor: &Floor, mut comm: Communicator, recordings: u64) -> Made<Tally> {
    let (device, began) = (&floor.device, Instant::now());
    let stream = device.stream().map_err(text)?;
    let mut tally = Tally::default();
    let mut record_ms = 0.0;
    for number in 0..recordings {
        if began.elapsed() > TIME_MAX {
            floor.say(format!("  no more after {number} recordings: {TIME_MAX:?} are over"));
            break;
        }
        tally.of += 1;
        let builds = Arc::new(AtomicU64::new(0));
        let before = Instant::now();
        let outcome = one(floor, &comm, &stream, number as f32, &builds);
        record_ms += ms(before);
        let builds = builds.load(Ordering::Relaxed);
        tally.builds += builds;
        tally.again += u64::from(builds > 1);
        match outcome {
            Ok(true) => tally.survived += 1,
            Ok(false) => tally.wrong += 1,
            Err(error) => {
                let kind = match error.kind() {
                    ErrorKind::CaptureBroken { .. } => "CaptureBroken".to_string(),
                    ErrorKind::RankFailed { why, .. } => format!("RankFailed ({why})"),
                    _ => format!("{error:#}"),
                };
                *tally.refused.entry(kind).or_default() += 1;
            }
        }
        if comm.death().is_some() {
            comm = Communicator::alone(device).map_err(text)?;
            *tally.refused.entry("(and a communicator died)".to_string()).or_default() += 1;
        }
    }
    floor.say(format!("  {} in {:.0} ms, {record_ms:.0} ms of them to record, launch and read", tally.of, ms(began)));
    Ok(tally)
}

/// Records, launches and reads: whether the result is right.
fn one(
    floor: &Floor,
    comm: &Communicator,
    stream: &Stream,
    number: f32,
    builds: &Arc<AtomicU64>,
) -> dacapo::Result<bool> {
    let device = &floor.device;
    let (x, mut y) = (device.buffer(&[number; LEN])?, device.zeros::<f32>(4 * LEN)?);
    let builds = builds.clone();
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        let (a, rest) = y.split_at_mut(LEN);
        let (b, rest) = rest.split_at_mut(LEN);
        let (c, d) = rest.split_at_mut(LEN);
        let counted = move |_, (), _| {
            builds.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        // SAFETY: it enqueues nothing.
        r.run(unsafe { foreign((), &mut a[..1], counted) })?;
        r.run(comm.all_reduce(&x, a, Reduce::Sum))?;
        r.run(comm.all_reduce(a, b, Reduce::Average))?;
        r.run(comm.all_gather(b, c))?;
        r.run(comm.group().send(c, 0).recv(d, 0).op())
    })?;
    graph.launch(stream)?;
    Ok(stream.read(&y)?.iter().all(|seen| *seen == number))
}
