//! How much memory an executable takes: the driver does not say, so it is estimated by nodes.
//!
//! # Where the estimate comes from
//!
//! results/executable-memory-h200.json holds how much less memory was free after graphs of one kind of node were
//! instantiated, on an H200; a test recomputes the numbers here from it, and holds the estimate against every case: it is
//! never more than one of the driver's chunks of 2 MiB away.
//!
//! - A kernel or a copy takes 2,517 bytes (10,000 of them took 24 MiB), a memset 210, an empty node nothing.
//! - A graph takes blocks of 128 KiB: 512 graphs of ten kernels took 66 MiB.
//! - Uploading and launching take nothing more. Nothing comes back when executables are destroyed: the next ones use it.
//!
//! The software device has no executables in device memory; the estimate is that of an H200 there too, so that a budget
//! means the same on both.

use crate::arrange::Arrangement;
use crate::record::{Node, Work};

/// Bytes of an executable for each kernel and each copy.
const NODE: usize = 2_517;
/// For each memset.
const MEMSET: usize = 210;
/// What an executable takes is a multiple of this.
const BLOCK: usize = 128 << 10;

/// Bytes of device memory that an executable with so many nodes of each kind takes. An empty node takes nothing.
pub(crate) fn executable_of(kernels: usize, copies: usize, memsets: usize, _empty: usize) -> usize {
    let nodes = kernels.saturating_add(copies).saturating_mul(NODE);
    let bytes = nodes.saturating_add(memsets.saturating_mul(MEMSET));
    bytes.checked_next_multiple_of(BLOCK).unwrap_or(usize::MAX)
}

/// What a driver that had no memory for an executable was asked for, at least: it takes whole blocks, one for a graph of
/// no ops too.
pub(crate) fn asked_for(executable: usize) -> usize {
    executable.max(BLOCK)
}

/// The estimate for a plan. Foreign work counts as one kernel each: how many nodes it makes is known too late.
pub(crate) fn executable_bytes(nodes: &[Node], arrangement: &Arrangement) -> usize {
    let (mut kernels, mut copies, mut memsets) = (0, 0, 0);
    for node in nodes {
        match &node.work {
            Work::Branch(branch) if branch.is_guarded => {}
            Work::Kernel(_) | Work::Foreign(_) | Work::Captured | Work::Branch(_) => kernels += 1,
            Work::Copy | Work::Upload(_) | Work::Download(_) => copies += 1,
            Work::Fill(_) => memsets += 1,
        }
    }
    executable_of(kernels, copies, memsets, arrangement.joins())
}
