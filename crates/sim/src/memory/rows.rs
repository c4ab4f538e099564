//! A whole warp's access to one region: checked once, then done without further checks.
//!
//! [`Region::rows`] answers whether every active lane lies inside a part of it, aligned; what it gives can load and store. Lanes that
//! are consecutive, or all the same, in each half of the warp are copied as rows: that covers tiles of 16 as well.

use super::bits::Bits;
use super::region::{Element, Region};

/// The part of a region that lanes may touch.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// Address of its first byte. Where that is not a multiple of an access's size, whoever asks goes lane by lane.
    pub(crate) base: u64,
    /// Bytes of the region in front of it.
    pub(crate) skip: usize,
    pub(crate) len: usize,
}

impl Part {
    /// All of a region that begins at `base`.
    #[inline(always)]
    pub(crate) fn whole(region: &Region, base: u64) -> Part {
        Part { base, skip: 0, len: region.len() }
    }
}

/// What the lanes' offsets have in common.
struct Shape {
    /// Offset of each lane in the part; lanes outside the mask repeat an active one. `offset + total <= len` for all.
    offsets: [u32; 32],
    total: u32,
    /// In each half of the warp, lanes follow each other element by element; all 32 are active.
    row: bool,
    /// In each half of the warp, lanes agree.
    uniform: bool,
}

#[inline(always)]
fn shape(len: usize, addresses: &[u64; 32], mask: u32, base: u64, total: u32, element: u32) -> Option<Shape> {
    let first = addresses[mask.trailing_zeros() as usize & 31].wrapping_sub(base);
    // Offsets have 32 bits here; larger regions go lane by lane.
    let room = u32::try_from(len).ok()?.checked_sub(total)?;
    let mut offsets = [0u32; 32];
    let mut high = 0;
    if mask == u32::MAX {
        for lane in 0..32 {
            let offset = addresses[lane].wrapping_sub(base);
            high |= offset >> 32;
            offsets[lane] = offset as u32;
        }
    } else {
        for lane in 0..32 {
            let offset = if mask & (1 << lane) != 0 { addresses[lane].wrapping_sub(base) } else { first };
            high |= offset >> 32;
            offsets[lane] = offset as u32;
        }
    }
    let (mut most, mut low) = (0, 0);
    let (mut row, mut same) = (0, 0);
    for lane in 0..32 {
        let start = offsets[lane & 16];
        most = most.max(offsets[lane]);
        low |= offsets[lane];
        same |= offsets[lane] ^ start;
        row |= offsets[lane] ^ start.wrapping_add(element * (lane as u32 & 15));
    }
    let inside = high == 0 && most <= room && (u64::from(low) | base) & u64::from(total - 1) == 0;
    inside.then_some(Shape { offsets, total, row: row == 0 && mask == u32::MAX, uniform: same == 0 })
}

/// Lanes that may load from a region.
pub(crate) struct Rows<'a> {
    /// The part's own.
    data: &'a [u8],
    /// The region's, which begin `skip` bytes before the part.
    bits: &'a Bits,
    skip: usize,
    shape: Shape,
}

/// Lanes that may store to a region.
pub(crate) struct RowsMut<'a> {
    /// The part's own.
    data: &'a mut [u8],
    /// The region's, which begin `skip` bytes before the part.
    bits: &'a mut Bits,
    skip: usize,
    shape: Shape,
}

impl Region {
    /// For lanes in `mask`, each of which loads `total` bytes, in pieces of `element`, from its address in `part`. `None`
    /// where a lane is outside or not aligned to `total`, a power of two, and where the region has no such part.
    #[inline(always)]
    pub(crate) fn rows(
        &self,
        addresses: &[u64; 32],
        mask: u32,
        part: Part,
        total: u32,
        element: u32,
    ) -> Option<Rows<'_>> {
        let data = self.data.get(part.skip..part.skip.checked_add(part.len)?)?;
        let shape = shape(data.len(), addresses, mask, part.base, total, element)?;
        Some(Rows { data, bits: &self.bits, skip: part.skip, shape })
    }

    /// The same for stores.
    #[inline(always)]
    pub(crate) fn rows_mut(
        &mut self,
        addresses: &[u64; 32],
        mask: u32,
        part: Part,
        total: u32,
        element: u32,
    ) -> Option<RowsMut<'_>> {
        let data = self.data.get_mut(part.skip..part.skip.checked_add(part.len)?)?;
        let shape = shape(data.len(), addresses, mask, part.base, total, element)?;
        Some(RowsMut { data, bits: &mut self.bits, skip: part.skip, shape })
    }
}

