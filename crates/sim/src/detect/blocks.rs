//! Races between the blocks of one kernel in global memory: two blocks touch a byte, one of them by a plain write, and
//! nothing orders them. What does is in `fences`.
//!
//! - Atomics and strong accesses of the device's scope are harmless to each other, and to nobody else. Two writes race
//!   also where they write the same value.
//! - Threads of one block are not compared here.
//! - A *site* is a warp of a block, at one time, with an instruction. A *cell* stands for 4 bytes, or fewer where an
//!   allocation is touched in smaller pieces. It holds, with its lane each, who wrote last and who has read since: one
//!   site, or two of different blocks, whose number is that of a pair. A third reader is not kept: a writer that is
//!   ordered behind two of three readers is not reported, and nothing is invented.
//! - All of it belongs to one launch: its end orders everything.

use std::collections::HashMap;

use super::fences::Fences;
use crate::memory::{Memory, zeroed_words};

/// A site's number and a lane, or a pair's number with [`PAIR`] in it; 0: nobody.
type Part = u32;

/// Marks the number of a pair.
const PAIR: u32 = 1 << 31;
/// Bits of a lane in each part of a cell.
const LANES: u64 = 31 | 31 << 32;
/// Sites or pairs kept; then everything so far is forgotten.
const KEPT_MAX: usize = 1 << 22;

/// A warp of a block at one time, and what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) block: u32,
    pub(crate) warp: u16,
    time: u32,
    /// Its record.
    pub(crate) place: u32,
    pub(crate) strong: bool,
}

/// The other side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Other {
    pub(crate) site: Site,
    pub(crate) lane: u32,
    pub(crate) writes: bool,
}

/// A race: where, by which lane, with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    pub(crate) address: u64,
    pub(crate) lane: u32,
    pub(crate) other: Other,
}

/// Who touches memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct By {
    pub(crate) block: u32,
    pub(crate) warp: u16,
    pub(crate) place: u32,
    pub(crate) strong: bool,
    pub(crate) writes: bool,
}

/// What an instruction of a warp has made of the last cell that it found, so that the same can be made of others like it.
#[derive(Clone, Copy, Default)]
struct Memo {
    block: u32,
    time: u32,
    /// Its site's number and no lane; 0: none yet.
    site: Part,
    slot: u32,
    /// A cell without its lanes, before and behind.
    old: u64,
    new: u64,
    /// What of the cell stays, and what gets the lane.
    keep: u64,
    lane: u64,
    /// There is such a cell.
    known: bool,
}

/// Bytes that a page of cells stands for. A launch pays for what it touches, not for the allocations that it touches it in.
const PAGE: u64 = 1 << 14;

/// Cells of one allocation, in pages that are made when they are first touched.
struct Shadow {
    base: u64,
    bytes: u64,
    pages: Vec<Option<Page>>,
}

struct Page {
    /// A grain is this power of two bytes.
    shift: u32,
    cells: Vec<u64>,
}

impl Shadow {
    fn new(base: u64, bytes: u64) -> Shadow {
        let mut pages = Vec::new();
        pages.resize_with(bytes.div_ceil(PAGE) as usize, || None);
        Shadow { base, bytes, pages }
    }
}

impl Page {
    /// Four bytes a grain, or fewer.
    fn new(shift: u32) -> Option<Page> {
        Some(Page { shift, cells: zeroed_words((PAGE >> shift) as usize)? })
    }

    /// Smaller grains, each with what the larger one has; false where the host has no memory for them.
    fn refine(&mut self, shift: u32) -> bool {
        let Some(mut finer) = Page::new(shift) else { return false };
        let by = self.shift - shift;
        for (at, cell) in self.cells.iter().enumerate().filter(|(_, cell)| **cell != 0) {
            finer.cells[at << by..(at + 1) << by].fill(*cell);
        }
        *self = finer;
        true
    }
}

/// The global memory that a launch touches, and who has touched it.
pub(crate) struct BlocksWatch {
    pub(crate) parties: Parties,
    shadows: Vec<Option<Shadow>>,
    /// Of each warp of a block, for each instruction; none before the warp touches anything.
    memos: Vec<Vec<Memo>>,
    instructions: usize,
}

/// All whom cells may name, and what orders them.
pub(crate) struct Parties {
    pub(crate) fences: Fences,
    sites: Vec<Site>,
    pairs: Vec<(Part, Part)>,
    interned: HashMap<(Part, Part), u32>,
}

