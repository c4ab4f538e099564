//! Forks of a memory: several threads run on the same contents at once, and what they write is merged afterwards.
//!
//! - A fork reads the regions of its parent, which are lent to all forks and which nobody writes meanwhile. Its first
//!   write to a region makes a copy of its own; there an initialised bit says "written by this fork".
//! - When all forks are over, either what they wrote is merged in the order of the forks, or nothing is.
//! - Host memory is in no fork: an access to it is an access to nothing, and whoever runs there has to give up.
//! - A fork allocates and frees nothing, and knows no names: its errors are not for reports.
//!
//! **Invariant:** before and after [`Memory::with_forks`] no region is lent.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use super::region::Region;
use super::{Backing, Memory, Slot};

impl Memory {
    /// Runs `run` with `count` forks, each of which may copy `copies_max` bytes. What they wrote is merged if it gives
    /// something, a later fork's bytes over an earlier one's; else it is thrown away.
    pub(crate) fn with_forks<T>(
        &mut self,
        count: usize,
        copies_max: usize,
        run: impl FnOnce(&mut [Memory]) -> Option<T>,
    ) -> Option<T> {
        for slot in &mut self.slots {
            if let Backing::Device(region) = &mut slot.backing {
                slot.backing = Backing::Lent(Arc::new(std::mem::take(region)));
            }
        }
        let mut forks: Vec<Memory> = (0..count).map(|_| self.fork(copies_max)).collect();
        let done = run(&mut forks);
        let written: Vec<(usize, Region)> = match done {
            Some(_) => forks.into_iter().flat_map(Memory::into_written).collect(),
            None => {
                drop(forks);
                Vec::new()
            }
        };
        for slot in &mut self.slots {
            if let Backing::Lent(region) = &mut slot.backing
                && let Some(region) = Arc::get_mut(region)
            {
                slot.backing = Backing::Device(std::mem::take(region));
            }
        }
        for (index, written) in written {
            if let Backing::Device(region) = &mut self.slots[index].backing {
                written.bits.runs(|start, len| region.write(start, &written.data[start..start + len]));
            }
        }
        done
    }

    /// A fork of a memory whose regions are lent.
    fn fork(&self, copies_left: usize) -> Memory {
        let slots: Vec<Slot> = (0..)
            .zip(&self.slots)
            .map(|(index, slot)| match &slot.backing {
                Backing::Lent(region) if self.is_in_view(index) => {
                    let backing = Backing::Lent(Arc::clone(region));
                    Slot { base: slot.base, bytes: slot.bytes, backing, home: slot.home, shadow: None }
                }
                _ => Slot::vacant(),
            })
            .collect();
        let there = |index: u32| matches!(slots[index as usize].backing, Backing::Lent(_));
        Memory {
            by_base: self.by_base.iter().map(|(&base, &index)| (base, index)).filter(|&(_, i)| there(i)).collect(),
            records: vec![None; slots.len()],
            slots,
            vacant: Vec::new(),
            freed: BTreeMap::new(),
            freed_order: VecDeque::new(),
            cursor: self.cursor,
            random: self.random,
            used: self.used.clone(),
            used_by_graphs: self.used_by_graphs.clone(),
            capacity: self.capacity,
            // What is out of reach is in no fork.
            view: None,
            generation: self.generation,
            ranges: BTreeMap::new(),
            watch: None,
            copies_left,
            // Nothing is looked for in a fork.
            written_state: BTreeSet::new(),
            // What is let pass is let pass where all of memory is seen: a fork gives up.
            pads: None,
            textures: HashMap::new(),
            // A kernel that allocates does not run in forks.
            heap: super::heap::Heap::default(),
        }
    }

