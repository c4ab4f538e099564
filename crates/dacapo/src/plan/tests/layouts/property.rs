//! Random traces: no two temps that may be alive at the same time share a byte.
//!
//! Some thousands in `cargo test`; `cargo xtask planner --full` looks at a million.

use super::chance::{Trace, trace};
use super::*;
use crate::plan::layout::{LIMITS, Limits, layout_within};

/// What came of one trace: how many pairs of temps share a byte; whether it has branches; its size and its bound.
struct Seen {
    shared: u64,
    has_branches: bool,
    planned: u64,
    live: u64,
}

fn look(seed: u64, with_bound: bool) -> Result<Seen, String> {
    let Trace { ops, bytes, shape } = trace(seed);
    let order = order(ops.iter().map(Vec::as_slice), shape);
    let uses = uses(&ops, bytes.len());
    let temps: Vec<TempUse<'_>> = uses.iter().zip(&bytes).map(|(ops, bytes)| TempUse { bytes: *bytes, ops }).collect();
    let before = before(&order);
    let layout = layout(&order, &temps);
    check(&before, &temps, &layout).map_err(|what| format!("seed {seed}: {what}"))?;
    // What only large recordings do, each for some of the seeds.
    let scarce = SCARCE[seed as usize % SCARCE.len()];
    let other = layout_within(&order, &temps, scarce);
    check(&before, &temps, &other).map_err(|what| format!("seed {seed} within {scarce:?}: {what}"))?;
    let place = |temp: usize| (layout.offsets[temp], layout.offsets[temp] + temps[temp].bytes);
    let taking: Vec<usize> = (0..temps.len()).filter(|t| temps[*t].bytes > 0 && !temps[*t].ops.is_empty()).collect();
    let meets = |a: usize, b: usize| place(a).0.max(place(b).0) < place(a).1.min(place(b).1);
    let shared =
        taking.iter().flat_map(|a| taking.iter().map(move |b| (*a, *b))).filter(|(a, b)| a < b && meets(*a, *b));
    let shared = shared.count() as u64;
    let has_branches = (1..before.len()).any(|op| !before[op][op - 1]);
    let live = if with_bound { antichain::largest_live_set(&before, &rounded(&temps)) } else { 0 };
    Ok(Seen { shared, has_branches, planned: layout.bytes, live })
}

/// Limits under which chains stand in for bits, some moments are in no chain, nobody lists who must not meet, ...
const SCARCE: [Limits; 6] = [
    Limits { words: 0, ..LIMITS },
    Limits { words: 0, chains: 2, ..LIMITS },
    Limits { words: 0, chains: 1, pairs: 0, ..LIMITS },
    Limits { pairs: 0, ..LIMITS },
    Limits { swept: 40, pairs: 0, ..LIMITS },
    Limits { swept: 40, looks: 100, ..LIMITS },
];

/// The same temps, each as large as the room it takes.
fn rounded<'a>(temps: &[TempUse<'a>]) -> Vec<TempUse<'a>> {
    temps.iter().map(|temp| TempUse { bytes: temp.bytes.next_multiple_of(ALIGNMENT), ..*temp }).collect()
}

/// How many traces: a thousand times the number in `DACAPO_PLANNER_THOUSANDS`.
fn thousands() -> u64 {
    std::env::var("DACAPO_PLANNER_THOUSANDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

#[test]
fn what_may_be_alive_at_the_same_time_never_shares_a_byte() {
    let traces = 1000 * thousands();
    let (mut shared, mut branched, mut failures) = (0, 0, Vec::new());
    for seed in 0..traces {
        match look(seed, false) {
            Ok(seen) => {
                shared += seen.shared;
                branched += u64::from(seen.has_branches);
            }
            Err(what) => failures.push(what),
        }
    }
    for failure in failures.iter().take(10) {
        println!("{failure}");
    }
    println!(
        "planner: {traces} random traces, {branched} of them with branches; {shared} pairs of temps share bytes, {} of \
         them while both may be alive",
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures[0]);
    // Else nothing was tested.
    assert!(shared > traces && branched > traces / 3);
}

#[test]
fn nothing_is_planned_below_the_largest_live_set_and_little_far_above_it() {
    let (mut within, traces) = (0, 600);
    for seed in 0..traces {
        let seen = look(seed, true).unwrap_or_else(|what| panic!("{what}"));
        assert!(seen.planned >= seen.live, "seed {seed}: {} bytes for {} alive at once", seen.planned, seen.live);
        within += u64::from(seen.planned as f64 <= seen.live as f64 * 1.05);
    }
    println!("{within} of {traces} random traces within 5 % of the largest live set");
    assert!(within * 100 >= traces * 97, "{within} of {traces}");
}
