//! What was dropped, and when it is released.
//!
//! - A drop puts its thing into the queue with the uses that must be over first. It makes no driver call, blocks on
//!   nothing but a short lock, and runs on any thread, also when the context is dead.
//! - [`Device::drain`] empties the queue: device memory is freed in stream order, behind its last uses, on a stream of
//!   its own, so nobody waits for it. What must not be touched before the device is done with it (page-locked memory,
//!   mapped ranges, modules, values of the user's) is kept until the events say so.
//! - A release that is refused, and has done nothing, is tried again by the next who empties the queue; that one is told.
//!   After any other code the thing is taken for gone: to release it twice could hit another's. It is told as well.
//! - When the device itself goes, what is finished is released and the rest is left to the driver. Nobody can be told then:
//!   a refused release is tried once more. Of a lost context nothing runs any more: values of the user's are dropped,
//!   graphs, which need no context, are destroyed, and the rest goes with the context.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use dacapo_driver::types::{
    CUcontext, CUdeviceptr, CUevent, CUgraph, CUgraphExec, CUmemGenericAllocationHandle, CUmodule, CUstream,
};
use dacapo_driver::{CUresult, Call, Check, Driver, DriverError, leaves_undone};
use dacapo_ledger::{Lane, LaneKind, Touch, Use};

use crate::device::values::{Panic, drop_each, go_on, keep_first};
use crate::device::{Booking, Cuda, Device, Inner, LaneStream, RawHandle, Relaxed, sweeper, twice};
use crate::error::{ErrorKind, Result};
use crate::kernel::ModuleSource;

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
    /// Holds on modules whose code may still run.
    Modules(Vec<Arc<ModuleSource>>),
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

    /// Lets go of values whose work is over, of a device that nobody uses. Of a lost context nothing runs any more: its values
    /// go whatever they wait for. All else stays in the queue: who wants memory meanwhile finds it there.
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
        }
    }

    /// Empties the queue. Cheap when there is nothing in it: one load.
    pub(crate) fn drain(&self) -> Result<()> {
        if self.0.drops.is_empty() {
            return Ok(());
        }
        self.0.drain().map_err(|error| self.noted(error))
    }

    /// Waits for the last uses of ranges that were dropped, and gives their memory back: it does not come in stream order.
    pub(crate) fn wait_for_ranges(&self) -> Result<()> {
        let (mut pending, mut found) = (Vec::new(), false);
        for (thing, after) in self.0.drops.take() {
            if thing.waits_for_the_end() {
                found = true;
                pending.extend(after.iter().cloned());
            }
            self.put(thing, after);
        }
        for used in &pending {
            self.wait_for(used)?;
        }
        if found { self.drain() } else { Ok(()) }
    }

    /// Releases what had to wait for the device and is finished by now.
    pub(crate) fn release_finished(&self) {
        // A refusal here is reported by the call that follows; nothing is lost, the things stay in the queue.
        let _ = self.0.drain();
    }
}

