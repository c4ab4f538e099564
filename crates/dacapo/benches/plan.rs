//! What planning costs: recordings as programs make them, and recordings made to be slow; then laying out their temps.
//!
//! Runs each once under `cargo test`; under `cargo bench -p dacapo --bench plan` in full, with medians and ranges.
//! Only the host is measured; no driver is called. In full, a layout of 10,000 temps that takes 100 ms or more is an error.

use plan::layout::{TempUse, layout};
use plan::{Shape, TouchedBytes, What};
use std::hint::black_box;
use std::time::Instant;

// The planner itself and not the library: it is private there, and needs nothing of it.
#[path = "../src/plan/mod.rs"]
#[allow(dead_code, unused_imports, reason = "What only the library or its tests call")]
mod plan;

fn main() {
    let is_full = std::env::args().any(|argument| argument == "--bench");
    orders(is_full);
    println!();
    layouts(is_full);
}

fn orders(is_full: bool) {
    let sizes: &[u64] = if is_full { &[1, 10, 100, 1_000, 10_000, 100_000] } else { &[1, 100] };
    println!(
        "{:<44} {:>7} {:>12} {:>25} {:>9} {:>7}",
        "recording", "ops", "median us", "range us", "edges/op", "joins"
    );
    for (name, make) in RECORDINGS {
        for size in sizes {
            let ops: Vec<Vec<TouchedBytes>> = (0..*size).map(|i| make(i, *size)).collect();
            let plan = |ops: &[Vec<TouchedBytes>]| plan::order(ops.iter().map(Vec::as_slice), Shape::Data);
            let planned = plan(&ops);
            let (median, range) = time(is_full, *size, || {
                black_box(plan(black_box(&ops)));
            });
            let edges =
                (0..planned.steps().len()).map(|step| planned.after(step).len()).sum::<usize>() as f64 / *size as f64;
            let joins = planned.steps().iter().filter(|step| step.what == What::Join).count();
            println!("{name:<44} {size:>7} {median:>12.2} {range:>25} {edges:>9.2} {joins:>7}");
        }
    }
}

fn layouts(is_full: bool) {
    let sizes: &[u64] = if is_full { &[2, 10, 100, 1_000, 10_000, 100_000] } else { &[2, 100] };
    println!("{:<44} {:>7} {:>12} {:>25} {:>11}", "layout", "temps", "median us", "range us", "of the sum");
    let mut slowest: f64 = 0.0;
    for (name, shape, make) in LAYOUTS {
        for size in sizes {
            // Temp i is memory i; op i writes it.
            let ops: Vec<Vec<TouchedBytes>> = (0..*size).map(|i| make(i, *size)).collect();
            let order = plan::order(ops.iter().map(Vec::as_slice), *shape);
            let mut uses: Vec<Vec<u32>> = vec![Vec::new(); *size as usize];
            for (op, touches) in ops.iter().enumerate() {
                touches.iter().for_each(|touch| uses[touch.memory as usize].push(op as u32));
            }
            uses.iter_mut().for_each(|ops| ops.dedup());
            let bytes = |i: usize| 256 + (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << (10 + i % 11));
            let temps: Vec<TempUse<'_>> =
                uses.iter().enumerate().map(|(i, ops)| TempUse { bytes: bytes(i), ops }).collect();
            let planned = layout(&order, &temps).bytes as f64 / temps.iter().map(|temp| temp.bytes).sum::<u64>() as f64;
            let (median, range) = time(is_full, *size, || {
                black_box(layout(black_box(&order), black_box(&temps)));
            });
            println!("{name:<44} {size:>7} {median:>12.2} {range:>25} {:>9.2} %", 100.0 * planned);
            if *size == 10_000 {
                slowest = slowest.max(median / 1e3);
            }
        }
    }
    if is_full {
        println!("layout: 10000 temps in {slowest:.1} ms, the slowest of {} shapes", LAYOUTS.len());
        assert!(slowest < 100.0, "10,000 temps take {slowest:.1} ms");
    }
}

/// The median, and the range as text, in microseconds.
fn time(is_full: bool, size: u64, mut act: impl FnMut()) -> (f64, String) {
    // As many rounds as take a moment, and never so few that a median says nothing.
    let rounds = if is_full { (200_000 / size).clamp(11, 2_001) } else { 1 };
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            act();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (low, median, high) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    (median, format!("{low:.2} .. {high:.2}"))
}

/// Op `i` of `n`.
type Make = fn(u64, u64) -> Vec<TouchedBytes>;

