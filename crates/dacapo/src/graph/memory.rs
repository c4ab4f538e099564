//! How much memory a graph takes.
//!
//! All of it is counted, but for the executable, which is estimated.

use std::fmt;

use crate::lower::executable_of;
#[cfg(feature = "json")]
use crate::page::{Page, Purpose};

/// How much memory a graph takes, by purpose: [`Graph::memory`](crate::Graph::memory). `Display` prints it.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, copy, fill, graph::GraphMemory};
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<f32>(100)?;
/// let graph = device.record(|r| {
///     let mut t = r.alloc::<f32>(100)?;
///     r.run(fill(&mut t, baked(1.0)))?;
///     r.run(copy(&t, &mut y))
/// })?;
/// let memory: GraphMemory = graph.memory();
/// assert_eq!((memory.temps(), memory.outputs), (400, 0)); // `y` is the program's
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphMemory {
    /// Its own memory for temps.
    pub arena: usize,
    /// What its temps take in a shared arena: its pool's, or yours.
    pub arena_shared: usize,
    /// The part of both that is a library's workspace at some point. Not added to the total again.
    pub workspaces: usize,
    /// The executable, by estimate.
    pub executable: usize,
    /// Page-locked memory that its uploads and downloads use.
    pub staging: usize,
    /// Its outputs.
    pub outputs: usize,
}

impl GraphMemory {
    /// The sum of all memory that it uses.
    pub fn total(&self) -> usize {
        self.own().saturating_add(self.arena_shared).saturating_add(self.staging)
    }

    /// Bytes that all its temps need. Temps that are never alive at the same time share bytes.
    pub fn temps(&self) -> usize {
        self.arena.saturating_add(self.arena_shared)
    }

    /// What belongs to it alone, and is freed with it and its outputs.
    pub fn own(&self) -> usize {
        self.arena.saturating_add(self.executable).saturating_add(self.outputs)
    }

    /// Each purpose with its name.
    pub(crate) fn rows(&self) -> [(&'static str, usize); 6] {
        [
            ("arena", self.arena),
            ("arena, shared", self.arena_shared),
            ("  of these workspaces", self.workspaces),
            ("executable (estimate)", self.executable),
            ("staging", self.staging),
            ("outputs", self.outputs),
        ]
    }

    /// Estimates the bytes of device memory of an executable graph with these nodes, from a measurement on an H200.
    pub fn executable_of(kernels: usize, copies: usize, memsets: usize, empty: usize) -> usize {
        executable_of(kernels, copies, memsets, empty)
    }
}

#[cfg(feature = "json")]
impl Page {
    /// With what the graph's memory is for: [`Graph::memory`](crate::Graph::memory).
    #[must_use]
    pub fn memory(mut self, memory: &GraphMemory) -> Page {
        self.memory = memory.rows().map(|(name, bytes)| Purpose::new(name, bytes)).to_vec();
        self
    }
}

impl fmt::Display for GraphMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, bytes) in self.rows() {
            writeln!(f, "{name:<22} {bytes:>15}")?;
        }
        write!(f, "{:<22} {:>15}", "together", self.total())
    }
}

#[cfg(all(test, feature = "software"))]
mod tests {
    use super::*;
    use crate::{Device, Recorder, baked, copy, fill};

    #[test]
    fn an_executable_is_estimated_by_its_nodes_in_whole_blocks() {
        let blocks = |kernels, copies, memsets, empty| {
            let bytes = GraphMemory::executable_of(kernels, copies, memsets, empty);
            assert_eq!(bytes % (128 << 10), 0);
            bytes >> 17
        };
        assert_eq!(blocks(0, 0, 0, 99), 0);
        // 52 nodes of 2,517 bytes, or 624 memsets of 210, are just within a block.
        assert_eq!([blocks(52, 0, 0, 0), blocks(20, 32, 0, 0), blocks(0, 0, 624, 0)], [1; 3]);
        assert_eq!([blocks(53, 0, 0, 0), blocks(20, 33, 0, 0), blocks(0, 0, 625, 0), blocks(52, 0, 1, 0)], [2; 4]);
        assert_eq!(GraphMemory::executable_of(usize::MAX, 1, 1, 1), usize::MAX);
        let device = Device::software().unwrap();
        let (mut x, mut y) = (device.zeros::<u64>(4).unwrap(), device.zeros::<u8>(4).unwrap());
        let z = device.zeros::<u64>(4).unwrap();
        let mut executable = |kernels: usize, copies: usize, memsets: usize| {
            let op = |r: &mut Recorder<'_>| {
                (0..kernels).try_for_each(|_| r.run(fill(&mut x, baked(1))))?;
                (0..copies).try_for_each(|_| r.run(copy(&z, &mut x)))?;
                (0..memsets).try_for_each(|_| r.run(fill(&mut y, baked(1))))
            };
            device.record(op).unwrap().memory().executable >> 17
        };
        assert_eq!(
            [executable(26, 26, 0), executable(26, 25, 11), executable(26, 27, 0), executable(26, 26, 1)],
            [1, 1, 2, 2]
        );
    }

    #[test]
    fn what_a_graph_takes_is_printed_as_a_table() {
        let memory =
            GraphMemory { arena: 1, arena_shared: 20, workspaces: 3, executable: 400, staging: 5000, outputs: 60_000 };
        let said = [
            "arena                                1",
            "arena, shared                       20",
            "  of these workspaces                3",
            "executable (estimate)              400",
            "staging                           5000",
            "outputs                          60000",
            "together                         65421",
        ];
        assert_eq!(memory.to_string(), said.join("\n"));
    }
}
