//! Loads and stores of a warp, with every check.
//!
//! The usual case is a warp whose lanes all touch one allocation, inside and aligned: one look at the allocation and
//! one comparison of the lanes' offsets against its size; consecutive lanes are then copied as a row. Everything else
//! goes lane by lane, which also finds the lane to blame.

use super::lanes::Regs;
use super::local::Local;
use super::machine::{Machine, Stop};
use super::op::{Access, Address, At, NONE, Value};
use super::report::{Bad, Doing};
use super::warp::{Base, Fragment};
use super::window;
use crate::memory::region::{Element, Region};
use crate::memory::{Backing, Memory};

/// The address of every lane.
#[inline(always)]
pub(super) fn addresses(regs: &Regs<'_>, address: &Address) -> [u64; 32] {
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

/// What the lanes' offsets have in common.
pub(super) struct Shape {
    /// Offset of each lane from the region's start; lanes outside the mask repeat an active one.
    pub(super) offsets: [u64; 32],
    /// Lane `i` is `i` elements behind lane 0, and all 32 are active.
    row: bool,
    /// All lanes agree.
    uniform: bool,
}

/// The shape of an access whose active lanes all lie in a region at `base` of `len` bytes, aligned; `None` else.
#[inline(always)]
pub(super) fn shape(addresses: &[u64; 32], mask: u32, base: u64, len: u64, total: u64, element: u64) -> Option<Shape> {
    let first = addresses[mask.trailing_zeros() as usize & 31];
    let room = len.checked_sub(total)?;
    let mut offsets = [0; 32];
    for lane in 0..32 {
        let address = if mask & (1 << lane) != 0 { addresses[lane] } else { first };
        offsets[lane] = address.wrapping_sub(base);
    }
    let mut inside = true;
    let mut low = 0;
    let mut row = mask == u32::MAX;
    let mut uniform = true;
    for lane in 0..32 {
        inside &= offsets[lane] <= room;
        low |= offsets[lane];
        row &= offsets[lane] == offsets[0].wrapping_add(element * lane as u64);
        uniform &= offsets[lane] == offsets[0];
    }
    (inside && (low | base) & (total - 1) == 0).then_some(Shape { offsets, row, uniform })
}

impl Machine<'_> {
    /// Runs a load.
    #[inline(always)]
    pub(super) fn load(
        &mut self,
        index: u32,
        regs: &mut Regs<'_>,
        local: &mut Local,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let access = &self.code.accesses[index as usize];
        match access.address.at {
            At::Frame => {
                let offset = fragment.base.local.wrapping_add(access.address.offset as u32);
                self.load_frame(access, offset, regs, local, fragment, mask)
            }
            At::Param => {
                let addresses = addresses(regs, &access.address);
                self.load_param(access, &addresses, regs, fragment, mask)
            }
            At::Shared => {
                let addresses = addresses(regs, &access.address);
                self.load_shared(access, &addresses, regs, fragment, mask)
            }
            At::Global | At::Const => {
                let addresses = addresses(regs, &access.address);
                self.load_global(index, access, &addresses, regs, fragment, mask)
            }
            At::Local => {
                let addresses = addresses(regs, &access.address);
                self.load_local(access, &addresses, regs, local, fragment, mask)
            }
            At::Generic => {
                let mut addresses = addresses(regs, &access.address);
                let mut rest = mask;
                while rest != 0 {
                    let (group, start) = same_window(&mut addresses, rest);
                    rest &= !group;
                    match start {
                        window::SHARED => self.load_shared(access, &addresses, regs, fragment, group)?,
                        window::LOCAL => self.load_local(access, &addresses, regs, local, fragment, group)?,
                        window::PARAM => self.load_param(access, &addresses, regs, fragment, group)?,
                        _ => self.load_global(index, access, &addresses, regs, fragment, group)?,
                    }
                }
                Ok(())
            }
        }
    }

    /// Runs a store.
    #[inline(always)]
    pub(super) fn store(
        &mut self,
        index: u32,
        regs: &mut Regs<'_>,
        local: &mut Local,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let access = &self.code.accesses[index as usize];
        match access.address.at {
            At::Frame => {
                let offset = fragment.base.local.wrapping_add(access.address.offset as u32);
                let addresses = [u64::from(offset); 32];
                self.store_local(access, &addresses, regs, local, fragment, mask)
            }
            At::Shared => {
                let addresses = addresses(regs, &access.address);
                self.store_shared(access, &addresses, regs, fragment, mask)
            }
            At::Global => {
                let addresses = addresses(regs, &access.address);
                self.store_global(index, access, &addresses, regs, fragment, mask)
            }
            At::Local => {
                let addresses = addresses(regs, &access.address);
                self.store_local(access, &addresses, regs, local, fragment, mask)
            }
            At::Const | At::Param => {
                let addresses = addresses(regs, &access.address);
                Err(self.bad_access(fragment, mask, &addresses, access, Doing::Write, Bad::ReadOnly))
            }
            At::Generic => {
                let mut addresses = addresses(regs, &access.address);
                let mut rest = mask;
                while rest != 0 {
                    let (group, start) = same_window(&mut addresses, rest);
                    rest &= !group;
                    match start {
                        window::SHARED => self.store_shared(access, &addresses, regs, fragment, group)?,
                        window::LOCAL => self.store_local(access, &addresses, regs, local, fragment, group)?,
                        window::PARAM => {
                            return Err(self.bad_access(
                                fragment,
                                group,
                                &addresses,
                                access,
                                Doing::Write,
                                Bad::ReadOnly,
                            ));
                        }
                        _ => self.store_global(index, access, &addresses, regs, fragment, group)?,
                    }
                }
                Ok(())
            }
        }
    }

    fn load_shared(
        &mut self,
        access: &Access,
        addresses: &[u64; 32],
        regs: &mut Regs<'_>,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let total = u64::from(access.bytes) * access.values.len() as u64;
        let len = self.shared.len() as u64;
        let Some(shape) = shape(addresses, mask, 0, len, total, access.bytes.into()) else {
            return Err(self.bad_access(fragment, mask, addresses, access, Doing::Read, Bad::Shared));
        };
        let unwritten = load_region(self.shared, &shape, access, regs, mask, self.uninitialised);
        if unwritten != 0 {
            self.uninitialised_read(fragment, unwritten, addresses, access, "shared memory");
        }
        Ok(())
    }

    fn store_shared(
        &mut self,
        access: &Access,
        addresses: &[u64; 32],
        regs: &mut Regs<'_>,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let total = u64::from(access.bytes) * access.values.len() as u64;
        let len = self.shared.len() as u64;
        let Some(shape) = shape(addresses, mask, 0, len, total, access.bytes.into()) else {
            return Err(self.bad_access(fragment, mask, addresses, access, Doing::Write, Bad::Shared));
        };
        self.progress.effects += 1;
        store_region(self.shared, &shape, access, regs, mask);
        Ok(())
    }

    #[inline(always)]
    fn load_global(
        &mut self,
        index: u32,
        access: &Access,
        addresses: &[u64; 32],
        regs: &mut Regs<'_>,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let total = u64::from(access.bytes) * access.values.len() as u64;
        let first = addresses[mask.trailing_zeros() as usize & 31];
        let slot = cached_slot(self.memory, &mut self.progress.slots[index as usize], first);
        if let Some(slot) = slot.and_then(|slot| self.memory.slot(slot))
            && let Backing::Device(region) = &slot.backing
            && let Some(shape) = shape(addresses, mask, slot.base, slot.bytes, total, access.bytes.into())
        {
            let unwritten = load_region(region, &shape, access, regs, mask, self.uninitialised);
            if unwritten != 0 {
                self.uninitialised_read(fragment, unwritten, addresses, access, "global memory");
            }
            return Ok(());
        }
        self.load_each(index, access, addresses, regs, fragment, mask)
    }

    #[inline(always)]
    fn store_global(
        &mut self,
        index: u32,
        access: &Access,
        addresses: &[u64; 32],
        regs: &mut Regs<'_>,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        self.progress.effects += 1;
        let total = u64::from(access.bytes) * access.values.len() as u64;
        let first = addresses[mask.trailing_zeros() as usize & 31];
        let slot = cached_slot(self.memory, &mut self.progress.slots[index as usize], first);
        if let Some(slot) = slot.and_then(|slot| self.memory.slot_mut(slot))
            && let Backing::Device(region) = &mut slot.backing
            && let Some(shape) = shape(addresses, mask, slot.base, slot.bytes, total, access.bytes.into())
        {
            store_region(region, &shape, access, regs, mask);
            return Ok(());
        }
        self.store_each(access, addresses, regs, fragment, mask)
    }

    /// Lane by lane: lanes in different allocations, host memory, and whatever is wrong.
    #[inline(never)]
    fn load_each(
        &mut self,
        index: u32,
        access: &Access,
        addresses: &[u64; 32],
        regs: &mut Regs<'_>,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let bytes = u64::from(access.bytes);
        let total = bytes * access.values.len() as u64;
        self.check_lanes(access, addresses, fragment, mask, total, Doing::Read)?;
        let mut unwritten = 0;
        for lane in lanes(mask) {
            let address = addresses[lane];
            let Some(slot) = self.memory.slot_index(address).and_then(|i| self.memory.slot(i)) else { continue };
            let offset = (address - slot.base) as usize;
            let host = matches!(slot.backing, Backing::Host(_));
            for (k, value) in access.values.iter().enumerate() {
                let at = offset + k * bytes as usize;
                let bits = match &slot.backing {
                    Backing::Device(region) => {
                        if !region.bits.all(at, bytes as usize) {
                            unwritten |= 1 << lane;
                        }
                        region.load(at, bytes as usize)
                    }
                    Backing::Host(host) => {
                        let mut raw = [0; 8];
                        host.read(at, &mut raw[..bytes as usize]);
                        u64::from_le_bytes(raw)
                    }
                };
                put_lane(regs, value, lane, extend(bits, access));
                if host && lane == mask.trailing_zeros() as usize {
                    // Looking at the same place and seeing the same thing is waiting.
                    self.progress.saw_host(index, address, bits);
                }
            }
        }
        if unwritten != 0 && self.uninitialised {
            self.uninitialised_read(fragment, unwritten, addresses, access, "global memory");
        }
        Ok(())
    }

    #[inline(never)]
    fn store_each(
        &mut self,
        access: &Access,
        addresses: &[u64; 32],
        regs: &mut Regs<'_>,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let bytes = access.bytes as usize;
        self.check_lanes(access, addresses, fragment, mask, (bytes * access.values.len()) as u64, Doing::Write)?;
        for lane in lanes(mask) {
            let address = addresses[lane];
            let Some(slot) = self.memory.slot_index(address).and_then(|i| self.memory.slot_mut(i)) else { continue };
            let offset = (address - slot.base) as usize;
            for (k, value) in access.values.iter().enumerate() {
                let bits = get_lane(regs, value, lane);
                match &mut slot.backing {
                    Backing::Device(region) => region.store(offset + k * bytes, bytes, bits),
                    Backing::Host(host) => host.write(offset + k * bytes, &bits.to_le_bytes()[..bytes]),
                }
            }
        }
        Ok(())
    }

    /// Finds the first lane whose access is wrong.
    fn check_lanes(
        &mut self,
        access: &Access,
        addresses: &[u64; 32],
        fragment: &Fragment,
        mask: u32,
        total: u64,
        doing: Doing,
    ) -> Stop<()> {
        for lane in lanes(mask) {
            let address = addresses[lane];
            let bad = if address >= window::GLOBAL_END {
                Bad::Space
            } else if !address.is_multiple_of(total) {
                Bad::Alignment
            } else if self.memory.check(address, total).is_err() {
                Bad::Address
            } else {
                continue;
            };
            return Err(self.bad_access(fragment, mask, addresses, access, doing, bad));
        }
        Ok(())
    }

    fn load_param(
        &mut self,
        access: &Access,
        addresses: &[u64; 32],
        regs: &mut Regs<'_>,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let bytes = usize::from(access.bytes);
        for (k, value) in access.values.iter().enumerate() {
            let mut previous = None;
            for lane in lanes(mask) {
                let offset = addresses[lane];
                // Parameters are uniform nearly always: read once.
                let bits = match previous {
                    Some((at, bits)) if at == offset => bits,
                    _ => {
                        let start = (offset as usize).saturating_add(k * bytes);
                        let Some(field) = start.checked_add(bytes).and_then(|end| self.launch.params.get(start..end))
                        else {
                            return Err(self.bad_access(
                                fragment,
                                1 << lane,
                                addresses,
                                access,
                                Doing::Read,
                                Bad::Param,
                            ));
                        };
                        let mut raw = [0; 8];
                        raw[..bytes].copy_from_slice(field);
                        extend(u64::from_le_bytes(raw), access)
                    }
                };
                previous = Some((offset, bits));
                put_lane(regs, value, lane, bits);
            }
        }
        Ok(())
    }

    fn load_frame(
        &mut self,
        access: &Access,
        offset: u32,
        regs: &mut Regs<'_>,
        local: &mut Local,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        self.load_local(access, &[u64::from(offset); 32], regs, local, fragment, mask)
    }

    fn load_local(
        &mut self,
        access: &Access,
        addresses: &[u64; 32],
        regs: &mut Regs<'_>,
        local: &mut Local,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let bytes = u32::from(access.bytes);
        let top = self.local_top(fragment.function, fragment.base);
        let total = u64::from(bytes) * access.values.len() as u64;
        let Some(shape) = shape(addresses, mask, 0, top, total, bytes.into()) else {
            return Err(self.bad_access(fragment, mask, addresses, access, Doing::Read, Bad::Local));
        };
        let mut unwritten = 0;
        for (k, value) in access.values.iter().enumerate() {
            let add = k as u32 * bytes;
            if shape.uniform && bytes == 4 && !value.wide && value.col != NONE {
                let (row, written) = local.row(shape.offsets[0] as u32 + add, mask);
                if written || !self.uninitialised {
                    regs.put32(value.col, row, mask);
                    continue;
                }
            }
            for lane in lanes(mask) {
                let (bits, written) = local.load(lane, shape.offsets[lane] as u32 + add, bytes);
                if !written {
                    unwritten |= 1 << lane;
                }
                put_lane(regs, value, lane, extend(bits, access));
            }
        }
        if unwritten != 0 && self.uninitialised {
            self.uninitialised_read(fragment, unwritten, addresses, access, "local memory");
        }
        Ok(())
    }

    fn store_local(
        &mut self,
        access: &Access,
        addresses: &[u64; 32],
        regs: &mut Regs<'_>,
        local: &mut Local,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let bytes = u32::from(access.bytes);
        let top = self.local_top(fragment.function, fragment.base);
        let total = u64::from(bytes) * access.values.len() as u64;
        let Some(shape) = shape(addresses, mask, 0, top, total, bytes.into()) else {
            return Err(self.bad_access(fragment, mask, addresses, access, Doing::Write, Bad::Local));
        };
        for (k, value) in access.values.iter().enumerate() {
            let add = k as u32 * bytes;
            if shape.uniform && bytes == 4 && !value.wide {
                local.store_row(shape.offsets[0] as u32 + add, &regs.r32[value.col as usize], mask);
                continue;
            }
            for lane in lanes(mask) {
                local.store(lane, shape.offsets[lane] as u32 + add, bytes, get_lane(regs, value, lane));
            }
        }
        Ok(())
    }

    /// End of the local memory that a frame may touch: its own and its callers'.
    pub(super) fn local_top(&self, function: u32, base: Base) -> u64 {
        u64::from(base.local) + u64::from(self.code.functions[function as usize].frame_bytes)
    }
}

