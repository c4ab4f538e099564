//! Granules: how far beyond an allocation a GPU goes on without a fault, and what happens there.
//!
//! A GPU maps memory in pieces, and sees only accesses that leave the mapped ones. On an H200 (driver 580.159.04):
//!
//! | memory | mapped |
//! |---|---|
//! | `cuMemAlloc`, variables | pieces of 2 MiB: small allocations share one, 512 bytes apart; 3 MiB take two |
//! | pools, graph memory | pieces of 32 MiB |
//! | mapped by `cuMemMap` | exactly that |
//! | pinned, managed | below 2 MiB a piece of 2 MiB, else whole pages |
//! | registered | whole pages |
//!
//! Here each allocation has a granule of its own: nothing else lies there as long as the address space is not half used
//! up. What is written there beyond the allocation is kept apart, in a *pad*, and read back; what nobody has written there
//! is zero. No neighbour is ever changed. Only [`Memory::let_pass`] makes pads; without it an access beyond the end is
//! refused like any other.

use std::collections::BTreeMap;

use super::{Allocation, DEVICE_HIGH, GRANULE, Kind, Memory};

const PIECE: u64 = 2 << 20;
const PAGE: u64 = 4096;

/// What is mapped in one piece for memory of this kind.
pub(super) fn size_of(kind: Kind) -> u64 {
    match kind {
        Kind::Pool | Kind::Graph => 32 << 20,
        Kind::HostRegistered => PAGE,
        _ => PIECE,
    }
}

/// The granules that an allocation lies in: first address, and the first one behind.
fn around(a: &Allocation) -> (u64, u64) {
    let end = a.base.saturating_add(a.bytes);
    match a.kind {
        Kind::Mapped => (a.base, end),
        Kind::HostPinned | Kind::Managed if a.bytes < PIECE => (a.base, a.base.saturating_add(PIECE)),
        Kind::HostPinned | Kind::Managed => (a.base, end.checked_next_multiple_of(PAGE).unwrap_or(end)),
        kind => {
            let size = size_of(kind);
            (a.base - a.base % size, end.checked_next_multiple_of(size).unwrap_or(end))
        }
    }
}

/// What was written beyond an allocation, by pages.
#[derive(Default)]
pub(super) struct Pad {
    pages: BTreeMap<u64, Box<[u8; PAGE as usize]>>,
}

impl Memory {
    /// From now on accesses of kernels that a GPU would not notice are let pass: [`Memory::passes`] says which.
    pub(crate) fn let_pass(&mut self) {
        self.pads.get_or_insert_default();
    }

    /// Whether that is so.
    pub(crate) fn lets_pass(&self) -> bool {
        self.pads.is_some()
    }

    /// Where a new allocation begins: in a granule of its own while there is room for that. Small ones begin some way
    /// into it, as most do on a GPU.
    pub(super) fn place(&self, align: u64, bytes: u64, granule: u64, chance: u64) -> Option<u64> {
        if self.cursor >= DEVICE_HIGH / 2 {
            return self.cursor.checked_add(chance * GRANULE)?.checked_next_multiple_of(align);
        }
        let first = self.cursor.checked_next_multiple_of(align.max(granule))?;
        let offset = if bytes < PIECE / 2 && align <= PIECE / 16 { chance * align } else { 0 };
        first.checked_add(offset)
    }

    /// The live allocation whose end an access at `address`, in no allocation, has run over: the last one that begins
    /// below, if this is its granule and nothing else is known to lie here.
    pub(super) fn overrun(&self, address: u64) -> Option<&Allocation> {
        let below = self.live_below(address)?;
        let (_, end) = around(below);
        if address - below.base < below.bytes || address >= end || self.range_at(address).is_some() {
            return None;
        }
        // What was freed here lies between the two, unless it is what the live one has taken the place of.
        self.freed_at(address).is_none_or(|freed| freed.base <= below.base).then_some(below)
    }

