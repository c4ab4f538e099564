//! Locks and atomics: std's, or loom's when the crate is built as a model (`--cfg loom`).
//!
//! A lock here is never poisoned for the next one. That is sound because no lock of this crate is held over code that
//! can leave its data half changed: the state is changed by code of this crate only, and it is complete before code of
//! the caller's runs that may panic: `enqueue` and calls of the device under a lane's lock, and the question of
//! [`Drops::take_where`](crate::Drops::take_where).

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex as RawMutex, MutexGuard,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex as RawMutex, MutexGuard,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

// Reference counts and flags decide nothing in the protocol, so that loom need not explore them; and loom has no `Weak`.
pub(crate) use std::sync::atomic::AtomicBool;
pub(crate) use std::sync::{Arc, OnceLock, Weak};

/// A mutex that a panic does not close.
pub(crate) struct Mutex<T>(RawMutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(RawMutex::new(value))
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        #[cfg(all(feature = "baton", not(loom)))]
        loop {
            match self.0.try_lock() {
                Ok(guard) => return guard,
                Err(std::sync::TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(std::sync::TryLockError::WouldBlock) if hand_on() => {}
                Err(std::sync::TryLockError::WouldBlock) => break,
            }
        }
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<T> Mutex<T> {
    /// None if somebody has it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        #[cfg(not(loom))]
        use std::sync::TryLockError;
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            #[cfg(not(loom))]
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(_) => None,
        }
    }
}

#[cfg(all(feature = "baton", not(loom)))]
thread_local! {
    static HAND_ON: std::cell::Cell<Option<fn()>> = const { std::cell::Cell::new(None) };
}

/// What this thread does when it finds a lock taken, before it tries again; without it, it blocks. Of threads that
/// hand a baton around only one runs at a time, so that a blocked one would never be woken.
#[cfg(all(feature = "baton", not(loom)))]
pub fn when_locked(hand_on: Option<fn()>) {
    HAND_ON.set(hand_on);
}

#[cfg(all(feature = "baton", not(loom)))]
#[cold]
fn hand_on() -> bool {
    let hand_on = HAND_ON.get();
    if let Some(hand_on) = hand_on {
        hand_on();
    }
    hand_on.is_some()
}
