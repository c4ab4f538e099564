//! Whether this thread is inside a recording.
//!
//! A call that acts now would see the state before the recorded work ever ran: stale data, silently. So every such call
//! asks here first.

use std::cell::Cell;

use crate::error::{Error, ErrorKind, Result};

thread_local!(static DEPTH: Cell<u32> = const { Cell::new(0) });
thread_local!(static FOREIGN: Cell<u32> = const { Cell::new(0) });

/// While it lives, this thread is inside a recording. Dropped when the closure panics, too.
pub(crate) struct Nested(());

impl Nested {
    pub(crate) fn enter() -> Nested {
        DEPTH.set(DEPTH.get() + 1);
        Nested(())
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Refuses a call that would act now.
pub(crate) fn refuse_in_recording(call: &'static str) -> Result<()> {
    match DEPTH.get() {
        0 => Ok(()),
        _ => Err(Error::new(ErrorKind::EagerInRecording { call })),
    }
}

/// While it lives, this thread is inside a closure of foreign work, which runs while a stream's lock is held or a
/// capture is open: no call of this library may be made.
pub(crate) struct InForeign(());

impl InForeign {
    pub(crate) fn enter() -> InForeign {
        FOREIGN.set(FOREIGN.get() + 1);
        InForeign(())
    }
}

impl Drop for InForeign {
    fn drop(&mut self) {
        FOREIGN.set(FOREIGN.get() - 1);
    }
}

/// Refuses every call from inside foreign work.
pub(crate) fn refuse_in_foreign() -> Result<()> {
    match FOREIGN.get() {
        0 => Ok(()),
        _ => Err(Error::new(ErrorKind::EagerInRecording { call: "a call of dacapo in foreign work" })),
    }
}
