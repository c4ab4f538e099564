//! Host memory behind simulated memory: zeroed, and touched by the operating system only where it is used.
//!
//! A device may claim far more memory than the host has. The system's allocator gives large zeroed blocks without
//! touching them, and this file reports a refusal instead of ending the process as `vec![0; n]` would.

use std::alloc::{Layout, alloc_zeroed};

/// Bytes of a line of the processor's caches. What lies across two of them takes twice as long.
const LINE: usize = 64;

/// Bytes that begin at a line, as those of a device begin at a multiple of 256.
#[derive(Default)]
pub(crate) struct Bytes {
    values: Vec<u8>,
    /// Bytes in front of the first.
    skip: usize,
}

impl Bytes {
    /// `len` zero bytes, or `None` where the host refuses.
    pub(crate) fn zeroed(len: usize) -> Option<Bytes> {
        if len == 0 {
            return Some(Bytes::default());
        }
        let mut values = zeroed::<u8>(len.checked_add(LINE)?)?;
        let skip = values.as_ptr().align_offset(LINE).min(LINE);
        values.truncate(skip + len);
        Some(Bytes { values, skip })
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.values[self.skip..]
    }
}

impl std::ops::DerefMut for Bytes {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.values[self.skip..]
    }
}

/// `len` zero words, or `None` where the host refuses.
pub(crate) fn zeroed_words(len: usize) -> Option<Vec<u64>> {
    zeroed::<u64>(len)
}

/// Types for which all bits zero is a value.
trait Zeroed {}
impl Zeroed for u8 {}
impl Zeroed for u64 {}

fn zeroed<T: Zeroed>(len: usize) -> Option<Vec<T>> {
    if len == 0 {
        return Some(Vec::new());
    }
    let layout = Layout::array::<T>(len).ok()?;
    // SAFETY: the layout is not of size zero, since `len` is not and `T` is an integer.
    let pointer = unsafe { alloc_zeroed(layout) };
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the block came from the global allocator with the layout of `[T; len]`, all `len` elements are
    // zero, which is a value of `T`, and nobody else owns the block.
    Some(unsafe { Vec::from_raw_parts(pointer.cast::<T>(), len, len) })
}
