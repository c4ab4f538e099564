//! The arena that the graphs of a pool share.
//!
//! - It is as large as the graph that needs most, whatever the order in which the graphs were recorded: it grows in place
//!   ([`Range`]), so that what earlier graphs have baked stays true.
//! - Where the device cannot map memory apart from its addresses, a graph that needs more gets a larger allocation, which
//!   the graphs after it share; graphs from before keep the one they were recorded with.
//! - It never shrinks while the pool lives: its memory goes with the pool.
//! - Who may use it when is left to the pool, which orders its graphs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use dacapo_driver::types::CUdeviceptr;

use crate::device::{Device, Range};
use crate::error::Result;
use crate::held::Purpose;
use crate::memory::{Allocation, Kind};
use crate::trace::event;

/// Memory that grows with what is asked of it, for those who never use it at the same time.
#[derive(Default)]
pub(crate) struct GrowingArena(Mutex<State>);

#[derive(Default)]
enum State {
    /// Nobody has needed any.
    #[default]
    Nothing,
    /// Grows in place.
    InPlace(Range),
    /// Replaced when it is too small.
    Replaced { newest: Arc<Allocation>, older: Vec<Weak<Allocation>> },
}

/// The beginning of an arena, and what keeps the memory there if the arena does not.
pub(crate) struct Room {
    pub(crate) base: CUdeviceptr,
    pub(crate) hold: Option<Arc<Allocation>>,
}

impl State {
    /// Room in the newest allocation, if it is large enough.
    fn newest_room(&self, bytes: usize) -> Option<Room> {
        match self {
            State::Replaced { newest, .. } if newest.bytes() >= bytes => {
                Some(Room { base: newest.address(), hold: Some(newest.clone()) })
            }
            _ => None,
        }
    }
}

impl GrowingArena {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for so many bytes, from the beginning.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), or any error from the driver. Nothing changes then.
    pub(crate) fn room(&self, device: &Device, bytes: usize) -> Result<Room> {
        // A budget that is too small is known before anything is asked of the driver.
        device.expect_usable()?;
        device.or_when_freed(|| device.expect_room(bytes.saturating_sub(self.bytes())))?;
        device.enter()?;
        device.drain()?;
        if !device.can_map() {
            return self.replaced(device, bytes);
        }
        // The lock is let go before anyone waits for memory that is on its way back.
        let (base, grown) = device.or_when_freed(|| {
            let mut state = self.state();
            if let State::Nothing = *state {
                *state = State::InPlace(device.reserve_range()?);
            }
            let State::InPlace(range) = &mut *state else { unreachable!("what a device can do does not change") };
            let before = range.bytes();
            device.grow(range, bytes)?;
            Ok((range.base, (range.bytes() != before).then(|| range.bytes())))
        })?;
        if let Some(_bytes) = grown {
            // Told without the lock: a subscriber is the program's code.
            event!(debug, bytes = _bytes, address = base, "an arena has grown");
        }
        Ok(Room { base, hold: None })
    }

    /// The same without virtual memory.
    fn replaced(&self, device: &Device, bytes: usize) -> Result<Room> {
        if let Some(room) = self.state().newest_room(bytes) {
            return Ok(room);
        }
        // Placed without the lock, because that may wait: another thread may have been faster.
        let fresh = Allocation::unplaced(device, Kind::Arena, bytes)?;
        device.place(&fresh, false, Purpose::Pools)?;
        let mut state = self.state();
        if let Some(room) = state.newest_room(bytes) {
            return Ok(room);
        }
        let mut older = match std::mem::take(&mut *state) {
            State::Replaced { newest, mut older } => {
                older.push(Arc::downgrade(&newest));
                older
            }
            _ => Vec::new(),
        };
        older.retain(|old| old.strong_count() > 0);
        *state = State::Replaced { newest: fresh.clone(), older };
        Ok(Room { base: fresh.address(), hold: Some(fresh) })
    }

    /// How many bytes of device memory it takes, those that older graphs still hold among them.
    pub(crate) fn bytes(&self) -> usize {
        match &*self.state() {
            State::Nothing => 0,
            State::InPlace(range) => range.bytes(),
            State::Replaced { newest, older } => {
                newest.bytes() + older.iter().filter_map(Weak::upgrade).map(|old| old.bytes()).sum::<usize>()
            }
        }
    }

    /// How many it would take if so many were asked for.
    ///
    /// # Errors
    ///
    /// - The driver does not say in which pieces it maps memory.
    pub(crate) fn bytes_with(&self, device: &Device, bytes: usize) -> Result<usize> {
        let now = self.bytes();
        match &*self.state() {
            _ if bytes == 0 => Ok(now),
            State::InPlace(range) => Ok(range.bytes_with(bytes)),
            State::Nothing if device.can_map() => {
                device.enter()?;
                Ok(bytes.next_multiple_of(device.granularity()?))
            }
            State::Replaced { newest, .. } if newest.bytes() >= bytes => Ok(now),
            _ => Ok(now + bytes),
        }
    }

    /// The range to be given back, when nobody can use it any more.
    pub(crate) fn take_range(&mut self) -> Option<Range> {
        match std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner)) {
            State::InPlace(range) => Some(range),
            _ => None,
        }
    }
}