/// The slot of `address`, from the cache where it still fits.
#[inline(always)]
pub(super) fn cached_slot(memory: &Memory, cache: &mut u32, address: u64) -> Option<u32> {
    if let Some(slot) = memory.slot(*cache)
        && address.wrapping_sub(slot.base) < slot.bytes
    {
        return Some(*cache);
    }
    let found = memory.slot_index(address)?;
    *cache = found;
    Some(found)
}

/// The lanes in `mask` whose address is in the same window as the first one's, and that window's start. Their addresses
/// then count from it.
pub(super) fn same_window(addresses: &mut [u64; 32], mask: u32) -> (u32, u64) {
    let first = addresses[mask.trailing_zeros() as usize & 31];
    let start = [window::SHARED, window::LOCAL, window::PARAM]
        .into_iter()
        .find(|&start| first.wrapping_sub(start) < window::SPAN)
        .unwrap_or(0);
    let mut group = 0;
    for lane in lanes(mask) {
        let inside = if start == 0 {
            [window::SHARED, window::LOCAL, window::PARAM]
                .iter()
                .all(|w| addresses[lane].wrapping_sub(*w) >= window::SPAN)
        } else {
            addresses[lane].wrapping_sub(start) < window::SPAN
        };
        if inside {
            group |= 1 << lane;
            addresses[lane] = addresses[lane].wrapping_sub(start);
        }
    }
    (group, start)
}

