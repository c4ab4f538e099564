//! The end of a device.
//!
//! What is finished is released and the rest is left to the driver: waiting here would make a drop that blocks. Nobody can
//! be told, so a refused release is tried once more. Of a lost context nothing runs any more: values of the user's are
//! dropped, graphs, which need no context, are destroyed, and the rest goes with the context.
//!
//! The work of a device that has copied from or to another one is waited for: it may be in the memory of that one
//! ([`route`](super::route)). The context ends with its last holder, behind all of this.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;

use dacapo_driver::types::{CUcontext, CUevent, CUstream};
use dacapo_driver::{CUresult, Call, Driver};
use dacapo_ledger::{LaneKind, Use};

use crate::device::release::Released;
use crate::device::values::{Panic, drop_each, go_on, keep_first};
use crate::device::{Cuda, Garbage, Inner, LaneStream, Relaxed, sweeper, twice};
use crate::error::ErrorKind;
use crate::nesting::refuse_in_foreign;

impl Drop for Inner {
    fn drop(&mut self) {
        // Of a value of the user's: it goes on when everything is given back.
        let mut panic: Option<Panic> = None;
        let driver = self.cuda.driver.share();
        let mut before = CUcontext::NULL;
        // SAFETY: `before` is valid for the write. If the driver does not know, there was none.
        twice(Call::cuCtxGetCurrent, || unsafe { driver.cuCtxGetCurrent(&mut before) });
        // SAFETY: the context is retained until the end of this function.
        let entered = twice(Call::cuCtxSetCurrent, || unsafe { driver.cuCtxSetCurrent(self.cuda.context) });
        {
            // Refused twice, it is done without: what is left here would never be given back.
            let _relaxed = Relaxed::new(&*driver).or_else(|_| Relaxed::new(&*driver));
            let mut lost = self.lost.get().is_some();
            if entered.is_success() && self.routes.are_there() {
                self.leave_others(&*driver);
            }
            if entered.is_success() && !lost {
                lost = self.give_back(&*driver, &mut panic);
            }
            self.let_go(&*driver, lost, &mut panic);
        }
        // Still here if the context is lost or was not entered. One of another library's may bind the context to this
        // thread, so they go before the thread gets back its own.
        self.guests.leave(false);
        if before != self.cuda.context {
            // SAFETY: it was current on this thread a moment ago.
            twice(Call::cuCtxSetCurrent, || unsafe { driver.cuCtxSetCurrent(before) });
        }
        go_on(panic);
    }
}

impl Inner {
    /// Waits for what may be in the memory of other devices. Inside foreign work that could be a wait for itself; and where
    /// the work cannot be waited for, nobody knows when it is over: then their contexts are held for ever.
    fn leave_others(&self, driver: &dyn Driver) {
        let is_over = |used: &Use<Cuda>| {
            let event = self.ledger.event_for(&self.cuda, used).or_else(|_| self.ledger.event_for(&self.cuda, used));
            // SAFETY: the event is of this driver and held.
            let passed = event
                .map(|event| twice(Call::cuEventSynchronize, || unsafe { driver.cuEventSynchronize(event.raw()) }));
            match passed {
                Ok(code) if code.is_success() => {
                    self.ledger.finished(used);
                    true
                }
                // Of a lost context nothing runs any more. But it is not finished: what it should have written is not there, and
                // whoever waits for it must hear that. The stream and its context are there as long as anybody can.
                Ok(code) => code.is_sticky(),
                Err(error) => error.code.is_sticky(),
            }
        };
        let uses = self.all_last_uses();
        // Each of them, also behind one that is not over.
        let left = uses.iter().filter(|used| refuse_in_foreign().is_err() || !is_over(used)).count();
        if left > 0 {
            self.routes.forget();
        }
    }

