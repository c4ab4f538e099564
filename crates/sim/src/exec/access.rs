//! Loads and stores of a warp, with every check.
//!
//! The usual case is a warp whose lanes all touch one allocation, inside and aligned: one look at the allocation and
//! one comparison of the lanes' offsets against its size; consecutive lanes are then copied as a row. Everything else
//! goes lane by lane, which also finds the lane to blame. Where it was declared what the kernel may touch, that range
//! stands in place of the allocation.

use super::apart;
use super::lanes::Regs;
use super::lanes::rows::{LoadFrom, Loaded, StoreTo, addresses, first_address};
use super::local::Local;
use super::machine::{Machine, Seen, Stop};
use super::op::{At, LoadStore, NONE, Value};
use super::report::{Bad, Doing};
use super::warp::{Base, Fragment};
use super::window;
use crate::detect::declared::Window;
use crate::memory::region::Region;
use crate::memory::rows::Part;
use crate::memory::{Backing, Memory, Slot};

/// Lanes that a load or store is run for together, with all 32 addresses.
#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    pub(super) access: &'a LoadStore,
    pub(super) addresses: &'a [u64; 32],
    pub(super) fragment: &'a Fragment,
    pub(super) mask: u32,
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
        if self.watched {
            self.watch_load(index, regs, fragment, mask);
        }
        let access = &self.code.accesses[index as usize];
        let at = access.address.at;
        if matches!(at, At::Global | At::Shared | At::Generic | At::Const) {
            let first = first_address(regs, &access.address, mask);
            let (found, memory) = match shared_base(at, first) {
                Some(base) => (Some((&*self.shared, Part::whole(self.shared, base))), "shared memory"),
                None => {
                    let aimed = self.aim(index, first, false);
                    let found = match aimed.and_then(|(slot, window)| Some((self.memory.slot(slot)?, window))) {
                        Some((Slot { base, backing: Backing::Device(region), .. }, window)) => {
                            Some((region, part(region, *base, window)))
                        }
                        Some((Slot { base, backing: Backing::Lent(region), .. }, window)) => {
                            Some((&**region, part(region, *base, window)))
                        }
                        _ => None,
                    };
                    (found, "global memory")
                }
            };
            if let Some((region, part)) = found {
                let from = LoadFrom { access, addresses: None, region, part, check: self.uninitialised };
                let isa = self.isa;
                let loaded = if access.word { isa.load_word(regs, &from, mask) } else { isa.load(regs, &from, mask) };
                match loaded {
                    Loaded::Done => return Ok(()),
                    Loaded::Unwritten(lanes) => {
                        let start = if memory == "shared memory" { from.part.base } else { 0 };
                        let address = first_address(regs, &access.address, lanes) - start;
                        isa.load(regs, &LoadFrom { check: false, ..from }, mask);
                        self.uninitialised_read(fragment, lanes, address, access, memory);
                        return Ok(());
                    }
                    Loaded::Outside => {}
                }
            }
        }
        if at == At::Param && access.address.base == NONE && self.load_named_param(access, regs, mask) {
            return Ok(());
        }
        self.load_slowly(index, regs, local, fragment, mask)
    }

    /// A parameter by its name, as nearly always: one value for all lanes. Gives whether there is such a one.
    #[inline(always)]
    fn load_named_param(&self, access: &LoadStore, regs: &mut Regs<'_>, mask: u32) -> bool {
        let (start, bytes) = (access.address.offset as usize, usize::from(access.bytes));
        let end = start.saturating_add(bytes * access.values.len());
        let Some(fields) = self.launch.params.get(start..end) else { return false };
        for (k, value) in access.values.iter().enumerate() {
            let field = &fields[k * bytes..];
            let bits = match bytes {
                4 => field.first_chunk().map(|raw| u32::from_le_bytes(*raw).into()),
                8 => field.first_chunk().map(|raw| u64::from_le_bytes(*raw)),
                2 => field.first_chunk().map(|raw| u16::from_le_bytes(*raw).into()),
                _ => field.first().map(|byte| u64::from(*byte)),
            };
            self.isa.splat(regs, (*value, extend(bits.unwrap_or(0), access)), mask | self.gone);
        }
        true
    }

    #[inline(never)]
    fn load_slowly(
        &mut self,
        index: u32,
        regs: &mut Regs<'_>,
        local: &mut Local,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let access = &self.code.accesses[index as usize];
        let mut addresses = match access.address.at {
            At::Frame => [u64::from(frame_offset(fragment, access)); 32],
            _ => addresses(regs, &access.address),
        };
        let all = Group { access, addresses: &addresses, fragment, mask };
        match access.address.at {
            At::Frame | At::Local => self.load_local(&all, regs, local),
            At::Param => self.load_param(&all, regs),
            At::Shared => self.load_shared(&all, regs),
            At::Global | At::Const => self.load_each(index, &all, regs),
            At::Generic => {
                let mut rest = mask;
                while rest != 0 {
                    let (lanes, start) = same_window(&mut addresses, rest);
                    rest &= !lanes;
                    let group = Group { access, addresses: &addresses, fragment, mask: lanes };
                    match start {
                        window::SHARED => self.load_shared(&group, regs)?,
                        window::LOCAL => self.load_local(&group, regs, local)?,
                        window::PARAM => self.load_param(&group, regs)?,
                        _ => self.load_each(index, &group, regs)?,
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
        if self.watched {
            self.watch_store(index, regs, fragment, mask);
        }
        let access = &self.code.accesses[index as usize];
        let at = access.address.at;
        if matches!(at, At::Global | At::Generic) && !self.launch.image.constants().is_empty() {
            self.watch_constants(index, regs, fragment, mask);
        }
        let access = &self.code.accesses[index as usize];
        if matches!(at, At::Global | At::Shared | At::Generic) {
            self.progress.effects += 1;
            let first = first_address(regs, &access.address, mask);
            let found = match shared_base(at, first) {
                Some(base) => {
                    let part = Part::whole(self.shared, base);
                    Some((&mut *self.shared, part))
                }
                None => {
                    let aimed = self.aim(index, first, true);
                    match aimed.and_then(|(slot, window)| Some((self.memory.slot_mut(slot)?, window))) {
                        Some((Slot { base, backing: Backing::Device(region), .. }, window)) => {
                            let part = part(region, *base, window);
                            Some((region, part))
                        }
                        _ => None,
                    }
                }
            };
            if let Some((region, part)) = found {
                let (isa, mut to) = (self.isa, StoreTo { access, addresses: None, region, part });
                let word = access.word;
                if if word { isa.store_word(regs, &mut to, mask) } else { isa.store(regs, &mut to, mask) } {
                    return Ok(());
                }
            }
        }
        self.store_slowly(index, regs, local, fragment, mask)
    }

    /// The slot that load or store `index` goes to, by its first lane, and what of it the kernel may touch where that was
    /// declared. No slot where that is nothing: lane by lane it is seen who is to blame.
    #[inline(always)]
    fn aim(&mut self, index: u32, first: u64, writes: bool) -> Option<(u32, Option<Window>)> {
        let seen = &mut self.progress.seen[index as usize];
        if self.declared.is_none() {
            return Some((cached_slot(self.memory, &mut seen.slot, first)?, None));
        }
        // That the slot is still the one around the window is seen when the part is taken of it.
        match first.wrapping_sub(seen.window.start) < seen.window.bytes {
            true => Some((seen.slot, Some(seen.window))),
            false => self.aim_anew(index, first, writes),
        }
    }

    #[inline(never)]
    fn aim_anew(&mut self, index: u32, first: u64, writes: bool) -> Option<(u32, Option<Window>)> {
        let (slot, window) = (self.memory.slot_index(first)?, self.find_window(first, writes)?);
        self.progress.seen[index as usize] = Seen { slot, window };
        Some((slot, Some(window)))
    }

    /// Reports a store to a constant variable through a pointer. On an H200 it ends well, generic loads see it, and
    /// `ld.const` goes on giving the old value: what comes of it is nobody's promise.
    #[inline(never)]
    fn watch_constants(&mut self, index: u32, regs: &Regs<'_>, fragment: &Fragment, mask: u32) {
        let addresses = addresses(regs, &self.code.accesses[index as usize].address);
        let inside =
            |address: u64| self.launch.image.constants().iter().any(|&(from, to)| (from..to).contains(&address));
        if let Some(lane) = lanes(mask).find(|&lane| inside(addresses[lane])) {
            let address = addresses[lane];
            let what = format!("writes to constant memory at {address:#x}, {}", self.memory.describe(address));
            let help = "declare the variable `__device__`, or copy to it from the host; kernels only read constants";
            self.note("constant-write", fragment.pc, lane, &what, help);
        }
    }

    #[inline(never)]
    fn store_slowly(
        &mut self,
        index: u32,
        regs: &mut Regs<'_>,
        local: &mut Local,
        fragment: &Fragment,
        mask: u32,
    ) -> Stop<()> {
        let access = &self.code.accesses[index as usize];
        let mut addresses = match access.address.at {
            At::Frame => [u64::from(frame_offset(fragment, access)); 32],
            _ => addresses(regs, &access.address),
        };
        let all = Group { access, addresses: &addresses, fragment, mask };
        match access.address.at {
            At::Frame | At::Local => self.store_local(&all, regs, local),
            At::Shared => self.store_shared(&all, regs),
            At::Global => self.store_each(&all, regs),
            At::Const | At::Param => Err(self.bad_access(&all, Doing::Write, Bad::ReadOnly)),
            At::Generic => {
                let mut rest = mask;
                while rest != 0 {
                    let (lanes, start) = same_window(&mut addresses, rest);
                    rest &= !lanes;
                    let group = Group { access, addresses: &addresses, fragment, mask: lanes };
                    match start {
                        window::SHARED => self.store_shared(&group, regs)?,
                        window::LOCAL => self.store_local(&group, regs, local)?,
                        window::PARAM => return Err(self.bad_access(&group, Doing::Write, Bad::ReadOnly)),
                        _ => self.store_each(&group, regs)?,
                    }
                }
                Ok(())
            }
        }
    }

    fn load_shared(&mut self, group: &Group<'_>, regs: &mut Regs<'_>) -> Stop<()> {
        let Group { access, addresses, fragment, mask } = *group;
        let check = self.uninitialised;
        let part = Part::whole(self.shared, 0);
        let from = LoadFrom { access, addresses: Some(addresses), region: self.shared, part, check };
        match self.isa.load(regs, &from, mask) {
            Loaded::Done => {}
            Loaded::Outside => return Err(self.bad_access(group, Doing::Read, Bad::Shared)),
            Loaded::Unwritten(lanes) => {
                self.isa.load(regs, &LoadFrom { check: false, ..from }, mask);
                let address = addresses[lanes.trailing_zeros() as usize & 31];
                self.uninitialised_read(fragment, lanes, address, access, "shared memory");
            }
        }
        Ok(())
    }

    fn store_shared(&mut self, group: &Group<'_>, regs: &mut Regs<'_>) -> Stop<()> {
        let part = Part::whole(self.shared, 0);
        let addresses = Some(group.addresses);
        let mut to = StoreTo { access: group.access, addresses, region: self.shared, part };
        if self.isa.store(regs, &mut to, group.mask) {
            return Ok(());
        }
        Err(self.bad_access(group, Doing::Write, Bad::Shared))
    }

    /// Lane by lane: lanes in different allocations, host memory, and whatever is wrong.
    #[inline(never)]
    fn load_each(&mut self, index: u32, group: &Group<'_>, regs: &mut Regs<'_>) -> Stop<()> {
        let Group { access, addresses, fragment, mask } = *group;
        let beyond = self.check_lanes(group, Doing::Read)?;
        let bytes = u64::from(access.bytes);
        let mut unwritten = 0u32;
        for lane in lanes(beyond) {
            self.load_beyond(access, addresses[lane], lane, regs);
        }
        for lane in lanes(mask & !beyond) {
            let address = addresses[lane];
            let Some(slot) = self.memory.slot_index(address).and_then(|i| self.memory.slot(i)) else { continue };
            let offset = (address - slot.base) as usize;
            let host = matches!(slot.backing, Backing::Host(_));
            let mut seen = 0u64;
            for (k, value) in access.values.iter().enumerate() {
                let at = offset + k * bytes as usize;
                let bits = match &slot.backing {
                    Backing::Device(region) => {
                        if !region.bits.all(at, bytes as usize) {
                            unwritten |= 1 << lane;
                        }
                        region.load(at, bytes as usize)
                    }
                    // Nobody asks for initialised bits in a fork.
                    Backing::Lent(region) => region.load(at, bytes as usize),
                    Backing::Host(host) => {
                        let mut raw = [0; 8];
                        host.read(at, &mut raw[..bytes as usize]);
                        u64::from_le_bytes(raw)
                    }
                };
                put_lane(regs, value, lane, extend(bits, access));
                seen = seen.rotate_left(7) ^ bits;
                if host && lane == mask.trailing_zeros() as usize && k + 1 == access.values.len() {
                    // Looking at the same place and seeing the same thing is waiting.
                    self.progress.saw_host(index, address, seen);
                }
            }
        }
        if unwritten != 0 && self.uninitialised {
            let address = addresses[unwritten.trailing_zeros() as usize];
            self.uninitialised_read(fragment, unwritten, address, access, "global memory");
        }
        Ok(())
    }

    #[inline(never)]
    fn store_each(&mut self, group: &Group<'_>, regs: &mut Regs<'_>) -> Stop<()> {
        let Group { access, addresses, mask, .. } = *group;
        let beyond = self.check_lanes(group, Doing::Write)?;
        let bytes = access.bytes as usize;
        for lane in lanes(beyond) {
            self.store_beyond(access, addresses[lane], lane, regs);
        }
        for lane in lanes(mask & !beyond) {
            let address = addresses[lane];
            let Some(index) = self.memory.slot_index(address) else { continue };
            if !self.memory.own(index) {
                return Err(apart::refused());
            }
            let Some(slot) = self.memory.slot_mut(index) else { continue };
            let offset = (address - slot.base) as usize;
            for (k, value) in access.values.iter().enumerate() {
                let bits = get_lane(regs, value, lane);
                match &mut slot.backing {
                    Backing::Device(region) => region.store(offset + k * bytes, bytes, bits),
                    Backing::Lent(_) => return Err(apart::refused()),
                    Backing::Host(host) => host.write(offset + k * bytes, &bits.to_le_bytes()[..bytes]),
                }
            }
        }
        Ok(())
    }

    /// Finds the first lane whose access is wrong, and reports what was not declared. Gives the lanes that leave an
    /// allocation where that is let pass.
    fn check_lanes(&mut self, group: &Group<'_>, doing: Doing) -> Stop<u32> {
        let total = group.access.total();
        let mut beyond = 0;
        for lane in lanes(group.mask) {
            let address = group.addresses[lane];
            let bad = if address >= window::GLOBAL_END {
                Bad::Space
            } else if !address.is_multiple_of(total) {
                Bad::Alignment
            } else if self.memory.check(address, total).is_err() {
                if self.memory.passes(address, total).is_some() {
                    beyond |= 1 << lane;
                    continue;
                }
                Bad::Address
            } else {
                continue;
            };
            return Err(self.bad_access(group, doing, bad));
        }
        if beyond != 0 {
            self.passed_beyond(group.fragment, beyond, group.addresses, total, doing);
        }
        self.check_declared(group.fragment.pc, group.mask & !beyond, group.addresses, total, doing);
        Ok(beyond)
    }

    /// A lane's load beyond an allocation, where that is let pass.
    fn load_beyond(&mut self, access: &LoadStore, address: u64, lane: usize, regs: &mut Regs<'_>) {
        let Some(owner) = self.memory.passes(address, access.total()) else { return };
        for (at, value) in (address..).step_by(access.bytes.into()).zip(&access.values) {
            let mut raw = [0; 8];
            self.memory.read_beyond(owner, at, &mut raw[..access.bytes.into()]);
            put_lane(regs, value, lane, extend(u64::from_le_bytes(raw), access));
        }
    }

    /// The same for a store.
    fn store_beyond(&mut self, access: &LoadStore, address: u64, lane: usize, regs: &Regs<'_>) {
        let Some(owner) = self.memory.passes(address, access.total()) else { return };
        for (at, value) in (address..).step_by(access.bytes.into()).zip(&access.values) {
            let bits = get_lane(regs, value, lane).to_le_bytes();
            self.memory.write_beyond(owner, at, &bits[..access.bytes.into()]);
        }
    }

    /// Refuses lanes whose address is not a multiple of the whole access.
    #[inline(never)]
    pub(super) fn aligned(&mut self, index: u32, regs: &Regs<'_>, fragment: &Fragment, mask: u32) -> Stop<()> {
        let access = &self.code.accesses[index as usize];
        let at = access.address.at;
        let mut addresses = match at {
            At::Frame => [u64::from(frame_offset(fragment, access)); 32],
            _ => addresses(regs, &access.address),
        };
        let mut askew = 0;
        for lane in lanes(mask) {
            if !addresses[lane].is_multiple_of(access.total()) {
                askew |= 1 << lane;
            }
        }
        if askew == 0 || at == At::Param {
            return Ok(());
        }
        let (mask, start) = if at == At::Generic { same_window(&mut addresses, askew) } else { (askew, 0) };
        let bad = match (at, start) {
            (At::Shared, _) | (_, window::SHARED) => Bad::Shared,
            (At::Frame | At::Local, _) | (_, window::LOCAL) => Bad::Local,
            _ => Bad::Alignment,
        };
        Err(self.bad_access(&Group { access, addresses: &addresses, fragment, mask }, Doing::Read, bad))
    }

    /// A byte for each lane, where one lies; nobody is told, whatever it is.
    pub(super) fn peek(&self, index: u32, regs: &mut Regs<'_>, local: &Local, fragment: &Fragment, mask: u32) {
        let access = &self.code.accesses[index as usize];
        let at = access.address.at;
        let addresses = match at {
            At::Frame => [u64::from(frame_offset(fragment, access)); 32],
            _ => addresses(regs, &access.address),
        };
        let top = self.local_top(fragment.function, fragment.base);
        let in_local = |lane: usize, at: u64| if at < top { local.load(lane, at as u32, 1).0 } else { 0 };
        let in_shared = |at: u64| if at < self.shared.len() as u64 { self.shared.load(at as usize, 1) } else { 0 };
        let in_memory = |at: u64| {
            let mut byte = [0];
            let _ = self.memory.read(at, &mut byte);
            u64::from(byte[0])
        };
        let in_params = |at: u64| self.launch.params.get(at as usize).map_or(0, |byte| u64::from(*byte));
        let mut column = [0; 32];
        for lane in lanes(mask) {
            let address = addresses[lane];
            let (in_local_window, in_shared_window) =
                (address.wrapping_sub(window::LOCAL), address.wrapping_sub(window::SHARED));
            column[lane] = match at {
                At::Frame | At::Local => in_local(lane, address),
                At::Shared => in_shared(address),
                At::Param => in_params(address),
                At::Generic if in_local_window < window::SPAN => in_local(lane, in_local_window),
                At::Generic if in_shared_window < window::SPAN => in_shared(in_shared_window),
                At::Generic | At::Global | At::Const => in_memory(address),
            };
        }
        let [value] = access.values[..] else { return };
        match value.wide {
            true => regs.put64(value.col, &column, mask),
            false => regs.put32(value.col, &column.map(|byte| byte as u32), mask),
        }
    }

    fn load_param(&mut self, group: &Group<'_>, regs: &mut Regs<'_>) -> Stop<()> {
        let Group { access, addresses, mask, .. } = *group;
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
                            let alone = Group { mask: 1 << lane, ..*group };
                            return Err(self.bad_access(&alone, Doing::Read, Bad::Param));
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

    fn load_local(&mut self, group: &Group<'_>, regs: &mut Regs<'_>, local: &mut Local) -> Stop<()> {
        let Group { access, addresses, fragment, mask } = *group;
        let bytes = u32::from(access.bytes);
        let uniform = self.agree_in_local(group, Doing::Read)?;
        let first = addresses[mask.trailing_zeros() as usize & 31];
        let mut unwritten = 0u32;
        for (k, value) in access.values.iter().enumerate() {
            let add = k as u32 * bytes;
            if uniform && bytes == 4 && !value.wide && value.col != NONE {
                let (row, written) = local.row(first as u32 + add, mask);
                if written || !self.uninitialised || access.copied {
                    regs.put32(value.col, row, mask);
                    continue;
                }
            }
            for lane in lanes(mask) {
                let (bits, written) = local.load(lane, addresses[lane] as u32 + add, bytes);
                if !written {
                    unwritten |= 1 << lane;
                }
                put_lane(regs, value, lane, extend(bits, access));
            }
        }
        if unwritten != 0 && self.uninitialised && !access.copied {
            let address = addresses[unwritten.trailing_zeros() as usize];
            self.uninitialised_read(fragment, unwritten, address, access, "local memory");
        }
        Ok(())
    }

    fn store_local(&mut self, group: &Group<'_>, regs: &mut Regs<'_>, local: &mut Local) -> Stop<()> {
        let Group { access, addresses, mask, .. } = *group;
        let bytes = u32::from(access.bytes);
        let uniform = self.agree_in_local(group, Doing::Write)?;
        let first = addresses[mask.trailing_zeros() as usize & 31];
        for (k, value) in access.values.iter().enumerate() {
            let add = k as u32 * bytes;
            if uniform && bytes == 4 && !value.wide {
                local.store_row(first as u32 + add, &regs.r32[value.col as usize], mask);
                continue;
            }
            for lane in lanes(mask) {
                local.store(lane, addresses[lane] as u32 + add, bytes, get_lane(regs, value, lane));
            }
        }
        Ok(())
    }

    /// Whether all lanes name the same place of their local memory; none may leave it.
    fn agree_in_local(&self, group: &Group<'_>, doing: Doing) -> Stop<bool> {
        let Group { access, addresses, fragment, mask } = *group;
        let top = self.local_top(fragment.function, fragment.base);
        inside(addresses, mask, top, access.total()).ok_or_else(|| self.bad_access(group, doing, Bad::Local))
    }

    /// End of the local memory that a frame may touch: its own and its callers'.
    pub(super) fn local_top(&self, function: u32, base: Base) -> u64 {
        u64::from(base.local) + u64::from(self.code.functions[function as usize].frame_bytes)
    }
}

/// Where shared memory begins for an access whose first lane is at `first`; `None` where it is not shared.
#[inline(always)]
fn shared_base(at: At, first: u64) -> Option<u64> {
    match at {
        At::Shared => Some(0),
        At::Generic if first.wrapping_sub(window::SHARED) < window::SPAN => Some(window::SHARED),
        _ => None,
    }
}

/// What of a region may be touched.
#[inline(always)]
fn part(region: &Region, base: u64, window: Option<Window>) -> Part {
    match window {
        None => Part::whole(region, base),
        // Of another allocation, where this one has taken its place meanwhile: then the region has no such part.
        Some(window) => {
            Part { base: window.start, skip: window.start.wrapping_sub(base) as usize, len: window.bytes as usize }
        }
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
fn extend(bits: u64, access: &LoadStore) -> u64 {
    match (access.signed, access.bytes) {
        (true, 1) => bits as i8 as u64,
        (true, 2) => bits as i16 as u64,
        (true, 4) => bits as i32 as u64,
        _ => bits,
    }
}

#[inline(always)]
pub(super) fn put_lane(regs: &mut Regs<'_>, value: &Value, lane: usize, bits: u64) {
    if value.col == NONE {
    } else if value.wide {
        regs.r64[value.col as usize][lane] = bits;
    } else {
        regs.r32[value.col as usize][lane] = if value.short { bits as u32 & 0xffff } else { bits as u32 };
    }
}

#[inline(always)]
pub(super) fn get_lane(regs: &Regs<'_>, value: &Value, lane: usize) -> u64 {
    if value.wide { regs.r64[value.col as usize][lane] } else { regs.r32[value.col as usize][lane].into() }
}

/// Where an access to the frame lies in local memory; beyond any frame if its offset is.
fn frame_offset(fragment: &Fragment, access: &LoadStore) -> u32 {
    let at = i128::from(fragment.base.local) + i128::from(access.address.offset);
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Do all active lanes lie below `top`, aligned? If so: do they agree?
fn inside(addresses: &[u64; 32], mask: u32, top: u64, total: u64) -> Option<bool> {
    let room = top.checked_sub(total)?;
    let first = addresses[mask.trailing_zeros() as usize & 31];
    let mut uniform = true;
    for lane in lanes(mask) {
        let address = addresses[lane];
        if address > room || !address.is_multiple_of(total) {
            return None;
        }
        uniform &= address == first;
    }
    Some(uniform)
}
