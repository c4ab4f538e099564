//! Races in the shared memory of a block: two threads touch a place, one of them writes, nothing orders them.
//!
//! What orders two threads (PTX ISA, memory consistency model and `bar`, `bar.warp.sync`):
//!
//! - a barrier that both come to: who arrives lets go of what it has done, who waits gets it from all who have come. A
//!   named barrier orders its participants only;
//! - an operation of a warp with `.sync`, for the lanes it names. CUDA promises that for `__syncwarp` alone; the others
//!   meet in the same way, so what is between them is not reported;
//! - atomics, and strong loads and stores (`.volatile`, `.relaxed`, `.acquire`, `.release`), on one address: each gets
//!   what those before it have let go of. With a missing fence that is more than PTX promises, and is not reported;
//! - that the threads of a warp run together orders nothing.
//!
//! Time is counted for the whole block and moves when somebody synchronises. A warp knows up to which time it has got
//! what each other warp has done, a lane the same for the lanes of its warp. What one lane gets from another warp
//! through an atomic counts for its whole warp: a race that only lanes of one warp could tell apart may be missed, and
//! none is invented.

use std::collections::HashMap;

/// Warps that a block has at most.
const WARPS: usize = 32;
/// Lanes of a warp.
const LANES: usize = 32;
/// Barriers that a block has.
const BARRIERS: usize = 16;

/// How a thread touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// The other side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Other {
    /// Its number in the block; the first of its warp where only the warp is known.
    pub(crate) thread: u32,
    /// The thread is known, and not only its warp.
    pub(crate) exact: bool,
    /// Its record.
    pub(crate) place: u32,
    pub(crate) touch: Direction,
}

/// Who touches memory: warp and record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) warp: u32,
    pub(crate) place: u32,
    /// An atomic, or a strong load or store.
    pub(crate) strong: bool,
}

/// Who touched a grain last.
#[derive(Clone, Copy, Default)]
struct LastTouch {
    /// When it was written; 0: never.
    write_time: u32,
    write_place: u32,
    /// When it was read since, first and last; 0: never.
    read_first: u32,
    read_last: u32,
    read_place: u32,
    /// The warps that have read it.
    read_warps: u32,
    writer: u16,
    first_reader: u16,
    last_reader: u16,
    write_strong: bool,
    read_strong: bool,
}

/// What a warp knows.
#[derive(Clone)]
struct Knows {
    /// All that anybody has done up to here.
    floor: u32,
    /// What each warp has done up to here.
    warps: [u32; WARPS],
    /// What all lanes of this warp have done up to here.
    together: u32,
    /// For each lane, what it knows of each other lane; made when lanes first synchronise in part.
    lanes: Option<Box<[[u32; LANES]; LANES]>>,
}

/// What has been let go of at a place: by warps, and for one warp by lanes.
#[derive(Clone, Copy)]
struct Released {
    warps: [u32; WARPS],
    /// The warp that was here last, and what is known of its lanes.
    warp: u32,
    lanes: [u32; LANES],
}

const NOTHING: Released = Released { warps: [0; WARPS], warp: u32::MAX, lanes: [0; LANES] };

/// The shared memory of one block, and who has touched it.
pub(crate) struct SharedWatch {
    /// A grain is this power of two bytes: the smallest that any access of the kernel has, at most 4.
    shift: u32,
    cells: Vec<LastTouch>,
    warps: Vec<Knows>,
    barriers: [Released; BARRIERS],
    addresses: HashMap<u32, Released>,
    now: u32,
}

impl SharedWatch {
    /// For a block of so many warps and bytes, accessed in pieces of at least `grain` bytes.
    pub(crate) fn new(warps: usize, bytes: usize, grain: u8) -> SharedWatch {
        let shift = u32::from(grain.clamp(1, 4)).ilog2();
        let knows = Knows { floor: 0, warps: [0; WARPS], together: 0, lanes: None };
        SharedWatch {
            shift,
            cells: vec![LastTouch::default(); bytes.div_ceil(1 << shift)],
            warps: vec![knows; warps.min(WARPS)],
            barriers: [NOTHING; BARRIERS],
            addresses: HashMap::new(),
            now: 1,
        }
    }

