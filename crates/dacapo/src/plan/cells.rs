//! Cuts each memory where some touch begins or ends, so that a touch is a range of whole cells.
//!
//! A memory that is only ever touched as one range (the usual case: whole allocations) is one cell, and nothing is sorted
//! for it.

use super::{NONE, TouchedBytes, number};

/// Where a touch lies: cells `from..to` of a memory that has `cells` of them, whose tree begins at node `root`.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellRange {
    pub root: u32,
    pub cells: u32,
    pub from: u32,
    pub to: u32,
}

/// The cells of all memories that a recording touches.
pub(super) struct Cells {
    /// For each touch, in order, the index of its memory; `NONE` for an empty one.
    memory_of: Vec<u32>,
    /// Where each touch lies; empty when no memory is cut: then each is one cell, and the node of its index.
    ranges: Vec<CellRange>,
    nodes: usize,
}

struct Memory {
    start: u64,
    end: u64,
    root: u32,
    /// Where cells begin and end, ascending; empty when `start..end` is the only one.
    cuts: Vec<u64>,
    is_cut: bool,
}

impl Cells {
    /// The cells of `ops`.
    pub(super) fn new<'a>(ops: impl Iterator<Item = &'a [TouchedBytes]> + Clone) -> Cells {
        let mut numbers = Numbers::default();
        let mut memories: Vec<Memory> = Vec::new();
        let mut memory_of = Vec::with_capacity(ops.clone().map(|op| op.len()).sum());
        let mut is_cut = false;
        for op in ops.clone() {
            for touch in op {
                if touch.start >= touch.end {
                    memory_of.push(NONE);
                    continue;
                }
                let index = numbers.index_of(touch.memory);
                memory_of.push(index);
                match memories.get_mut(index as usize) {
                    Some(memory) if memory.start == touch.start && memory.end == touch.end => {}
                    Some(memory) => {
                        memory.is_cut = true;
                        is_cut = true;
                    }
                    None => {
                        let (start, end) = (touch.start, touch.end);
                        memories.push(Memory { start, end, root: 0, cuts: Vec::new(), is_cut: false });
                    }
                }
            }
        }
        if !is_cut {
            return Cells { memory_of, ranges: Vec::new(), nodes: memories.len() };
        }
        for (touch, index) in ops.clone().flatten().zip(&memory_of) {
            let Some(memory) = memories.get_mut(*index as usize) else { continue };
            // The same range again and again is common, and would only be sorted away.
            if memory.is_cut && !memory.cuts.ends_with(&[touch.start, touch.end]) {
                memory.cuts.extend([touch.start, touch.end]);
            }
        }
        let mut nodes = 0;
        for memory in &mut memories {
            memory.cuts.sort_unstable();
            memory.cuts.dedup();
            memory.root = number(nodes);
            nodes += 2 * memory.cells() - 1;
        }
        let range = |(touch, index): (&TouchedBytes, &u32)| match memories.get(*index as usize) {
            Some(memory) => memory.range(touch),
            None => CellRange::whole(NONE),
        };
        let ranges = ops.flatten().zip(&memory_of).map(range).collect();
        Cells { memory_of, ranges, nodes }
    }

    /// How many nodes the trees of all memories have: 2n - 1 for n cells.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Whether no memory is cut.
    pub(super) fn are_whole(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Where the touch that is `nth` of the whole recording lies, if no memory is cut; `None` if it is empty.
    #[inline]
    pub(super) fn whole(&self, nth: usize) -> Option<CellRange> {
        match self.memory_of[nth] {
            NONE => None,
            index => Some(CellRange::whole(index)),
        }
    }

    /// The same, if one is.
    #[inline]
    pub(super) fn range(&self, nth: usize) -> Option<CellRange> {
        (self.memory_of[nth] != NONE).then(|| self.ranges[nth])
    }
}

impl CellRange {
    /// All of a memory that has one cell.
    #[inline]
    fn whole(root: u32) -> CellRange {
        CellRange { root, cells: 1, from: 0, to: 1 }
    }
}

impl Memory {
    fn range(&self, touch: &TouchedBytes) -> CellRange {
        if self.cuts.is_empty() {
            return CellRange::whole(self.root);
        }
        let cell = |at: u64| number(self.cuts.binary_search(&at).expect("each touch cut its memory at both ends"));
        CellRange { root: self.root, cells: number(self.cells()), from: cell(touch.start), to: cell(touch.end) }
    }

    fn cells(&self) -> usize {
        self.cuts.len().max(2) - 1
    }
}

/// Dense indices for arbitrary numbers, in the order of their first appearance.
#[derive(Default)]
struct Numbers {
    seen: Vec<u32>,
    /// Indices into `seen`, open addressing; empty as long as looking through `seen` is faster.
    table: Vec<u32>,
}

impl Numbers {
    const FEW: usize = 8;

    #[inline]
    fn index_of(&mut self, memory: u32) -> u32 {
        if self.table.is_empty() {
            if let Some(index) = self.seen.iter().position(|seen| *seen == memory) {
                return number(index);
            }
        } else {
            let at = self.slot(memory);
            if self.table[at] != NONE {
                return self.table[at];
            }
        }
        self.enter(memory)
    }

    /// The next index is that of a memory which was not seen yet.
    #[cold]
    fn enter(&mut self, memory: u32) -> u32 {
        let index = number(self.seen.len());
        self.seen.push(memory);
        if self.seen.len() > Self::FEW && self.seen.len() * 2 > self.table.len() {
            self.table = vec![NONE; self.seen.len().next_power_of_two() * 4];
            for known in 0..self.seen.len() {
                let at = self.slot(self.seen[known]);
                self.table[at] = number(known);
            }
        } else if !self.table.is_empty() {
            let at = self.slot(memory);
            self.table[at] = index;
        }
        index
    }

    /// Where `memory` is in the table, or the empty place where it belongs.
    fn slot(&self, memory: u32) -> usize {
        let mask = self.table.len() - 1;
        // Fibonacci hashing: allocation numbers are often consecutive, and then this spreads them evenly.
        let mut at = (u64::from(memory).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.table[at] != NONE && self.seen[self.table[at] as usize] != memory {
            at = (at + 1) & mask;
        }
        at
    }
}