/// The lanes in a mask, lowest first.
#[inline(always)]
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

#[inline(always)]
fn extend(bits: u64, access: &Access) -> u64 {
    match (access.signed, access.bytes) {
        (true, 1) => bits as i8 as u64,
        (true, 2) => bits as i16 as u64,
        (true, 4) => bits as i32 as u64,
        _ => bits,
    }
}

#[inline(always)]
fn put_lane(regs: &mut Regs<'_>, value: &Value, lane: usize, bits: u64) {
    if value.col == NONE {
    } else if value.wide {
        regs.r64[value.col as usize][lane] = bits;
    } else {
        regs.r32[value.col as usize][lane] = if value.short { bits as u32 & 0xffff } else { bits as u32 };
    }
}

#[inline(always)]
fn get_lane(regs: &Regs<'_>, value: &Value, lane: usize) -> u64 {
    if value.wide { regs.r64[value.col as usize][lane] } else { regs.r32[value.col as usize][lane].into() }
}

/// Loads from a region; gives the lanes that read bytes nobody wrote.
#[inline(always)]
fn load_region(region: &Region, shape: &Shape, access: &Access, regs: &mut Regs<'_>, mask: u32, check: bool) -> u32 {
    match access.bytes {
        4 => load_as::<u32>(region, shape, access, regs, mask),
        8 => load_as::<u64>(region, shape, access, regs, mask),
        2 => load_as::<u16>(region, shape, access, regs, mask),
        _ => load_as::<u8>(region, shape, access, regs, mask),
    }
    if !check || region.bits.full() {
        return 0;
    }
    let total = usize::from(access.bytes) * access.values.len();
    let at = shape.offsets[0] as usize;
    if (shape.row && access.values.len() == 1 && region.bits.all(at, 32 * total))
        || (shape.uniform && region.bits.all(at, total))
    {
        return 0;
    }
    let mut unwritten = 0;
    for lane in lanes(mask) {
        if !region.bits.all(shape.offsets[lane] as usize, total) {
            unwritten |= 1 << lane;
        }
    }
    unwritten
}

