//! Tells the detectors of races what the lanes of a warp are about to do, and reports what they find.
//!
//! Called in front of each load, store and atomic, and only where somebody wants to know: an access that is outside is
//! left out here, and is reported by the access itself.

use dacapo_ptx::ir::{FunctionId, Order};

use super::access::{get_lane, lanes, same_window};
use super::decode;
use super::global_race::{By, Does};
use super::lanes::Regs;
use super::lanes::rows::addresses;
use super::machine::Machine;
use super::op::{At, LoadStore};
use super::report::{self, who};
use super::warp::{Fragment, Warp};
use super::window;
use crate::detect::shared::{Direction, Other, Who};
use crate::finding::{Ending, Finding};
use crate::memory::watch::Toucher;

impl Machine<'_> {
    /// Lanes are about to load.
    #[inline(never)]
    pub(super) fn watch_load(&mut self, index: u32, regs: &Regs<'_>, fragment: &Fragment, mask: u32) {
        self.watch(index, regs, fragment, mask, Direction::Read);
    }

    /// Lanes are about to store.
    #[inline(never)]
    pub(super) fn watch_store(&mut self, index: u32, regs: &Regs<'_>, fragment: &Fragment, mask: u32) {
        self.watch(index, regs, fragment, mask, Direction::Write);
    }

    #[inline(always)]
    fn watch(&mut self, index: u32, regs: &Regs<'_>, fragment: &Fragment, mask: u32, touch: Direction) {
        let access = &self.code.accesses[index as usize];
        if !matches!(access.address.at, At::Global | At::Shared | At::Generic) {
            return;
        }
        let mut addresses = addresses(regs, &access.address);
        let mut rest = mask;
        while rest != 0 {
            let (group, start) = match access.address.at {
                At::Shared => (rest, window::SHARED),
                At::Global => (rest, 0),
                _ => same_window(&mut addresses, rest),
            };
            rest &= !group;
            match (start, touch) {
                (window::SHARED, _) => {
                    self.watch_shared_strong(fragment.pc);
                    match touch {
                        Direction::Read => self.watch_shared_load(access, &addresses, fragment.pc, group),
                        Direction::Write => self.watch_shared_store(access, &addresses, regs, fragment.pc, group),
                    }
                }
                (0, _) => {
                    let total = u32::from(access.bytes) * access.values.len() as u32;
                    if self.watched_tasks {
                        let strong = self.is_strong(fragment.pc);
                        let by = Toucher { place: fragment.pc, strong, writes: touch == Direction::Write };
                        let memo = &mut self.progress.touches[0][index as usize];
                        self.memory.touch_lanes(&addresses, group, total, by, memo);
                    }
                    let does = Does { reads: touch == Direction::Read, writes: touch == Direction::Write };
                    self.watch_blocks(By::LoadStore(index), fragment.pc, &addresses, group, total, does);
                }
                _ => {}
            }
        }
    }

    /// Is the record at `pc` stronger than a plain load or store?
    fn is_strong(&self, pc: u32) -> bool {
        let instruction = self.code.origins.get(pc as usize).and_then(|origin| {
            self.program.module.functions.get(origin.function as usize)?.body.get(origin.instruction as usize)
        });
        instruction.is_some_and(|i| i.form.order.is_some_and(|order| order != Order::Weak))
    }

    fn inside_shared(&self, address: u64, total: usize) -> bool {
        let room = self.shared.len().checked_sub(total);
        room.is_some_and(|room| address <= room as u64) && address.is_multiple_of(total as u64)
    }

    fn watch_shared_load(&mut self, access: &LoadStore, addresses: &[u64; 32], pc: u32, mask: u32) {
        let total = usize::from(access.bytes) * access.values.len();
        let by = Who { warp: self.warp, place: pc, strong: self.is_strong(pc) };
        let mut found = None;
        let mut mask = mask;
        if total == 4
            && let Some(races) = self.races.as_deref_mut()
        {
            mask = races.read_words(by, addresses, mask);
        }
        // Neighbours at one address: the first and the last of them stand for all.
        let mut skipped: Option<usize> = None;
        let mut before = u64::MAX;
        for lane in lanes(mask) {
            let address = addresses[lane];
            if address == before {
                skipped = Some(lane);
                continue;
            }
            if let Some(last) = skipped.take() {
                found = found.or(self.read_shared(by, last, before, total));
            }
            before = address;
            found = found.or(self.read_shared(by, lane, address, total));
        }
        if let Some(last) = skipped {
            found = found.or(self.read_shared(by, last, before, total));
        }
        if let Some((lane, other)) = found {
            self.shared_race(pc, lane, addresses[lane] as u32, total, Direction::Read, other);
        }
    }

    #[inline(always)]
    fn read_shared(&mut self, by: Who, lane: usize, address: u64, total: usize) -> Option<(usize, Other)> {
        if !self.inside_shared(address, total) {
            return None;
        }
        let races = self.races.as_deref_mut()?;
        if by.strong {
            races.acquire(by.warp, lane as u32, address as usize);
        }
        races.read(by, lane as u32, address as usize, total).map(|other| (lane, other))
    }

    fn watch_shared_store(&mut self, access: &LoadStore, addresses: &[u64; 32], regs: &Regs<'_>, pc: u32, mask: u32) {
        let bytes = usize::from(access.bytes);
        let total = bytes * access.values.len();
        let by = Who { warp: self.warp, place: pc, strong: self.is_strong(pc) };
        let values = |lane: usize| access.values.iter().map(move |value| cut(get_lane(regs, value, lane), bytes));
        let inside =
            lanes(mask).filter(|lane| self.inside_shared(addresses[*lane], total)).fold(0, |all, l| all | 1 << l);
        let (shared, Some(races)) = (&*self.shared, self.races.as_deref_mut()) else { return };
        let (mut found, mut twice) = (None, None);
        for lane in lanes(inside) {
            let at = addresses[lane] as usize;
            let there = |k: usize| cut(shared.load(at + k * bytes, bytes), bytes);
            let same = || values(lane).enumerate().all(|(k, value)| value == there(k));
            if let Some(other) = races.write(by, lane as u32, at, total, same) {
                found.get_or_insert((lane, other));
            }
        }
        for lane in lanes(inside) {
            let at = addresses[lane] as usize;
            if let Some(other) = races.wrote(by, lane as u32, inside, at, total)
                && !by.strong
                && !values(lane).eq(values(other as usize))
            {
                twice.get_or_insert((lane, other));
            }
            if by.strong {
                races.release(by.warp, lane as u32, at);
            }
        }
        if let Some((lane, other)) = found {
            self.shared_race(pc, lane, addresses[lane] as u32, total, Direction::Write, other);
        }
        if let Some((lane, other)) = twice {
            self.same_word(pc, lane, other as usize, addresses[lane] as u32);
        }
    }

    /// A lane is about to update shared memory.
    #[inline(never)]
    pub(super) fn watch_shared_atomic(&mut self, pc: u32, lane: usize, at: usize, bytes: usize) {
        self.watch_shared_strong(pc);
        let by = Who { warp: self.warp, place: pc, strong: true };
        let Some(races) = self.races.as_deref_mut() else { return };
        races.acquire(by.warp, lane as u32, at);
        let found = races.write(by, lane as u32, at, bytes, || false);
        races.wrote(by, lane as u32, 0, at, bytes);
        races.release(by.warp, lane as u32, at);
        if let Some(other) = found {
            self.shared_race(pc, lane, at as u32, bytes, Direction::Write, other);
        }
    }

    /// A lane is about to copy into shared memory.
    #[inline(never)]
    pub(super) fn watch_shared_copy(&mut self, pc: u32, lane: usize, at: usize, data: &[u8]) {
        let by = Who { warp: self.warp, place: pc, strong: false };
        let (shared, Some(races)) = (&*self.shared, self.races.as_deref_mut()) else { return };
        let same = || shared.data[at..at + data.len()] == *data;
        let found = races.write(by, lane as u32, at, data.len(), same);
        races.wrote(by, lane as u32, 0, at, data.len());
        if let Some(other) = found {
            self.shared_race(pc, lane, at as u32, data.len(), Direction::Write, other);
        }
    }

    /// A lane is about to update global memory.
    pub(super) fn watch_global_atomic(&mut self, index: u32, pc: u32, addresses: &[u64; 32], lane: usize, bytes: u32) {
        if self.watched_tasks {
            let by = Toucher { place: pc, strong: true, writes: true };
            let memo = &mut self.progress.touches[1][index as usize];
            self.memory.touch_lanes(addresses, 1 << lane, bytes, by, memo);
        }
        self.watch_blocks(By::Atomic(index), pc, addresses, 1 << lane, bytes, Does { reads: true, writes: true });
    }

    /// A lane is about to copy from global memory.
    pub(super) fn watch_global_copy(&mut self, index: u32, pc: u32, sources: &[u64; 32], lane: usize, bytes: u32) {
        if self.watched_tasks && bytes > 0 {
            let by = Toucher { place: pc, strong: false, writes: false };
            let memo = &mut self.progress.touches[2][index as usize];
            self.memory.touch_lanes(sources, 1 << lane, bytes, by, memo);
        }
        if bytes > 0 {
            self.watch_blocks(By::Copy(index), pc, sources, 1 << lane, bytes, Does { reads: true, writes: false });
        }
    }

    /// `byte 8 of `tile``.
    fn shared_place(&self, offset: u32) -> String {
        let kernel = self.code.functions.first().map_or(0, |f| f.source);
        match decode::shared_variable(&self.program.module, FunctionId(kernel), offset) {
            Some((name, byte)) => format!("byte {byte} of `{name}`"),
            None => format!("byte {offset} of shared memory"),
        }
    }

    /// Reports two threads of the block that nothing orders; once for each pair of instructions of a launch.
    fn shared_race(&mut self, pc: u32, lane: usize, offset: u32, bytes: usize, touch: Direction, other: Other) {
        if !self.progress.races.insert((pc.min(other.place), pc.max(other.place))) {
            return;
        }
        let does = |touch: Direction| if touch == Direction::Read { "reads" } else { "writes" };
        let place = self.shared_place(offset);
        let (mine, its) = (does(touch), does(other.touch));
        let what = format!(
            "`{}` {mine} {place} in one thread and {its} it in another of the same block, and nothing orders the two",
            self.kernel()
        );
        let finding = Finding::new("shared-race", Ending::YourProgram, what);
        let me = format!("{} {mine} {bytes} bytes", who(self.block, self.tid, lane));
        let finding = report::placed(self.program, self.code, finding, pc, Some(me));
        let warp = Warp::new(other.thread / 32, self.launch.block);
        let it = match other.exact {
            true => format!("{} {its} them, before", who(self.block, &warp.tid, other.thread as usize % 32)),
            false => format!("a thread of warp {} {its} them, before", other.thread / 32),
        };
        let finding = report::placed(self.program, self.code, finding, other.place, Some(it));
        let finding = match other.thread / 32 == self.warp {
            true => finding
                .note(format!("both threads are in warp {}: that they run together is promised by nobody", self.warp))
                .help(
                    "put `__syncwarp()` between the two, or `__syncthreads()` where other warps touch the memory too",
                ),
            false => finding
                .note(format!(
                    "they are in warps {} and {}, and no barrier that both come to lies between the two",
                    other.thread / 32,
                    self.warp
                ))
                .help("put `__syncthreads()` between the two"),
        };
        self.progress.findings.push(finding);
    }

    /// Reports two lanes that write different values to one place by one instruction.
    fn same_word(&mut self, pc: u32, lane: usize, other: usize, offset: u32) {
        let what = format!(
            "writes different values to {} by one instruction, from threads {} and {}: one of them is kept, and nobody says \
             which",
            self.shared_place(offset),
            report::thread(self.tid, other),
            report::thread(self.tid, lane)
        );
        let help = "let one thread write, or give each its own element, or use an atomic";
        self.note("same-word", pc, lane, &what, help);
    }
}

/// The low bytes of a value.
fn cut(value: u64, bytes: usize) -> u64 {
    value & (u64::MAX >> (64 - 8 * bytes as u32))
}
