//! How much dynamic shared memory the driver was told that a function's launches want.
//!
//! What is told belongs to the driver's function (`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`), and the last word
//! counts: so all declarations of one entry point of a module share one of these, and a smaller number is never told
//! over a larger one.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Result;

/// The most that the driver was told of.
#[derive(Default)]
pub(crate) struct SharedOptIn {
    bytes: AtomicU32,
    /// Held while the driver is told: of two who tell, the second knows what the first said.
    telling: Mutex<()>,
}

impl SharedOptIn {
    /// Has the driver told of at least this much.
    pub(crate) fn at_least(&self, bytes: u32, tell: impl FnOnce() -> Result<()>) -> Result<()> {
        if bytes <= self.bytes.load(Ordering::Acquire) {
            return Ok(());
        }
        let _telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes <= self.bytes.load(Ordering::Acquire) {
            return Ok(());
        }
        tell()?;
        self.bytes.store(bytes, Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_in_whatever_order_the_driver_s_last_word_is_the_largest() {
        let (opt_in, last) = (SharedOptIn::default(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for bytes in [500, 900, 100, 700, 900, 300] {
                let (opt_in, last) = (&opt_in, &last);
                let tell = move || {
                    std::thread::sleep(std::time::Duration::from_millis(u64::from(1000 - bytes) / 50));
                    last.store(bytes, Ordering::SeqCst);
                    Ok(())
                };
                scope.spawn(move || opt_in.at_least(bytes, tell).unwrap());
            }
        });
        assert_eq!(last.into_inner(), 900);
    }
}