impl BlocksWatch {
    /// For blocks of so many warps, and a kernel with so many loads, stores, atomics and copies.
    pub(crate) fn new(warps: usize, instructions: usize) -> BlocksWatch {
        let nobody = Site { block: 0, warp: 0, time: 0, place: 0, strong: true };
        let parties =
            Parties { fences: Fences::new(warps), sites: vec![nobody], pairs: Vec::new(), interned: HashMap::new() };
        BlocksWatch { parties, shadows: Vec::new(), memos: vec![Vec::new(); warps], instructions }
    }

    /// The lanes in `mask` are about to touch `total` bytes each, by instruction number `instruction`; gives a race.
    /// Lanes outside of allocations are left out.
    #[inline]
    pub(crate) fn touch(
        &mut self,
        memory: &Memory,
        by: By,
        instruction: usize,
        addresses: &[u64; 32],
        mask: u32,
        total: u32,
    ) -> Option<Race> {
        if self.parties.are_many() {
            self.forget();
        }
        let memos = &mut self.memos[usize::from(by.warp)];
        if memos.is_empty() {
            memos.resize(self.instructions, Memo::default());
        }
        let memo = &mut memos[instruction];
        let time = self.parties.fences.now(by.block);
        if (memo.block, memo.time) != (by.block, time) || memo.site == 0 {
            let site = self.parties.add(by, time);
            *memo = Memo { block: by.block, time, site, slot: memo.slot, ..Memo::default() };
        }
        let mut race = None;
        let (mut rest, mut before) = (mask, (u64::MAX, 0));
        while rest != 0 {
            // Neighbours that follow each other, or agree, are touched at once: half a warp often does.
            let lane = rest.trailing_zeros();
            let start = addresses[lane as usize];
            let active = (rest >> lane).trailing_ones();
            let lanes = &addresses[lane as usize..(lane + active) as usize];
            let follows = lanes.windows(2).take_while(|two| two[1] == two[0].wrapping_add(total.into())).count() as u32;
            let agrees = lanes.iter().take_while(|address| **address == start).count() as u32;
            let (covered, count) = if follows > 0 { (follows + 1, follows + 1) } else { (agrees, 1) };
            rest &= !(u32::MAX >> (32 - covered) << lane);
            if before == (start, count) {
                continue;
            }
            before = (start, count);
            let run = Run { address: start, lane, lanes: count, total };
            let found = touch_run(&mut self.shadows, &mut self.parties, memory, by, memo, run);
            race = race.or(found);
        }
        race
    }

    /// Nobody has touched anything: what was before is not found any more.
    fn forget(&mut self) {
        self.shadows.clear();
        self.memos.iter_mut().for_each(Vec::clear);
        self.parties.sites.truncate(1);
        self.parties.pairs.clear();
        self.parties.interned.clear();
    }
}

/// Lanes that touch a range together, one behind the other.
#[derive(Clone, Copy)]
struct Run {
    address: u64,
    lane: u32,
    lanes: u32,
    /// Bytes of each.
    total: u32,
}

#[inline]
fn touch_run(
    shadows: &mut Vec<Option<Shadow>>,
    parties: &mut Parties,
    memory: &Memory,
    by: By,
    memo: &mut Memo,
    run: Run,
) -> Option<Race> {
    let Run { address, lane, lanes, total } = run;
    let slot = match memory.slot(memo.slot) {
        Some(slot) if address.wrapping_sub(slot.base) < slot.bytes => slot,
        _ => {
            memo.slot = memory.slot_index(address)?;
            memory.slot(memo.slot)?
        }
    };
    let offset = address - slot.base;
    // What runs over the end is the access's own to report.
    let bytes = (u64::from(lanes) * u64::from(total)).min(slot.bytes - offset);
    let number = memo.slot as usize;
    if shadows.len() <= number {
        shadows.resize_with(number + 1, || None);
    }
    let fits = |shadow: &Shadow| (shadow.base, shadow.bytes) == (slot.base, slot.bytes);
    if !shadows[number].as_ref().is_some_and(fits) {
        shadows[number] = Some(Shadow::new(slot.base, slot.bytes));
    }
    let shadow = shadows[number].as_mut()?;
    let grain = (offset | u64::from(total)).trailing_zeros().min(2);
    let mut race = None;
    let (mut at, end) = (offset, offset + bytes);
    while at < end {
        let upto = end.min((at / PAGE + 1) * PAGE);
        let page = &mut shadow.pages[(at / PAGE) as usize];
        if page.is_none() {
            *page = Page::new(2);
        }
        let page = page.as_mut()?;
        if grain < page.shift && !page.refine(grain) {
            return None;
        }
        let within = |offset: u64| ((offset % PAGE) >> page.shift) as usize;
        let first = within(at);
        let cells = first..=within(upto - 1);
        let per_lane = total.ilog2().saturating_sub(page.shift);
        let lane = lane + ((at - offset) / u64::from(total)) as u32;
        let shift = page.shift;
        let found = parties.touch_cells(by, memo, &mut page.cells[cells], lane, per_lane);
        race = race.or(found.map(|(cell, other)| Race {
            address: slot.base + (at / PAGE * PAGE + (((first + cell) as u64) << shift)).max(at),
            lane: lane + (cell >> per_lane) as u32,
            other,
        }));
        at = upto;
    }
    race
}

