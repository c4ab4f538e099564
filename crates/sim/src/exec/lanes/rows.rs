//! Loads and stores of a warp whose lanes all touch one region.

use super::super::op::{Address, LoadStore, NONE, Value};
use super::Regs;
use crate::memory::region::{Element, Region};
use crate::memory::rows::Part;

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

/// The lanes of a load that read bytes nobody wrote, and the address of the first of them.
#[derive(Clone, Copy)]
pub(crate) struct Unwritten {
    pub(crate) lanes: u32,
    pub(crate) address: u64,
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

/// A load of one element of 4 bytes into a 32-bit column, if every lane lies inside.
#[inline(always)]
pub(crate) fn load_word(regs: &mut Regs<'_>, from: &LoadFrom<'_>, mask: u32) -> Option<Unwritten> {
    let [value] = from.access.values[..] else { return None };
    let addresses = addresses(regs, &from.access.address);
    let rows = from.region.rows(&addresses, mask, from.part, 4, 4)?;
    regs.put32(value.col, &rows.load::<u32>(0), mask);
    let lanes = if from.check { rows.unwritten(mask) } else { 0 };
    Some(Unwritten { lanes, address: addresses[lanes.trailing_zeros() as usize & 31] })
}

/// A store of one element of 4 bytes from a 32-bit column; gives whether every lane lies inside.
#[inline(always)]
pub(crate) fn store_word(regs: &Regs<'_>, to: &mut StoreTo<'_>, mask: u32) -> bool {
    let [value] = to.access.values[..] else { return false };
    let addresses = addresses(regs, &to.access.address);
    let Some(mut rows) = to.region.rows_mut(&addresses, mask, to.part, 4, 4) else { return false };
    rows.store(0, &regs.r32[value.col as usize], mask);
    rows.mark(mask);
    true
}

/// Any load, if every lane lies inside.
#[inline(always)]
pub(crate) fn load(regs: &mut Regs<'_>, from: &LoadFrom<'_>, mask: u32) -> Option<Unwritten> {
    match from.access.bytes {
        4 => load_as::<u32>(regs, from, mask),
        8 => load_as::<u64>(regs, from, mask),
        2 => load_as::<u16>(regs, from, mask),
        _ => load_as::<u8>(regs, from, mask),
    }
}

#[inline(always)]
fn load_as<T: Element + Into<u64>>(regs: &mut Regs<'_>, from: &LoadFrom<'_>, mask: u32) -> Option<Unwritten> {
    let values = &from.access.values[..];
    let total = (T::BYTES * values.len()) as u32;
    let computed;
    let addresses = match from.addresses {
        Some(given) => given,
        None => {
            computed = addresses(regs, &from.access.address);
            &computed
        }
    };
    let rows = from.region.rows(addresses, mask, from.part, total, T::BYTES as u32)?;
    if let [value] = values {
        put_row(rows.load::<T>(0), from.access, *value, regs, mask);
    } else {
        for (k, value) in values.iter().enumerate() {
            put_row(rows.load::<T>(k), from.access, *value, regs, mask);
        }
    }
    let lanes = if from.check { rows.unwritten(mask) } else { 0 };
    Some(Unwritten { lanes, address: addresses[lanes.trailing_zeros() as usize & 31] })
}

#[inline(always)]
fn put_row<T: Element + Into<u64>>(raw: [T; 32], access: &LoadStore, value: Value, regs: &mut Regs<'_>, mask: u32) {
    if value.col == NONE {
        return;
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
    if T::BYTES == 4 {
        for lane in 0..32 {
            out[lane] = raw[lane].into() as u32;
        }
    } else {
        for lane in 0..32 {
            out[lane] = wide[lane] as u32 & cut;
        }
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
    let computed;
    let addresses = match to.addresses {
        Some(given) => given,
        None => {
            computed = addresses(regs, &to.access.address);
            &computed
        }
    };
    let Some(mut rows) = to.region.rows_mut(addresses, mask, to.part, total, T::BYTES as u32) else { return false };
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
