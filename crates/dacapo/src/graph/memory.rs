//! How much memory a graph takes.
//!
//! All of it is counted, but for the executable, which is estimated.

use std::fmt;

use crate::lower::executable_of;

/// How much memory a graph takes: [`Graph::memory`](crate::Graph::memory).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphMemory {
    /// Memory of its own that its temps lie in.
    pub arena: usize,
    /// What its temps need of an arena that it shares, with the graphs of its pool or with whatever the caller's is for.
    pub arena_shared: usize,
    /// Of both, what is a library's workspace at some time. Not added again.
    pub workspaces: usize,
    /// The executable, by estimate.
    pub executable: usize,
    /// Page-locked memory that its uploads and downloads use.
    pub staging: usize,
    /// Its outputs.
    pub outputs: usize,
}

impl GraphMemory {
    /// All that it uses.
    pub fn total(&self) -> usize {
        self.own().saturating_add(self.arena_shared).saturating_add(self.staging)
    }

    /// What is its alone, and goes with it and its outputs.
    pub fn own(&self) -> usize {
        self.arena.saturating_add(self.executable).saturating_add(self.outputs)
    }

    /// Bytes of device memory that an executable with so many nodes of each kind takes: an estimate, from a measurement on
    /// an H200.
    pub fn executable_of(kernels: usize, copies: usize, memsets: usize, empty: usize) -> usize {
        executable_of(kernels, copies, memsets, empty)
    }
}

impl fmt::Display for GraphMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("arena", self.arena),
            ("arena, shared", self.arena_shared),
            ("  of these workspaces", self.workspaces),
            ("executable (estimate)", self.executable),
            ("staging", self.staging),
            ("outputs", self.outputs),
        ];
        for (name, bytes) in rows {
            writeln!(f, "{name:<22} {bytes:>15}")?;
        }
        write!(f, "{:<22} {:>15}", "together", self.total())
    }
}
