//! Loads and stores of a whole warp in one region.
//!
//! [`Region::rows`] answers whether every active lane lies inside a part of it, aligned; what it gives can load and store.
//! What lanes do nearly always has a way of its own, half a warp at a time, which covers tiles of 16 as well: lanes that
//! follow each other are one row of bytes, checked by its ends and copied whole; lanes that agree are one element.

#![allow(clippy::needless_range_loop, reason = "lanes are counted, and several arrays have one element for each")]

use super::bits::Bits;
use super::mask::eight_lanes;
use super::region::{Element, Region};

/// Lanes of half a warp.
const HALF: usize = 16;

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

/// Where the lanes of a warp access memory: what is in a column of registers, and what is added to each.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) column: Column<'a>,
    pub(crate) offset: u64,
}

/// A column of addresses.
#[derive(Clone, Copy)]
pub(crate) enum Column<'a> {
    /// None: what is added is the address.
    Zero,
    Narrow(&'a [u32; 32]),
    Wide(&'a [u64; 32]),
}

/// How the accesses of the lanes in a mask lie in a part. All of them are inside and aligned. Numbers side by side, and no
/// enum with a payload: this is made and taken apart for every access, and stays in registers so.
#[derive(Clone, Copy)]
struct Shape {
    kind: Kind,
    /// Where lane 0 of each half of the warp is, or would be; of rows and of what is the same.
    low: usize,
    high: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In each half of the warp, lanes follow each other. The whole row is inside, also for lanes outside of the mask.
    Rows,
    /// In each half of the warp, lanes agree.
    Same,
    /// Anyhow: as the lanes' offsets say.
    Each,
    /// Not all of them are inside and aligned.
    Outside,
}

impl Shape {
    const OUTSIDE: Shape = Shape { kind: Kind::Outside, low: 0, high: 0 };

    /// `kind`, if both halves have `bytes` from their start on, aligned to `total`.
    #[inline(always)]
    fn inside(kind: Kind, len: usize, low: u64, high: u64, bytes: u64, total: u32) -> Shape {
        let (len, ends) = (len as u64, low.max(high));
        let fits = bytes <= len && ends <= len.wrapping_sub(bytes) && (low | high) & u64::from(total - 1) == 0;
        Shape { kind: if fits { kind } else { Kind::Outside }, low: low as usize, high: high as usize }
    }

    /// Where a lane of the mask is.
    #[inline(always)]
    fn offset(&self, lane: usize, total: usize, offsets: &Offsets) -> usize {
        let start = if lane < HALF { self.low } else { self.high };
        match self.kind {
            Kind::Rows => start + lane % HALF * total,
            Kind::Same => start,
            Kind::Each | Kind::Outside => offsets[lane] as usize,
        }
    }
}

/// Room for the offset of each lane. Not part of [`Shape`]: to hand it on would be to copy it.
pub(crate) type Offsets = [u32; 32];

/// The shape of accesses of `total` bytes to a part of `len` bytes at `base`. `offsets` are set where it is `Each`; lanes
/// outside of the mask then repeat an active one.
#[inline(always)]
fn shape(len: usize, places: Places<'_>, mask: u32, base: u64, total: u32, offsets: &mut Offsets) -> Shape {
    if base & u64::from(total - 1) != 0 {
        return Shape::OUTSIDE;
    }
    let base = base.wrapping_sub(places.offset);
    match places.column {
        Column::Zero => {
            let start = base.wrapping_neg();
            Shape::inside(Kind::Same, len, start, start, total.into(), total)
        }
        Column::Narrow(column) => shape_of(len, column, mask, base, total, offsets),
        Column::Wide(column) => shape_of(len, column, mask, base, total, offsets),
    }
}

#[inline(always)]
fn shape_of<A: Copy + Into<u64>>(
    len: usize,
    column: &[A; 32],
    mask: u32,
    base: u64,
    total: u32,
    offsets: &mut Offsets,
) -> Shape {
    if mask == u32::MAX {
        if let Some(shape) = simple_shape(len, column, base, total) {
            return shape;
        }
    } else {
        let rows = some_rows(len, column, mask, base, total);
        if rows.kind == Kind::Rows {
            return rows;
        }
    }
    let kind = if each(len, column, mask, base, total, offsets) { Kind::Each } else { Kind::Outside };
    Shape { kind, ..Shape::OUTSIDE }
}

/// The shape of what all lanes do nearly always: rows, or the same.
#[inline(always)]
fn simple_shape<A: Copy + Into<u64>>(len: usize, column: &[A; 32], base: u64, total: u32) -> Option<Shape> {
    let step = u64::from(total);
    let (low, high): (u64, u64) = (column[0].into(), column[HALF].into());
    let (mut row, mut same) = (0, 0);
    for lane in 0..32 {
        let (start, address) = (if lane < HALF { low } else { high }, column[lane].into());
        same |= address ^ start;
        row |= address ^ start.wrapping_add(step * (lane % HALF) as u64);
    }
    let (low, high) = (low.wrapping_sub(base), high.wrapping_sub(base));
    if row == 0 {
        return Some(Shape::inside(Kind::Rows, len, low, high, HALF as u64 * step, total));
    }
    (same == 0).then(|| Shape::inside(Kind::Same, len, low, high, step, total))
}

/// Rows of which some lanes are not active, if that is what it is, and the part has room for all of them.
#[inline(always)]
fn some_rows<A: Copy + Into<u64>>(len: usize, column: &[A; 32], mask: u32, base: u64, total: u32) -> Shape {
    let step = u64::from(total);
    // Where lane 0 of a half would be, by its first active lane.
    let start = |first: u32| {
        let first = first as usize & 31;
        let address: u64 = column[first].into();
        address.wrapping_sub(step * (first % HALF) as u64)
    };
    let (lows, highs) = (mask & 0xffff, mask >> HALF);
    let low = start(if lows != 0 { lows.trailing_zeros() } else { highs.trailing_zeros() + HALF as u32 });
    let high = if highs != 0 { start(highs.trailing_zeros() + HALF as u32) } else { low };
    let mut row = 0;
    for lane in 0..32 {
        let expected = if lane < HALF { low } else { high }.wrapping_add(step * (lane % HALF) as u64);
        row |= if mask & (1 << lane) != 0 { column[lane].into() ^ expected } else { 0 };
    }
    if row != 0 {
        return Shape::OUTSIDE;
    }
    Shape::inside(Kind::Rows, len, low.wrapping_sub(base), high.wrapping_sub(base), HALF as u64 * step, total)
}

/// Finds the offset of each lane; false where one is outside or not aligned.
#[inline(always)]
fn each<A: Copy + Into<u64>>(
    len: usize,
    column: &[A; 32],
    mask: u32,
    base: u64,
    total: u32,
    offsets: &mut Offsets,
) -> bool {
    // Offsets have 32 bits here; larger regions go lane by lane.
    let Some(room) = u32::try_from(len).ok().and_then(|len| len.checked_sub(total)) else { return false };
    let first = column[mask.trailing_zeros() as usize & 31].into().wrapping_sub(base);
    // The top bit of `beyond` is that of an offset which is larger than the room: the difference is negative then, or the
    // offset is too large to tell.
    let (mut beyond, mut low) = (0, 0);
    for lane in 0..32 {
        let offset = if mask & (1 << lane) != 0 { column[lane].into().wrapping_sub(base) } else { first };
        beyond |= u64::from(room).wrapping_sub(offset) | offset;
        low |= offset;
        offsets[lane] = offset as u32;
    }
    beyond >> 63 == 0 && low & u64::from(total - 1) == 0
}

/// Lanes that may load from a region.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// The part's own.
    data: &'a [u8],
    /// The region's, which begin `skip` bytes before the part.
    bits: &'a Bits,
    skip: usize,
    /// Bytes of one lane.
    total: usize,
    shape: Shape,
    offsets: &'a Offsets,
}

