//! How long each op of a graph takes on the device: one replay with a stamp before and behind each.
//!
//! A stamp is a kernel of one thread that stores the device's timer. What one can rely on:
//!
//! - an op's interval begins when its first stamp was reached, behind all that it waits for, and ends when the second was,
//!   behind all that it did: so an op begins after those end that it waits for, always;
//! - the stamps cost time themselves. How much is measured in the same replay, by a few in a line ([`Profile::stamp_ns`]),
//!   and taken off each [`Timed::time_ns`] and [`Timed::gap_ns`], never off [`Timed::start_ns`] and [`Timed::end_ns`];
//! - the critical path is the measured one: from the op that ended last, back each time to the one it waited for longest.
//!
//! What the numbers include: an op's time has the device's own work of starting it and of passing on to the next, a
//! microsecond or less on an H200; a node that does nothing (a grid without blocks) shows that and little else. Ops
//! that overlap share the device, and each is longer for it. One replay is one sample: the first after a while is slower.
//! What was tried and what it costs: docs/timing.md.
//!
//! On the software device the clock counts what its interpreter does ([`Clock::Software`]). Such numbers say which op does
//! more; they are no times, and are never printed as such.

mod measured;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
#[cfg(feature = "json")]
mod trace;

pub use table::By;

use crate::inspect::{Kind, Place};

/// Which clock the numbers are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// The GPU's own timer, in nanoseconds.
    Gpu,
    /// The software device's clock: it counts what the interpreter does, and tells nothing about a GPU.
    Software,
}

/// One timed replay of a graph: [`Graph::profile`](crate::Graph::profile).
///
/// `{}` is a table by start, `{:#}` by time; [`trace`](Profile::trace) is a file for Perfetto or `chrome://tracing`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The device, as it calls itself.
    pub device: String,
    /// The graph's label; empty if it has none.
    pub label: String,
    /// Which clock the numbers are of.
    pub clock: Clock,
    /// The steps that the clock was seen to move in; 0 if it was not seen to move.
    pub step_ns: u64,
    /// What one stamp costs, as measured in the same replay.
    pub stamp_ns: u64,
    /// From the last stamp before everything to the last one behind everything: the replay, stamps and all.
    pub total_ns: u64,
    /// The ops, in the order they were recorded.
    pub ops: Vec<Timed>,
    /// The ops that the replay was as long as, first to last, by their index.
    pub critical_path: Vec<usize>,
}

/// One op of a profile.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Timed {
    /// Its place in [`Profile::ops`]: its number in the recording.
    pub index: usize,
    /// What it does. Foreign work is one op, however much it enqueued.
    pub kind: Kind,
    /// The kernel's name, or the op's.
    pub name: String,
    /// The labels around it, outermost first.
    pub label: String,
    /// Where the program made the op.
    pub location: Option<Place>,
    /// When its first stamp was reached, from [`Profile::total_ns`]'s beginning.
    pub start_ns: u64,
    /// When its second stamp was reached.
    pub end_ns: u64,
    /// How long it took: from one to the other, less what a stamp costs.
    pub time_ns: u64,
    /// How long it could have begun before it did: from the end of what it waited for, less what a stamp costs.
    pub gap_ns: u64,
    /// The ops it waits for, by their index.
    pub after: Vec<usize>,
    /// Whether the replay was as long as it was because of this op.
    pub critical: bool,
    /// Ops in one lane do not overlap; there are as many lanes as ops that were seen to overlap.
    pub lane: usize,
}

impl Profile {
    /// The time of the critical path: its ops and the gaps before them. About what a replay without stamps takes.
    pub fn critical_ns(&self) -> u64 {
        let times = self.critical().map(|op| op.time_ns.saturating_add(op.gap_ns));
        times.fold(0, u64::saturating_add)
    }

    /// The ops of the critical path. The fields are the user's to change: what leads nowhere is left out.
    fn critical(&self) -> impl Iterator<Item = &Timed> {
        self.critical_path.iter().filter_map(|&op| self.ops.get(op))
    }

    /// The times of all ops together: what they would take one after the other.
    pub fn sum_ns(&self) -> u64 {
        self.ops.iter().fold(0, |sum, op| sum.saturating_add(op.time_ns))
    }

    /// How many ops were seen to overlap at most.
    pub fn lanes(&self) -> usize {
        self.ops.iter().map(|op| op.lane.saturating_add(1)).max().unwrap_or(0)
    }
}
