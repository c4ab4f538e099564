//! What orders the blocks of one kernel (PTX ISA, memory consistency model).
//!
//! - A warp *releases* at an address by an atomic or a strong store: by one with `.release` all that it knows, else all
//!   that it knew at its last fence. It *acquires* there what was released before: by an atomic or a strong load with
//!   `.acquire` at once, else at its next fence. A relaxed access with no fence on its side orders nothing.
//! - A fence counts from the scope of the device on, and so do atomics and strong accesses. `.volatile` is relaxed. An
//!   atomic without an order is relaxed.
//! - A barrier of a block joins all its warps: what one knows, has fenced or has still to fence, all do. So do atomics
//!   and strong accesses in shared memory. That is more than PTX promises for a part of the warps, and for a fence of
//!   another thread; what is between them is not reported.
//! - The threads of a warp count as one.
//! - Grid barriers, locks and the last block of a reduction are made of these.
//!
//! Each block counts its own time, which moves at fences, releases and barriers. What is known of another block is the
//! time up to which all of its warps are known, and for single warps a later one.

use std::collections::HashMap;

/// Up to when the warps of a block are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Upto {
    /// All of them.
    all: u32,
    /// Some of them, further.
    warps: Vec<(u16, u32)>,
}

impl Upto {
    fn holds(&self, warp: u16, time: u32) -> bool {
        time <= self.all || self.warps.iter().any(|&(of, upto)| of == warp && time <= upto)
    }

    fn join(&mut self, other: &Upto) {
        self.all = self.all.max(other.all);
        for &(warp, upto) in &other.warps {
            match self.warps.iter_mut().find(|(of, _)| *of == warp) {
                Some((_, known)) => *known = upto.max(*known),
                None => self.warps.push((warp, upto)),
            }
        }
        let all = self.all;
        self.warps.retain(|(_, upto)| *upto > all);
    }
}

/// What is known of other blocks.
#[derive(Clone, Debug, Default)]
struct Known(HashMap<u32, Upto>);

impl Known {
    fn join(&mut self, other: &Known) {
        for (block, upto) in &other.0 {
            self.0.entry(*block).or_default().join(upto);
        }
    }

    fn take(&mut self) -> Known {
        std::mem::take(self)
    }
}

/// What was released at an address, and how often: who has acquired this often has got all of it.
#[derive(Default)]
struct Released {
    version: u32,
    known: Known,
}

#[derive(Default)]
struct WarpClock {
    /// Acquired since the last barrier.
    own: Known,
    /// Read by relaxed accesses, and not fenced yet.
    pending: Known,
    /// What it knew at its last fence, itself among it.
    fenced: Option<Known>,
    /// Where it has acquired last, and which version.
    seen: Option<(u64, u32)>,
}

/// What a block knows.
struct BlockClock {
    now: u32,
    /// All of its warps know of each other up to here.
    floor: u32,
    common: Known,
    pending: Known,
    fenced: Option<Known>,
    warps: Vec<WarpClock>,
}

impl BlockClock {
    fn new(warps: usize) -> BlockClock {
        BlockClock {
            now: 1,
            floor: 0,
            common: Known::default(),
            pending: Known::default(),
            fenced: None,
            warps: (0..warps).map(|_| WarpClock::default()).collect(),
        }
    }

    /// All that a warp knows now, its own doing among it.
    fn all_of(&self, block: u32, warp: u16) -> Known {
        let mut known = self.common.clone();
        known.join(&self.warps[usize::from(warp)].own);
        known.0.insert(block, Upto { all: self.floor, warps: vec![(warp, self.now)] });
        known
    }
}

/// The order of the blocks of a launch, as far as they have made one.
pub(crate) struct Fences {
    warps: usize,
    blocks: HashMap<u32, BlockClock>,
    addresses: HashMap<u64, Released>,
    /// Somebody has acquired something: before that no block knows of another.
    pub(super) any_order: bool,
}

impl Fences {
    /// For blocks of so many warps.
    pub(crate) fn new(warps: usize) -> Fences {
        Fences { warps, blocks: HashMap::new(), addresses: HashMap::new(), any_order: false }
    }

    fn block(&mut self, block: u32) -> &mut BlockClock {
        let warps = self.warps;
        self.blocks.entry(block).or_insert_with(|| BlockClock::new(warps))
    }

    /// The block's time; it has none that moves before it synchronises with anybody.
    pub(crate) fn now(&self, block: u32) -> u32 {
        self.blocks.get(&block).map_or(1, |clock| clock.now)
    }

    /// Does a warp know what a warp of another block did at `time`?
    pub(crate) fn knows(&self, (block, warp): (u32, u16), (of, its, time): (u32, u16, u32)) -> bool {
        let Some(clock) = self.blocks.get(&block) else { return false };
        let holds = |known: &Known| known.0.get(&of).is_some_and(|upto| upto.holds(its, time));
        holds(&clock.common) || clock.warps.get(usize::from(warp)).is_some_and(|warp| holds(&warp.own))
    }

    /// A warp comes to a fence of the device's scope or a wider one.
    pub(crate) fn fence(&mut self, block: u32, warp: u16) {
        let clock = self.block(block);
        let pending = clock.pending.clone();
        let own = &mut clock.warps[usize::from(warp)];
        let mine = own.pending.take();
        own.own.join(&mine);
        own.own.join(&pending);
        let gained = !mine.0.is_empty() || !pending.0.is_empty();
        let all = clock.all_of(block, warp);
        clock.warps[usize::from(warp)].fenced = Some(all);
        clock.now += 1;
        self.any_order |= gained;
    }

