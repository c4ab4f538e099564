//! Loads and stores of a warp whose lanes all touch one region.

use super::super::op::{Address, LoadStore, NONE, Value};
use super::Regs;
use super::dispatch::AVX512;
#[cfg(target_arch = "x86_64")]
use super::words512;
use crate::memory::region::{Element, Region};
use crate::memory::rows::{Column, Offsets, Part, Places, Rows};

/// A load from one region.
pub(crate) struct LoadFrom<'a> {
    pub(crate) access: &'a LoadStore,
    /// The lanes' addresses; `None`: as the access says.
    pub(crate) addresses: Option<&'a [u64; 32]>,
    pub(crate) region: &'a Region,
    /// What of it may be touched.
    pub(crate) part: Part,
    /// Look for bytes that nobody has written.
    pub(crate) check: bool,
}

/// A store to one region.
pub(crate) struct StoreTo<'a> {
    pub(crate) access: &'a LoadStore,
    /// The lanes' addresses; `None`: as the access says.
    pub(crate) addresses: Option<&'a [u64; 32]>,
    pub(crate) region: &'a mut Region,
    /// What of it may be touched.
    pub(crate) part: Part,
}

/// The address of every lane.
#[inline(always)]
pub(crate) fn addresses(regs: &Regs<'_>, address: &Address) -> [u64; 32] {
    let mut out = [address.offset as u64; 32];
    if address.base != NONE {
        if address.wide {
            let base = &regs.r64[address.base as usize];
            for lane in 0..32 {
                out[lane] = base[lane].wrapping_add(address.offset as u64);
            }
        } else {
            let base = &regs.r32[address.base as usize];
            for lane in 0..32 {
                out[lane] = u64::from(base[lane]).wrapping_add(address.offset as u64);
            }
        }
    }
    out
}

/// Where every lane goes: as the access says, or as given.
#[inline(always)]
fn places<'a>(regs: &'a Regs<'_>, address: &Address, given: Option<&'a [u64; 32]>) -> Places<'a> {
    let column = match given {
        Some(column) => return Places { column: Column::Wide(column), offset: 0 },
        None if address.base == NONE => Column::Zero,
        None if address.wide => Column::Wide(&regs.r64[address.base as usize]),
        None => Column::Narrow(&regs.r32[address.base as usize]),
    };
    Places { column, offset: address.offset as u64 }
}

/// How a load went.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// All is where it belongs.
    Done,
    /// A lane is outside, or not aligned; nothing has happened.
    Outside,
    /// These lanes read bytes that nobody has written; nothing has happened yet.
    Unwritten(u32),
}

/// The address of the first active lane.
#[inline(always)]
pub(crate) fn first_address(regs: &Regs<'_>, address: &Address, mask: u32) -> u64 {
    let lane = mask.trailing_zeros() as usize & 31;
    let base = match address.base {
        NONE => 0,
        base if address.wide => regs.r64[base as usize][lane],
        base => regs.r32[base as usize][lane].into(),
    };
    base.wrapping_add(address.offset as u64)
}

/// One value for all lanes.
#[inline(always)]
pub(crate) fn splat(regs: &mut Regs<'_>, (value, bits): (Value, u64), mask: u32) {
    if value.col == NONE {
    } else if value.wide {
        regs.put64(value.col, &[bits; 32], mask);
    } else {
        regs.put32(value.col, &[if value.short { bits as u32 & 0xffff } else { bits as u32 }; 32], mask);
    }
}

