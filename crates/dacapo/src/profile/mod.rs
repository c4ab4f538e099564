//! How long each op takes on the device, measured in one replay of a graph, or in one eager run.
//!
//! [`Graph::profile`](crate::Graph::profile) and [`Stream::profile`](crate::Stream::profile) return a [`Profile`]: a
//! [`Timed`] entry for each op, and the critical path. Print it as a table, open its trace in Perfetto, or, with the feature
//! `json`, write it to JSON and read it back.
//!
//! The replay or run has a stamp before and after each op: a one-thread kernel that stores the device's timer. You can rely
//! on this:
//!
//! - An op's interval begins at its first stamp, after everything it waits for, and ends at its second, after
//!   everything it did. So an op always begins after the ops that it waits for have ended.
//! - Stamps cost time. How much is measured in the same replay ([`Profile::stamp_ns`]) and subtracted from each
//!   [`Timed::time_ns`] and [`Timed::gap_ns`], but not from [`Timed::start_ns`] and [`Timed::end_ns`].
//! - The critical path is measured: from the op that ended last, back each time to the one it waited for longest.
//! - A loop or branch is one op of that path. What is inside it is told with it: how often it ran ([`Timed::runs`]), and
//!   how long all of its runs took.
//!
//! An op's time includes the device's own work of starting it, a microsecond or less on an H200; a node that does
//! nothing shows that and little else. Ops that overlap share the device, so each takes longer. One replay is one
//! sample, and the first after a pause is slower.
//!
//! In an eager run the host launches each op and each stamp by itself, and reads every decision of a branch or loop. Where it
//! is slower than the device, an op's time is how long the host took to launch what came behind it. So the times of an eager
//! run are those of running eagerly; those of the work alone are a replay's.
//!
//! On the software device the clock counts the interpreter's work ([`Clock::Software`]). Such numbers show which op
//! does more; they are not times, and are never printed as times.

mod draw;
#[cfg(feature = "json")]
mod json;
mod table;
#[cfg(feature = "json")]
mod trace;

#[cfg(feature = "json")]
pub use json::ReadError;
pub use table::By;

use crate::device::Device;
use crate::inspect::{Kind, Place};
#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

/// The version of the JSON that this library writes and reads. It changes as [`inspect::VERSION`](crate::inspect::VERSION)
/// does: not for a field that a profile may lack.
pub const VERSION: u32 = 1;

/// Which clock the numbers come from.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::profile::Clock;
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<f32>(1024)?;
/// let mut graph = device.graph().label("clear").record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
/// let profile = graph.profile(&stream)?;
/// assert_eq!(profile.clock, Clock::Software); // counts, not times: only a GPU's clock gives those
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Clock {
    /// The GPU's own timer, in nanoseconds.
    Gpu,
    /// The software device's clock: it counts what the interpreter does, and says nothing about a GPU.
    Software,
}

/// One timed replay of a graph, [`Graph::profile`](crate::Graph::profile), or one timed eager run,
/// [`Stream::profile`](crate::Stream::profile).
///
/// `{}` is a table by start, `{:#}` by time. With the feature `json`, `trace` is a file for Perfetto or
/// `chrome://tracing`, and `to_json` one that `from_json` reads.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<f32>(1024)?;
/// let mut graph = device.graph().label("clear").record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
/// let profile = graph.profile(&stream)?;
/// assert_eq!(profile.critical_path, [0]);
/// assert!(profile.critical_ns() <= profile.total_ns);
/// println!("{profile:#}");
/// # Ok(()) }
/// ```
#[doc(alias = "cudaEventElapsedTime")]
#[doc(alias = "timing")]
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Profile {
    /// The version of the format: [`VERSION`].
    pub version: u32,
    /// The name of the device.
    pub device: String,
    /// The graph's label; empty if it has none, and for an eager run.
    pub label: String,
    /// Whether it was an eager run, in which one op came after the other; else it was a replay.
    #[cfg_attr(feature = "json", serde(default))]
    pub eager: bool,
    /// Which clock the numbers come from.
    pub clock: Clock,
    /// The resolution of the clock, as observed; 0 if it never moved.
    pub step_ns: u64,
    /// What one stamp costs, measured in the same replay or run.
    pub stamp_ns: u64,
    /// The whole replay or run, stamps included.
    pub total_ns: u64,
    /// The ops, in the order they were recorded.
    pub ops: Vec<Timed>,
    /// The critical path, first to last: indices of ops.
    pub critical_path: Vec<usize>,
}

