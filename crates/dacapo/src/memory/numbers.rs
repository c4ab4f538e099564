//! Numbers of allocations: given out, looked up, and given out again after the last hold.
//!
//! A number is 24 bits, because 40 bits of an address are the offset. A number is never reused while its allocation is
//! held, so a borrowed slice always finds its own allocation and never a stranger's.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use crate::error::{Error, ErrorKind, Result};
use crate::memory::Allocation;

/// Bits of an address that are the offset.
pub(crate) const OFFSET_BITS: u32 = 40;
/// Numbers that fit above them; 0 is nobody's, so that no slice is at address zero.
const NUMBERS_MAX: usize = (1 << (64 - OFFSET_BITS)) - 1;

/// All allocations of the process.
static ALL: RwLock<Numbers> = RwLock::new(Numbers::new(NUMBERS_MAX));

struct Numbers {
    /// What has the number `index + 1`.
    taken: Vec<Weak<Allocation>>,
    free: Vec<u32>,
    limit: usize,
}

impl Numbers {
    const fn new(limit: usize) -> Numbers {
        Numbers { taken: Vec::new(), free: Vec::new(), limit }
    }

    fn reserve(&mut self) -> Result<u32> {
        if let Some(number) = self.free.pop() {
            return Ok(number);
        }
        if self.taken.len() == self.limit {
            return Err(Error::new(ErrorKind::Full { limit: self.limit }));
        }
        self.taken.push(Weak::new());
        Ok(self.taken.len() as u32)
    }

    fn find(&self, number: u32) -> Option<Arc<Allocation>> {
        self.taken.get(number as usize - 1)?.upgrade()
    }
}

/// A fresh number, and the allocation that `make` makes of it, entered under that number.
///
/// # Errors
///
/// - [`ErrorKind::Full`]: every number is taken.
pub(crate) fn enter(make: impl FnOnce(u32) -> Allocation) -> Result<Arc<Allocation>> {
    let number = ALL.write().unwrap_or_else(PoisonError::into_inner).reserve()?;
    let allocation = Arc::new(make(number));
    ALL.write().unwrap_or_else(PoisonError::into_inner).taken[number as usize - 1] = Arc::downgrade(&allocation);
    Ok(allocation)
}

/// The allocation of this number.
pub(crate) fn find(number: u32) -> Option<Arc<Allocation>> {
    ALL.read().unwrap_or_else(PoisonError::into_inner).find(number)
}

/// The number may be given out again: its allocation is being dropped.
pub(crate) fn leave(number: u32) {
    let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
    all.taken[number as usize - 1] = Weak::new();
    all.free.push(number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_out_with_an_error_and_come_back() {
        let mut numbers = Numbers::new(2);
        let (first, second) = (numbers.reserve().unwrap(), numbers.reserve().unwrap());
        assert_eq!((first, second), (1, 2));
        assert!(matches!(numbers.reserve().unwrap_err().kind(), ErrorKind::Full { limit: 2 }));
        numbers.free.push(first);
        assert_eq!(numbers.reserve().unwrap(), first);
    }

    #[test]
    fn the_last_number_still_makes_an_address() {
        let last = NUMBERS_MAX as u64;
        assert_eq!(last << OFFSET_BITS >> OFFSET_BITS, last);
        assert!((last << OFFSET_BITS).checked_add((1 << OFFSET_BITS) - 1).is_some());
    }
}