/// A load of one element of 4 bytes into a 32-bit column, if every lane lies inside.
#[inline(always)]
pub(crate) fn load_word<const SET: u8>(regs: &mut Regs<'_>, from: &LoadFrom<'_>, mask: u32) -> Loaded {
    let [value] = from.access.values[..] else { return Loaded::Outside };
    let places = places(regs, &from.access.address, None);
    #[cfg(target_arch = "x86_64")]
    if SET >= AVX512 && words512::fits(from) {
        return match from.region.simple_rows(places, mask, from.part, 4, &NO_OFFSETS) {
            None => words512::load(regs, from, value.col, mask),
            Some(rows) => load_word_of(regs, &rows, from, value, mask),
        };
    }
    let mut offsets = NO_OFFSETS;
    match from.region.rows(places, mask, from.part, 4, &mut offsets) {
        None => Loaded::Outside,
        Some(rows) => load_word_of(regs, &rows, from, value, mask),
    }
}

/// Offsets of lanes that need none.
static NO_OFFSETS: Offsets = [0; 32];

#[inline(always)]
fn load_word_of(regs: &mut Regs<'_>, rows: &Rows<'_>, from: &LoadFrom<'_>, value: Value, mask: u32) -> Loaded {
    let unwritten = if from.check { rows.unwritten(mask) } else { 0 };
    if unwritten != 0 {
        return Loaded::Unwritten(unwritten);
    }
    if mask == u32::MAX {
        rows.load(0, &mut regs.r32[value.col as usize]);
    } else {
        let mut out = [0; 32];
        rows.load(0, &mut out);
        regs.put32(value.col, &out, mask);
    }
    Loaded::Done
}

/// A store of one element of 4 bytes from a 32-bit column; gives whether every lane lies inside.
#[inline(always)]
pub(crate) fn store_word(regs: &Regs<'_>, to: &mut StoreTo<'_>, mask: u32) -> bool {
    let [value] = to.access.values[..] else { return false };
    let (places, mut offsets) = (places(regs, &to.access.address, None), [0; 32]);
    let Some(mut rows) = to.region.rows_mut(places, mask, to.part, 4, &mut offsets) else { return false };
    rows.store(0, &regs.r32[value.col as usize], mask);
    rows.mark(mask);
    true
}

/// Any load, if every lane lies inside.
#[inline(always)]
pub(crate) fn load<const SET: u8>(regs: &mut Regs<'_>, from: &LoadFrom<'_>, mask: u32) -> Loaded {
    #[cfg(target_arch = "x86_64")]
    if SET >= AVX512 && from.access.bytes == 4 && from.addresses.is_none() && words512::fits(from) {
        let is_word = |value: &Value| !value.wide && !value.short;
        let loaded = match from.access.values[..] {
            [a, b] if [a, b].iter().all(is_word) => words512::load_vector(regs, from, [a.col, b.col], mask),
            [a, b, c, d] if [a, b, c, d].iter().all(is_word) => {
                words512::load_vector(regs, from, [a.col, b.col, c.col, d.col], mask)
            }
            _ => None,
        };
        if let Some(loaded) = loaded {
            return loaded;
        }
    }
    match from.access.bytes {
        4 => load_as::<u32>(regs, from, mask),
        8 => load_as::<u64>(regs, from, mask),
        2 => load_as::<u16>(regs, from, mask),
        _ => load_as::<u8>(regs, from, mask),
    }
}

#[inline(always)]
fn load_as<T: Element + Into<u64>>(regs: &mut Regs<'_>, from: &LoadFrom<'_>, mask: u32) -> Loaded {
    let values = &from.access.values[..];
    let total = (T::BYTES * values.len()) as u32;
    let (places, mut offsets) = (places(regs, &from.access.address, from.addresses), [0; 32]);
    let Some(rows) = from.region.rows(places, mask, from.part, total, &mut offsets) else { return Loaded::Outside };
    let unwritten = if from.check { rows.unwritten(mask) } else { 0 };
    if unwritten != 0 {
        return Loaded::Unwritten(unwritten);
    }
    // With a number that is known, each element has vector code of its own.
    match values {
        [a] => load_one::<T>(&rows, 0, from, *a, regs, mask),
        [a, b] => {
            load_one::<T>(&rows, 0, from, *a, regs, mask);
            load_one::<T>(&rows, 1, from, *b, regs, mask);
        }
        [a, b, c, d] => {
            load_one::<T>(&rows, 0, from, *a, regs, mask);
            load_one::<T>(&rows, 1, from, *b, regs, mask);
            load_one::<T>(&rows, 2, from, *c, regs, mask);
            load_one::<T>(&rows, 3, from, *d, regs, mask);
        }
        _ => {
            for (k, value) in values.iter().enumerate() {
                load_one::<T>(&rows, k, from, *value, regs, mask);
            }
        }
    }
    Loaded::Done
}

