//! Locks and atomics: std's, or loom's when the crate is built as a model (`--cfg loom`).
//!
//! A lock here is never poisoned for the next one. That is sound because no lock of this crate is held over code that
//! can leave its data half changed: the state is changed by code of this crate only, and a lane's data is complete
//! before the caller's `enqueue`, the one thing that may panic, runs.

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

// Reference counts decide nothing in the protocol, so that loom need not explore them; and loom has no `Weak`.
pub(crate) use std::sync::{Arc, Weak};

/// A mutex that a panic does not close.
pub(crate) struct Mutex<T>(RawMutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(RawMutex::new(value))
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