    /// The same for the allocation above: an access before its start.
    pub(super) fn underrun(&self, address: u64) -> Option<&Allocation> {
        let above = self.live_above(address)?;
        let free = self.range_at(address).is_none() && self.freed_at(address).is_none();
        (free && self.containing(address).is_none() && address >= around(above).0).then_some(above)
    }

    /// Words for an access that begins inside an allocation and ends behind it; `None` for any other.
    pub(crate) fn straddles(&self, address: u64, bytes: u64) -> Option<String> {
        let inside = self.containing(address)?;
        let first = inside.base + inside.bytes - address;
        let named = super::describe::name(inside);
        (first < bytes)
            .then(|| format!("which straddles the end of {named}: its first {first} of {bytes} bytes are inside"))
    }

    /// Whether a GPU would let this access pass, and that is wanted: the start of the allocation it is counted to.
    pub(crate) fn passes(&self, address: u64, bytes: u64) -> Option<u64> {
        self.pads.as_ref()?;
        // Another device's pieces are not mapped for this one.
        if self.is_hidden(address) {
            return None;
        }
        let last = address.checked_add(bytes)?.checked_sub(1)?;
        // Wholly behind an allocation, or beginning in it.
        let first_bad = match self.containing(address) {
            Some(inside) => inside.base + inside.bytes,
            None => address,
        };
        if let Some(below) = self.overrun(first_bad) {
            let is_one = self.overrun(last)?.base == below.base && !self.is_hidden(below.base);
            return is_one.then_some(below.base);
        }
        let above = self.underrun(address)?;
        (last < above.base && !self.is_hidden(above.base)).then_some(above.base)
    }

    /// Reads where an access passes; what lies in the allocation comes from there.
    pub(crate) fn read_beyond(&self, owner: u64, address: u64, out: &mut [u8]) {
        for (at, byte) in (address..).zip(out) {
            let mut one = [0];
            if self.read(at, &mut one).is_err() {
                let page = self.pads.as_ref().and_then(|pads| pads.get(&owner)?.pages.get(&(at / PAGE)));
                one[0] = page.map_or(0, |page| page[(at % PAGE) as usize]);
            }
            *byte = one[0];
        }
    }

