//! Virtual memory: reserved ranges of addresses, memory that has no address, and which of it is mapped where.
//!
//! Memory made by `cuMemCreate` keeps its bytes from mapping to mapping, and lives until it is released and mapped nowhere.
//! Kernels reach it only after `cuMemSetAccess`: until then its bytes are kept here, and the address faults.

use std::collections::{BTreeMap, VecDeque};

use super::table::{Key, Table};
use crate::memory::Memory;
use crate::memory::ranges::RangeKind;
use crate::memory::region::Region;

/// Sizes and addresses are multiples of this.
pub(crate) const GRANULARITY: u64 = 2 << 20;

/// Memory without an address.
pub(crate) struct Physical {
    pub(crate) bytes: u64,
    pub(crate) device: usize,
    /// The bytes, while no address reaches them.
    pub(crate) region: Option<Region>,
    /// References by the program: it is gone when these are, and no mapping is left.
    pub(crate) handles: u64,
    pub(crate) mapped_at: Option<u64>,
}

/// Memory at an address.
pub(crate) struct Mapping {
    pub(crate) bytes: u64,
    pub(crate) physical: Key<Physical>,
    /// The devices that may touch it, a bit for each.
    pub(crate) reach: u64,
}

/// All of a machine.
pub(crate) struct VirtualMemory {
    pub(crate) physical: Table<Physical>,
    /// Reserved ranges: start and size.
    pub(crate) reserved: BTreeMap<u64, u64>,
    pub(crate) mappings: BTreeMap<u64, Mapping>,
    /// Ranges that were given back, the oldest first: used again when there are no fresh addresses left.
    pub(crate) given_back: VecDeque<(u64, u64)>,
}

impl VirtualMemory {
    pub(crate) fn new() -> VirtualMemory {
        VirtualMemory {
            physical: Table::new(15),
            reserved: BTreeMap::new(),
            mappings: BTreeMap::new(),
            given_back: VecDeque::new(),
        }
    }

    /// Addresses that were reserved before and given back, with room for these bytes: the oldest.
    pub(crate) fn reuse(&mut self, bytes: u64, align: u64) -> Option<u64> {
        let fits = |(base, room): &(u64, u64)| *room >= bytes && base.is_multiple_of(align);
        let found = self.given_back.iter().position(fits)?;
        self.given_back.remove(found).map(|(base, _)| base)
    }

    /// The reserved range that holds all of these bytes.
    pub(crate) fn reserved_around(&self, address: u64, bytes: u64) -> Option<(u64, u64)> {
        let (base, room) = self.reserved.range(..=address).next_back()?;
        (address - base < *room && bytes <= room - (address - base)).then_some((*base, *room))
    }

    /// Where mappings begin that have a byte in this range.
    pub(crate) fn mapped_in(&self, address: u64, bytes: u64) -> Vec<u64> {
        let end = address.saturating_add(bytes);
        let touching = |(base, mapping): &(&u64, &Mapping)| **base + mapping.bytes > address;
        self.mappings.range(..end).filter(touching).map(|(base, _)| *base).collect()
    }

    /// The mappings that make up this range exactly, if they do.
    pub(crate) fn exactly(&self, address: u64, bytes: u64) -> Option<Vec<u64>> {
        let all = self.mapped_in(address, bytes);
        let mut at = address;
        for base in &all {
            if *base != at {
                return None;
            }
            at += self.mappings[base].bytes;
        }
        (at == address.checked_add(bytes)? && !all.is_empty()).then_some(all)
    }

    /// Tells the memory what each part of a reserved range is, for reports.
    pub(crate) fn announce(&self, memory: &mut Memory, base: u64) {
        let Some(room) = self.reserved.get(&base).copied() else { return };
        memory.withdraw(base, room);
        let mut at = base;
        while at < base + room {
            let bytes = match self.mappings.get(&at) {
                Some(mapping) => {
                    if mapping.reach == 0 {
                        memory.announce(at, mapping.bytes, RangeKind::NoAccess);
                    }
                    mapping.bytes
                }
                None => {
                    let next = self.mappings.range(at..base + room).next().map_or(base + room, |(next, _)| *next);
                    memory.announce(at, next - at, RangeKind::Reserved);
                    next - at
                }
            };
            at += bytes;
        }
    }

    /// Ends memory that nobody has a handle of and that is mapped nowhere.
    pub(crate) fn settle(&mut self, memory: &mut Memory, key: Key<Physical>) {
        if self.physical.get(key).is_some_and(|found| found.handles == 0 && found.mapped_at.is_none())
            && let Some(gone) = self.physical.remove(key)
        {
            memory.discharge(gone.device, gone.bytes);
        }
    }
}
