//! What was dropped, and when it is released.
//!
//! - A drop puts its thing into the queue with the uses that must be over first. It makes no driver call, blocks on
//!   nothing but a short lock, and runs on any thread, also when the context is dead.
//! - [`Device::drain`] empties the queue: device memory is freed in stream order, behind its last uses, on a stream of
//!   its own, so nobody waits for it. What must not be touched before the device is done with it (page-locked memory,
//!   mapped ranges, modules, values of the user's) is kept until the events say so; the first three, where there are ranks,
//!   [apart](super::apart) until nothing is in flight, because their releases may wait for the whole context.
//! - How each thing is released, and what becomes of one that is refused, is in [`release`](super::release); the end of the
//!   device itself in [`ending`](super::ending).

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dacapo_driver::types::{CUdeviceptr, CUgraph, CUgraphExec, CUmemGenericAllocationHandle, CUmodule};
use dacapo_ledger::{Lane, Use};

use crate::device::release::Released;
use crate::device::values::{drop_each, go_on};
use crate::device::{Booking, Counted, Cuda, Device, Inner, RawHandle, Relaxed, sweeper};
use crate::error::{Error, Result};

/// Something to be released.
pub(crate) enum Garbage {
    /// Device memory.
    Memory(CUdeviceptr),
    /// Page-locked host memory.
    Host(CUdeviceptr),
    /// An executable graph with its template; either may be null.
    Graph(CUgraphExec, CUgraph),
    /// A lane whose owner is gone.
    Lane(Lane<Cuda>),
    /// A stream whose lane is gone.
    RawStream(RawHandle),
    /// A stream of ours that another library has a handle on, destroyed when nobody else holds the handle; or, with null,
    /// the handle on a stream of theirs.
    SharedStream(RawHandle, Arc<dyn Any + Send + Sync>),
    /// A module.
    Module(CUmodule),
    /// Addresses with memory mapped from the beginning on: how many have memory, and how many there are.
    Range { base: CUdeviceptr, mapped: usize, reserved: usize },
    /// Memory apart from its addresses.
    Physical(CUmemGenericAllocationHandle),
    /// Any of these, with its bytes in the books until it is gone.
    Booked(Box<Garbage>, Booking),
    /// Values of the user's, dropped in this order.
    Values(Vec<Arc<dyn Any + Send + Sync>>),
}

// SAFETY: the handles in it are tokens that the driver takes from any thread.
unsafe impl Send for Garbage {}
// SAFETY: as above.
unsafe impl Sync for Garbage {}

impl Garbage {
    /// Whether it is memory that is not given back in stream order.
    fn waits_for_the_end(&self) -> bool {
        match self {
            Garbage::Booked(thing, _) => thing.waits_for_the_end(),
            Garbage::Range { .. } | Garbage::Host(_) => true,
            _ => false,
        }
    }

    /// Whether it is an executable graph.
    pub(crate) fn is_graph(&self) -> bool {
        match self {
            Garbage::Booked(thing, _) => thing.is_graph(),
            Garbage::Graph(exec, _) => !exec.is_null(),
            _ => false,
        }
    }

    /// The same with its bytes in the books.
    pub(crate) fn booked(self, booking: Option<Booking>) -> Garbage {
        match booking {
            Some(booking) => Garbage::Booked(Box::new(self), booking),
            None => self,
        }
    }
}

impl Device {
    /// To be released after these uses. Called by drops.
    pub(crate) fn put(&self, thing: Garbage, after: Vec<Use<Cuda>>) {
        self.0.drops.put(thing, after);
    }

    /// Values of the user's, to be dropped after these uses: at once where those are known to be over. Called by drops.
    ///
    /// A value may hold the device, which holds the queue: what waits there is looked after by the sweeper too.
    pub(crate) fn put_values(&self, values: Vec<Arc<dyn Any + Send + Sync>>, after: Vec<Use<Cuda>>) {
        if values.is_empty() || after.iter().all(|used| self.ledger().is_finished(used)) {
            return go_on(drop_each(values));
        }
        self.queue_values(values, after);
    }

    /// The same for values whose drops may make calls of the driver's: never at once.
    pub(crate) fn queue_values(&self, values: Vec<Arc<dyn Any + Send + Sync>>, after: Vec<Use<Cuda>>) {
        self.0.values_waiting.fetch_add(1, Ordering::AcqRel);
        self.put(Garbage::Values(values), after);
        sweeper::watch(self);
    }

    /// Lets go of values whose work is over, of a device that nobody uses, and of what is left to the sweeper. Of a lost context
    /// nothing runs any more: its values go whatever they wait for. All else stays in the queue: who wants memory meanwhile finds it there.
    pub(crate) fn sweep(&self) {
        let take = || self.0.drops.take_where(|thing| matches!(thing, Garbage::Values(_)));
        if self.0.is_lost.load(Ordering::Acquire) {
            let mut values = Vec::new();
            for (thing, _) in take() {
                if let Garbage::Values(kept) = thing {
                    self.0.values_waiting.fetch_sub(1, Ordering::AcqRel);
                    values.extend(kept);
                }
            }
            return go_on(drop_each(values));
        }
        if self.make_current().is_ok() {
            let _ = self.0.release_those(take).map_err(|error| self.noted(error));
            let is_idle = || matches!(self.0.in_flight_beside_partners(), Ok(uses) if uses.is_empty());
            if self.0.apart_waiting.load(Ordering::Acquire) && is_idle() {
                self.0.apart_waiting.store(false, Ordering::Release);
                let take = || self.0.apart.take().map(|thing| (thing, Vec::new())).collect();
                let _ = self.0.release_those(take).map_err(|error| self.noted(error));
            }
        }
    }