    /// Writes where an access passes; what lies in the allocation is written there.
    pub(crate) fn write_beyond(&mut self, owner: u64, address: u64, data: &[u8]) {
        for (at, byte) in (address..).zip(data) {
            if self.write(at, &[*byte]).is_err()
                && let Some(pads) = &mut self.pads
            {
                let page = pads.entry(owner).or_default().pages.entry(at / PAGE);
                page.or_insert_with(|| Box::new([0; PAGE as usize]))[(at % PAGE) as usize] = *byte;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AccessErrorKind, MemoryOptions, Request};
    use super::*;

    fn memory() -> Memory {
        Memory::new(MemoryOptions { capacity: 1 << 40, seed: 3 })
    }

    fn alloc(m: &mut Memory, bytes: u64, kind: Kind, label: &str) -> u64 {
        m.alloc(Request { bytes, align: 256, kind, label }).expect("fits")
    }

    #[test]
    fn what_passes_ends_where_the_granule_does() {
        for (bytes, kind, end) in [
            (1, Kind::Device, PIECE),
            (3 << 20, Kind::Device, 4 << 20),
            (PIECE, Kind::Device, PIECE),
            (1, Kind::Pool, 32 << 20),
            (33 << 20, Kind::Pool, 64 << 20),
            (4, Kind::Module, PIECE),
        ] {
            let mut m = memory();
            let at = alloc(&mut m, bytes, kind, "x");
            assert_eq!(m.passes(at + bytes, 1), None, "not asked for");
            m.let_pass();
            let first = at - at % size_of(kind);
            assert_eq!(m.passes(first + end - 1, 1), (bytes < end).then_some(at), "{kind:?} of {bytes}");
            assert_eq!(m.passes(first + end, 1), None, "{kind:?} of {bytes}");
            assert_eq!(m.passes(first + end - 1, 2), None, "not all of it");
            assert_eq!(m.passes(first.wrapping_sub(1), 1), None);
            if at != first {
                assert_eq!(m.passes(first, 1), Some(at), "before it, in its granule");
            }
        }
    }

    #[test]
    fn of_mapped_and_of_host_memory_other_pieces_pass() {
        let mut m = memory();
        m.let_pass();
        let at = alloc(&mut m, PAGE, Kind::Mapped, "x");
        assert_eq!(m.passes(at + PAGE, 1), None, "exactly that");
        for (kind, bytes, end) in [
            (Kind::HostPinned, 100, PIECE),
            (Kind::Managed, 100, PIECE),
            (Kind::HostPinned, PIECE + 100, PIECE + PAGE),
            (Kind::HostRegistered, 100, PAGE),
        ] {
            let at = alloc(&mut m, bytes, kind, "x");
            let end = if kind == Kind::HostRegistered { (at + bytes).next_multiple_of(PAGE) } else { at + end };
            assert_eq!(m.passes(end - 1, 1), Some(at), "{kind:?} of {bytes}");
            assert_eq!(m.passes(end, 1), None, "{kind:?} of {bytes}");
        }
    }

    #[test]
    fn what_was_written_beyond_is_gone_with_the_allocation() {
        let mut m = memory();
        m.let_pass();
        let x = alloc(&mut m, 20, Kind::Pool, "x");
        m.write_beyond(x, x + 20, &[5; 4]);
        m.free(x);
        m.alloc_at(x, Request { bytes: 20, align: 256, kind: Kind::Pool, label: "y" }).expect("fits");
        let mut out = [7; 4];
        m.read_beyond(x, x + 20, &mut out);
        assert_eq!(out, [0; 4], "another's");
    }

    #[test]
    fn what_is_written_beyond_stays_there_and_changes_no_neighbour() {
        let mut m = memory();
        m.let_pass();
        let (x, y) = (alloc(&mut m, 6, Kind::Device, "x"), alloc(&mut m, 64, Kind::Device, "y"));
        m.write(y, &[9; 64]).expect("inside");
        assert_eq!(m.passes(x + 4, 4), Some(x), "it begins inside");
        m.write_beyond(x, x + 4, &[1, 2, 3, 4]);
        let mut out = [7; 8];
        m.read_beyond(x, x + 2, &mut out);
        assert_eq!(out, [0, 0, 1, 2, 3, 4, 0, 0]);
        assert!(m.initialised(x + 4, 2) && !m.initialised(x + 3, 1));
        let mut all = [0; 64];
        m.read(y, &mut all).expect("inside");
        assert_eq!(all, [9; 64]);
        m.free(x);
        assert_eq!(m.passes(x + 8, 4), None, "what was freed is not overrun");
    }

    #[test]
    fn reports_name_what_was_overrun() {
        let mut m = memory();
        let x = alloc(&mut m, 100, Kind::Pool, "old");
        m.free(x);
        m.alloc_at(x, Request { bytes: 20, align: 256, kind: Kind::Pool, label: "x" }).expect("fits");
        let error = m.check(x + 40, 4).expect_err("outside");
        assert_eq!(error.kind, AccessErrorKind::OutOfBounds);
        assert!(error.what.starts_with("20 bytes past the end of `x`"), "{}", error.what);
        let what = m.straddles(x + 16, 16).expect("half of it");
        assert!(what.starts_with("which straddles the end of `x` (20 bytes at 0x"), "{what}");
        assert!(what.ends_with("its first 4 of 16 bytes are inside"), "{what}");
        assert_eq!((m.straddles(x + 16, 4), m.straddles(x + 20, 4)), (None, None));
    }
}
