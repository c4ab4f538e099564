//! Whether this thread is inside a recording.
//!
//! A call that acts now would see the state before the recorded work ever ran: stale data, silently. So every such call
//! asks here first.

use std::cell::Cell;
use std::panic::Location;

use crate::error::{Error, ErrorKind, Result};

// How deep this thread is in recordings, and in closures of foreign work: beside each other, because a launch asks both.
thread_local!(static DEPTH: Cell<(u32, u32)> = const { Cell::new((0, 0)) });

fn change(recordings: i32, foreign: i32) {
    let (outer, inner) = DEPTH.get();
    DEPTH.set((outer.wrapping_add_signed(recordings), inner.wrapping_add_signed(foreign)));
}

/// Whether this thread is inside neither: then no call is refused.
#[inline]
pub(crate) fn is_outside() -> bool {
    DEPTH.get() == (0, 0)
}

/// Refuses a call that would act now, and every call from inside foreign work: one look for both.
#[inline]
#[track_caller]
pub(crate) fn refuse_inside(call: &'static str) -> Result<()> {
    match is_outside() {
        true => Ok(()),
        false => refused(call),
    }
}

#[cold]
#[track_caller]
fn refused(call: &'static str) -> Result<()> {
    refuse_in_recording(call)?;
    refuse_in_foreign()
}

/// While it lives, this thread is inside a recording. Dropped when the closure panics, too.
pub(crate) struct Nested(());

impl Nested {
    pub(crate) fn enter() -> Nested {
        change(1, 0);
        Nested(())
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        change(-1, 0);
    }
}

/// Refuses a call that would act now.
#[track_caller]
pub(crate) fn refuse_in_recording(call: &'static str) -> Result<()> {
    match DEPTH.get().0 {
        0 => Ok(()),
        _ => Err(Error::new(ErrorKind::EagerInRecording { call }).on_line(Location::caller())),
    }
}

/// While it lives, this thread is inside a closure of foreign work, which runs while a stream's lock is held or a
/// capture is open: no call of this library may be made.
pub(crate) struct InForeign(());

impl InForeign {
    pub(crate) fn enter() -> InForeign {
        change(0, 1);
        InForeign(())
    }
}

impl Drop for InForeign {
    fn drop(&mut self) {
        change(0, -1);
    }
}

/// Refuses every call from inside foreign work.
pub(crate) fn refuse_in_foreign() -> Result<()> {
    match DEPTH.get().1 {
        0 => Ok(()),
        _ => Err(Error::new(ErrorKind::EagerInRecording { call: "a call of dacapo in foreign work" })),
    }
}
