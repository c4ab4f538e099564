//! A range of addresses that memory is mapped into piece by piece, so that it grows and stays where it is.
//!
//! - The range is as large as the device's memory, and reserving it takes no memory. A piece of memory is mapped behind the
//!   pieces before it; its size is a multiple of what the driver says that it can map.
//! - Growing is all or nothing: a call that is refused leaves the range as it was, and the memory that was made for it is
//!   given back. What the driver refuses even to give back is remembered: the next growth uses it, the end unmaps it.
//! - It never shrinks. Its end is the owner's [`Garbage::Range`].
//!
//! # Why this is safe
//!
//! 1. *Addresses.* Only the range's owner maps into it, behind what is mapped already: nothing that is in use moves or
//!    changes its contents. An address that was given out stays valid until the range is unmapped.
//! 2. *Access.* Nobody is told of a byte before the device may read and write it: `open` is what the owner hands out, and
//!    it grows only after `cuMemSetAccess` has succeeded.
//! 3. *Lifetime.* Unmapping is not in stream order. So the queue of drops does it only when every use is known to be over,
//!    which the host has seen, and frees the addresses after it.
//! 4. *Memory.* The handle of a piece is released as soon as it was tried to map it: the mapping alone keeps the memory
//!    (the manual's page of `cuMemRelease`), so that unmapping is all that gives it back, and a piece that could not be
//!    mapped is gone at once.
//! 5. *Captures.* None of these calls is checked against a capture (observed); they are made in relaxed mode all the same.
//!
//! | what a caller does instead | what happens |
//! |---|---|
//! | forgets a range | its memory stays until the process ends; the owner's drop hands it to the queue |
//! | grows it from two threads | the owner's lock keeps one of them waiting |
//! | asks for more than the device has | `OutOfMemory`, from the driver or because the range ends |

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call, DriverError, leaves_undone};

use crate::device::{Booking, Device, Garbage};
use crate::error::Result;
use crate::held::Purpose;

/// Reserved addresses with memory mapped from the beginning on.
pub(crate) struct Range {
    pub(crate) base: CUdeviceptr,
    /// How many bytes of addresses there are.
    pub(crate) reserved: usize,
    /// How many have memory.
    pub(crate) mapped: usize,
    /// How many of these the device may read and write.
    open: usize,
    /// Pieces are multiples of this.
    granularity: usize,
    /// What is mapped, in the device's books.
    pub(crate) booking: Option<Booking>,
}

impl Range {
    /// How many bytes can be used.
    pub(crate) fn bytes(&self) -> usize {
        self.open
    }

    /// How many could be, if so many were asked for.
    pub(crate) fn bytes_with(&self, bytes: usize) -> usize {
        self.open.max(bytes.next_multiple_of(self.granularity))
    }
}

impl Device {
    /// Whether memory can be mapped apart from its addresses.
    pub(crate) fn can_map(&self) -> bool {
        self.properties().virtual_memory && self.abilities().has("virtual memory")
    }

    /// Reserves addresses for as much as the device has. They have no memory yet.
    ///
    /// # Errors
    ///
    /// - Any error from the driver. Nothing is reserved then.
    pub(crate) fn reserve_range(&self) -> Result<Range> {
        self.enter()?;
        let _relaxed = self.relaxed()?;
        let granularity = self.granularity()?;
        let reserved = self.properties().memory_bytes.max(1).next_multiple_of(granularity);
        let mut base = 0;
        // SAFETY: `base` is valid for the write.
        let code = unsafe { self.driver().cuMemAddressReserve(&mut base, reserved, 0, 0, 0) };
        self.check_memory(code, Call::cuMemAddressReserve, reserved)?;
        self.live().allocations.add(1);
        Ok(Range { base, reserved, mapped: 0, open: 0, granularity, booking: None })
    }