    /// Destroys the graphs that were dropped: NCCL does not let go of a communicator as long as one that was captured with it is
    /// there. Called by who ends one, on a thread of its own. What is refused stays in the queue.
    pub(crate) fn release_graphs(&self) {
        let _ = self.0.release_those(|| self.0.drops.take_where(Garbage::is_graph));
    }

    /// The same soon, by the sweeper, also when nobody uses the device any more. Called by drops.
    pub(crate) fn release_graphs_soon(&self) {
        struct Graphs(Device);
        impl Drop for Graphs {
            fn drop(&mut self) {
                self.0.release_graphs();
            }
        }
        self.queue_values(vec![Arc::new(Graphs(self.clone()))], Vec::new());
    }

    /// Empties the queue. Cheap when there is nothing in it: two loads.
    pub(crate) fn drain(&self) -> Result<()> {
        if self.0.drops.is_empty() && !self.0.apart_is_free() {
            return Ok(());
        }
        let drained = self.0.drain().map_err(|error| self.noted(error));
        if self.0.apart_waiting.load(Ordering::Acquire) {
            sweeper::watch(self);
        }
        drained
    }

    /// Waits for the last uses of ranges that were dropped, and gives their memory back: it does not come in stream order.
    pub(crate) fn wait_for_ranges(&self) -> Result<()> {
        let (mut pending, mut found) = (Vec::new(), !self.0.apart.is_empty());
        for (thing, after) in self.0.drops.take() {
            if thing.waits_for_the_end() {
                found = true;
                pending.extend(after.iter().cloned());
            }
            self.put(thing, after);
        }
        if found {
            pending.extend(self.0.in_flight_beside_partners()?);
        }
        for used in &pending {
            self.wait_for(used)?;
        }
        // Not `Device::drain`: all of it may be apart by now, and the queue empty.
        if found { sweeper::waiting(|| self.0.drain()).map_err(|error| self.noted(error)) } else { Ok(()) }
    }

    /// Releases what had to wait for the device and is finished by now.
    pub(crate) fn release_finished(&self) {
        // A refusal here is reported by the call that follows; nothing is lost, the things stay in the queue.
        let _ = self.0.drain();
    }
}

impl Inner {
    /// Whether something is apart that need not be any more: the last rank has gone.
    fn apart_is_free(&self) -> bool {
        self.apart_waiting.load(Ordering::Acquire) && !Counted::are_any()
    }

    /// Releases everything that may be released now. What fails stays in the queue.
    pub(super) fn drain(&self) -> Result<()> {
        self.was_drained.store(true, Ordering::Relaxed);
        self.release_those(|| {
            let mut things = self.drops.take();
            if sweeper::may_wait() || self.apart_is_free() {
                self.apart_waiting.store(false, Ordering::Release);
                things.extend(self.apart.take().map(|thing| (thing, Vec::new())));
            }
            things
        })
    }

    fn release_those(&self, take: impl FnOnce() -> Vec<(Garbage, Vec<Use<Cuda>>)>) -> Result<()> {
        let relaxed = Relaxed::new(&*self.cuda.driver)?;
        let mut outcome = Ok(());
        let mut dropped_values = Vec::new();
        for (thing, after) in take() {
            match self.release(thing, after) {
                Released::Yes(values) => {
                    dropped_values.extend(values);
                }
                Released::Gone(error) => outcome = Err(error),
                Released::Apart(thing) => {
                    self.apart.put(thing);
                    self.apart_waiting.store(true, Ordering::Release);
                }
                Released::NotYet(thing, mut after, error) => {
                    let opt_first = error.as_ref().and_then(Error::opt_driver);
                    if opt_first.is_some_and(|first| self.is_others(first)) {
                        // Of a lost context nothing runs any more, so nobody need wait for it. What stands on a stream of this
                        // device behind lost work waits for ever: nobody knows what becomes of it.
                        after.retain(|used| !used.lane().stream().retained.is_lost());
                    } else if let Some(error) = error {
                        outcome = Err(error);
                    }
                    self.drops.put(thing, after);
                }
            }
        }
        drop(relaxed);
        // The user's own drops run last, holding nothing of ours. What was refused is in the queue for the next one.
        go_on(drop_each(dropped_values));
        outcome
    }
}

#[cfg(all(test, feature = "software"))]
mod tests {
    use dacapo_driver::Call;
    use dacapo_driver::types::{CU_STREAM_NON_BLOCKING, CUstream};

    use super::*;

    /// Only another library's handles are shared so, and that library is not in every build.
    #[test]
    fn a_stream_that_another_library_names_is_destroyed_when_it_does_no_more() {
        let device = Device::software().unwrap();
        let streams = || device.machine().unwrap().census().streams;
        device.enter().unwrap();
        let (before, mut raw) = (streams(), CUstream::NULL);
        // SAFETY: `raw` is valid for the write.
        let code = unsafe { device.driver().cuStreamCreate(&mut raw, CU_STREAM_NON_BLOCKING) };
        device.check(code, Call::cuStreamCreate).unwrap();
        let theirs: Arc<dyn Any + Send + Sync> = Arc::new(());
        device.put(Garbage::SharedStream(RawHandle(raw), theirs.clone()), Vec::new());
        device.drain().unwrap();
        assert_eq!((streams(), device.counters().waiting), (before + 1, 1));
        drop(theirs);
        device.drain().unwrap();
        assert_eq!((streams(), device.counters().waiting), (before, 0));
    }
}