/// Lanes that may store to a region.
pub(crate) struct RowsMut<'a> {
    /// The part's own.
    data: &'a mut [u8],
    /// The region's, which begin `skip` bytes before the part.
    bits: &'a mut Bits,
    skip: usize,
    /// Bytes of one lane.
    total: usize,
    shape: Shape,
    offsets: &'a Offsets,
}

impl Region {
    /// For lanes in `mask`, each of which loads `total` bytes from its place in `part`. `None` where a lane is outside or
    /// not aligned to `total`, a power of two, and where the region has no such part.
    #[inline(always)]
    pub(crate) fn rows<'a>(
        &'a self,
        places: Places<'_>,
        mask: u32,
        part: Part,
        total: u32,
        offsets: &'a mut Offsets,
    ) -> Option<Rows<'a>> {
        let data = self.data.get(part.skip..part.skip.checked_add(part.len)?)?;
        let shape = shape(data.len(), places, mask, part.base, total, offsets);
        if shape.kind == Kind::Outside {
            return None;
        }
        Some(Rows { data, bits: &self.bits, skip: part.skip, total: total as usize, shape, offsets })
    }

    /// The same for what all lanes of 64-bit addresses do nearly always, and for nothing else.
    #[inline(always)]
    pub(crate) fn simple_rows<'a>(
        &'a self,
        places: Places<'_>,
        mask: u32,
        part: Part,
        total: u32,
        offsets: &'a Offsets,
    ) -> Option<Rows<'a>> {
        let (u32::MAX, Column::Wide(column)) = (mask, places.column) else { return None };
        // Nearly always two lanes tell whether it is worth looking at all.
        if ![0, u64::from(total)].contains(&column[1].wrapping_sub(column[0])) {
            return None;
        }
        if part.base & u64::from(total - 1) != 0 {
            return None;
        }
        let data = self.data.get(part.skip..part.skip.checked_add(part.len)?)?;
        let shape = simple_shape(data.len(), column, part.base.wrapping_sub(places.offset), total)?;
        if shape.kind == Kind::Outside {
            return None;
        }
        Some(Rows { data, bits: &self.bits, skip: part.skip, total: total as usize, shape, offsets })
    }

    /// The same for stores.
    #[inline(always)]
    pub(crate) fn rows_mut<'a>(
        &'a mut self,
        places: Places<'_>,
        mask: u32,
        part: Part,
        total: u32,
        offsets: &'a mut Offsets,
    ) -> Option<RowsMut<'a>> {
        let data = self.data.get_mut(part.skip..part.skip.checked_add(part.len)?)?;
        let shape = shape(data.len(), places, mask, part.base, total, offsets);
        if shape.kind == Kind::Outside {
            return None;
        }
        Some(RowsMut { data, bits: &mut self.bits, skip: part.skip, total: total as usize, shape, offsets })
    }
}