    /// A warp reads an address by an atomic or a strong load: `acquires`, or it will by a fence.
    pub(crate) fn read(&mut self, block: u32, warp: u16, address: u64, acquires: bool) {
        let Some(released) = self.addresses.get(&address) else { return };
        let warps = self.warps;
        let clock = self.blocks.entry(block).or_insert_with(|| BlockClock::new(warps));
        let warp = &mut clock.warps[usize::from(warp)];
        let seen = (address, released.version);
        if acquires {
            warp.own.join(&released.known);
            self.any_order = true;
        } else if warp.seen != Some(seen) {
            warp.pending.join(&released.known);
            warp.seen = Some(seen);
        }
    }

    /// A warp writes an address by an atomic or a strong store: `releases`, or has by its last fence.
    pub(crate) fn wrote(&mut self, block: u32, warp: u16, address: u64, releases: bool) {
        let clock = self.block(block);
        let known = match releases {
            true => Some(clock.all_of(block, warp)),
            false => {
                let own = clock.warps[usize::from(warp)].fenced.as_ref();
                match (own, &clock.fenced) {
                    (Some(own), Some(common)) => {
                        let mut all = common.clone();
                        all.join(own);
                        Some(all)
                    }
                    (own, common) => own.or(common.as_ref()).cloned(),
                }
            }
        };
        clock.now += u32::from(releases);
        if let Some(known) = known {
            let released = self.addresses.entry(address).or_default();
            released.known.join(&known);
            released.version += 1;
        }
    }

    /// Warps of a block have met.
    pub(crate) fn meet(&mut self, block: u32) {
        let clock = self.block(block);
        clock.floor = clock.now;
        clock.now += 1;
        let mut warps = std::mem::take(&mut clock.warps);
        for warp in &mut warps {
            clock.common.join(&warp.own.take());
            clock.pending.join(&warp.pending.take());
            if let Some(fenced) = warp.fenced.take() {
                clock.fenced.get_or_insert_default().join(&fenced);
            }
            warp.seen = None;
        }
        clock.warps = warps;
    }

    /// A block is over: nothing of it will ask again.
    pub(crate) fn end(&mut self, block: u32) {
        self.blocks.remove(&block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAG: u64 = 64;

    /// Does warp 0 of block 1 know what warp 0 of block 0 did at its time 1?
    fn knows(f: &Fences) -> bool {
        f.knows((1, 0), (0, 0, 1))
    }

    #[test]
    fn a_flag_orders_by_fences_on_both_sides() {
        for (writer, reader) in [(true, true), (false, true), (true, false), (false, false)] {
            let mut f = Fences::new(2);
            if writer {
                f.fence(0, 0);
            }
            f.wrote(0, 0, FLAG, false);
            f.read(1, 0, FLAG, false);
            if reader {
                f.fence(1, 0);
            }
            assert_eq!(knows(&f), writer && reader, "{writer} {reader}");
        }
    }

    #[test]
    fn release_and_acquire_need_no_fence() {
        let mut f = Fences::new(1);
        f.wrote(0, 0, FLAG, true);
        f.read(1, 0, FLAG, true);
        assert!(knows(&f));
        assert!(!f.knows((1, 0), (0, 0, 2)), "what came behind the release");
        assert!(!f.knows((2, 0), (0, 0, 1)), "who has not looked");
    }

    #[test]
    fn a_fence_covers_what_came_before_it() {
        let mut f = Fences::new(1);
        f.fence(0, 0);
        assert_eq!(f.now(0), 2);
        f.wrote(0, 0, FLAG, false);
        f.read(1, 0, FLAG, true);
        assert!(knows(&f) && !f.knows((1, 0), (0, 0, 2)));
    }

    #[test]
    fn another_warp_of_the_block_is_covered_by_a_barrier_alone() {
        for meets in [false, true] {
            let mut f = Fences::new(2);
            if meets {
                f.meet(0);
            }
            f.fence(0, 0);
            f.wrote(0, 0, FLAG, false);
            f.read(1, 0, FLAG, true);
            assert_eq!(f.knows((1, 0), (0, 1, 1)), meets, "what warp 1 did");
            assert!(!f.knows((1, 1), (0, 0, 1)), "warp 1 of the reader has not looked");
            f.meet(1);
            assert!(f.knows((1, 1), (0, 0, 1)));
        }
    }

    #[test]
    fn knowledge_is_handed_on() {
        let mut f = Fences::new(1);
        f.wrote(0, 0, FLAG, true);
        f.read(1, 0, FLAG, true);
        f.wrote(1, 0, FLAG + 4, true);
        f.read(2, 0, FLAG + 4, true);
        assert!(f.knows((2, 0), (0, 0, 1)));
    }

    #[test]
    fn a_block_that_is_over_has_left_what_it_released() {
        let mut f = Fences::new(1);
        f.fence(0, 0);
        f.wrote(0, 0, FLAG, false);
        f.end(0);
        f.read(1, 0, FLAG, false);
        f.fence(1, 0);
        assert!(knows(&f));
    }
}