impl Parties {
    fn are_many(&self) -> bool {
        self.sites.len() >= KEPT_MAX || self.pairs.len() >= KEPT_MAX
    }

    /// A new site; its number with no lane.
    fn add(&mut self, by: By, time: u32) -> Part {
        let site = Site { block: by.block, warp: by.warp, time, place: by.place, strong: by.strong };
        self.sites.push(site);
        ((self.sites.len() - 1) as u32) << 5
    }

    /// The first cell with a conflict, and whom it is with.
    #[inline]
    fn touch_cells(
        &mut self,
        by: By,
        memo: &mut Memo,
        cells: &mut [u64],
        lane: u32,
        per_lane: u32,
    ) -> Option<(usize, Other)> {
        // The usual case: a row of cells, all as this instruction found the last one.
        if memo.known && cells.iter().all(|cell| cell & !LANES == memo.old) {
            let Memo { keep, new, lane: spread, .. } = *memo;
            let set = new & !keep;
            for (at, cell) in cells.iter_mut().enumerate() {
                *cell = (*cell & keep) | set | ((u64::from(lane) + (at as u64 >> per_lane)) * spread);
            }
            return None;
        }
        let mut conflict = None;
        // While no block knows of another, a pair of readers is what it will stay.
        let is_settled = |cell: u64, any: bool| !by.writes && !any && cell as u32 == 0 && cell >> 63 == 1;
        for (at, cell) in cells.iter_mut().enumerate() {
            let lane = lane + (at >> per_lane) as u32;
            let bare = *cell & !LANES;
            if (memo.known && bare == memo.new) || is_settled(*cell, self.fences.any_order) {
                continue;
            }
            if memo.known && bare == memo.old {
                *cell = (*cell & memo.keep) | (memo.new & !memo.keep) | (u64::from(lane) * memo.lane);
                continue;
            }
            let (new, other) = self.change(by, memo, *cell, lane);
            *cell = new;
            if let Some(other) = other {
                conflict.get_or_insert((at, other));
            }
        }
        conflict
    }

    /// The cell after a lane has touched it, and whom that conflicts with.
    #[inline(never)]
    fn change(&mut self, by: By, memo: &mut Memo, cell: u64, lane: u32) -> (u64, Option<Other>) {
        let (writer, readers) = (cell as u32, (cell >> 32) as u32);
        let me = memo.site | lane;
        let mut conflict = self.conflict(by, writer, true);
        let (new_writer, new_readers) = if by.writes {
            let [a, b] = self.members(readers);
            conflict = conflict.or_else(|| self.conflict(by, a, false)).or_else(|| self.conflict(by, b, false));
            // A plain access of this block's own is still in danger where its atomic is not.
            let kept = |part: Part| by.strong && part != 0 && self.is_own_plain(by, part);
            (if kept(writer) { writer } else { me }, if b == 0 && kept(a) { readers } else { 0 })
        } else {
            (writer, self.with_reader(by, readers, me))
        };
        let new = u64::from(new_writer) | u64::from(new_readers) << 32;
        let mut keep = 0;
        let mut spread = 0;
        for (part, was, shift) in [(new_writer, writer, 0), (new_readers, readers, 32)] {
            match part {
                part if part == was => keep |= u64::from(u32::MAX) << shift,
                part if part == me => spread |= 1 << shift,
                0 => {}
                // A new pair: nothing that could be made of another cell.
                _ => {
                    memo.known = false;
                    return (new, conflict);
                }
            }
        }
        (memo.old, memo.new, memo.keep, memo.lane) = (cell & !LANES, new & !LANES, keep, spread);
        // A conflict is found again in every cell, so that the first one is the one that is told.
        memo.known = conflict.is_none();
        (new, conflict)
    }

    fn site(&self, part: Part) -> Site {
        self.sites[(part >> 5) as usize]
    }

    fn members(&self, part: Part) -> [Part; 2] {
        match part & PAIR {
            0 => [part, 0],
            _ => self.pairs.get(((part & !PAIR) >> 5) as usize).map_or([0; 2], |&(a, b)| [a, b]),
        }
    }

