//! Addresses that are given out before there is memory at them: graph memory and reserved ranges.
//!
//! - A range is known by [`Memory::reserve`] or [`Memory::announce`]; its addresses are handed out to nobody else.
//! - An access to a range without memory is an error of its own, so that a report says what is missing.
//! - Memory that outlives its mappings is *attached* and *detached*; it counts as used by [`Memory::charge`] alone.
//! - Attached pieces may lie side by side. A copy or a fill may cross from one to the next, as on a GPU.

use super::home::Home;
use super::region::Region;
use super::{Backing, DEVICE_HIGH, GRANULE, Kind, Memory, OutOfMemory, RED_ZONE, Slot, granule};

/// Why there is no memory at a known range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeKind {
    /// Memory of a graph's allocation node that no launch has allocated yet.
    Graph,
    /// Reserved, and nothing is mapped there.
    Reserved,
    /// Memory is mapped there that nobody was given access to.
    NoAccess,
}

impl Memory {
    /// A new range of addresses without memory.
    pub(crate) fn reserve(&mut self, bytes: u64, align: u64) -> Result<u64, OutOfMemory> {
        let refused = self.refusal(0, bytes);
        let align = align.max(GRANULE).checked_next_power_of_two().ok_or(refused)?;
        let start = self.place(align, bytes, granule::size_of(Kind::Graph), 0).ok_or(refused)?;
        let end = start.checked_add(bytes).filter(|&e| e < DEVICE_HIGH).ok_or(refused)?;
        self.cursor = end + RED_ZONE;
        Ok(start)
    }

    /// Says what a range is for as long as no memory lies there.
    pub(crate) fn announce(&mut self, address: u64, bytes: u64, kind: RangeKind) {
        self.ranges.insert(address, (bytes, kind));
    }

    /// Ranges that begin here are nothing special any more.
    pub(crate) fn withdraw(&mut self, address: u64, bytes: u64) {
        let known: Vec<u64> = self.ranges.range(address..address.saturating_add(bytes)).map(|(at, _)| *at).collect();
        for at in known {
            self.ranges.remove(&at);
        }
    }

    /// The known range that `address` lies in: where it begins, its size, what it is.
    pub(crate) fn range_at(&self, address: u64) -> Option<(u64, u64, RangeKind)> {
        let (base, (bytes, kind)) = self.ranges.range(..=address).next_back()?;
        (address - base < *bytes).then_some((*base, *bytes, *kind))
    }

    /// Counts memory of a device that no slot stands for as used.
    pub(crate) fn charge(&mut self, device: usize, bytes: u64) -> Result<(), OutOfMemory> {
        let refused = self.refusal(device, bytes);
        if bytes > refused.free {
            return Err(refused);
        }
        self.used[device] += bytes;
        Ok(())
    }

    /// Takes back a [`Memory::charge`].
    pub(crate) fn discharge(&mut self, device: usize, bytes: u64) {
        self.used[device] = self.used[device].saturating_sub(bytes);
    }

    /// Puts memory that was charged at an address where nothing lies.
    pub(crate) fn attach(&mut self, home: Home, address: u64, region: Region) {
        self.freed.remove(&address);
        let bytes = region.len() as u64;
        self.put(address, home, Backing::Device(region), (bytes, Kind::Mapped), "");
    }

    /// Takes attached memory away again; it stays charged.
    pub(crate) fn detach(&mut self, address: u64) -> Option<Region> {
        let index = self.by_base.remove(&address)?;
        let slot = &mut self.slots[index as usize];
        let slot = std::mem::replace(slot, Slot::vacant());
        self.vacant.push(index);
        self.records[index as usize] = None;
        match slot.backing {
            Backing::Device(region) => Some(region),
            Backing::Lent(_) | Backing::Host(_) => None,
        }
    }

    /// Bytes of a device's graph memory that are allocated now.
    pub(crate) fn used_by_graphs(&self, device: usize) -> u64 {
        self.used_by_graphs.get(device).copied().unwrap_or(0)
    }

    /// The pieces of a range that crosses from one attached piece of memory to the next; `None` if it does not, or if
    /// some of it has no memory.
    pub(super) fn pieces(&self, address: u64, bytes: u64) -> Option<Vec<(u64, u64)>> {
        let end = address.checked_add(bytes)?;
        let first = self.slot_index(address)?;
        let is_mapped = |index: u32| self.records[index as usize].as_ref().is_some_and(|r| r.kind == Kind::Mapped);
        if bytes <= self.slots[first as usize].bytes - (address - self.slots[first as usize].base) || !is_mapped(first)
        {
            return None;
        }
        let mut pieces = Vec::new();
        let mut at = address;
        while at < end {
            let slot = &self.slots[self.slot_index(at).filter(|index| is_mapped(*index))? as usize];
            let here = (slot.base + slot.bytes).min(end);
            pieces.push((at, here - at));
            at = here;
        }
        Some(pieces)
    }

    /// Where a copy must be cut so that no part crosses a seam on either side: offsets and sizes.
    pub(super) fn cuts(&self, to: u64, from: u64, bytes: u64) -> Option<Vec<(u64, u64)>> {
        let whole = |address| self.pieces(address, bytes).unwrap_or_else(|| vec![(address, bytes)]);
        let (targets, sources) = (whole(to), whole(from));
        if targets.len() + sources.len() == 2 {
            return None;
        }
        let mut at: Vec<u64> =
            targets.iter().map(|(a, n)| a - to + n).chain(sources.iter().map(|(a, n)| a - from + n)).collect();
        at.sort_unstable();
        at.dedup();
        let starts = std::iter::once(0).chain(at.iter().copied());
        Some(starts.zip(at.iter().copied()).map(|(start, end)| (start, end - start)).collect())
    }
}
