//! From stamps to intervals: plain arithmetic, no device.
//!
//! Stamps are the first few, in a line, and those of each op. An op inside a branch or a loop runs as often as that does: its
//! interval is that of its last run, its time that of all runs.

use crate::lower::OpStamps;

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
    pub(super) runs: u64,
    pub(super) gap: u64,
    pub(super) after: Vec<usize>,
    pub(super) lane: usize,
}

/// The intervals of ops with these edges, which lead to later ops. `inside` says for each op which one it is in.
pub(super) fn timeline(
    first: &[u64],
    ops: &[OpStamps],
    edges: &[(usize, usize)],
    inside: &[Option<usize>],
) -> Timeline {
    let begin = first.last().copied().unwrap_or(0);
    // The least of them: a neighbour on the device can only make one longer.
    let stamp = first.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).min().unwrap_or(0);
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); ops.len()];
    for &(from, to) in edges {
        after[to].push(from);
    }
    let since = |time: u64| time.saturating_sub(begin);
    let mut intervals: Vec<Interval> = Vec::with_capacity(ops.len());
    for (op, after) in ops.iter().zip(after) {
        let (start, end) = (since(op.before), since(op.behind));
        let ready = after.iter().map(|&before: &usize| intervals[before].end).max().unwrap_or(0);
        let time = op.sum.saturating_sub(stamp.saturating_mul(op.runs));
        let gap = start.saturating_sub(ready).saturating_sub(stamp);
        // Inside another, nothing is known of what came before the first op of a round.
        let gap = if after.is_empty() && inside[intervals.len()].is_some() { 0 } else { gap };
        intervals.push(Interval { start, end, time, runs: op.runs, gap, after, lane: 0 });
    }
    lanes(&mut intervals, inside);
    let outer = (0..intervals.len()).filter(|&op| inside[op].is_none());
    let critical_path = critical(&intervals, &mut outer.clone());
    let total = outer.map(|op| intervals[op].end).max().unwrap_or(0);
    let did_run = ops.iter().filter(|op| op.runs > 0);
    let times: Vec<u64> = first.iter().copied().chain(did_run.flat_map(|op| [op.before, op.behind])).collect();
    Timeline { step: step(&times), stamp, total, ops: intervals, critical_path }
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

/// Each op in the lane of what it is inside of, if nothing else is there when it begins, and else in the first that is free.
fn lanes(ops: &mut [Interval], inside: &[Option<usize>]) {
    let mut order: Vec<usize> = (0..ops.len()).filter(|&op| ops[op].runs > 0).collect();
    order.sort_by_key(|&op| (ops[op].start, op));
    // What runs in each lane, the innermost last.
    let mut busy: Vec<Vec<usize>> = Vec::new();
    for op in order {
        for lane in &mut busy {
            while lane.last().is_some_and(|&last| ops[last].end <= ops[op].start) {
                lane.pop();
            }
        }
        // Not only the next one outside: its own last run may have been another than that in which this one ran.
        let outer: Vec<usize> = std::iter::successors(inside[op], |&outer| inside[outer]).collect();
        let depth_in = |lane: &Vec<usize>| {
            let last = *lane.last()?;
            outer.iter().position(|&one| one == last).filter(|_| ops[op].end <= ops[last].end)
        };
        let nearest = (0..busy.len()).filter_map(|lane| Some((depth_in(&busy[lane])?, lane))).min();
        let free = || busy.iter().position(Vec::is_empty).unwrap_or(busy.len());
        let lane = nearest.map_or_else(free, |(_, lane)| lane);
        if lane == busy.len() {
            busy.push(Vec::new());
        }
        busy[lane].push(op);
        ops[op].lane = lane;
    }
}

/// From the one of these that ended last, back each time to the one it waited for longest; of equal ones, the earlier.
fn critical(ops: &[Interval], among: &mut dyn Iterator<Item = usize>) -> Vec<usize> {
    let latest = |of: &mut dyn Iterator<Item = usize>| of.max_by_key(|&op| (ops[op].end, std::cmp::Reverse(op)));
    let mut path = Vec::new();
    let mut at = latest(among);
    while let Some(op) = at {
        path.push(op);
        at = latest(&mut ops[op].after.iter().copied());
    }
    path.reverse();
    path
}