/// One op of a profile.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<f32>(1024)?;
/// let mut graph = device.graph().label("clear").record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
/// let profile = graph.profile(&stream)?;
/// let op: &dacapo::profile::Timed = &profile.ops[0];
/// assert!(op.name == "fill" && op.critical);
/// assert!(op.start_ns + op.time_ns <= op.end_ns);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Timed {
    /// Its index in [`Profile::ops`], and its number in the recording.
    pub index: usize,
    /// What kind of op it is. Foreign work is one op, however much it enqueued.
    pub kind: Kind,
    /// The kernel's name, or the op's.
    pub name: String,
    /// The labels around it, outermost first.
    pub label: String,
    /// Where the program made the op.
    pub location: Option<Place>,
    /// When its first stamp was reached, from the start of the replay or run.
    pub start_ns: u64,
    /// When its second stamp was reached.
    pub end_ns: u64,
    /// How long it took: from the first stamp to the second, less the cost of a stamp. Inside a loop, all rounds together.
    pub time_ns: u64,
    /// How often it ran: 1, or inside a loop or a branch as often as its body did.
    pub runs: u64,
    /// The branch or loop that it is in: an index.
    pub inside: Option<usize>,
    /// How long it sat ready before it began: from the end of what it waited for, less the cost of a stamp.
    pub gap_ns: u64,
    /// The ops it waits for: indices. In an eager run, the one before it.
    pub after: Vec<usize>,
    /// Whether it is on the critical path.
    pub critical: bool,
    /// Its lane. Ops in one lane do not overlap; there are as many lanes as ops that overlapped at once. What is inside a
    /// loop or branch does not count as overlapping with it, and is in its lane if nothing else is.
    pub lane: usize,
}

impl Profile {
    /// The time of the critical path: its ops and the gaps before them. About what a replay without stamps takes.
    pub fn critical_ns(&self) -> u64 {
        let times = self.critical().map(|op| op.time_ns.saturating_add(op.gap_ns));
        times.fold(0, u64::saturating_add)
    }

    /// The ops of the critical path. If you changed the fields, indices out of range are skipped.
    fn critical(&self) -> impl Iterator<Item = &Timed> {
        self.critical_path.iter().filter_map(|&op| self.ops.get(op))
    }

    /// How many rounds a loop ran in all; none if the op of that index is no loop. Its time by this is the time of a round.
    pub fn rounds(&self, op: usize) -> Option<u64> {
        self.ops.get(op).filter(|op| op.kind == Kind::Loop)?;
        // The first op of a body runs in each round; those behind a way out may run less often.
        Some(self.ops.iter().filter(|inside| inside.inside == Some(op)).map(|inside| inside.runs).max().unwrap_or(0))
    }

    /// The times of all ops together: what they would take one after the other. What is inside a branch or a loop is in
    /// the time of that.
    pub fn sum_ns(&self) -> u64 {
        self.ops.iter().filter(|op| op.inside.is_none()).fold(0, |sum, op| sum.saturating_add(op.time_ns))
    }

    /// The most ops that overlapped.
    pub fn lanes(&self) -> usize {
        self.ops.iter().map(|op| op.lane.saturating_add(1)).max().unwrap_or(0)
    }
}

impl Clock {
    /// The one of a device.
    pub(crate) fn of(device: &Device) -> Clock {
        if device.is_software() { Clock::Software } else { Clock::Gpu }
    }
}
