//! The memory of a simulated device: allocations at stable addresses, with an exact size and a name.
//!
//! - An address is valid when it lies in a live allocation; the rest of the address space faults. Allocations start
//!   at multiples of 512, each in a granule of its own, with at least 256 bytes of nothing behind them, so running off
//!   the end is seen. What a GPU would let pass beyond the end may be let pass here too: see `granule`.
//! - Addresses of freed memory are not handed out again, except by [`Memory::alloc_at`], which a pool uses; the
//!   new allocation then has a new generation. A freed allocation leaves a tombstone, so that reports can name it.
//! - Every byte has an initialised bit. Host writes, fills and kernels' stores set it, copies carry it along.
//! - Addresses follow from the seed. Device addresses stay below those that an operating system gives a process, so
//!   host memory can be mapped at its own address.
//!
//! Not here: who may touch what when (streams), and the shared and local memory of kernels.

mod backing;
pub(crate) mod bits;
mod check;
mod describe;
mod fork;
mod granule;
mod heap;
pub(crate) mod home;
pub(crate) mod host;
pub(crate) mod mask;
pub(crate) mod ranges;
pub(crate) mod region;
pub(crate) mod rows;
pub(crate) mod texture;
mod unwritten;
pub(crate) mod watch;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

pub(crate) use backing::zeroed_words;
use home::{Home, View};
use host::Host;
use ranges::RangeKind;
use region::Region;
use watch::{MemoryWatch, Shadow};

/// Lowest device address.
const DEVICE_LOW: u64 = 0x0003_0000_0000;
/// First address that device memory never reaches.
const DEVICE_HIGH: u64 = 0x5000_0000_0000;
/// Bytes of nothing behind each allocation, at least.
const RED_ZONE: u64 = 256;
/// Starts are multiples of this.
const GRANULE: u64 = 512;
/// Tombstones kept; the oldest goes first.
const TOMBSTONES_MAX: usize = 4096;

/// How a [`Memory`] is made.
#[derive(Clone, Copy, Debug)]
pub struct MemoryOptions {
    /// Bytes of device memory.
    pub capacity: u64,
    /// Decides addresses.
    pub seed: u64,
}

/// What an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `cuMemAlloc` and its kin.
    Device,
    /// A stream-ordered pool.
    Pool,
    /// Memory of a graph's allocation nodes.
    Graph,
    /// A variable of a module.
    Module,
    /// Page-locked host memory from `cuMemAllocHost`.
    HostPinned,
    /// Host memory registered by the program.
    HostRegistered,
    /// Managed memory.
    Managed,
    /// The texels of an array.
    Array,
    /// What a kernel has got from `malloc`.
    Heap,
    /// Memory of its own life, mapped at a reserved address.
    Mapped,
}

/// What is asked of [`Memory::alloc`].
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Exact size; what lies behind faults.
    pub bytes: u64,
    /// Alignment of the start; at least 512 is given in any case.
    pub align: u64,
    /// What it is.
    pub kind: Kind,
    /// Its name in reports.
    pub label: &'a str,
}

/// A live or a freed allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// Size.
    pub bytes: u64,
    /// What it is.
    pub kind: Kind,
    /// Its name in reports.
    pub label: String,
    /// Counts allocations of this memory from 1: two of them at one address differ here.
    pub generation: u64,
    /// Whose memory it is, where there are several devices and it is a device's.
    pub device: Option<usize>,
}

/// Why there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub requested: u64,
    /// Bytes of the device that are not in use.
    pub free: u64,
}

impl Slot {
    /// A slot without an allocation.
    fn vacant() -> Slot {
        let backing = Backing::Device(Region::default());
        Slot { base: 0, bytes: 0, backing, home: Home::default(), shadow: None }
    }
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes asked for, {} bytes free", self.requested, self.free)
    }
}

impl std::error::Error for OutOfMemory {}

/// What is wrong with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessErrorKind {
    /// An address in the first 64 KiB.
    Null,
    /// Inside an allocation that was freed.
    Freed,
    /// In no allocation, or not wholly in one.
    OutOfBounds,
    /// Graph memory before the launch that allocates it.
    NotAllocated,
    /// A reserved address with nothing mapped, or without access to what is.
    NoAccess,
    /// Memory of another device, and no access to it.
    PeerAccess,
}