    /// Another block begins in the same memory: what was there is over.
    pub(crate) fn start(&mut self) {
        if self.now > u32::MAX / 2 {
            self.cells.fill(LastTouch::default());
            self.now = 0;
        }
        let over = self.now;
        for warp in &mut self.warps {
            *warp = Knows { floor: over, warps: [over; WARPS], together: over, lanes: None };
        }
        self.barriers = [NOTHING; BARRIERS];
        self.addresses.clear();
        self.now += 1;
    }

    /// Does `lane` of `warp` know what `thread` did at `time`?
    fn ordered(&self, warp: usize, lane: u32, thread: u16, time: u32) -> bool {
        let knows = &self.warps[warp];
        if time <= knows.floor || u32::from(thread) == warp as u32 * 32 + lane {
            return true;
        }
        let (other, of) = (usize::from(thread) / 32, usize::from(thread) % 32);
        if other == warp {
            let apart = || knows.lanes.as_ref().is_some_and(|lanes| time <= lanes[lane as usize][of]);
            time <= knows.together || apart()
        } else {
            time <= knows.warps[other]
        }
    }

    fn grains(&self, offset: usize, bytes: usize) -> std::ops::Range<usize> {
        offset >> self.shift..((offset + bytes - 1) >> self.shift) + 1
    }

    /// `lane` reads; gives whom it races with. The range lies inside.
    #[inline]
    pub(crate) fn read(&mut self, who: Who, lane: u32, offset: usize, bytes: usize) -> Option<Other> {
        let (warp, now) = (who.warp as usize, self.now);
        let thread = (who.warp * 32 + lane) as u16;
        let floor = self.warps[warp].floor;
        let mut race = None;
        for grain in self.grains(offset, bytes) {
            let cell = &self.cells[grain];
            if cell.write_time > floor
                && !(who.strong && cell.write_strong)
                && race.is_none()
                && !self.ordered(warp, lane, cell.writer, cell.write_time)
            {
                race = Some(Other {
                    thread: cell.writer.into(),
                    exact: true,
                    place: cell.write_place,
                    touch: Direction::Write,
                });
            }
            let cell = &mut self.cells[grain];
            let fresh = cell.read_last <= floor;
            if fresh || (cell.read_strong && !who.strong) {
                (cell.read_first, cell.first_reader, cell.read_warps) = (now, thread, 1 << warp);
                cell.read_strong = who.strong;
            } else if who.strong && !cell.read_strong {
                continue;
            }
            cell.read_last = now;
            cell.read_warps |= 1 << warp;
            cell.last_reader = thread;
            cell.read_place = who.place;
        }
        race
    }

