//! The committed traces, `tests/plan/traces/*.trace`: how much is planned beside the largest live set.
//!
//! A trace has one op a line, as a `.rec` has: `name: reads a, b; writes c`. `temp c 4096` makes a memory a temp of so many
//! bytes; the others are buffers of the caller. `straight line` orders ops as they stand. `#` begins a comment.
//! `models` makes most of them; `cargo xtask bless` writes them anew.

use super::super::texts;
use super::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A trace as read.
pub(super) struct Trace {
    pub(super) order: Order,
    uses: Vec<Vec<u32>>,
    bytes: Vec<u64>,
    is_line: bool,
}

impl Trace {
    fn parse(text: &str) -> Result<Trace, String> {
        let mut sizes = BTreeMap::new();
        let mut recording = String::new();
        let mut is_line = false;
        for line in text.lines() {
            if line.trim() == "straight line" {
                is_line = true;
            } else if let Some(temp) = line.strip_prefix("temp ") {
                let parsed = temp.split_once(' ').and_then(|(name, bytes)| Some((name, bytes.trim().parse().ok()?)));
                let (name, bytes): (&str, u64) = parsed.ok_or_else(|| format!("no size in {line:?}"))?;
                sizes.insert(name, bytes);
            } else {
                recording.push_str(line);
                recording.push('\n');
            }
        }
        let recorded = texts::parse(&recording)?;
        let order = order(recorded.ops.iter().map(Vec::as_slice), if is_line { Shape::Line } else { Shape::Data });
        let uses = super::uses(&recorded.ops, recorded.memories.len());
        let (uses, bytes) = recorded
            .memories
            .iter()
            .zip(uses)
            .filter_map(|(name, uses)| Some((uses, sizes.remove(name.as_str())?)))
            .unzip();
        match sizes.first_key_value() {
            Some((name, _)) => Err(format!("nobody touches temp {name}")),
            None => Ok(Trace { order, uses, bytes, is_line }),
        }
    }

    pub(super) fn temps(&self) -> Vec<TempUse<'_>> {
        self.uses.iter().zip(&self.bytes).map(|(ops, bytes)| TempUse { bytes: *bytes, ops }).collect()
    }

    /// The most that may be alive at once, in bytes as they were asked for.
    fn live(&self, before: &[Vec<bool>]) -> u64 {
        let temps = self.temps();
        if !self.is_line {
            return antichain::largest_live_set(before, &temps);
        }
        let alive_at =
            |op: u32| temps.iter().filter(move |temp| temp.ops.first() <= Some(&op) && Some(&op) <= temp.ops.last());
        (0..before.len() as u32).map(|op| alive_at(op).map(|temp| temp.bytes).sum()).max().unwrap_or(0)
    }
}

pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan/traces")
}

pub(super) fn traces() -> Vec<(String, Trace)> {
    let mut traces: Vec<(String, Trace)> = std::fs::read_dir(folder())
        .expect("the folder of traces is part of the crate")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "trace"))
        .map(|path| {
            let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("readable");
            let trace = Trace::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, trace)
        })
        .collect();
    traces.sort_by(|(a, _), (b, _)| a.cmp(b));
    traces
}

#[test]
fn at_least_27_of_30_traces_are_planned_within_5_percent_of_the_largest_live_set() {
    let traces = traces();
    assert_eq!(traces.len(), 30);
    println!(
        "{:<28} {:>5} {:>6} {:>13} {:>17} {:>13} {:>7}",
        "trace", "ops", "temps", "sum", "largest live set", "planned", "ratio"
    );
    let mut within = 0;
    for (name, trace) in &traces {
        let before = before(&trace.order);
        let temps = trace.temps();
        let planned = layout(&trace.order, &temps);
        check(&before, &temps, &planned).unwrap_or_else(|what| panic!("{name}: {what}"));
        let (live, sum) = (trace.live(&before), trace.bytes.iter().sum::<u64>());
        assert!(planned.bytes >= live, "{name}: {} bytes for {live} alive at once", planned.bytes);
        let ratio = planned.bytes as f64 / live as f64;
        within += usize::from(ratio <= 1.05);
        let (ops, count, planned) = (before.len(), temps.len(), planned.bytes);
        println!("{name:<28} {ops:>5} {count:>6} {sum:>13} {live:>17} {planned:>13} {ratio:>7.4}");
    }
    println!("planner: {within} of {} traces within 5 % of the largest live set", traces.len());
    assert!(within >= 27, "{within} of 30");
}

#[test]
fn the_committed_traces_are_what_the_models_make() {
    let is_blessed = std::env::var_os("DACAPO_BLESS").is_some_and(|v| v == "1");
    for (name, text) in models::all() {
        let path = folder().join(format!("{name}.trace"));
        if is_blessed {
            std::fs::create_dir_all(folder()).expect("writable");
            std::fs::write(&path, text).expect("writable");
            continue;
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "{name}.trace is stale; `cargo xtask bless` writes it anew");
    }
}

#[test]
fn the_largest_live_set_is_the_heaviest_antichain() {
    //   a ──► x ──┐
    //   └───► y ──┴──► b     x and y may run at the same time: t, u and v are alive together, w is not
    let text = "temp t 100\ntemp u 10\ntemp v 1\ntemp w 105\n\
                a: writes t\nx: reads t; writes u\ny: reads t; writes v\nb: reads u, v; writes w\nc: reads w";
    let trace = Trace::parse(text).expect("a trace");
    assert_eq!(trace.live(&before(&trace.order)), 116, "b reads u and v while it writes w");
    let line = Trace::parse(&format!("straight line\n{text}")).expect("a trace");
    assert_eq!(line.live(&before(&line.order)), 116);
}
