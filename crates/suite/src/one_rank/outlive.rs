//! Graphs of collectives that outlive all else.
//!
//! A graph of each collective is recorded; then its communicator, its source and every handle but the graph, the stream and the
//! result are dropped. Between replays memory comes and goes, filled with what is no number. Before the last replay the result is
//! cleared, so that what stands there at the end is that replay's.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Number, Reduce};
use dacapo::half::{bf16, f16};
use dacapo::{Device, Pod, Recorder, Slice, Stream, baked, fill};

use super::Came;
use super::floor::{Floor, Made, ms, text};

const LEN: usize = 1000;

/// A collective of the communicator, from the source to the target.
type Body<T> = fn(&Communicator, &mut Recorder<'_>, &Slice<T>, &mut Slice<T>) -> dacapo::Result<()>;

/// Those that compute.
const REDUCTIONS: &[(&str, Body<f32>)] = &[
    ("all_reduce sum", |comm, r, x, y| r.run(comm.all_reduce(x, y, Reduce::Sum))),
    ("all_reduce avg", |comm, r, x, y| r.run(comm.all_reduce(x, y, Reduce::Average))),
    ("reduce", |comm, r, x, y| r.run(comm.reduce(x, y, Reduce::Sum, 0))),
    ("reduce_scatter", |comm, r, x, y| r.run(comm.reduce_scatter(x, y, Reduce::Average))),
    ("all_gather", |comm, r, x, y| r.run(comm.all_gather(x, y))),
    ("all_to_all", |comm, r, x, y| r.run(comm.all_to_all(x, y))),
    ("send+recv to itself, in a group", |comm, r, x, y| r.run(comm.group().send(x, 0).recv(y, 0).op())),
    ("broadcast, behind a copy", |comm, r, x, y| {
        r.run(dacapo::copy(x, y))?;
        r.run(comm.broadcast(y, 0))
    }),
    ("bucketed, behind a copy", |comm, r, x, y| {
        r.run(dacapo::copy(x, y))?;
        let mut buckets = comm.bucketed(LEN, Reduce::Average);
        for piece in y.chunks_mut(LEN / 10) {
            buckets.add(r, piece)?;
        }
        buckets.finish(r)
    }),
    ("a group of every kind", |comm, r, x, y| {
        let (first, rest) = y.split_at_mut(LEN / 2);
        let (second, third) = rest.split_at_mut(LEN / 4);
        let group = comm.group().all_reduce(&x[..LEN / 2], first, Reduce::Average);
        let group = group.all_gather(&x[LEN / 2..3 * LEN / 4], second);
        r.run(group.send(&x[3 * LEN / 4..], 0).recv(third, 0).op())
    }),
];

pub(super) fn collectives(floor: &Floor) -> Made<Came> {
    let before = floor.free_mib()?;
    let source: Vec<f32> = (0..LEN).map(|at| 0.5 + at as f32).collect();
    let mut failed = 0;
    for (name, body) in REDUCTIONS {
        failed += u32::from(!told(floor, name, outlive(floor, &source, &[-1.0; LEN], body)));
    }
    returned(floor, before)?;
    came(floor, failed, "collectives", true)
}

/// What every type goes through, from temp to temp: with one rank each gives what it is given.
fn through<T: Number>(comm: &Communicator, r: &mut Recorder<'_>, x: &Slice<T>, y: &mut Slice<T>) -> dacapo::Result<()> {
    let (mut a, mut b) = (r.alloc::<T>(x.len())?, r.alloc::<T>(x.len())?);
    r.run(comm.all_reduce(x, &mut a, Reduce::Sum))?;
    r.run(comm.all_reduce(&a, &mut b, Reduce::Average))?;
    r.run(comm.all_reduce(&b, &mut a, Reduce::Min))?;
    r.run(comm.all_reduce(&a, &mut b, Reduce::Max))?;
    r.run(comm.all_reduce(&b, y, Reduce::Product))
}

fn of_type<T: Number + PartialEq + Debug>(floor: &Floor, name: &str, from: impl Fn(u8) -> T) -> u32 {
    let source: Vec<T> = (0..LEN).map(|at| from((at % 100) as u8)).collect();
    let blank = vec![from(101); LEN];
    u32::from(!told(floor, name, outlive(floor, &source, &blank, &(through::<T> as Body<T>))))
}

pub(super) fn types(floor: &Floor) -> Made<Came> {
    let before = floor.free_mib()?;
    let failed = of_type(floor, "i8", |n| n as i8)
        + of_type(floor, "u8", |n| n)
        + of_type(floor, "i32", i32::from)
        + of_type(floor, "u32", u32::from)
        + of_type(floor, "i64", i64::from)
        + of_type(floor, "u64", u64::from)
        + of_type(floor, "f16", |n| f16::from_f32(f32::from(n)))
        + of_type(floor, "bf16", |n| bf16::from_f32(f32::from(n)))
        + of_type(floor, "f32", f32::from)
        + of_type(floor, "f64", f64::from);
    returned(floor, before)?;
    came(floor, failed, "types", false)
}

fn came(floor: &Floor, failed: u32, what: &str, says: bool) -> Made<Came> {
    floor.expect_no_findings()?;
    let figure = match (failed, says) {
        (0, true) => format!("{} replays of each after everything else was dropped", floor.replays()),
        (0, false) => String::new(),
        (failed, _) => format!("{failed} {what} FAILED after everything else was dropped"),
    };
    Ok(Came { well: failed == 0, figure })
}

fn told(floor: &Floor, name: &str, outcome: Made<Took>) -> bool {
    match &outcome {
        Ok(took) => floor.say(format!(
            "{name:<32} right, nothing left; joined in {:.0} ms, recorded in {:.2} ms, {} replays of {} ops, {:.2} us each, \
             clean after {:.1} ms",
            took.join_ms,
            took.record_ms,
            floor.replays(),
            took.ops,
            took.replay_us,
            took.clean_ms
        )),
        Err(why) => floor.say(format!("{name:<32} FAILED: {why}")),
    }
    outcome.is_ok()
}

struct Took {
    join_ms: f64,
    record_ms: f64,
    ops: usize,
    /// Of a replay among many, until the stream was done; what comes and goes beside is in it.
    replay_us: f64,
    clean_ms: f64,
}

fn outlive<T: Pod + PartialEq + Debug>(floor: &Floor, source: &[T], blank: &[T], body: &Body<T>) -> Made<Took> {
    let device = &floor.device;
    let before = floor.held()?;
    let (took, began) = {
        let took = replayed(device, source, blank, body, floor.replays())?;
        (took, Instant::now())
    };
    floor.clean(before)?;
    Ok(Took { clean_ms: ms(began), ..took })
}

fn replayed<T: Pod + PartialEq + Debug>(
    device: &Device,
    source: &[T],
    blank: &[T],
    body: &Body<T>,
    replays: usize,
) -> Made<Took> {
    let stream = device.stream().map_err(text)?;
    let mut y = device.buffer(blank).map_err(text)?;
    let began = Instant::now();
    let comm = Communicator::alone(device).map_err(text)?;
    let (join_ms, began) = (ms(began), Instant::now());
    let mut graph = {
        let x = device.buffer(source).map_err(text)?;
        device.record(|r: &mut Recorder<'_>| body(&comm, r, &x, &mut y)).map_err(text)?
    };
    let record_ms = ms(began);
    drop(comm);
    // Would the source or the communicator be gone, this is what would stand there.
    churn(device, &stream, size_of_val(source)).map_err(text)?;
    let began = Instant::now();
    let every = (replays / 10).max(1);
    for replay in 1..replays {
        graph.launch(&stream).map_err(text)?;
        if replay % every == 0 {
            churn(device, &stream, size_of_val(source)).map_err(text)?;
        }
    }
    stream.synchronize().map_err(text)?;
    let replay_us = ms(began) * 1e3 / (replays.max(2) - 1) as f64;
    stream.write(&mut y, blank).map_err(text)?;
    graph.launch(&stream).map_err(text)?;
    let seen = stream.read(&y).map_err(text)?;
    if let Some(at) = (0..source.len()).find(|&at| seen[at] != source[at]) {
        return Err(format!("element {at} is {:?}, not {:?}", seen[at], source[at]));
    }
    match graph.num_replays() == replays as u64 {
        true => Ok(Took { join_ms, record_ms, ops: graph.len(), replay_us, clean_ms: 0.0 }),
        false => Err(format!("{} replays, not {replays}", graph.num_replays())),
    }
}

/// Memory is taken, filled with what is no number, and given back.
fn churn(device: &Device, stream: &Stream, bytes: usize) -> dacapo::Result<()> {
    for part in [bytes, bytes / 3, 3 * bytes] {
        let mut trash = device.zeros::<f32>((part / 4).max(1))?;
        stream.run(fill(&mut trash, baked(f32::NAN)))?;
    }
    Ok(())
}

/// Communicators leave in threads of their own: how long until what they held is free again.
fn returned(floor: &Floor, before: usize) -> Made {
    let (first, began) = (floor.free_mib()?, Instant::now());
    let mut last = first;
    while last + 64 < before && began.elapsed() < Duration::from_secs(8) {
        std::thread::sleep(Duration::from_millis(50));
        last = floor.free_mib()?;
    }
    floor.say(format!(
        "free memory: {before} MiB before the first communicator, {first} MiB when all was dropped, {last} MiB {:.0} ms later",
        ms(began)
    ));
    Ok(())
}