    /// Gives everything back that is finished. What is not is left to the driver: waiting here would make a drop that
    /// blocks. Says whether the context turned out to be lost.
    fn give_back(&mut self, driver: &dyn Driver, panic: &mut Option<Panic>) -> bool {
        let mut lost = false;
        let mut drain = |inner: &Inner| {
            let refused = match catch_unwind(AssertUnwindSafe(|| sweeper::waiting(|| inner.drain()))) {
                Ok(drained) => drained.err(),
                Err(payload) => {
                    keep_first(panic, Some(payload));
                    None
                }
            };
            let code = refused.as_ref().and_then(|error| match error.kind() {
                ErrorKind::Driver(refused) => Some(refused.code),
                _ => None,
            });
            lost |= code.is_some_and(CUresult::is_sticky);
        };
        drain(self);
        // Their kernels go into the queue, beside the modules of the values that went just now.
        let uses = self.all_last_uses();
        self.guests.leave(self.all_finished(&uses).unwrap_or(false));
        drain(self);
        if !self.drops.is_empty() {
            drain(self);
        }
        let uses = self.all_last_uses();
        let quiet = self.all_finished(&uses).or_else(|_| self.all_finished(&uses)).unwrap_or(false);
        if quiet {
            let ledger = &self.ledger;
            let staging = self.staging.get_mut().unwrap_or_else(PoisonError::into_inner);
            staging.release(driver, |used| ledger.is_finished(used));
        }
        lost
    }

    /// Lets go of streams and events, and of what could not be given back. Nothing of this waits.
    fn let_go(&mut self, driver: &dyn Driver, lost: bool, panic: &mut Option<Panic>) {
        // Streams go into the queue with their lanes. From here on nobody knows which of them are busy.
        self.lanes.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        let nowhere = LaneStream::ours(CUstream::NULL, self.drops.clone(), self.cuda.retained.clone());
        self.reaper = self.ledger.add_lane(nowhere, LaneKind::Internal);
        self.apart.take().for_each(|thing| self.drops.put(thing, Vec::new()));
        // A use holds its lane: what waits is let go of together with what it waits for, until nothing more comes.
        loop {
            let things = self.drops.take();
            if things.is_empty() {
                if self.cuda.retained.is_over() {
                    break;
                }
                // What is dropped from here on does not come into the queue; what came just before is in the next round.
                self.cuda.retained.end();
            }
            for (thing, _after) in things {
                let thing = if let Garbage::Booked(thing, _) = thing { *thing } else { thing };
                match thing {
                    Garbage::RawStream(_) | Garbage::Graph(..) => {
                        if let Released::NotYet(thing, ..) = self.release(thing, Vec::new()) {
                            drop(self.release(thing, Vec::new()));
                        }
                    }
                    Garbage::SharedStream(..) => match self.release(thing, Vec::new()) {
                        Released::NotYet(Garbage::RawStream(raw), ..) => {
                            drop(self.release(Garbage::RawStream(raw), Vec::new()));
                        }
                        // Still named by them: left to the driver.
                        Released::NotYet(thing, ..) => std::mem::forget(thing),
                        Released::Yes(_) | Released::Gone(_) | Released::Apart(_) => {}
                    },
                    Garbage::Lane(lane) => drop(lane),
                    // Nothing runs in a lost context.
                    Garbage::Values(values) if lost => keep_first(panic, drop_each(values)),
                    // A module, page-locked memory or a value that a kernel may still use: leaked, never freed under it.
                    thing => std::mem::forget(thing),
                }
            }
        }
        let events = std::mem::take(&mut *self.cuda.retained.events());
        for event in events {
            let raw: CUevent = event.0;
            // SAFETY: nobody holds the event.
            twice(Call::cuEventDestroy_v2, || unsafe { driver.cuEventDestroy_v2(raw) });
        }
        // SAFETY: the stream is ours; what still runs on it completes.
        twice(Call::cuStreamDestroy_v2, || unsafe { driver.cuStreamDestroy_v2(self.home.0) });
    }
}