const RECORDINGS: &[(&str, Make)] = &[
    ("a chain", |i, _| vec![whole(i % 7), whole(100 + i % 3), rewritten((i + 1) % 7)]),
    ("fans of 1000", fans),
    ("mixed over 1000 buffers", mixed),
    ("read whole, then written in pieces", |i, n| vec![if i < n / 2 { read(0, n) } else { written(i, i + 1) }]),
    ("written in pieces, then read whole", |i, n| vec![if i < n / 2 { written(i, i + 1) } else { read(0, n) }]),
    ("a piece, the whole, a piece, the whole", |i, n| vec![if i % 2 == 0 { written(i, i + 1) } else { read(0, n) }]),
    ("strided halves", strided),
    ("a sliding half", sliding),
    ("nested ends", |i, n| vec![if i < n / 2 { read(i, n / 2) } else { written(n - 1 - i, n - i) }]),
    ("a hundred pieces, a hundred times the whole", hundreds),
];

/// Recordings whose memories are all temps: op `i` makes temp `i`.
const LAYOUTS: &[(&str, Shape, Make)] =
    &[
        ("a chain", Shape::Data, |i, _| made(i, &[1])),
        ("a chain with skips, in a straight line", Shape::Line, |i, _| made(i, &[1, any(i, 0) % 40])),
        ("skips of any length, in a straight line", Shape::Line, |i, n| made(i, &[1, any(i, 0) % n])),
        ("forward and back", Shape::Data, |i, n| made(i, &[1, if 2 * i < n { 1 } else { 2 * i - n }])),
        ("diamonds of four branches", Shape::Data, |i, _| {
            if i % 5 == 4 { made(i, &[1, 2, 3, 4]) } else { made(i, &[1 + i % 5]) }
        }),
        ("any two of the last twenty", Shape::Data, |i, _| made(i, &[1 + any(i, 0) % 20, 1 + any(i, 1) % 20])),
        ("any two of the last thousand", Shape::Data, |i, _| made(i, &[1 + any(i, 0) % 1000, 1 + any(i, 1) % 1000])),
        ("a hundred branches", Shape::Data, |i, _| made(i, &[100])),
        ("nothing in common", Shape::Data, |i, _| made(i, &[])),
    ];

/// Op `i` makes temp `i` from those so many before it.
fn made(i: u64, from: &[u64]) -> Vec<TouchedBytes> {
    let reads = from.iter().filter(|back| **back > 0 && **back <= i).map(|back| whole(i - back));
    reads.chain([rewritten(i)]).collect()
}

/// Any number.
fn any(i: u64, salt: u64) -> u64 {
    (i * 3 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

fn fans(i: u64, _: u64) -> Vec<TouchedBytes> {
    if i.is_multiple_of(1000) { vec![rewritten(0)] } else { vec![whole(0), whole(1), rewritten(2 + i)] }
}

fn mixed(i: u64, _: u64) -> Vec<TouchedBytes> {
    vec![whole(any(i, 0) % 1000), whole(any(i, 1) % 1000), rewritten(any(i, 2) % 1000)]
}

/// Every other cell is written; all are read; the cells between are written.
fn strided(i: u64, n: u64) -> Vec<TouchedBytes> {
    let cell = 4 * i % n.max(1);
    vec![match 4 * i / n.max(1) {
        0 => written(cell, cell + 1),
        1 | 2 => read(i % 2, n),
        _ => written(cell + 2, cell + 3),
    }]
}

/// Each reads half of the buffer, each time one further; then the same with writes.
fn sliding(i: u64, n: u64) -> Vec<TouchedBytes> {
    let half = n / 2 + 1;
    let start = i % half;
    vec![if i < half { read(start, start + half) } else { written(start, start + half) }]
}

fn hundreds(i: u64, n: u64) -> Vec<TouchedBytes> {
    let piece = i * 7919 % n;
    vec![if (i / 100).is_multiple_of(2) { written(piece, piece + 1) } else { read(0, n) }]
}

/// All of one of many memories is read.
fn whole(memory: u64) -> TouchedBytes {
    TouchedBytes { memory: memory as u32, start: 0, end: 4096, write: false }
}

/// All of one of many memories is written.
fn rewritten(memory: u64) -> TouchedBytes {
    TouchedBytes { write: true, ..whole(memory) }
}

/// A piece of the one memory is read.
fn read(start: u64, end: u64) -> TouchedBytes {
    TouchedBytes { memory: 1, start, end, write: false }
}

/// A piece of the one memory is written.
fn written(start: u64, end: u64) -> TouchedBytes {
    TouchedBytes { memory: 1, start, end, write: true }
}
