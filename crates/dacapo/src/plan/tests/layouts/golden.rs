//! Plans and layouts as they are today, `tests/plan/traces/layouts.txt`: the same recording has the same plan and the same
//! layout in every build, and a change of either is seen.
//!
//! A row is a trace: its edges, and the bytes of its layout as planned, by sweeps alone, and with few chains and pairs; each
//! with a number of all its parts. `DACAPO_BLESS=1 cargo test -p dacapo --lib plan` writes them anew: look at the bytes then,
//! none should grow.

use std::fmt::Write;

use super::*;
use crate::plan::layout::{LIMITS, Limits, layout_within};

/// A number of all these, in their order.
fn number_of(parts: impl IntoIterator<Item = u64>) -> u32 {
    let mixed = parts.into_iter().fold(0xcbf2_9ce4_8422_2325u64, |mixed, part| {
        (mixed ^ part).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17)
    });
    (mixed ^ mixed >> 32) as u32
}

fn row(name: &str, order: &Order, temps: &[TempUse<'_>]) -> String {
    let edges = order.op_edges();
    let edge_number = number_of(edges.iter().map(|(from, to)| (*from as u64) << 32 | *to as u64));
    let mut row = format!("{name:<28} {:>5} edges {edge_number:08x}", edges.len());
    let small = Limits { words: 64, chains: 2, swept: 40, pairs: 24, looks: 60 };
    for limits in [LIMITS, Limits { pairs: 0, ..LIMITS }, small] {
        let found = layout_within(order, temps, limits);
        let _ = write!(row, " {:>11} {:08x}", found.bytes, number_of(found.offsets));
    }
    row
}

#[test]
fn the_committed_traces_are_planned_and_laid_out_as_ever() {
    let mut text = String::new();
    for (name, trace) in traces::traces() {
        let _ = writeln!(text, "{}", row(&name, &trace.order, &trace.temps()));
    }
    for seed in 0..100 {
        let trace = chance::trace(seed);
        let order = order(trace.ops.iter().map(Vec::as_slice), trace.shape);
        let uses = uses(&trace.ops, trace.bytes.len());
        let temps: Vec<TempUse<'_>> =
            uses.iter().zip(&trace.bytes).map(|(ops, bytes)| TempUse { bytes: *bytes, ops }).collect();
        let _ = writeln!(text, "{}", row(&format!("seed {seed}"), &order, &temps));
    }
    let path = traces::folder().join("layouts.txt");
    if std::env::var_os("DACAPO_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, &text).expect("writable");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    for (expected, got) in committed.lines().zip(text.lines()) {
        assert_eq!(got, expected, "DACAPO_BLESS=1 accepts what was got");
    }
    assert_eq!(text.lines().count(), committed.lines().count(), "rows of {}", path.display());
}
