//! From stamps to intervals: plain arithmetic, no device.
//!
//! Stamps come as [`Stamps`] numbers them: the first few in a line, then two for each op.

use crate::lower::{FIRST, Stamps};

/// What some stamps say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Timeline {
    /// The steps of the clock.
    pub(super) step: u64,
    /// What a stamp costs.
    pub(super) stamp: u64,
    /// To the last stamp.
    pub(super) total: u64,
    pub(super) ops: Vec<Interval>,
    pub(super) critical_path: Vec<usize>,
}

/// One op.
#[derive(Debug, PartialEq, Eq, Clone)]
pub(super) struct Interval {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) time: u64,
    pub(super) gap: u64,
    pub(super) after: Vec<usize>,
    pub(super) lane: usize,
}

/// The intervals of so many ops with these edges, which lead to later ops.
pub(super) fn timeline(stamps: &[u64], edges: &[(usize, usize)], ops: usize) -> Timeline {
    let begin = stamps[FIRST - 1];
    // The least of them: a neighbour on the device can only make one longer.
    let stamp = stamps[..FIRST].windows(2).map(|pair| pair[1].saturating_sub(pair[0])).min().unwrap_or(0);
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); ops];
    for &(from, to) in edges {
        after[to].push(from);
    }
    let since = |number: usize| stamps[number].saturating_sub(begin);
    let mut intervals: Vec<Interval> = Vec::with_capacity(ops);
    for (op, after) in after.into_iter().enumerate() {
        let (start, end) = (since(Stamps::before(op)), since(Stamps::behind(op)));
        let ready = after.iter().map(|&before: &usize| intervals[before].end).max().unwrap_or(0);
        let time = end.saturating_sub(start).saturating_sub(stamp);
        let gap = start.saturating_sub(ready).saturating_sub(stamp);
        intervals.push(Interval { start, end, time, gap, after, lane: 0 });
    }
    lanes(&mut intervals);
    let critical_path = critical(&intervals);
    let total = intervals.iter().map(|op| op.end).max().unwrap_or(0);
    Timeline { step: step(stamps), stamp, total, ops: intervals, critical_path }
}

/// The largest step that all differences are multiples of.
fn step(stamps: &[u64]) -> u64 {
    let least = stamps.iter().copied().min().unwrap_or(0);
    stamps.iter().fold(0, |step, stamp| common(step, stamp - least))
}

fn common(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Each op in the first lane that is free when it begins.
fn lanes(ops: &mut [Interval]) {
    let mut order: Vec<usize> = (0..ops.len()).collect();
    order.sort_by_key(|&op| (ops[op].start, op));
    let mut busy: Vec<u64> = Vec::new();
    for op in order {
        let lane = busy.iter().position(|&until| until <= ops[op].start).unwrap_or(busy.len());
        if lane == busy.len() {
            busy.push(0);
        }
        busy[lane] = ops[op].end;
        ops[op].lane = lane;
    }
}

/// From the op that ended last, back each time to the one it waited for longest; of equal ones, the earlier.
fn critical(ops: &[Interval]) -> Vec<usize> {
    let latest = |of: &mut dyn Iterator<Item = usize>| of.max_by_key(|&op| (ops[op].end, std::cmp::Reverse(op)));
    let mut path = Vec::new();
    let mut at = latest(&mut (0..ops.len()));
    while let Some(op) = at {
        path.push(op);
        at = latest(&mut ops[op].after.iter().copied());
    }
    path.reverse();
    path
}
