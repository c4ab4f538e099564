//! What was dropped and is over, and whose release may wait for whatever the context is doing: `cuMemUnmap`, `cuMemFreeHost`,
//! `cuModuleUnload`. Where there are ranks that may be a collective, of another device too, and so another rank, which may wait
//! for what the very thread does next that makes the call.
//!
//! - So such things are put apart, and the sweeper releases them when nothing is in flight: nobody waits for it. Others do so only
//!   where there is no other way.
//! - They are out of the queue of drops: a launch looks at nothing of it.
//! - A device that is never idle never releases them. So page-locked memory is handed out again meanwhile, to who asks for as
//!   much: a program that makes and drops it in every step has as much of it as is in flight at once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::device::{Booking, Garbage};

/// The things of one device.
#[derive(Default)]
pub(crate) struct Apart(Mutex<Vec<Garbage>>);

impl Apart {
    fn list(&self) -> MutexGuard<'_, Vec<Garbage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list().is_empty()
    }

    /// One more. Nothing that is in flight uses it.
    pub(super) fn put(&self, thing: Garbage) {
        self.list().push(thing);
    }

    /// All of them, as things of the queue that wait for nothing more.
    pub(super) fn take(&self) -> impl Iterator<Item = Garbage> + use<> {
        std::mem::take(&mut *self.list()).into_iter()
    }

    /// Page-locked memory of so many bytes, with its place in the books.
    pub(crate) fn take_host(&self, bytes: usize) -> Option<(u64, Booking)> {
        let mut list = self.list();
        let fits = |thing: &Garbage| match thing {
            Garbage::Booked(thing, booking) => matches!(**thing, Garbage::Host(_)) && booking.bytes() == bytes,
            _ => false,
        };
        let at = list.iter().position(fits)?;
        match list.swap_remove(at) {
            Garbage::Booked(thing, booking) => match *thing {
                Garbage::Host(address) => Some((address, booking)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Shows all of them.
    pub(super) fn look(&self, see: impl FnMut(&Garbage)) {
        self.list().iter().for_each(see);
    }
}