impl Inner {
    /// Releases everything that may be released now. What fails stays in the queue.
    fn drain(&self) -> Result<()> {
        self.was_drained.store(true, Ordering::Relaxed);
        self.release_those(|| self.drops.take())
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
                Released::NotYet(thing, after, error) => {
                    self.drops.put(thing, after);
                    if let Some(error) = error {
                        outcome = Err(error);
                    }
                }
            }
        }
        drop(relaxed);
        // The user's own drops run last, holding nothing of ours. What was refused is in the queue for the next one.
        go_on(drop_each(dropped_values));
        outcome
    }

    fn release(&self, thing: Garbage, mut after: Vec<Use<Cuda>>) -> Released {
        let driver = &*self.cuda.driver;
        if matches!(thing, Garbage::Module(_)) && after.is_empty() {
            // Nobody can launch its kernels any more: those that run are among what is on the streams now.
            after = self.all_last_uses();
        }
        match thing {
            Garbage::Booked(thing, booking) => match self.release(*thing, after) {
                Released::NotYet(thing, after, error) => Released::NotYet(thing.booked(Some(booking)), after, error),
                over => over,
            },
            Garbage::Memory(address) => {
                let pending: Vec<Use<Cuda>> = after.iter().filter(|u| !self.ledger.is_finished(u)).cloned().collect();
                if let Err(error) = self.ledger.order_after(&self.cuda, &self.reaper, &pending) {
                    return Released::NotYet(thing, after, Some(error.into()));
                }
                // Through the ledger, so that the frees can be waited for.
                let freed = self.ledger.submit(&self.cuda, &self.reaper, Touch::Memory(&[]), |stream| {
                    // SAFETY: the address is ours and nobody holds it any more; the stream is behind its last uses.
                    unsafe { driver.cuMemFreeAsync(address, stream.raw.0) }.check(Call::cuMemFreeAsync)
                });
                match freed {
                    Ok(_) => Released::Yes(Vec::new()),
                    Err(DriverError { code, call: Call::cuMemFreeAsync }) => {
                        Released::by(thing, Call::cuMemFreeAsync, code)
                    }
                    Err(error) => Released::NotYet(thing, Vec::new(), Some(error.into())),
                }
            }
            Garbage::Lane(ref lane) => {
                let last: Vec<Use<Cuda>> = self.ledger.last_use(lane).into_iter().collect();
                match self.all_finished(&last) {
                    Ok(true) => {
                        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
                        lanes.retain(|known| known != lane);
                        Released::Yes(Vec::new())
                    }
                    Ok(false) => Released::NotYet(thing, after, None),
                    Err(error) => Released::NotYet(thing, after, Some(error)),
                }
            }
            Garbage::Graph(exec, graph) => {
                // Destroying an executable graph while it runs neither waits nor stops it.
                if !exec.is_null() {
                    // SAFETY: the handle is ours, and its owner is gone.
                    let code = unsafe { driver.cuGraphExecDestroy(exec) };
                    if leaves_undone(Call::cuGraphExecDestroy, code) {
                        return Released::by(thing, Call::cuGraphExecDestroy, code);
                    }
                    self.counters.graphs.sub(1);
                }
                // SAFETY: as above.
                let code = unsafe { driver.cuGraphDestroy(graph) };
                Released::by(Garbage::Graph(CUgraphExec::NULL, graph), Call::cuGraphDestroy, code)
            }
            Garbage::RawStream(raw) => {
                // SAFETY: the handle is ours and its owner is gone; what still runs on it completes.
                let code = unsafe { driver.cuStreamDestroy_v2(raw.0) };
                Released::by(thing, Call::cuStreamDestroy_v2, code)
            }
            Garbage::SharedStream(raw, ref theirs) if !raw.0.is_null() && Arc::strong_count(theirs) > 1 => {
                // What they made of it (memory, events) still names it.
                Released::NotYet(thing, after, None)
            }
            Garbage::SharedStream(raw, theirs) => {
                if raw.0.is_null() {
                    return Released::Yes(vec![theirs]);
                }
                drop(theirs);
                self.release(Garbage::RawStream(raw), after)
            }
            Garbage::Physical(handle) => {
                // SAFETY: ours, and released once; a mapping of it keeps the memory.
                let code = unsafe { driver.cuMemRelease(handle) };
                Released::by(thing, Call::cuMemRelease, code)
            }
            // Unmapping is not in stream order: all must be over first.
            Garbage::Range { base, mapped, reserved } => match self.all_finished(&after) {
                Ok(true) => {
                    let mut unmapped = Ok(());
                    if mapped > 0 {
                        // SAFETY: nobody holds an address of it, and nothing in flight touches one.
                        let code = unsafe { driver.cuMemUnmap(base, mapped) };
                        if leaves_undone(Call::cuMemUnmap, code) {
                            return Released::by(thing, Call::cuMemUnmap, code);
                        }
                        unmapped = code.check(Call::cuMemUnmap);
                        if code.is_sticky() {
                            // A lost context lets go of nothing: mapped or not, it stays until the process ends.
                            return Released::by(thing, Call::cuMemUnmap, code);
                        }
                    }
                    // SAFETY: nothing is mapped there any more.
                    let code = unsafe { driver.cuMemAddressFree(base, reserved) };
                    let freed =
                        Released::by(Garbage::Range { base, mapped: 0, reserved }, Call::cuMemAddressFree, code);
                    match (freed, unmapped) {
                        (Released::Yes(_), Err(error)) => Released::Gone(error.into()),
                        (freed, _) => freed,
                    }
                }
                Ok(false) => Released::NotYet(thing, after, None),
                Err(error) => Released::NotYet(thing, after, Some(error)),
            },
            Garbage::Host(_) | Garbage::Module(_) | Garbage::Modules(_) | Garbage::Values(_) => {
                match self.all_finished(&after) {
                    Ok(true) => match thing {
                        Garbage::Host(address) => {
                            let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
                            // SAFETY: page-locked memory of ours that nobody holds and nothing in flight touches.
                            let code = unsafe { driver.cuMemFreeHost(pointer) };
                            Released::by(thing, Call::cuMemFreeHost, code)
                        }
                        Garbage::Module(module) => {
                            // SAFETY: nobody holds the module, and no kernel of it runs.
                            let code = unsafe { driver.cuModuleUnload(module) };
                            if !leaves_undone(Call::cuModuleUnload, code) {
                                self.counters.modules.sub(1);
                            }
                            Released::by(thing, Call::cuModuleUnload, code)
                        }
                        Garbage::Modules(modules) => {
                            drop(modules);
                            Released::Yes(Vec::new())
                        }
                        Garbage::Values(kept) => {
                            self.values_waiting.fetch_sub(1, Ordering::AcqRel);
                            Released::Yes(kept)
                        }
                        _ => unreachable!("matched above"),
                    },
                    Ok(false) => Released::NotYet(thing, after, None),
                    Err(error) => Released::NotYet(thing, after, Some(error)),
                }
            }
        }
    }

    /// The last work of every stream, also of those that were dropped with work in flight.
    pub(crate) fn all_last_uses(&self) -> Vec<Use<Cuda>> {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let uses = lanes.iter().filter_map(|lane| self.ledger.last_use(lane));
        uses.filter(|used| !self.ledger.is_finished(used)).collect()
    }

    /// Whether all these uses are over, asking the driver about those that are not known to be.
    fn all_finished(&self, uses: &[Use<Cuda>]) -> Result<bool> {
        for pending in uses {
            if self.ledger.is_finished(pending) {
                continue;
            }
            let event = self.ledger.event_for(&self.cuda, pending)?;
            if !self.cuda.has_passed(&event)? {
                return Ok(false);
            }
            self.ledger.finished(pending);
        }
        Ok(true)
    }
}