    /// All lanes in `mask` read a word each by a plain load, as nearly always; the lanes that this leaves to
    /// [`SharedWatch::read`] come back: those that are outside, and those whose word was written since everybody met.
    #[inline]
    pub(crate) fn read_words(&mut self, who: Who, addresses: &[u64; 32], mask: u32) -> u32 {
        if self.shift != 2 || who.strong {
            return mask;
        }
        let (now, floor) = (self.now, self.warps[who.warp as usize].floor);
        let (first, bit) = (who.warp as u16 * 32, 1 << who.warp);
        let mut left = 0;
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            let address = addresses[lane as usize];
            let cell = match self.cells.get_mut((address >> 2) as usize) {
                Some(cell) if cell.write_time <= floor && !cell.read_strong && address & 3 == 0 => cell,
                _ => {
                    left |= 1 << lane;
                    continue;
                }
            };
            let thread = first + lane as u16;
            if cell.read_last <= floor {
                (cell.read_first, cell.first_reader, cell.read_warps) = (now, thread, 0);
            }
            (cell.read_last, cell.last_reader, cell.read_place) = (now, thread, who.place);
            cell.read_warps |= bit;
        }
        left
    }

    /// `lane` is about to write; gives whom it races with. `same`: what it writes is there already, which harms no other
    /// writer. The range lies inside. [`SharedWatch::wrote`] follows for all lanes of the instruction.
    #[inline]
    pub(crate) fn write(
        &self,
        who: Who,
        lane: u32,
        offset: usize,
        bytes: usize,
        same: impl Fn() -> bool,
    ) -> Option<Other> {
        let warp = who.warp as usize;
        let floor = self.warps[warp].floor;
        for grain in self.grains(offset, bytes) {
            let cell = &self.cells[grain];
            let both_strong = who.strong && cell.write_strong;
            let known = || self.ordered(warp, lane, cell.writer, cell.write_time);
            if cell.write_time > floor && !both_strong && !known() && !same() {
                return Some(Other {
                    thread: cell.writer.into(),
                    exact: true,
                    place: cell.write_place,
                    touch: Direction::Write,
                });
            }
            if cell.read_last > floor
                && !(who.strong && cell.read_strong)
                && let Some((thread, exact)) = self.unordered_reader(warp, lane, cell)
            {
                return Some(Other { thread, exact, place: cell.read_place, touch: Direction::Read });
            }
        }
        None
    }

    /// A reader of the cell that the lane knows nothing of.
    fn unordered_reader(&self, warp: usize, lane: u32, cell: &LastTouch) -> Option<(u32, bool)> {
        if !self.ordered(warp, lane, cell.last_reader, cell.read_last) {
            return Some((cell.last_reader.into(), true));
        }
        if !self.ordered(warp, lane, cell.first_reader, cell.read_first) {
            return Some((cell.first_reader.into(), true));
        }
        // Of the readers in between only the warp is known: one that has read before anything of it was got is unordered.
        let known = &self.warps[warp].warps;
        let mut others = (0..self.warps.len()).filter(|w| *w != warp && cell.read_warps >> w & 1 == 1);
        others.find(|w| known[*w] < cell.read_first).map(|w| (w as u32 * 32, false))
    }

    /// `lane` has written. Gives another lane that has written there by the same instruction.
    #[inline]
    pub(crate) fn wrote(&mut self, who: Who, lane: u32, written: u32, offset: usize, bytes: usize) -> Option<u32> {
        let (thread, now) = ((who.warp * 32 + lane) as u16, self.now);
        let mut other = None;
        for grain in self.grains(offset, bytes) {
            let cell = &mut self.cells[grain];
            let before = u32::from(cell.writer);
            if cell.write_time == now
                && cell.write_place == who.place
                && before / 32 == who.warp
                && written >> (before % 32) & 1 == 1
                && before != u32::from(thread)
            {
                other = Some(before % 32);
            }
            (cell.write_time, cell.write_place, cell.writer) = (now, who.place, thread);
            cell.write_strong = who.strong;
            (cell.read_last, cell.read_warps) = (0, 0);
        }
        other
    }

    /// `lane` comes to an atomic or a strong access at `offset`: it gets what was let go of there.
    pub(crate) fn acquire(&mut self, warp: u32, lane: u32, offset: usize) {
        let Some(released) = self.addresses.get(&(offset as u32)).copied() else { return };
        let w = warp as usize;
        join(&mut self.warps[w].warps, &released.warps);
        let of_lanes = if released.warp == warp { released.lanes } else { [released.warps[w]; LANES] };
        join(&mut self.lanes(w)[lane as usize], &of_lanes);
    }

    /// `lane` has done so: it lets go of what it knows.
    pub(crate) fn release(&mut self, warp: u32, lane: u32, offset: usize) {
        let (w, now) = (warp as usize, self.now);
        let mut of_lanes = self.lanes(w)[lane as usize];
        let together = self.warps[w].together;
        of_lanes.iter_mut().for_each(|known| *known = together.max(*known));
        of_lanes[lane as usize] = now;
        let known = self.warps[w].warps;
        let released = self.addresses.entry(offset as u32).or_insert(NOTHING);
        join(&mut released.warps, &known);
        released.warps[w] = now;
        if released.warp == warp {
            join(&mut released.lanes, &of_lanes);
        } else {
            (released.warp, released.lanes) = (warp, of_lanes);
        }
        self.now += 1;
    }

    fn lanes(&mut self, warp: usize) -> &mut [[u32; LANES]; LANES] {
        let knows = &mut self.warps[warp];
        knows.lanes.get_or_insert_with(|| Box::new([[0; LANES]; LANES]))
    }

    /// The lanes in `mask` of a warp have met; `live` are those that have not exited.
    pub(crate) fn meet(&mut self, warp: u32, mask: u32, live: u32) {
        let (w, now) = (warp as usize, self.now);
        self.now += 1;
        if live & !mask == 0 {
            let knows = &mut self.warps[w];
            knows.together = now;
            knows.lanes = None;
            return;
        }
        let met = |lane: usize| mask >> lane & 1 == 1;
        let lanes = self.lanes(w);
        let mut all = [0; LANES];
        (0..LANES).filter(|lane| met(*lane)).for_each(|lane| join(&mut all, &lanes[lane]));
        (0..LANES).filter(|lane| met(*lane)).for_each(|lane| all[lane] = now);
        (0..LANES).filter(|lane| met(*lane)).for_each(|lane| lanes[lane] = all);
    }

    /// Lanes of a warp arrive at a barrier.
    pub(crate) fn arrive(&mut self, barrier: usize, warp: u32) {
        let known = self.warps[warp as usize].warps;
        let released = &mut self.barriers[barrier];
        join(&mut released.warps, &known);
        released.warps[warp as usize] = self.now;
        self.now += 1;
    }

    /// All threads of the block that have not exited have met: everything so far is known to everybody.
    pub(crate) fn meet_all(&mut self) {
        let now = self.now;
        for warp in &mut self.warps {
            (warp.floor, warp.together, warp.warps) = (now, now, [now; WARPS]);
            warp.lanes = None;
        }
        self.now += 1;
    }

    /// The lanes in `mask` of a warp leave a barrier at which all that it waits for have arrived.
    pub(crate) fn leave(&mut self, barrier: usize, warp: u32, mask: u32, live: u32) {
        let released = self.barriers[barrier].warps;
        let knows = &mut self.warps[warp as usize];
        join(&mut knows.warps, &released);
        let floor = *self.warps[warp as usize].warps[..self.warps.len()].iter().min().unwrap_or(&0);
        self.meet(warp, mask, live);
        let knows = &mut self.warps[warp as usize];
        if live & !mask == 0 {
            knows.floor = knows.floor.max(floor);
        }
    }

    /// All have left a barrier.
    pub(crate) fn empty(&mut self, barrier: usize) {
        self.barriers[barrier] = NOTHING;
    }
}