    fn is_own_plain(&self, by: By, part: Part) -> bool {
        let site = self.site(part);
        site.block == by.block && !site.strong
    }

    /// Is what a site did ordered before `by`? All of one block counts as ordered.
    fn is_before(&self, by: By, site: Site) -> bool {
        site.block == by.block
            || (self.fences.any_order && self.fences.knows((by.block, by.warp), (site.block, site.warp, site.time)))
    }

    fn conflict(&self, by: By, part: Part, writes: bool) -> Option<Other> {
        if part == 0 {
            return None;
        }
        let site = self.site(part);
        if (site.strong && by.strong) || self.is_before(by, site) {
            return None;
        }
        Some(Other { site, lane: part & 31, writes })
    }

    /// The readers of a cell with one more.
    fn with_reader(&mut self, by: By, readers: Part, me: Part) -> Part {
        let [a, b] = self.members(readers);
        // One that is ordered before this one is replaced, unless it is a plain one and this is not.
        let replaced = |part: Part| {
            let site = self.site(part);
            self.is_before(by, site) && (by.strong <= site.strong)
        };
        let covered = |part: Part| {
            let site = self.site(part);
            site.block == by.block && site.strong <= by.strong && site.time == self.fences.now(by.block)
        };
        match (a, b) {
            (0, _) => me,
            (a, _) if covered(a) => readers,
            (a, 0) if replaced(a) => me,
            (a, 0) if self.site(a).block == by.block => readers,
            (a, 0) => self.pair(a, me),
            (_, b) if covered(b) => readers,
            (a, b) if replaced(a) => self.pair(b, me),
            (a, b) if replaced(b) => self.pair(a, me),
            _ => readers,
        }
    }

    /// The number of a pair; of different blocks.
    fn pair(&mut self, a: Part, b: Part) -> Part {
        if self.site(a).block == self.site(b).block {
            return b;
        }
        let number = *self.interned.entry((a, b)).or_insert_with(|| {
            self.pairs.push((a, b));
            self.pairs.len() as u32 - 1
        });
        PAIR | number << 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Kind, MemoryOptions, Request};

    struct Bench {
        memory: Memory,
        watch: BlocksWatch,
        base: u64,
    }

    const PLAIN_READ: (bool, bool) = (false, false);
    const PLAIN_WRITE: (bool, bool) = (false, true);
    const ATOMIC: (bool, bool) = (true, true);
    const STRONG_READ: (bool, bool) = (true, false);

    impl Bench {
        fn new() -> Bench {
            let mut memory = Memory::new(MemoryOptions { capacity: 1 << 20, seed: 0 });
            let base = memory.alloc(Request { bytes: 1024, align: 512, kind: Kind::Device, label: "x" }).unwrap();
            Bench { memory, watch: BlocksWatch::new(2, 16), base }
        }

        /// A lane touches so many bytes at `offset`. The instruction's number is that of how.
        fn lane(&mut self, block: u32, how: (bool, bool), offset: u64, bytes: u32) -> Option<Race> {
            let place = u32::from(how.0) * 8 + u32::from(how.1) * 4 + bytes.ilog2();
            let by = By { block, warp: 0, place, strong: how.0, writes: how.1 };
            let addresses = [self.base + offset; 32];
            self.watch.touch(&self.memory, by, place as usize, &addresses, 1 << 3, bytes)
        }

        /// A whole warp touches a row of words.
        fn row(&mut self, block: u32, how: (bool, bool)) -> Option<Race> {
            let place = u32::from(how.0) * 8 + u32::from(how.1) * 4 + 2;
            let by = By { block, warp: 0, place, strong: how.0, writes: how.1 };
            let addresses = std::array::from_fn(|lane| self.base + 4 * lane as u64);
            self.watch.touch(&self.memory, by, place as usize, &addresses, u32::MAX, 4)
        }
    }

    #[test]
    fn two_blocks_conflict_where_one_writes_plainly() {
        let all = [PLAIN_READ, PLAIN_WRITE, ATOMIC, STRONG_READ];
        for first in all {
            for second in all {
                let mut b = Bench::new();
                assert_eq!(b.lane(0, first, 8, 4), None);
                assert_eq!(b.lane(0, second, 8, 4), None, "one block");
                let mut b = Bench::new();
                b.lane(0, first, 8, 4);
                let harmless = (first.0 && second.0) || (!first.1 && !second.1);
                let race = b.lane(1, second, 8, 4);
                assert_eq!(race.is_none(), harmless, "{first:?} {second:?}");
                if let Some(race) = race {
                    assert_eq!((race.address, race.lane), (b.base + 8, 3));
                    assert_eq!((race.other.site.block, race.other.lane, race.other.writes), (0, 3, first.1));
                }
            }
        }
    }