/// A refused access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessError {
    /// What is wrong.
    pub kind: AccessErrorKind,
    /// The first byte that may not be touched.
    pub address: u64,
    /// Size of the access.
    pub bytes: u64,
    /// What lies there, as [`Memory::describe`] says it.
    pub what: String,
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x} is {}", self.address, self.what)
    }
}

impl std::error::Error for AccessError {}

/// What stands behind an allocation.
pub(crate) enum Backing {
    /// Bytes of ours with initialised bits.
    Device(Region),
    /// Bytes that several forks of a memory read at the same time; see `fork`.
    Lent(Arc<Region>),
    /// The program's own bytes.
    Host(Host),
}

/// Where an allocation lies and what stands behind it. A slot without an allocation has size 0.
pub(crate) struct Slot {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) backing: Backing,
    pub(crate) home: Home,
    /// Who has touched it, where that is asked for.
    shadow: Option<Box<Shadow>>,
}

/// The memory of a machine's devices, in one address space.
pub struct Memory {
    slots: Vec<Slot>,
    records: Vec<Option<Allocation>>,
    vacant: Vec<u32>,
    by_base: BTreeMap<u64, u32>,
    freed: BTreeMap<u64, Allocation>,
    freed_order: VecDeque<u64>,
    cursor: u64,
    random: u64,
    /// By device.
    used: Vec<u64>,
    used_by_graphs: Vec<u64>,
    /// Of each device.
    capacity: u64,
    /// Who touches memory now, where that decides what there is.
    view: Option<View>,
    generation: u64,
    /// Addresses given out ahead of the memory: size and kind, by start.
    ranges: BTreeMap<u64, (u64, RangeKind)>,
    /// Who touches memory now, and who has; where that is asked for.
    watch: Option<Box<MemoryWatch>>,
    /// In a fork, bytes that it may still copy in order to write to them.
    copies_left: usize,
    /// Variables of modules that some launch is declared to write, by their start.
    written_state: BTreeSet<u64>,
    /// Bytes beyond allocations where accesses are let pass, by the allocation's start; `None` where none is.
    pads: Option<BTreeMap<u64, granule::Pad>>,
    /// Texture and surface objects by their handles; a fork has none.
    pub(crate) textures: HashMap<u64, Arc<texture::Texture>>,
    /// What kernels allocate from.
    heap: heap::Heap,
}

fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Memory {
    /// Empty memory.
    pub fn new(o: MemoryOptions) -> Memory {
        let mut random = o.seed;
        let cursor = DEVICE_LOW + next_random(&mut random) % 4096 * 0x20_0000;
        Memory {
            slots: Vec::new(),
            records: Vec::new(),
            vacant: Vec::new(),
            by_base: BTreeMap::new(),
            freed: BTreeMap::new(),
            freed_order: VecDeque::new(),
            cursor,
            random,
            used: vec![0],
            used_by_graphs: vec![0],
            capacity: o.capacity,
            view: None,
            generation: 0,
            ranges: BTreeMap::new(),
            watch: None,
            copies_left: 0,
            written_state: BTreeSet::new(),
            pads: None,
            textures: HashMap::new(),
            heap: heap::Heap::default(),
        }
    }

    /// A new allocation at a new address; its bytes are not initialised.
    ///
    /// # Errors
    ///
    /// When the device, or the host that simulates it, has not that much left.
    pub fn alloc(&mut self, r: Request<'_>) -> Result<u64, OutOfMemory> {
        self.alloc_for(self.home_of_view(), r)
    }

    /// As [`Memory::alloc`], for whom it says.
    ///
    /// # Errors
    ///
    /// As those of [`Memory::alloc`].
    pub(crate) fn alloc_for(&mut self, home: Home, r: Request<'_>) -> Result<u64, OutOfMemory> {
        let refused = self.refusal(home.device, r.bytes);
        let align = r.align.max(GRANULE).checked_next_power_of_two().ok_or(refused)?;
        let chance = next_random(&mut self.random) % 8;
        let start = self.place(align, r.bytes, granule::size_of(r.kind), chance).ok_or(refused)?;
        let end = start.checked_add(r.bytes).filter(|&e| e < DEVICE_HIGH).ok_or(refused)?;
        self.insert(start, home, r)?;
        self.cursor = end + RED_ZONE;
        Ok(start)
    }

    /// A new allocation at a given address, where a pool hands out memory that it had before.
    ///
    /// # Errors
    ///
    /// When the range touches a live allocation, or as [`Memory::alloc`].
    pub fn alloc_at(&mut self, address: u64, r: Request<'_>) -> Result<(), OutOfMemory> {
        self.alloc_at_for(Home::default(), address, r)
    }

    /// As [`Memory::alloc_at`], for whom it says.
    ///
    /// # Errors
    ///
    /// As those of [`Memory::alloc_at`].
    pub(crate) fn alloc_at_for(&mut self, home: Home, address: u64, r: Request<'_>) -> Result<(), OutOfMemory> {
        let refused = self.refusal(home.device, r.bytes);
        let end = address.checked_add(r.bytes).ok_or(refused)?;
        let clash = self.live_below(end.saturating_sub(1)).is_some_and(|a| a.base + a.bytes > address)
            || self.by_base.range(address..end.max(address.saturating_add(1))).next().is_some();
        if clash {
            return Err(refused);
        }
        self.insert(address, home, r)?;
        if address < DEVICE_HIGH {
            self.cursor = self.cursor.max(end + RED_ZONE);
        }
        Ok(())
    }

    fn refusal(&self, device: usize, requested: u64) -> OutOfMemory {
        OutOfMemory { requested, free: self.capacity.saturating_sub(self.used_on(device)) }
    }

    fn insert(&mut self, start: u64, home: Home, r: Request<'_>) -> Result<(), OutOfMemory> {
        let refused = self.refusal(home.device, r.bytes);
        if r.bytes > refused.free {
            return Err(refused);
        }
        let len = usize::try_from(r.bytes).map_err(|_| refused)?;
        let region = Region::new(len).ok_or(refused)?;
        self.used[home.device] += r.bytes;
        if r.kind == Kind::Graph {
            self.used_by_graphs[home.device] += r.bytes;
        }
        self.put(start, home, Backing::Device(region), (r.bytes, r.kind), r.label);
        Ok(())
    }

    fn put(&mut self, base: u64, home: Home, backing: Backing, (bytes, kind): (u64, Kind), label: &str) {
        self.generation += 1;
        let is_device = self.has_several_devices() && !matches!(backing, Backing::Host(_));
        let device = is_device.then_some(home.device);
        let slot = Slot { base, bytes, backing, home, shadow: None };
        let (label, generation) = (label.to_string(), self.generation);
        let record = Some(Allocation { base, bytes, kind, label, generation, device });
        let index = match self.vacant.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                self.records[index as usize] = record;
                index
            }
            None => {
                self.slots.push(slot);
                self.records.push(record);
                (self.slots.len() - 1) as u32
            }
        };
        self.by_base.insert(base, index);
    }

    /// Makes host memory visible to kernels at its own address. Replaces a mapping that starts there.
    ///
    /// # Safety
    ///
    /// - `[ptr, ptr + bytes)` stays valid for reads and writes until [`Memory::free`] of that address, or until the
    ///   memory is dropped.
    pub unsafe fn map_host(&mut self, ptr: *mut u8, bytes: u64, kind: Kind, label: &str) {
        self.free(ptr as u64);
        // SAFETY: the caller's promise is the one asked for.
        let host = unsafe { Host::new(ptr, bytes as usize) };
        self.put(ptr as u64, Home::of_host(0), Backing::Host(host), (bytes, kind), label);
    }

    /// New zeroed memory at one address for host and kernels. It is the host's: the device has not less for it.
    ///
    /// # Errors
    ///
    /// When the host has not that much left.
    pub(crate) fn alloc_managed(&mut self, bytes: u64, label: &str) -> Result<u64, OutOfMemory> {
        self.alloc_host(bytes, Kind::Managed, label)
    }

    /// As [`Memory::alloc_managed`], for host memory of another kind.
    ///
    /// # Errors
    ///
    /// When the host has not that much left.
    pub(crate) fn alloc_host(&mut self, bytes: u64, kind: Kind, label: &str) -> Result<u64, OutOfMemory> {
        let refused = self.refusal(0, bytes);
        let host = usize::try_from(bytes).ok().and_then(Host::allocate).ok_or(refused)?;
        let address = host.address();
        self.put(address, Home::of_host(0), Backing::Host(host), (bytes, kind), label);
        Ok(address)
    }

    /// Frees the allocation that starts at `address`; `None` where none does.
    pub fn free(&mut self, address: u64) -> Option<Allocation> {
        let index = self.by_base.remove(&address)?;
        let slot = &mut self.slots[index as usize];
        if matches!(slot.backing, Backing::Device(_)) {
            self.used[slot.home.device] -= slot.bytes;
            if self.records[index as usize].as_ref().is_some_and(|record| record.kind == Kind::Graph) {
                self.used_by_graphs[slot.home.device] -= slot.bytes;
            }
        }
        *slot = Slot::vacant();
        self.vacant.push(index);
        self.written_state.remove(&address);
        if let Some(pads) = &mut self.pads {
            pads.remove(&address);
        }
        let record = self.records[index as usize].take()?;
        if self.freed.insert(address, record.clone()).is_none() {
            self.freed_order.push_back(address);
        }
        if self.freed_order.len() > TOMBSTONES_MAX
            && let Some(oldest) = self.freed_order.pop_front()
        {
            self.freed.remove(&oldest);
        }
        Some(record)
    }

    /// Some launch is declared to write at `address`; kept where that is a variable of a module.
    pub(crate) fn mark_written_state(&mut self, address: u64) {
        if let Some(base) = self.containing(address).filter(|a| a.kind == Kind::Module).map(|a| a.base) {
            self.written_state.insert(base);
        }
    }

    /// Is some launch declared to write the module's variable that begins at `base`?
    pub(crate) fn is_written_state(&self, base: u64) -> bool {
        self.written_state.contains(&base)
    }

    /// The live allocation that `address` lies in.
    pub fn containing(&self, address: u64) -> Option<&Allocation> {
        self.live_below(address).filter(|a| address - a.base < a.bytes)
    }

    /// The last live allocation that starts at or below `address`.
    fn live_below(&self, address: u64) -> Option<&Allocation> {
        let (_, &index) = self.by_base.range(..=address).next_back()?;
        self.records[index as usize].as_ref()
    }

    /// The first live allocation that starts above `address`.
    fn live_above(&self, address: u64) -> Option<&Allocation> {
        let (_, &index) = self.by_base.range(address.checked_add(1)?..).next()?;
        self.records[index as usize].as_ref()
    }

    /// The freed allocation that `address` lies in.
    fn freed_at(&self, address: u64) -> Option<&Allocation> {
        let (_, freed) = self.freed.range(..=address).next_back()?;
        Some(freed).filter(|a| address - a.base < a.bytes)
    }

    /// The slot that `address` lies in.
    #[inline]
    pub(crate) fn slot_index(&self, address: u64) -> Option<u32> {
        let (&base, &index) = self.by_base.range(..=address).next_back()?;
        (address - base < self.slots[index as usize].bytes && self.is_in_view(index)).then_some(index)
    }

    /// A slot by its number; numbers of freed slots give one of size 0 or a later allocation.
    #[inline(always)]
    pub(crate) fn slot(&self, index: u32) -> Option<&Slot> {
        self.slots.get(index as usize)
    }

    /// A slot by its number, to change.
    #[inline(always)]
    pub(crate) fn slot_mut(&mut self, index: u32) -> Option<&mut Slot> {
        self.slots.get_mut(index as usize)
    }

    /// Does the whole range lie in one live allocation?
    ///
    /// # Errors
    ///
    /// Says at which byte it does not, and what lies there.
    pub fn check(&self, address: u64, bytes: u64) -> Result<(), AccessError> {
        self.locate(address, bytes).map(|_| ())
    }

    /// As [`Memory::check`], for a range that may cross from one mapped piece to the next.
    fn check_whole(&self, address: u64, bytes: u64) -> Result<(), AccessError> {
        if self.pieces(address, bytes).is_some() { Ok(()) } else { self.check(address, bytes) }
    }

    /// The slot and the offset in it of a range that lies in one live allocation.
    fn locate(&self, address: u64, bytes: u64) -> Result<(u32, usize), AccessError> {
        if let Some(index) = self.slot_index(address) {
            let slot = &self.slots[index as usize];
            let offset = address - slot.base;
            if bytes <= slot.bytes - offset {
                return Ok((index, offset as usize));
            }
            return Err(self.error(slot.base + slot.bytes, bytes));
        }
        // An empty range is fine wherever an allocation starts or ends.
        if bytes == 0
            && let Some((&base, &index)) = self.by_base.range(..=address).next_back()
            && address - base <= self.slots[index as usize].bytes
        {
            return Ok((index, (address - base) as usize));
        }
        Err(self.error(address, bytes))
    }

    /// The error for an access whose first bad byte is `address`.
    pub(crate) fn error(&self, address: u64, bytes: u64) -> AccessError {
        let kind = if self.is_hidden(address) {
            AccessErrorKind::PeerAccess
        } else if self.overrun(address).is_some() {
            AccessErrorKind::OutOfBounds
        } else if self.containing(address).is_none() && self.freed_at(address).is_some() {
            AccessErrorKind::Freed
        } else if address < 0x1_0000 {
            AccessErrorKind::Null
        } else {
            match self.range_at(address).filter(|_| self.containing(address).is_none()) {
                Some((_, _, RangeKind::Graph)) => AccessErrorKind::NotAllocated,
                Some(_) => AccessErrorKind::NoAccess,
                None => AccessErrorKind::OutOfBounds,
            }
        };
        AccessError { kind, address, bytes, what: self.describe(address) }
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// When the range is not in one live allocation; nothing was read then.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), AccessError> {
        if let Some(pieces) = self.pieces(address, out.len() as u64) {
            return pieces
                .into_iter()
                .try_for_each(|(at, bytes)| self.read(at, &mut out[(at - address) as usize..][..bytes as usize]));
        }
        let (index, offset) = self.locate(address, out.len() as u64)?;
        match &self.slots[index as usize].backing {
            Backing::Device(region) => out.copy_from_slice(&region.data[offset..offset + out.len()]),
            Backing::Lent(region) => out.copy_from_slice(&region.data[offset..offset + out.len()]),
            Backing::Host(host) => host.read(offset, out),
        }
        Ok(())
    }

    /// Writes bytes and marks them as initialised.
    ///
    /// # Errors
    ///
    /// When the range is not in one live allocation; nothing was written then.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), AccessError> {
        if let Some(pieces) = self.pieces(address, data.len() as u64) {
            return pieces
                .into_iter()
                .try_for_each(|(at, bytes)| self.write(at, &data[(at - address) as usize..][..bytes as usize]));
        }
        let (index, offset) = self.locate(address, data.len() as u64)?;
        match &mut self.slots[index as usize].backing {
            Backing::Device(region) => region.write(offset, data),
            Backing::Lent(_) => return Err(self.error(address, data.len() as u64)),
            Backing::Host(host) => host.write(offset, data),
        }
        Ok(())
    }

    /// Writes `pattern` `count` times in a row: a memset with elements of 1, 2 or 4 bytes.
    ///
    /// # Errors
    ///
    /// When the range is not in one live allocation; nothing was written then.
    pub fn fill(&mut self, address: u64, pattern: &[u8], count: u64) -> Result<(), AccessError> {
        let bytes = (pattern.len() as u64).checked_mul(count).ok_or_else(|| self.error(address, u64::MAX))?;
        if let Some(pieces) = self.pieces(address, bytes) {
            // Seams lie at multiples of every element's size.
            let size = pattern.len().max(1) as u64;
            return pieces.into_iter().try_for_each(|(at, bytes)| self.fill(at, pattern, bytes / size));
        }
        let (index, offset) = self.locate(address, bytes)?;
        match &mut self.slots[index as usize].backing {
            Backing::Device(region) => {
                let target = &mut region.data[offset..offset + bytes as usize];
                match *pattern {
                    [] => {}
                    [byte] => target.fill(byte),
                    _ => target.chunks_exact_mut(pattern.len()).for_each(|piece| piece.copy_from_slice(pattern)),
                }
                region.bits.mark(offset, bytes as usize);
            }
            Backing::Lent(_) => return Err(self.error(address, bytes)),
            Backing::Host(host) => {
                for i in 0..count as usize {
                    host.write(offset + i * pattern.len(), pattern);
                }
            }
        }
        Ok(())
    }

    /// Copies bytes and their initialised bits; the ranges may overlap.
    ///
    /// # Errors
    ///
    /// When either range is not in one live allocation; nothing was copied then.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), AccessError> {
        if let Some(cuts) = self.cuts(to, from, bytes) {
            self.check_whole(to, bytes).and_then(|()| self.check_whole(from, bytes))?;
            // From the end if the target lies above: what is still to be read is not overwritten.
            let ordered: Vec<_> = if to > from { cuts.into_iter().rev().collect() } else { cuts };
            return ordered.into_iter().try_for_each(|(at, bytes)| self.copy(to + at, from + at, bytes));
        }
        let (source, source_at) = self.locate(from, bytes)?;
        let (target, target_at) = self.locate(to, bytes)?;
        let len = bytes as usize;
        if source == target
            && let Backing::Device(region) = &mut self.slots[source as usize].backing
        {
            let piece = region.bits.extract(source_at, len);
            region.data.copy_within(source_at..source_at + len, target_at);
            region.bits.insert(target_at, len, &piece);
            return Ok(());
        }
        if source != target
            && let Ok([Slot { backing: Backing::Device(a), .. }, Slot { backing: Backing::Device(b), .. }]) =
                self.slots.get_disjoint_mut([source as usize, target as usize])
        {
            b.data[target_at..target_at + len].copy_from_slice(&a.data[source_at..source_at + len]);
            b.bits.insert(target_at, len, &a.bits.extract(source_at, len));
            return Ok(());
        }
        // Host memory takes part: it counts as initialised, and goes through a buffer because it is volatile. A
        // device source keeps its bits only towards device memory, which the cases above cover.
        let mut buffer = vec![0; len];
        self.read(from, &mut buffer)?;
        self.write(to, &buffer)
    }

    /// Is every byte of the range initialised? A range that is not in one live allocation is not.
    pub fn initialised(&self, address: u64, bytes: u64) -> bool {
        match self.locate(address, bytes) {
            Ok((index, offset)) => match &self.slots[index as usize].backing {
                Backing::Device(region) => region.bits.all(offset, bytes as usize),
                Backing::Lent(region) => region.bits.all(offset, bytes as usize),
                Backing::Host(_) => true,
            },
            Err(_) => false,
        }
    }

    /// Marks the whole allocation that starts at `address` as initialised, with the zeros it holds.
    pub(crate) fn mark_initialised(&mut self, address: u64) {
        if let Some(&index) = self.by_base.get(&address)
            && let Backing::Device(region) = &mut self.slots[index as usize].backing
        {
            region.bits.mark(0, region.data.len());
        }
    }

    /// Whether device memory may lie at this address, now or at another time; no host memory does.
    pub fn is_device_address(&self, address: u64) -> bool {
        (DEVICE_LOW..DEVICE_HIGH).contains(&address)
    }

    /// Bytes of device memory in use, on all devices.
    pub fn used(&self) -> u64 {
        self.used.iter().sum()
    }

    /// Bytes of a device's memory in use.
    pub(crate) fn used_on(&self, device: usize) -> u64 {
        self.used.get(device).copied().unwrap_or(0)
    }

    /// Bytes of memory that each device has.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Renames the allocation that `address` lies in.
    pub fn set_label(&mut self, address: u64, label: &str) {
        if let Some(index) = self.slot_index(address)
            && let Some(record) = &mut self.records[index as usize]
        {
            record.label = label.to_string();
        }
    }
}

#[cfg(test)]
mod tests;