#[inline(always)]
fn load_as<T: Element + Into<u64>>(region: &Region, shape: &Shape, access: &Access, regs: &mut Regs<'_>, mask: u32) {
    if let [value] = access.values[..] {
        if value.col == NONE {
            return;
        }
        let raw: [T; 32] = if shape.row {
            region.load_row(shape.offsets[0] as usize)
        } else if shape.uniform {
            let at = shape.offsets[0] as usize;
            [T::get(&region.data[at..at + T::BYTES]); 32]
        } else {
            region.gather(&shape.offsets, mask)
        };
        return put_row(raw, access, value, regs, mask);
    }
    for (k, &value) in access.values.iter().enumerate() {
        if value.col == NONE {
            continue;
        }
        let mut offsets = shape.offsets;
        offsets.iter_mut().for_each(|o| *o += (k * T::BYTES) as u64);
        put_row(region.gather::<T>(&offsets, mask), access, value, regs, mask);
    }
}

#[inline(always)]
fn put_row<T: Element + Into<u64>>(raw: [T; 32], access: &Access, value: Value, regs: &mut Regs<'_>, mask: u32) {
    if value.wide {
        let mut out = [0u64; 32];
        for lane in 0..32 {
            out[lane] = extend(raw[lane].into(), access);
        }
        regs.put64(value.col, &out, mask);
    } else {
        let mut out = [0u32; 32];
        if T::BYTES == 4 {
            for lane in 0..32 {
                out[lane] = raw[lane].into() as u32;
            }
        } else {
            let cut = if value.short { 0xffff } else { u32::MAX };
            for lane in 0..32 {
                out[lane] = extend(raw[lane].into(), access) as u32 & cut;
            }
        }
        regs.put32(value.col, &out, mask);
    }
}

#[inline(always)]
fn store_region(region: &mut Region, shape: &Shape, access: &Access, regs: &Regs<'_>, mask: u32) {
    for (k, value) in access.values.iter().enumerate() {
        let add = (k * usize::from(access.bytes)) as u64;
        match (access.bytes, value.wide) {
            (4, false) if access.values.len() == 1 => {
                let column = &regs.r32[value.col as usize];
                if shape.row {
                    region.store_row(shape.offsets[0] as usize, column);
                } else {
                    region.scatter(&shape.offsets, mask, column);
                }
            }
            (8, true) if shape.row && access.values.len() == 1 => {
                region.store_row(shape.offsets[0] as usize, &regs.r64[value.col as usize]);
            }
            (bytes, _) => {
                for lane in lanes(mask) {
                    let bits = get_lane(regs, value, lane);
                    region.store((shape.offsets[lane] + add) as usize, bytes.into(), bits);
                }
            }
        }
    }
}