/// Element `k` of every lane into its column.
#[inline(always)]
fn load_one<T: Element + Into<u64>>(
    rows: &Rows<'_>,
    k: usize,
    from: &LoadFrom<'_>,
    value: Value,
    regs: &mut Regs<'_>,
    mask: u32,
) {
    let mut row = [T::default(); 32];
    rows.load(k, &mut row);
    put_row(&row, from.access, value, regs, mask);
}

#[inline(always)]
fn put_row<T: Element + Into<u64>>(raw: &[T; 32], access: &LoadStore, value: Value, regs: &mut Regs<'_>, mask: u32) {
    if value.col == NONE {
        return;
    }
    if T::BYTES == 4 && !value.wide {
        let mut out = [0u32; 32];
        for lane in 0..32 {
            out[lane] = raw[lane].into() as u32;
        }
        return regs.put32(value.col, &out, mask);
    }
    let mut wide = [0u64; 32];
    for lane in 0..32 {
        wide[lane] = raw[lane].into();
    }
    if access.signed {
        let up = 64 - 8 * u32::from(access.bytes);
        for bits in &mut wide {
            *bits = ((*bits << up) as i64 >> up) as u64;
        }
    }
    if value.wide {
        return regs.put64(value.col, &wide, mask);
    }
    let cut = if value.short { 0xffff } else { u32::MAX };
    let mut out = [0u32; 32];
    for lane in 0..32 {
        out[lane] = wide[lane] as u32 & cut;
    }
    regs.put32(value.col, &out, mask);
}

/// Any store; gives whether every lane lies inside.
#[inline(always)]
pub(crate) fn store(regs: &Regs<'_>, to: &mut StoreTo<'_>, mask: u32) -> bool {
    match to.access.bytes {
        4 => store_as::<u32>(regs, to, mask),
        8 => store_as::<u64>(regs, to, mask),
        2 => store_as::<u16>(regs, to, mask),
        _ => store_as::<u8>(regs, to, mask),
    }
}

/// Types whose values are the low bits of wider ones.
trait Low {
    fn low32(bits: u32) -> Self;
    fn low64(bits: u64) -> Self;
}

macro_rules! low {
    ($($t:ty),*) => { $(impl Low for $t {
        #[inline(always)]
        fn low32(bits: u32) -> $t {
            bits as $t
        }
        #[inline(always)]
        fn low64(bits: u64) -> $t {
            bits as $t
        }
    })* };
}
low!(u8, u16, u32, u64);

#[inline(always)]
fn store_as<T: Element + Low>(regs: &Regs<'_>, to: &mut StoreTo<'_>, mask: u32) -> bool {
    let values = &to.access.values[..];
    let total = (T::BYTES * values.len()) as u32;
    let (places, mut offsets) = (places(regs, &to.access.address, to.addresses), [0; 32]);
    let Some(mut rows) = to.region.rows_mut(places, mask, to.part, total, &mut offsets) else { return false };
    for (k, value) in values.iter().enumerate() {
        let mut out = [T::default(); 32];
        if value.wide {
            let column = &regs.r64[value.col as usize];
            for lane in 0..32 {
                out[lane] = T::low64(column[lane]);
            }
        } else {
            let column = &regs.r32[value.col as usize];
            for lane in 0..32 {
                out[lane] = T::low32(column[lane]);
            }
        }
        rows.store(k, &out, mask);
    }
    rows.mark(mask);
    true
}
