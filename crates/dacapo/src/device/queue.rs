//! The driver's streams and events as the ledger wants them.
//!
//! Who names a stream or an event holds the context that it belongs to: another device may wait for a stream's work when the
//! stream's own device has been given back.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, OnceLock};

use dacapo_driver::types::{CU_EVENT_DISABLE_TIMING, CUcontext, CUevent, CUstream};
use dacapo_driver::{Call, Check, Driver, DriverError};
use dacapo_ledger::{Drops, Queues};

use crate::device::{Garbage, Notes, Retained, Torn, twice};

/// A driver that is held, and where it is.
///
/// An `Arc<dyn Driver>` finds its value by the alignment that stands in the table of its methods: a line of the caches that
/// a launch needs for nothing else.
#[repr(C)]
pub(crate) struct HeldDriver {
    at: NonNull<dyn Driver>,
    held: Arc<dyn Driver>,
}

// SAFETY: a shared reference to a `Driver`, which is `Sync`, and a hold on it, which may be sent.
unsafe impl Send for HeldDriver {}
// SAFETY: as above.
unsafe impl Sync for HeldDriver {}

impl HeldDriver {
    pub(crate) fn new(held: Arc<dyn Driver>) -> HeldDriver {
        HeldDriver { at: NonNull::from(&*held), held }
    }

    /// One more hold.
    pub(crate) fn share(&self) -> Arc<dyn Driver> {
        self.held.clone()
    }
}

impl Deref for HeldDriver {
    type Target = dyn Driver;

    #[inline]
    fn deref(&self) -> &(dyn Driver + 'static) {
        // SAFETY: the address is that of the value in `held`, which stays where it is as long as this lives; nobody has it
        // alone.
        unsafe { self.at.as_ref() }
    }
}

/// A driver with its context: where streams wait and events are recorded.
#[repr(C)] // the driver comes first: every launch calls it
pub(crate) struct Cuda {
    pub(crate) driver: HeldDriver,
    pub(crate) context: CUcontext,
    /// That context, held.
    pub(crate) retained: Arc<Retained>,
}

/// A stream's handle, owned by whoever made it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawHandle(pub(crate) CUstream);

/// A stream that belongs to its lane: destroyed through the queue of drops when nobody names the lane any more, neither
/// a handle nor a use, so that whoever must wait for its work can still ask it for an event.
#[repr(C)] // what a launch touches comes first, beside what the ledger has of the lane
pub(crate) struct LaneStream {
    pub(crate) raw: RawHandle,
    /// What was launched on it.
    pub(crate) notes: Notes,
    /// As of [`torn`](LaneStream::torn).
    pub(crate) torn: Mutex<Option<Torn>>,
    pub(crate) drops: Arc<Drops<Cuda, Garbage>>,
    /// Another library's handle on the same stream, where there is one.
    pub(crate) theirs: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// Whether the stream is theirs, and goes with their handle.
    pub(crate) borrowed: bool,
    /// The context that it belongs to.
    pub(crate) retained: Arc<Retained>,
}

impl LaneStream {
    /// A stream of this context that is ours.
    pub(crate) fn ours(raw: CUstream, drops: Arc<Drops<Cuda, Garbage>>, retained: Arc<Retained>) -> LaneStream {
        let (raw, notes, torn, theirs) = (RawHandle(raw), Notes::default(), Mutex::default(), OnceLock::new());
        LaneStream { raw, drops, notes, torn, theirs, borrowed: false, retained }
    }
}

impl Drop for LaneStream {
    fn drop(&mut self) {
        let raw = if self.borrowed { RawHandle(CUstream::NULL) } else { self.raw };
        match self.theirs.take() {
            Some(theirs) => self.drops.put(Garbage::SharedStream(raw, theirs), Vec::new()),
            None if raw.0.is_null() => {}
            // Whoever empties the queue has gone: another device knew of its work, or memory of another one.
            None if self.retained.is_over() => self.retained.leave(raw),
            None => self.drops.put(Garbage::RawStream(raw), Vec::new()),
        }
    }
}

// SAFETY: a stream's handle is a token that the driver takes from any thread.
unsafe impl Send for RawHandle {}
// SAFETY: as above.
unsafe impl Sync for RawHandle {}

/// An event's handle.
pub(crate) struct RawEvent(pub(crate) CUevent);

// SAFETY: an event's handle is a token that the driver takes from any thread.
unsafe impl Send for RawEvent {}
// SAFETY: as above.
unsafe impl Sync for RawEvent {}

