//! Values of the user's that are dropped here.
//!
//! Their drops are the user's code, and may panic: all others are dropped all the same, and what the library has to do
//! is done, before the first panic goes on.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// A value of the user's, of whatever type.
pub(crate) type Value = Arc<dyn Any + Send + Sync>;

/// Values of the user's that something keeps.
pub(crate) type Keeps = Each<Value>;

/// Things that are, or hold, values of the user's. Wherever they are dropped, a panic of one keeps no other from being
/// dropped.
#[derive(Clone)]
pub(crate) struct Each<T>(Vec<T>);

impl<T> Each<T> {
    pub(crate) fn with_capacity(capacity: usize) -> Each<T> {
        Each(Vec::with_capacity(capacity))
    }

    /// All of them, to be dropped by another.
    pub(crate) fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }
}

impl<T> Default for Each<T> {
    fn default() -> Each<T> {
        Each(Vec::new())
    }
}

impl<T> Deref for Each<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Each<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a Each<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> Drop for Each<T> {
    fn drop(&mut self) {
        go_on(drop_each(self.take()));
    }
}

/// What a panic was begun with.
pub(crate) type Panic = Box<dyn Any + Send>;

/// Drops each value, in this order. The first panic, to be passed to [`go_on`] when all else is done.
#[must_use]
pub(crate) fn drop_each<T>(values: impl IntoIterator<Item = T>) -> Option<Panic> {
    let mut first = None;
    for value in values {
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(value)));
        keep_first(&mut first, dropped.err());
    }
    first
}

/// Of two panics the first is passed on. Dropping the other one's payload could panic again.
pub(crate) fn keep_first(first: &mut Option<Panic>, next: Option<Panic>) {
    match next {
        Some(panic) if first.is_none() => *first = Some(panic),
        other => std::mem::forget(other),
    }
}

/// Lets a panic go on, unless the thread is unwinding from one already.
pub(crate) fn go_on(panic: Option<Panic>) {
    match panic {
        Some(panic) if !std::thread::panicking() => resume_unwind(panic),
        other => std::mem::forget(other),
    }
}
