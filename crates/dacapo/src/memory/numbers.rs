//! Numbers of allocations: given out, looked up, and given out again after the last hold.
//!
//! A number is 24 bits, because 40 bits of an address are the offset. A number is never reused while its allocation is
//! held, so a borrowed slice always finds its own allocation and never a stranger's.
//!
//! Looking up takes no lock: recording an op looks up each of its arguments.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::{Error, ErrorKind, Result};
use crate::memory::Allocation;

/// Bits of an address that are the offset.
pub(crate) const OFFSET_BITS: u32 = 40;
/// Numbers that fit above them; 0 is nobody's, so that no slice is at address zero.
const NUMBERS_MAX: usize = (1 << (64 - OFFSET_BITS)) - 1;

/// Numbers in a page. Pages are made when their first number is given out, and stay.
const PAGE: usize = 1 << 12;

/// What has each number, in pages.
static PAGES: [OnceLock<Box<[AtomicPtr<Allocation>]>>; (NUMBERS_MAX + 1) / PAGE] =
    [const { OnceLock::new() }; (NUMBERS_MAX + 1) / PAGE];
/// Which numbers are free.
static FREE: Mutex<Numbers> = Mutex::new(Numbers::new(NUMBERS_MAX));

struct Numbers {
    /// The highest that was ever given out.
    highest: usize,
    returned: Vec<u32>,
    limit: usize,
}

impl Numbers {
    const fn new(limit: usize) -> Numbers {
        Numbers { highest: 0, returned: Vec::new(), limit }
    }

    fn reserve(&mut self) -> Result<u32> {
        if let Some(number) = self.returned.pop() {
            return Ok(number);
        }
        if self.highest == self.limit {
            return Err(Error::new(ErrorKind::Full { limit: self.limit }));
        }
        self.highest += 1;
        Ok(self.highest as u32)
    }
}

#[inline]
fn entry(number: u32) -> &'static AtomicPtr<Allocation> {
    let page = PAGES[number as usize / PAGE].get_or_init(|| (0..PAGE).map(|_| AtomicPtr::default()).collect());
    &page[number as usize % PAGE]
}

/// A fresh number, and the allocation that `make` makes of it, entered under that number.
///
/// # Errors
///
/// - [`ErrorKind::Full`]: every number is taken.
pub(crate) fn enter(make: impl FnOnce(u32) -> Allocation) -> Result<Arc<Allocation>> {
    let number = FREE.lock().unwrap_or_else(PoisonError::into_inner).reserve()?;
    let allocation = Arc::new(make(number));
    entry(number).store(Arc::as_ptr(&allocation).cast_mut(), Ordering::Release);
    Ok(allocation)
}

/// A hold on the allocation of this number.
///
/// # Safety
///
/// - The number is that of an allocation that somebody holds during this call.
#[inline]
pub(crate) unsafe fn hold(number: u32) -> Arc<Allocation> {
    let pointer = entry(number).load(Ordering::Acquire).cast_const();
    debug_assert!(!pointer.is_null(), "number {number} is nobody's");
    // SAFETY: the pointer came from an `Arc` in `enter`, and stays in the table until that allocation is dropped, which
    // it is not while somebody holds it: the caller's promise. So it is alive, and one more hold may be counted.
    unsafe {
        Arc::increment_strong_count(pointer);
        Arc::from_raw(pointer)
    }
}

/// The number may be given out again: its allocation is being dropped.
pub(crate) fn leave(number: u32) {
    entry(number).store(std::ptr::null_mut(), Ordering::Release);
    FREE.lock().unwrap_or_else(PoisonError::into_inner).returned.push(number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_out_with_an_error_and_come_back() {
        let mut numbers = Numbers::new(NUMBERS_MAX);
        numbers.highest = NUMBERS_MAX - 2;
        let (first, last) = (numbers.reserve().unwrap(), numbers.reserve().unwrap());
        assert_eq!((first as usize, last as usize), (NUMBERS_MAX - 1, NUMBERS_MAX));
        assert!(matches!(numbers.reserve().unwrap_err().kind(), ErrorKind::Full { limit: NUMBERS_MAX }));
        numbers.returned.push(first);
        assert_eq!(numbers.reserve().unwrap(), first);
    }

    #[test]
    fn the_last_number_still_makes_an_address_and_has_a_place() {
        let last = NUMBERS_MAX as u64;
        assert_eq!(last << OFFSET_BITS >> OFFSET_BITS, last);
        assert!((last << OFFSET_BITS).checked_add((1 << OFFSET_BITS) - 1).is_some());
        assert!(entry(NUMBERS_MAX as u32).load(Ordering::Acquire).is_null());
    }
}