    /// Mapped memory comes in multiples of this.
    pub(crate) fn granularity(&self) -> Result<usize> {
        let (mut granularity, properties) = (0, self.physical());
        // SAFETY: both pointers are valid for the call.
        let code = unsafe {
            self.driver().cuMemGetAllocationGranularity(&mut granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM)
        };
        self.check(code, Call::cuMemGetAllocationGranularity)?;
        Ok(granularity.max(1))
    }

    /// Makes at least the first `bytes` of a range usable.
    ///
    /// # Errors
    ///
    /// - [`OutOfMemory`](crate::ErrorKind::OutOfMemory), or any error from the driver. What was usable still is.
    pub(crate) fn grow(&self, range: &mut Range, bytes: usize) -> Result<()> {
        if bytes <= range.open {
            return Ok(());
        }
        if bytes > range.reserved {
            return Err(self.out_of_memory(bytes - range.open));
        }
        self.enter()?;
        let _relaxed = self.relaxed()?;
        if bytes > range.mapped {
            let piece = bytes.next_multiple_of(range.granularity) - range.mapped;
            // Before the driver hears of it.
            let booking = self.book_now(Purpose::Pools, piece)?;
            self.map_piece(range.base + range.mapped as u64, piece)?;
            range.mapped += piece;
            range.booking = Some(match range.booking.take() {
                Some(before) => before.and(booking.taken()),
                None => booking.taken(),
            });
        }
        let (fresh, piece) = (range.base + range.open as u64, range.mapped - range.open);
        let opened = self.open_piece(fresh, piece);
        match &opened {
            Ok(()) => {
                range.open = range.mapped;
            }
            Err(_) => {
                // SAFETY: mapped above or by a growth before, whole; nobody was told of it.
                let code = unsafe { self.driver().cuMemUnmap(fresh, piece) };
                if !leaves_undone(Call::cuMemUnmap, code) {
                    range.mapped = range.open;
                    if let Some(booking) = &mut range.booking {
                        booking.shrink_to(range.mapped);
                    }
                }
            }
        }
        opened
    }

    /// Makes memory and maps it. All memory apart from its addresses is made here.
    fn map_piece(&self, address: CUdeviceptr, bytes: usize) -> Result<()> {
        let (mut handle, properties) = (CUmemGenericAllocationHandle::default(), self.physical());
        // SAFETY: both pointers are valid for the call.
        let code = unsafe { self.driver().cuMemCreate(&mut handle, bytes, &properties, 0) };
        self.check_memory(code, Call::cuMemCreate, bytes)?;
        // SAFETY: the addresses are reserved, ours, and nothing is mapped there; the memory is as long.
        let mapped = unsafe { self.driver().cuMemMap(address, bytes, 0, handle, 0) };
        // SAFETY: made above. If it was mapped, the mapping keeps the memory.
        let released = unsafe { self.driver().cuMemRelease(handle) };
        if leaves_undone(Call::cuMemRelease, released) {
            self.put(Garbage::Physical(handle), Vec::new());
        }
        self.check_memory(mapped, Call::cuMemMap, bytes)
    }

    /// Lets the device read and write what was mapped.
    fn open_piece(&self, address: CUdeviceptr, bytes: usize) -> Result<()> {
        let access = CUmemAccessDesc { location: self.here(), flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
        // SAFETY: the description is valid for the call, and all of the range is mapped.
        let code = unsafe { self.driver().cuMemSetAccess(address, bytes, &access, 1) };
        self.check_memory(code, Call::cuMemSetAccess, bytes)
    }

    fn here(&self) -> CUmemLocation {
        CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: self.0.raw }
    }

    fn physical(&self) -> CUmemAllocationProp {
        CUmemAllocationProp { r#type: CU_MEM_ALLOCATION_TYPE_PINNED, location: self.here(), ..Default::default() }
    }

    /// What a code means of a call that may find no memory.
    pub(crate) fn check_memory(&self, code: CUresult, call: Call, bytes: usize) -> Result<()> {
        match code {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Err(self.out_of_memory(bytes).with_source(DriverError { code, call }))
            }
            code => self.check(code, call),
        }
    }
}
