//! Host memory that kernels see at its own address: pinned, registered, managed.
//!
//! The host may change these bytes while a kernel runs, so every access is volatile and as wide as its alignment
//! allows: a flag of 4 bytes is read in one piece. Such memory counts as initialised.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Alignment of host memory that the driver hands out: a page.
const PAGE: usize = 4096;

/// A piece of host memory, mapped by [`super::Memory::map_host`] or made by [`super::Memory::alloc_managed`].
pub(crate) struct Host {
    pointer: *mut u8,
    len: usize,
    /// The block that it lies in and how that was allocated, where it is ours and goes when this goes.
    owned: Option<(*mut u8, Layout)>,
}

// SAFETY: the promise of `map_host` is that the range is valid for reads and writes until it is unmapped, and
// says nothing of threads; the pointer is used only through volatile and atomic accesses of this file.
unsafe impl Send for Host {}

impl Host {
    /// # Safety
    ///
    /// `[pointer, pointer + len)` stays valid for reads and writes as long as the value lives.
    pub(crate) unsafe fn new(pointer: *mut u8, len: usize) -> Host {
        Host { pointer, len, owned: None }
    }

    /// `len` zero bytes of its own, at the start of a page; `None` where the host has no memory.
    pub(crate) fn allocate(len: usize) -> Option<Host> {
        if len == 0 {
            return None;
        }
        // A page more, and no alignment asked for: the system hands out zeroed pages that take no memory until they are
        // touched, while an allocator that has to align them clears them all.
        let layout = Layout::from_size_align(len.checked_add(PAGE)?, 1).ok()?;
        // SAFETY: the layout's size is not 0.
        let block = unsafe { alloc_zeroed(layout) };
        if block.is_null() {
            return None;
        }
        let pointer = block.wrapping_add(block.align_offset(PAGE));
        Some(Host { pointer, len, owned: Some((block, layout)) })
    }

    /// Where it lies.
    pub(crate) fn address(&self) -> u64 {
        self.pointer as u64
    }

    /// Reads `out.len()` bytes from `offset`.
    ///
    /// # Panics
    ///
    /// When the range is not inside the mapping: the caller checks bounds first.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) {
        assert!(offset <= self.len && out.len() <= self.len - offset, "host range was checked by the caller");
        // SAFETY: `offset` is inside the mapping by the assertion.
        let start = unsafe { self.pointer.add(offset) };
        let aligned = |bytes: usize| (start as usize).is_multiple_of(bytes);
        match out.len() {
            2 if aligned(2) => {
                // SAFETY: the range is inside the mapping, and the address is aligned for the wider access.
                let value = unsafe { start.cast::<u16>().read_volatile() };
                out.copy_from_slice(&value.to_ne_bytes());
            }
            4 if aligned(4) => {
                // SAFETY: as above.
                let value = unsafe { start.cast::<u32>().read_volatile() };
                out.copy_from_slice(&value.to_ne_bytes());
            }
            8 if aligned(8) => {
                // SAFETY: as above.
                let value = unsafe { start.cast::<u64>().read_volatile() };
                out.copy_from_slice(&value.to_ne_bytes());
            }
            _ => {
                for (i, byte) in out.iter_mut().enumerate() {
                    // SAFETY: `offset + i` is inside the mapping.
                    *byte = unsafe { start.add(i).read_volatile() };
                }
            }
        }
    }

    /// Writes `data` at `offset`.
    ///
    /// # Panics
    ///
    /// When the range is not inside the mapping: the caller checks bounds first.
    pub(crate) fn write(&mut self, offset: usize, data: &[u8]) {
        assert!(offset <= self.len && data.len() <= self.len - offset, "host range was checked by the caller");
        // SAFETY: `offset` is inside the mapping by the assertion.
        let start = unsafe { self.pointer.add(offset) };
        let aligned = |bytes: usize| (start as usize).is_multiple_of(bytes);
        match *data {
            [a, b] if aligned(2) => {
                let value = u16::from_ne_bytes([a, b]);
                // SAFETY: the range is inside the mapping, and the address is aligned for the wider access.
                unsafe { start.cast::<u16>().write_volatile(value) };
            }
            [a, b, c, d] if aligned(4) => {
                let value = u32::from_ne_bytes([a, b, c, d]);
                // SAFETY: as above.
                unsafe { start.cast::<u32>().write_volatile(value) };
            }
            [a, b, c, d, e, f, g, h] if aligned(8) => {
                let value = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
                // SAFETY: as above.
                unsafe { start.cast::<u64>().write_volatile(value) };
            }
            _ => {
                for (i, &byte) in data.iter().enumerate() {
                    // SAFETY: `offset + i` is inside the mapping.
                    unsafe { start.add(i).write_volatile(byte) };
                }
            }
        }
    }

    /// One atomic read-modify-write of 2, 4 or 8 bytes, aligned; atomic towards threads of the host too.
    /// Gives the old value.
    ///
    /// # Panics
    ///
    /// When the range is not inside the mapping or not aligned: the caller checks both first.
    pub(crate) fn update(&mut self, offset: usize, bytes: usize, mut f: impl FnMut(u64) -> u64) -> u64 {
        assert!(offset <= self.len && bytes <= self.len - offset, "host range was checked by the caller");
        // SAFETY: `offset` is inside the mapping by the assertion.
        let start = unsafe { self.pointer.add(offset) };
        assert!((start as usize).is_multiple_of(bytes), "alignment was checked by the caller");
        match bytes {
            2 => {
                // SAFETY: inside the mapping and aligned; all our accesses are volatile or atomic.
                let cell = unsafe { AtomicU16::from_ptr(start.cast()) };
                let mut old = cell.load(Ordering::SeqCst);
                while let Err(now) =
                    cell.compare_exchange(old, f(old.into()) as u16, Ordering::SeqCst, Ordering::SeqCst)
                {
                    old = now;
                }
                old.into()
            }
            4 => {
                // SAFETY: inside the mapping and aligned; all our accesses are volatile or atomic.
                let cell = unsafe { AtomicU32::from_ptr(start.cast()) };
                let mut old = cell.load(Ordering::SeqCst);
                while let Err(now) =
                    cell.compare_exchange(old, f(old.into()) as u32, Ordering::SeqCst, Ordering::SeqCst)
                {
                    old = now;
                }
                old.into()
            }
            _ => {
                assert_eq!(bytes, 8, "atomics are 2, 4 or 8 bytes wide");
                // SAFETY: inside the mapping and aligned; all our accesses are volatile or atomic.
                let cell = unsafe { AtomicU64::from_ptr(start.cast()) };
                let mut old = cell.load(Ordering::SeqCst);
                while let Err(now) = cell.compare_exchange(old, f(old), Ordering::SeqCst, Ordering::SeqCst) {
                    old = now;
                }
                old
            }
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some((block, layout)) = self.owned {
            // SAFETY: `allocate` made the block with this layout, and nobody else owns it.
            unsafe { dealloc(block, layout) };
        }
    }
}