/// A recorded event; back to the free ones with its last holder, without a driver call.
#[derive(Clone)]
pub(crate) struct Event(Arc<HeldEvent>);

struct HeldEvent {
    raw: RawEvent,
    retained: Arc<Retained>,
}

impl Event {
    pub(crate) fn raw(&self) -> CUevent {
        self.0.raw.0
    }
}

impl Drop for HeldEvent {
    fn drop(&mut self) {
        self.retained.events().push(RawEvent(self.raw.0));
    }
}

impl Cuda {
    /// Makes the context current on this thread, if it is not.
    pub(crate) fn make_current(&self) -> Result<(), DriverError> {
        let mut current = CUcontext::NULL;
        // SAFETY: `current` is valid for the write.
        unsafe { self.driver.cuCtxGetCurrent(&mut current) }.check(Call::cuCtxGetCurrent)?;
        if current == self.context {
            return Ok(());
        }
        // SAFETY: the primary context, retained as long as the device lives.
        unsafe { self.driver.cuCtxSetCurrent(self.context) }.check(Call::cuCtxSetCurrent)
    }

    /// Whether an event has passed.
    pub(crate) fn has_passed(&self, event: &Event) -> Result<bool, DriverError> {
        use dacapo_driver::CUresult;
        // SAFETY: the event was created by this driver and is held.
        match unsafe { self.driver.cuEventQuery(event.raw()) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => code.check(Call::cuEventQuery).map(|()| true),
        }
    }
}

impl Queues for Cuda {
    type Stream = LaneStream;
    type Event = Event;
    type Error = DriverError;

    fn record(&self, stream: &LaneStream) -> Result<Event, DriverError> {
        // A launch of a graph does not ask for the context; an event wants it: that of its stream.
        let _there = match Arc::ptr_eq(&stream.retained, &self.retained) {
            true => self.make_current().map(|()| None)?,
            false => Some(Elsewhere::new(&*self.driver, stream.retained.context)?),
        };
        let free = stream.retained.events().pop();
        let raw = match free {
            Some(raw) => raw,
            None => {
                let mut raw = CUevent::NULL;
                // SAFETY: `raw` is valid for the write.
                unsafe { self.driver.cuEventCreate(&mut raw, CU_EVENT_DISABLE_TIMING) }.check(Call::cuEventCreate)?;
                RawEvent(raw)
            }
        };
        // Owned before the next call can fail.
        let event = Event(Arc::new(HeldEvent { raw, retained: stream.retained.clone() }));
        // SAFETY: event and stream are of this driver and alive: the stream is destroyed when nobody names its lane.
        unsafe { self.driver.cuEventRecord(event.raw(), stream.raw.0) }.check(Call::cuEventRecord)?;
        Ok(event)
    }

    #[inline]
    fn entered(stream: &LaneStream, position: u64) {
        stream.notes.entered(position);
    }

    fn wait(&self, stream: &LaneStream, event: &Event) -> Result<(), DriverError> {
        self.make_current()?;
        // SAFETY: as in `record`.
        unsafe { self.driver.cuStreamWaitEvent(stream.raw.0, event.raw(), 0) }.check(Call::cuStreamWaitEvent)
    }
}

/// While it lives, this thread is in another context.
pub(super) struct Elsewhere<'d> {
    driver: &'d dyn Driver,
    before: CUcontext,
}

impl<'d> Elsewhere<'d> {
    pub(super) fn new(driver: &'d dyn Driver, context: CUcontext) -> Result<Elsewhere<'d>, DriverError> {
        let mut before = CUcontext::NULL;
        // SAFETY: `before` is valid for the write.
        unsafe { driver.cuCtxGetCurrent(&mut before) }.check(Call::cuCtxGetCurrent)?;
        let there = Elsewhere { driver, before };
        // SAFETY: whoever names the stream holds the context.
        unsafe { driver.cuCtxSetCurrent(context) }.check(Call::cuCtxSetCurrent)?;
        Ok(there)
    }
}

impl Drop for Elsewhere<'_> {
    fn drop(&mut self) {
        // SAFETY: it was current on this thread a moment ago. What follows asks for its own context where it needs one.
        twice(Call::cuCtxSetCurrent, || unsafe { self.driver.cuCtxSetCurrent(self.before) });
    }
}

impl fmt::Debug for RawHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {:#x}", self.0.bits())
    }
}