fn join<const N: usize>(into: &mut [u32; N], from: &[u32; N]) {
    into.iter_mut().zip(from).for_each(|(a, b)| *a = (*a).max(*b));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(warps: usize) -> SharedWatch {
        let mut watch = SharedWatch::new(warps, 256, 4);
        watch.start();
        watch
    }

    fn who(warp: u32, place: u32) -> Who {
        Who { warp, place, strong: false }
    }

    fn store(watch: &mut SharedWatch, thread: u32, offset: usize) -> Option<Other> {
        let (who, lane) = (who(thread / 32, thread), thread % 32);
        let race = watch.write(who, lane, offset, 4, || false);
        watch.wrote(who, lane, 1 << lane, offset, 4);
        race
    }

    fn load(watch: &mut SharedWatch, thread: u32, offset: usize) -> Option<Other> {
        watch.read(who(thread / 32, thread), thread % 32, offset, 4)
    }

    fn barrier(watch: &mut SharedWatch, id: usize, warps: &[u32]) {
        if id == 0 {
            return watch.meet_all();
        }
        warps.iter().for_each(|w| watch.arrive(id, *w));
        warps.iter().for_each(|w| watch.leave(id, *w, !0, !0));
        watch.empty(id);
    }

    #[test]
    fn a_barrier_orders_those_who_come_to_it_and_nobody_else() {
        let mut w = watch(3);
        assert_eq!(store(&mut w, 0, 0), None);
        assert_eq!(load(&mut w, 40, 0).map(|o| (o.thread, o.touch)), Some((0, Direction::Write)));
        let mut w = watch(3);
        store(&mut w, 0, 0);
        barrier(&mut w, 1, &[0, 1]);
        assert_eq!(load(&mut w, 40, 0), None);
        assert_eq!(load(&mut w, 70, 0).map(|o| o.thread), Some(0));
        // And on, from who was there to who meets it later.
        let mut w = watch(3);
        store(&mut w, 0, 0);
        barrier(&mut w, 1, &[0, 1]);
        barrier(&mut w, 2, &[1, 2]);
        assert_eq!(load(&mut w, 70, 0), None);
    }

    #[test]
    fn who_only_arrives_lets_go_and_gets_nothing() {
        let mut w = watch(2);
        store(&mut w, 0, 0);
        store(&mut w, 32, 4);
        w.arrive(1, 0);
        w.arrive(1, 1);
        w.leave(1, 1, !0, !0);
        assert_eq!(load(&mut w, 33, 0), None, "the one that waited has it");
        assert_eq!(load(&mut w, 1, 4).map(|o| o.thread), Some(32), "the one that did not wait has not");
    }

    #[test]
    fn lanes_of_a_warp_are_ordered_when_they_meet() {
        let mut w = watch(1);
        store(&mut w, 0, 0);
        assert!(load(&mut w, 1, 0).is_some(), "running together orders nothing");
        let mut w = watch(1);
        store(&mut w, 0, 0);
        w.meet(0, 0b11, !0);
        assert_eq!(load(&mut w, 1, 0), None);
        assert!(load(&mut w, 2, 0).is_some(), "a lane that was not named");
        let mut w = watch(1);
        store(&mut w, 0, 0);
        w.meet(0, 0b011, !0);
        w.meet(0, 0b110, !0);
        assert_eq!(load(&mut w, 2, 0), None, "through another lane");
        let mut w = watch(1);
        store(&mut w, 0, 0);
        w.meet(0, !0, !0);
        assert_eq!(load(&mut w, 31, 0), None);
    }

    #[test]
    fn a_write_looks_for_every_reader() {
        let mut w = watch(4);
        for thread in [0, 40, 70] {
            assert_eq!(load(&mut w, thread, 0), None);
        }
        // It has met the first and the last reader, not the one between them.
        barrier(&mut w, 1, &[0, 2, 3]);
        assert_eq!(store(&mut w, 96, 0).map(|o| (o.thread / 32, o.touch)), Some((1, Direction::Read)));
        let mut w = watch(2);
        load(&mut w, 0, 0);
        assert_eq!(store(&mut w, 0, 0), None, "its own read");
        barrier(&mut w, 0, &[0, 1]);
        assert_eq!(store(&mut w, 33, 0), None);
    }

    #[test]
    fn a_lock_orders_its_owners() {
        for (a, b) in [(0, 40), (0, 1)] {
            let mut w = watch(2);
            let owned = |w: &mut SharedWatch, thread: u32| {
                w.acquire(thread / 32, thread % 32, 128);
                let race = store(w, thread, 0);
                w.release(thread / 32, thread % 32, 128);
                race
            };
            assert_eq!(owned(&mut w, a), None);
            assert_eq!(owned(&mut w, b), None);
            assert!(store(&mut w, 2, 0).is_some(), "without the lock");
        }
    }

    #[test]
    fn strong_accesses_race_with_plain_ones_only() {
        let strong = |warp| Who { warp, place: 9, strong: true };
        let mut w = watch(2);
        w.wrote(strong(0), 0, 1, 0, 4);
        assert_eq!(w.read(strong(1), 0, 0, 4), None);
        assert_eq!(w.write(strong(1), 0, 0, 4, || false), None);
        assert!(w.read(who(1, 1), 0, 0, 4).is_some());
    }

    #[test]
    fn lanes_of_one_store_are_told_apart_from_earlier_stores() {
        let mut w = watch(1);
        let both = 0b11;
        assert_eq!(w.wrote(who(0, 5), 0, both, 0, 4), None);
        assert_eq!(w.wrote(who(0, 5), 1, both, 0, 4), Some(0));
        assert_eq!(w.wrote(who(0, 5), 2, 0b100, 0, 4), None, "another turn of the loop");
    }

    #[test]
    fn bytes_of_a_word_are_told_apart_where_the_kernel_has_bytes() {
        let mut w = SharedWatch::new(2, 16, 1);
        w.start();
        w.wrote(who(0, 1), 0, 1, 0, 1);
        assert_eq!(w.write(who(1, 1), 0, 1, 1, || false), None);
        assert!(w.write(who(1, 1), 0, 0, 1, || false).is_some());
        assert_eq!(w.write(who(1, 1), 0, 0, 1, || true), None, "the same value again");
    }

    #[test]
    fn another_block_knows_nothing_of_the_last_one() {
        let mut w = watch(2);
        store(&mut w, 0, 0);
        w.start();
        assert_eq!(store(&mut w, 40, 0), None);
        assert!(load(&mut w, 1, 0).is_some());
    }

    #[test]
    fn who_has_exited_is_ordered_by_the_next_barrier() {
        let mut w = watch(2);
        store(&mut w, 0, 0);
        assert!(load(&mut w, 40, 0).is_some());
        barrier(&mut w, 1, &[1]);
        assert!(load(&mut w, 40, 0).is_some(), "a named barrier waits for others");
        barrier(&mut w, 0, &[1]);
        assert_eq!(load(&mut w, 40, 0), None);
    }
}