    #[test]
    fn a_row_over_the_edge_of_a_page_is_one_row() {
        let mut b = Bench::new();
        let bytes = 3 * PAGE;
        b.base = b.memory.alloc(Request { bytes, align: 512, kind: Kind::Device, label: "y" }).unwrap();
        let base = b.base;
        b.base += PAGE - 4 * 20;
        b.row(0, PLAIN_WRITE);
        for lane in [0, 19, 20, 31] {
            let race = b.lane(1, PLAIN_READ, 4 * lane, 4).expect("a race");
            assert_eq!((race.other.lane, race.address), (lane as u32, base + PAGE - 80 + 4 * lane));
        }
        assert_eq!(b.lane(1, PLAIN_READ, 4 * 32, 4), None);
        b.base = base;
        b.lane(2, PLAIN_WRITE, PAGE - 64, 8);
        let race = b.lane(1, PLAIN_WRITE, PAGE - 57, 1).expect("a race");
        assert_eq!(race.address, base + PAGE - 57);
    }

    #[test]
    fn bytes_are_told_apart() {
        let mut b = Bench::new();
        b.lane(0, PLAIN_WRITE, 0, 2);
        assert_eq!(b.lane(1, PLAIN_WRITE, 2, 2), None);
        assert!(b.lane(1, PLAIN_WRITE, 1, 1).is_some());
        let mut b = Bench::new();
        b.lane(0, PLAIN_WRITE, 0, 4);
        assert!(b.lane(1, PLAIN_READ, 3, 1).is_some(), "a word that was written whole");
        let mut b = Bench::new();
        b.lane(0, PLAIN_WRITE, 0, 8);
        assert!(b.lane(1, PLAIN_READ, 4, 4).is_some(), "the second half of a double word");
    }

    #[test]
    fn a_row_names_its_lanes() {
        let mut b = Bench::new();
        assert_eq!(b.row(0, PLAIN_WRITE), None);
        let race = b.lane(1, PLAIN_READ, 4 * 17, 4).expect("a race");
        assert_eq!((race.other.lane, race.other.site.place), (17, 6));
        let mut b = Bench::new();
        b.lane(0, PLAIN_WRITE, 4 * 9, 4);
        let race = b.row(1, PLAIN_READ).expect("a race");
        assert_eq!((race.address, race.lane, race.other.lane), (b.base + 36, 9, 3));
    }

    #[test]
    fn of_two_readers_at_least_one_is_found() {
        for writer in [0, 1, 2] {
            let mut b = Bench::new();
            b.row(0, PLAIN_READ);
            b.row(1, PLAIN_READ);
            b.row(2, PLAIN_READ);
            let race = b.row(writer, PLAIN_WRITE).expect("a race");
            assert_ne!(race.other.site.block, writer);
        }
    }

    #[test]
    fn a_plain_store_is_in_danger_behind_an_atomic_of_the_same_block() {
        let mut b = Bench::new();
        b.lane(0, PLAIN_WRITE, 0, 4);
        b.lane(0, ATOMIC, 0, 4);
        assert!(b.lane(1, ATOMIC, 0, 4).is_some());
        let mut b = Bench::new();
        b.lane(0, PLAIN_READ, 0, 4);
        b.lane(0, ATOMIC, 0, 4);
        assert!(b.lane(1, ATOMIC, 0, 4).is_some());
    }

    #[test]
    fn order_ends_a_conflict_and_what_comes_behind_it_begins_another() {
        let mut b = Bench::new();
        b.row(0, PLAIN_WRITE);
        b.watch.parties.fences.wrote(0, 0, 1, true);
        b.watch.parties.fences.read(1, 0, 1, true);
        assert_eq!(b.row(1, PLAIN_READ), None);
        assert!(b.row(2, PLAIN_READ).is_some(), "who has acquired nothing");
        let mut b = Bench::new();
        b.row(0, PLAIN_WRITE);
        b.watch.parties.fences.wrote(0, 0, 1, true);
        b.row(0, PLAIN_WRITE);
        b.watch.parties.fences.read(1, 0, 1, true);
        assert!(b.row(1, PLAIN_READ).is_some(), "written again behind the release");
    }

    #[test]
    fn the_same_again_costs_no_new_site() {
        let mut b = Bench::new();
        for _ in 0..10 {
            b.row(0, PLAIN_READ);
            b.row(0, PLAIN_WRITE);
        }
        assert_eq!(b.watch.parties.sites.len(), 3);
    }
}
