//! The heap that kernels allocate from with `malloc` and `free`.
//!
//! Every block is an allocation of its own, with exact bounds: a kernel that leaves one is found out, as is one that uses it
//! after `free`. The program does not see them: no call of the driver takes their addresses, as on an H200. They live until
//! they are freed or their context ends.

use super::{Kind, Memory, Request};

/// Bytes that blocks may take together, until a program sets another limit.
const FIRST_LIMIT: u64 = 8 << 20;
/// What a block takes of the heap is a multiple of this.
const GRAIN: u64 = 16;

/// How much of the heap is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heap {
    limit: u64,
    used: u64,
}

impl Default for Heap {
    fn default() -> Heap {
        Heap { limit: FIRST_LIMIT, used: 0 }
    }
}

impl Memory {
    /// How many bytes there are from now on.
    pub(crate) fn set_heap_limit(&mut self, bytes: u64) {
        self.heap.limit = bytes;
    }

    /// A block for a kernel, or 0. A block of no bytes is one, too, as observed.
    pub(crate) fn heap_alloc(&mut self, bytes: u64, label: &str) -> u64 {
        let Some(taken) = bytes.max(1).checked_next_multiple_of(GRAIN) else { return 0 };
        // Some of the heap is its own: a block as large as all of it was seen to be refused.
        if self.heap.used.checked_add(taken).is_none_or(|used| used >= self.heap.limit) {
            return 0;
        }
        let Ok(address) = self.alloc(Request { bytes, align: 16, kind: Kind::Heap, label }) else { return 0 };
        self.heap.used += taken;
        address
    }

    /// Whether there was such a block.
    pub(crate) fn heap_free(&mut self, address: u64) -> bool {
        let Some((bytes, Kind::Heap)) = self.begins_at(address) else { return false };
        self.heap.used -= bytes.max(1).next_multiple_of(GRAIN);
        self.free(address).is_some()
    }

    /// The end of every block of a device.
    pub(crate) fn heap_clear(&mut self, device: usize) {
        let all = self.all().filter(|(_, _, kind)| *kind == Kind::Heap).map(|(base, ..)| base);
        let is_its = |base: &u64| self.home_at(*base).is_none_or(|home| home.device == device);
        let blocks: Vec<u64> = all.filter(is_its).collect();
        for block in blocks {
            self.heap_free(block);
        }
        self.heap.limit = FIRST_LIMIT;
    }
}