impl Rows<'_> {
    /// Element number `k` of every lane. What it gives for lanes outside of the mask is nobody's.
    #[inline(always)]
    pub(crate) fn load<T: Element>(&self, k: usize, out: &mut [T; 32]) {
        let (data, total, shift) = (self.data, self.total, k * T::BYTES);
        assert!(shift + T::BYTES <= total, "an element lies inside its lane's access");
        let Shape { kind, low, high } = self.shape;
        match kind {
            Kind::Rows if total == T::BYTES && high == low + HALF * total => {
                T::get_row(&data[low..low + 32 * T::BYTES], out);
            }
            Kind::Rows if total == T::BYTES => {
                T::get_row(&data[low..low + HALF * T::BYTES], &mut out[..HALF]);
                T::get_row(&data[high..high + HALF * T::BYTES], &mut out[HALF..]);
            }
            Kind::Rows => {
                let (low, high) = (&data[low..low + HALF * total], &data[high..high + HALF * total]);
                // With a distance that is known, what lies between is left out by vector code.
                match total / T::BYTES {
                    2 => strided::<T, 2>(low, high, k, out),
                    4 => strided::<T, 4>(low, high, k, out),
                    n => strided_by(low, high, n, k, out),
                }
            }
            Kind::Same => {
                let value = |at: usize| T::get(&data[at + shift..at + shift + T::BYTES]);
                let (low, high) = (value(low), value(high));
                out[..HALF].fill(low);
                out[HALF..].fill(high);
            }
            Kind::Each | Kind::Outside => {
                for lane in 0..32 {
                    let at = self.offsets[lane] as usize + shift;
                    // SAFETY: `each` has seen that `offsets[lane] + total <= len`, which is what `data` has, and the
                    // element ends at most `total` behind the offset by the assertion above. Nobody has rows that are
                    // outside.
                    out[lane] = T::get(unsafe { data.get_unchecked(at..at + T::BYTES) });
                }
            }
        }
    }

    /// The lanes in `mask` that load bytes nobody has written.
    #[inline(always)]
    pub(crate) fn unwritten(&self, mask: u32) -> u32 {
        if self.bits.full() {
            return 0;
        }
        // By value: what nobody points to can stay in registers until here.
        Rows::unwritten_slowly(*self, mask)
    }

    #[inline(never)]
    fn unwritten_slowly(self, mask: u32) -> u32 {
        let Shape { kind, low, high } = self.shape;
        let all = |start: usize, len: usize| self.bits.all(self.skip + start, len);
        let whole = match kind {
            Kind::Rows => all(low, HALF * self.total) && all(high, HALF * self.total),
            Kind::Same => all(low, self.total) && all(high, self.total),
            Kind::Each | Kind::Outside => false,
        };
        if whole {
            return 0;
        }
        let at = |lane: usize| self.shape.offset(lane, self.total, self.offsets);
        let missing = |lane: &usize| mask & (1 << lane) != 0 && !all(at(*lane), self.total);
        (0..32).filter(missing).fold(0, |lanes, lane| lanes | 1 << lane)
    }
}