impl Rows<'_> {
    /// Element number `k` of every lane.
    #[inline(always)]
    pub(crate) fn load<T: Element>(&self, k: usize) -> [T; 32] {
        let Shape { offsets, total, row, uniform } = &self.shape;
        let shift = k * T::BYTES;
        assert!(shift + T::BYTES <= *total as usize, "an element lies inside its lane's access");
        let data = self.data;
        let mut out = [T::default(); 32];
        if *row && *total as usize == T::BYTES {
            for half in [0, 16] {
                let at = offsets[half] as usize;
                out[half..half + 16].copy_from_slice(&T::get_row(&data[at..at + 16 * T::BYTES]));
            }
        } else if *uniform {
            for half in [0, 16] {
                let at = offsets[half] as usize + shift;
                let value = T::get(&data[at..at + T::BYTES]);
                out[half..half + 16].fill(value);
            }
        } else {
            for lane in 0..32 {
                let at = offsets[lane] as usize + shift;
                // SAFETY: `shape` has seen that `offsets[lane] + total <= len`, which is what `data` has, and the element
                // ends at most `total` behind the offset by the assertion above.
                out[lane] = T::get(unsafe { data.get_unchecked(at..at + T::BYTES) });
            }
        }
        out
    }

    /// The lanes in `mask` that load bytes nobody has written.
    #[inline(always)]
    pub(crate) fn unwritten(&self, mask: u32) -> u32 {
        if self.bits.full() {
            return 0;
        }
        self.unwritten_slowly(mask)
    }

    #[inline(never)]
    fn unwritten_slowly(&self, mask: u32) -> u32 {
        let Shape { offsets, total, row, uniform } = &self.shape;
        let bits = self.bits;
        let at = |offset: u32| self.skip + offset as usize;
        let (a, b, total) = (at(offsets[0]), at(offsets[16]), *total as usize);
        let all = |len: usize| bits.all(a, len) && bits.all(b, len);
        if (*row && all(16 * total)) || (*uniform && all(total)) {
            return 0;
        }
        let mut unwritten = 0;
        for (lane, &offset) in offsets.iter().enumerate() {
            if mask & (1 << lane) != 0 && !bits.all(at(offset), total) {
                unwritten |= 1 << lane;
            }
        }
        unwritten
    }
}

impl RowsMut<'_> {
    /// Stores element number `k` of the lanes in `mask`, lowest lane first.
    #[inline(always)]
    pub(crate) fn store<T: Element>(&mut self, k: usize, values: &[T; 32], mask: u32) {
        let Shape { offsets, total, row, .. } = &self.shape;
        let shift = k * T::BYTES;
        assert!(shift + T::BYTES <= *total as usize, "an element lies inside its lane's access");
        let data = &mut *self.data;
        if *row && *total as usize == T::BYTES {
            for half in [0, 16] {
                let at = offsets[half] as usize;
                let row = std::array::from_fn(|lane| values[half + lane]);
                T::put_row(&row, &mut data[at..at + 16 * T::BYTES]);
            }
        } else {
            let mut rest = mask;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let at = offsets[lane] as usize + shift;
                // SAFETY: as for loads: `offsets[lane] + total <= len`, which is what `data` has, and the element ends
                // inside.
                values[lane].put(unsafe { data.get_unchecked_mut(at..at + T::BYTES) });
            }
        }
    }

    /// Marks what the lanes in `mask` have stored as initialised.
    #[inline(always)]
    pub(crate) fn mark(self, mask: u32) {
        if !self.bits.full() {
            self.mark_slowly(mask);
        }
    }

    #[inline(never)]
    fn mark_slowly(self, mask: u32) {
        let Shape { offsets, total, row, .. } = &self.shape;
        let (bits, skip) = (self.bits, self.skip);
        let total = *total as usize;
        let at = |offset: u32| skip + offset as usize;
        if *row {
            bits.mark(at(offsets[0]), 16 * total);
            bits.mark(at(offsets[16]), 16 * total);
            return;
        }
        for (lane, &offset) in offsets.iter().enumerate() {
            if mask & (1 << lane) != 0 {
                bits.mark(at(offset), total);
            }
        }
    }
}