    /// Makes slot `index` one that can be written. False where a fork may not copy that much, or the host has no memory.
    pub(crate) fn own(&mut self, index: u32) -> bool {
        let Some(slot) = self.slots.get_mut(index as usize) else { return false };
        let Backing::Lent(region) = &slot.backing else { return true };
        let Some(left) = self.copies_left.checked_sub(region.len()) else { return false };
        let Some(mut copy) = Region::new(region.len()) else { return false };
        copy.data.copy_from_slice(&region.data);
        self.copies_left = left;
        slot.backing = Backing::Device(copy);
        true
    }

    /// The regions that a fork has made its own, by slot.
    fn into_written(self) -> impl Iterator<Item = (usize, Region)> {
        self.slots.into_iter().enumerate().filter_map(|(index, slot)| match slot.backing {
            Backing::Device(region) if slot.bytes > 0 => Some((index, region)),
            _ => None,
        })
    }

    /// How many allocations a fork has to be told of.
    pub(crate) fn slots_count(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, MemoryOptions, Request};
    use super::*;

    fn memory() -> (Memory, u64) {
        let mut memory = Memory::new(MemoryOptions { capacity: 1 << 20, seed: 1 });
        let request = Request { bytes: 8, align: 256, kind: Kind::Device, label: "a" };
        let address = memory.alloc(request).expect("fits");
        memory.write(address, &[1, 2, 3, 4]).expect("inside");
        (memory, address)
    }

    fn store(memory: &mut Memory, address: u64, value: u8) -> bool {
        let index = memory.slot_index(address).expect("inside");
        memory.own(index) && memory.write(address, &[value]).is_ok()
    }

    fn bytes(memory: &Memory, address: u64) -> [u8; 8] {
        let mut bytes = [0; 8];
        memory.read(address, &mut bytes).expect("inside");
        bytes
    }

    #[test]
    fn later_forks_win_and_only_what_was_written_is_merged() {
        let (mut memory, at) = memory();
        let done = memory.with_forks(2, 8, |forks| {
            assert!(store(&mut forks[1], at, 21) && store(&mut forks[1], at + 6, 22));
            assert!(store(&mut forks[0], at, 11) && store(&mut forks[0], at + 1, 12));
            assert_eq!(bytes(&forks[0], at), [11, 12, 3, 4, 0, 0, 0, 0], "a fork sees its own writes only");
            Some(())
        });
        assert_eq!(done, Some(()));
        assert_eq!(bytes(&memory, at), [21, 12, 3, 4, 0, 0, 22, 0]);
        assert!(memory.initialised(at, 4) && memory.initialised(at + 6, 1));
        assert!(!memory.initialised(at + 4, 1) && !memory.initialised(at + 7, 1), "copied and not written");
        memory.write(at, &[9]).expect("memory is its own again");
    }

    #[test]
    fn forks_that_are_given_up_leave_nothing_behind() {
        let (mut memory, at) = memory();
        let done: Option<()> = memory.with_forks(3, 8, |forks| {
            assert!(store(&mut forks[2], at, 9));
            None
        });
        assert_eq!((done, bytes(&memory, at)), (None, [1, 2, 3, 4, 0, 0, 0, 0]));
        memory.write(at, &[9]).expect("memory is its own again");
    }

    #[test]
    fn a_fork_copies_no_more_than_it_may_and_has_no_host_memory() {
        let (mut memory, at) = memory();
        let mut host = [7u8; 16];
        let there = host.as_mut_ptr();
        // SAFETY: the array outlives the memory.
        unsafe { memory.map_host(there, 16, Kind::HostPinned, "flag") };
        memory.with_forks(1, 7, |forks| {
            assert!(!store(&mut forks[0], at, 9));
            assert!(forks[0].write(at, &[9]).is_err(), "what is lent is not written");
            assert!(forks[0].check(there as u64, 1).is_err());
            Some(())
        });
        assert_eq!(bytes(&memory, at), [1, 2, 3, 4, 0, 0, 0, 0]);
        assert!(memory.check(there as u64, 16).is_ok());
    }
}