/// Element `k` of each `N` of two halves of a row.
#[inline(always)]
fn strided<T: Element, const N: usize>(low: &[u8], high: &[u8], k: usize, out: &mut [T; 32]) {
    strided_by(low, high, N, k, out);
}

#[inline(always)]
fn strided_by<T: Element>(low: &[u8], high: &[u8], n: usize, k: usize, out: &mut [T; 32]) {
    let bytes = HALF * n * T::BYTES;
    assert!(k < n && low.len() == bytes && high.len() == bytes, "a row holds all elements of all its lanes");
    for (half, row) in [low, high].into_iter().enumerate() {
        for lane in 0..HALF {
            let at = (lane * n + k) * T::BYTES;
            // SAFETY: `lane` is less than `HALF` and `k` less than `n`, so the element ends inside of the row.
            out[half * HALF + lane] = T::get(unsafe { row.get_unchecked(at..at + T::BYTES) });
        }
    }
}

impl RowsMut<'_> {
    /// Stores element number `k` of the lanes in `mask`, lowest lane first.
    #[inline(always)]
    pub(crate) fn store<T: Element>(&mut self, k: usize, values: &[T; 32], mask: u32) {
        let (total, shift) = (self.total, k * T::BYTES);
        assert!(shift + T::BYTES <= total, "an element lies inside its lane's access");
        let data = &mut *self.data;
        let Shape { kind, low, high } = self.shape;
        if kind == Kind::Rows && total == T::BYTES {
            for (half, at) in [low, high].into_iter().enumerate() {
                let (bytes, lanes) = (&mut data[at..at + HALF * T::BYTES], mask >> (half * HALF) & 0xffff);
                let row = &values[half * HALF..(half + 1) * HALF];
                if lanes == 0xffff {
                    T::put_row(row, bytes);
                } else {
                    let mut mixed = [T::default(); HALF];
                    T::get_row(bytes, &mut mixed);
                    for eight in 0..2 {
                        let active = eight_lanes(lanes, eight);
                        for lane in 0..8 {
                            let at = 8 * eight + lane;
                            mixed[at] = mixed[at].blend(row[at], active[lane]);
                        }
                    }
                    T::put_row(&mixed, bytes);
                }
            }
            return;
        }
        if kind == Kind::Rows && mask == u32::MAX {
            for (half, at) in [low, high].into_iter().enumerate() {
                let row = &mut data[at..at + HALF * total];
                for lane in 0..HALF {
                    let at = lane * total + shift;
                    // SAFETY: as for loads: the element ends inside of its lane's part of the row.
                    values[half * HALF + lane].put(unsafe { row.get_unchecked_mut(at..at + T::BYTES) });
                }
            }
            return;
        }
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let at = self.shape.offset(lane, total, self.offsets) + shift;
            values[lane].put(&mut data[at..at + T::BYTES]);
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
        let (shape, total) = (self.shape, self.total);
        if shape.kind == Kind::Rows && mask == u32::MAX {
            self.bits.mark(self.skip + shape.low, HALF * total);
            self.bits.mark(self.skip + shape.high, HALF * total);
            return;
        }
        for lane in (0..32).filter(|lane| mask & (1 << lane) != 0) {
            self.bits.mark(self.skip + shape.offset(lane, total, self.offsets), total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x1000;
    const BYTES: usize = 1024;

    /// Addresses of a warp: rows, halves of rows, one place, all apart, and now and then one that is askew or outside.
    fn column(next: &mut impl FnMut() -> u64, total: u64) -> [u64; 32] {
        let (kind, low, high) = (next() % 5, next() % 60 * total, next() % 60 * total);
        let mut column: [u64; 32] = std::array::from_fn(|lane| {
            let (half, lane) = (if lane < 16 { low } else { high }, lane as u64);
            BASE + match kind {
                0 => low + lane * total,
                1 => half + lane % 16 * total,
                2 => half,
                _ => next() % (BYTES as u64 / total) * total,
            }
        });
        match next() % 6 {
            0 => column[next() as usize % 32] += 1,
            1 => column[next() as usize % 32] = BASE + BYTES as u64 - next() % 3 * total,
            2 => column[next() as usize % 32] = BASE - total,
            _ => {}
        }
        column
    }

    /// Whatever way the lanes go together, it comes to the same as lane by lane.
    #[test]
    fn rows_are_what_their_lanes_are() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let mut seen = [0; 2];
        for turn in 0..20_000 {
            let count = [1, 2, 4][turn % 3];
            let total = 4 * count as u32;
            let mut region = Region::new(BYTES).expect("small");
            (0..BYTES / 4)
                .for_each(|word| region.data[4 * word..4 * word + 4].copy_from_slice(&(next() as u32).to_le_bytes()));
            (0..next() % 4).for_each(|_| region.bits.mark(next() as usize % 900, next() as usize % 120));
            let column = column(&mut next, total.into());
            let mask = [u32::MAX, 0xffff, 0xffff_0000, (next() as u32) | 1][next() as usize % 4];
            let lanes: Vec<usize> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
            let at = |lane: usize| column[lane].wrapping_sub(BASE) as usize;
            let fits = |lane: &usize| {
                at(*lane).checked_add(total as usize).is_some_and(|end| end <= BYTES) && at(*lane) % total as usize == 0
            };
            let part = Part::whole(&region, BASE);
            let (places, mut offsets) = (Places { column: Column::Wide(&column), offset: 0 }, [0; 32]);
            let Some(rows) = region.rows(places, mask, part, total, &mut offsets) else {
                assert!(!lanes.iter().all(fits), "turn {turn}: all of {column:x?} are inside");
                seen[0] += 1;
                continue;
            };
            assert!(lanes.iter().all(fits), "turn {turn}: not all of {column:x?} are inside");
            seen[1] += 1;
            let mut out = [0u32; 32];
            for k in 0..count {
                rows.load(k, &mut out);
                lanes.iter().for_each(|&lane| assert_eq!(u64::from(out[lane]), region.load(at(lane) + 4 * k, 4)));
            }
            let missing = lanes.iter().filter(|lane| !region.bits.all(at(**lane), total as usize));
            assert_eq!(rows.unwritten(mask), missing.fold(0, |all, lane| all | 1 << lane), "turn {turn}");
            let mut other = Region::new(BYTES).expect("small");
            other.data.copy_from_slice(&region.data);
            region.bits.clear();
            let mut rows = region.rows_mut(places, mask, part, total, &mut offsets).expect("as for loads");
            for k in 0..count {
                let values: [u32; 32] = std::array::from_fn(|_| next() as u32);
                rows.store(k, &values, mask);
                lanes.iter().for_each(|&lane| other.store(at(lane) + 4 * k, 4, values[lane].into()));
            }
            rows.mark(mask);
            assert!(region.data[..] == other.data[..], "turn {turn}: {column:x?} {mask:x}");
            (0..BYTES).for_each(|byte| assert_eq!(region.bits.all(byte, 1), other.bits.all(byte, 1), "turn {turn}"));
        }
        assert!(seen.iter().all(|times| *times > 1000), "both happen: {seen:?}");
    }
}