/// What became of one thing.
enum Released {
    /// Gone; these values are to be dropped.
    Yes(Vec<Arc<dyn Any + Send + Sync>>),
    /// Taken for gone, with what the driver said.
    Gone(crate::Error),
    /// Not now.
    NotYet(Garbage, Vec<Use<Cuda>>, Option<crate::Error>),
}

impl Released {
    /// What a call that releases has done, by its code.
    fn by(thing: Garbage, call: Call, code: CUresult) -> Released {
        match code.check(call) {
            Ok(()) => Released::Yes(Vec::new()),
            Err(error) if leaves_undone(call, code) => Released::NotYet(thing, Vec::new(), Some(error.into())),
            Err(error) => Released::Gone(error.into()),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Of a value of the user's: it goes on when everything is given back.
        let mut panic: Option<Panic> = None;
        let driver = self.cuda.driver.clone();
        let mut before = CUcontext::NULL;
        // SAFETY: `before` is valid for the write. If the driver does not know, there was none.
        twice(Call::cuCtxGetCurrent, || unsafe { driver.cuCtxGetCurrent(&mut before) });
        // SAFETY: the context is retained until the end of this function.
        let entered = twice(Call::cuCtxSetCurrent, || unsafe { driver.cuCtxSetCurrent(self.cuda.context) });
        {
            // Refused twice, it is done without: what is left here would never be given back.
            let _relaxed = Relaxed::new(&*driver).or_else(|_| Relaxed::new(&*driver));
            let mut lost = self.lost.get().is_some();
            if entered.is_success() && !lost {
                lost = self.give_back(&*driver, &mut panic);
            }
            self.let_go(&*driver, lost, &mut panic);
        }
        #[cfg(feature = "cublaslt")]
        if let Some(blas) = self.blas.take() {
            // Still here, because the context is lost or was not entered: what the library would do is not known.
            blas.leave();
        }
        // It binds the context to this thread, so it goes before the thread gets back its own.
        #[cfg(feature = "cudarc")]
        drop(std::mem::take(&mut self.cudarc));
        if before != self.cuda.context {
            // SAFETY: it was current on this thread a moment ago.
            twice(Call::cuCtxSetCurrent, || unsafe { driver.cuCtxSetCurrent(before) });
        }
        // SAFETY: retained once, when the device was opened.
        twice(Call::cuDevicePrimaryCtxRelease_v2, || unsafe { driver.cuDevicePrimaryCtxRelease_v2(self.raw) });
        go_on(panic);
    }
}

impl Inner {
    /// Gives everything back that is finished. What is not is left to the driver: waiting here would make a drop that
    /// blocks. Says whether the context turned out to be lost.
    fn give_back(&mut self, driver: &dyn Driver, panic: &mut Option<Panic>) -> bool {
        let mut lost = false;
        let mut drain = |inner: &Inner| {
            let refused = match catch_unwind(AssertUnwindSafe(|| inner.drain())) {
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
        // Kernels of the library's own go into the queue, beside the modules of the values that went just now.
        drop(self.kernels.take());
        #[cfg(feature = "cublaslt")]
        if let Some(blas) = self.blas.take() {
            let uses = self.all_last_uses();
            if !self.all_finished(&uses).unwrap_or(false) {
                blas.leave();
            }
        }
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
        let nowhere = LaneStream::ours(CUstream::NULL, self.drops.clone());
        self.reaper = self.ledger.add_lane(nowhere, LaneKind::Internal);
        // A use holds its lane: what waits is let go of together with what it waits for, until nothing more comes.
        loop {
            let things = self.drops.take();
            if things.is_empty() {
                break;
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
                        Released::Yes(_) | Released::Gone(_) => {}
                    },
                    Garbage::Lane(lane) => drop(lane),
                    // Nothing runs in a lost context.
                    Garbage::Values(values) if lost => keep_first(panic, drop_each(values)),
                    // A module, page-locked memory or a value that a kernel may still use: leaked, never freed under it.
                    thing => std::mem::forget(thing),
                }
            }
        }
        let events = std::mem::take(&mut *self.cuda.free.lock().unwrap_or_else(PoisonError::into_inner));
        for event in events {
            let raw: CUevent = event.0;
            // SAFETY: nobody holds the event.
            twice(Call::cuEventDestroy_v2, || unsafe { driver.cuEventDestroy_v2(raw) });
        }
        // SAFETY: the stream is ours; what still runs on it completes.
        twice(Call::cuStreamDestroy_v2, || unsafe { driver.cuStreamDestroy_v2(self.home.0) });
    }
}

#[cfg(all(test, feature = "software"))]
mod tests {
    use dacapo_driver::types::CU_STREAM_NON_BLOCKING;

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
