//! What was dropped, and when it is released.
//!
//! - A drop puts its thing into the queue with the uses that must be over first. It makes no driver call, blocks on
//!   nothing but a short lock, and runs on any thread, also when the context is dead.
//! - [`Device::drain`] empties the queue: device memory is freed in stream order, behind its last uses, on a stream of
//!   its own, so nobody waits for it. What must not be touched before the device is done with it (page-locked memory,
//!   modules, values of the user's) is kept until the events say so.
//! - When the device itself goes, what is finished is released and the rest is left to the driver.

use std::any::Any;
use std::sync::{Arc, PoisonError};

use dacapo_driver::types::{CUcontext, CUdeviceptr, CUevent, CUgraph, CUgraphExec, CUmodule};
use dacapo_driver::{Call, Check, Driver};
use dacapo_ledger::{Lane, Touch, Use};

use crate::device::{Cuda, Device, Inner, RawHandle, Relaxed};
use crate::error::Result;

/// Something to be released.
pub(crate) enum Garbage {
    /// Device memory.
    Memory(CUdeviceptr),
    /// Page-locked host memory.
    Host(CUdeviceptr),
    /// An executable graph with its template.
    Graph(CUgraphExec, CUgraph),
    /// A lane whose owner is gone.
    Lane(Lane<Cuda>),
    /// A stream whose lane is gone.
    RawStream(RawHandle),
    /// A module.
    Module(CUmodule),
    /// Values of the user's, dropped in this order.
    Values(Vec<Arc<dyn Any + Send + Sync>>),
}

// SAFETY: the handles in it are tokens that the driver takes from any thread.
unsafe impl Send for Garbage {}
// SAFETY: as above.
unsafe impl Sync for Garbage {}

impl Device {
    /// To be released after these uses. Called by drops.
    pub(crate) fn put(&self, thing: Garbage, after: Vec<Use<Cuda>>) {
        self.0.drops.put(thing, after);
    }

    /// Empties the queue. Cheap when there is nothing in it: one load.
    pub(crate) fn drain(&self) -> Result<()> {
        if self.0.drops.is_empty() {
            return Ok(());
        }
        self.0.drain().map_err(|error| self.noted(error))
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
        let _relaxed = Relaxed::new(&*self.cuda.driver);
        let mut outcome = Ok(());
        let mut dropped_values = Vec::new();
        for (thing, after) in self.drops.take() {
            match self.release(thing, after) {
                Released::Yes(values) => {
                    dropped_values.extend(values);
                }
                Released::NotYet(thing, after, error) => {
                    self.drops.put(thing, after);
                    if let Some(error) = error {
                        outcome = Err(error);
                    }
                }
            }
        }
        // The user's own drops run last, holding nothing of ours.
        drop(dropped_values);
        outcome
    }

    fn release(&self, thing: Garbage, mut after: Vec<Use<Cuda>>) -> Released {
        let driver = &*self.cuda.driver;
        if matches!(thing, Garbage::Module(_)) && after.is_empty() {
            // Nobody can launch its kernels any more: those that run are among what is on the streams now.
            after = self.all_last_uses();
        }
        match thing {
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
                // SAFETY: both handles are ours, and their owner is gone.
                let codes = unsafe { (driver.cuGraphExecDestroy(exec), driver.cuGraphDestroy(graph)) };
                self.counters.graphs.sub(1);
                // Refusals are possible only in a broken context, where both are gone anyway.
                let _ = codes;
                Released::Yes(Vec::new())
            }
            Garbage::RawStream(raw) => {
                // SAFETY: the handle is ours and its owner is gone; what still runs on it completes.
                let _ = unsafe { driver.cuStreamDestroy_v2(raw.0) };
                Released::Yes(Vec::new())
            }
            Garbage::Host(_) | Garbage::Module(_) | Garbage::Values(_) => match self.all_finished(&after) {
                Ok(true) => {
                    let mut values = Vec::new();
                    match thing {
                        Garbage::Host(address) => {
                            let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
                            // SAFETY: page-locked memory of ours that nobody holds and nothing in flight touches.
                            let _ = unsafe { driver.cuMemFreeHost(pointer) };
                        }
                        Garbage::Module(module) => {
                            // SAFETY: nobody holds the module, and no kernel of it runs.
                            let _ = unsafe { driver.cuModuleUnload(module) };
                            self.counters.modules.sub(1);
                        }
                        Garbage::Values(kept) => values = kept,
                        _ => unreachable!("matched above"),
                    }
                    Released::Yes(values)
                }
                Ok(false) => Released::NotYet(thing, after, None),
                Err(error) => Released::NotYet(thing, after, Some(error)),
            },
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
    /// Not now.
    NotYet(Garbage, Vec<Use<Cuda>>, Option<crate::Error>),
}

impl Drop for Inner {
    fn drop(&mut self) {
        let driver = self.cuda.driver.clone();
        let mut before = CUcontext::NULL;
        // SAFETY: `before` is valid for the write. If the driver does not know, there was none.
        let _ = unsafe { driver.cuCtxGetCurrent(&mut before) };
        // SAFETY: the context is retained until the end of this function.
        let entered = unsafe { driver.cuCtxSetCurrent(self.cuda.context) };
        if entered.is_success() && self.lost.get().is_none() {
            let _relaxed = Relaxed::new(&*driver);
            self.give_back(&*driver);
        }
        if before != self.cuda.context {
            // SAFETY: it was current on this thread a moment ago.
            let _ = unsafe { driver.cuCtxSetCurrent(before) };
        }
        // SAFETY: retained once, when the device was opened.
        let _ = unsafe { driver.cuDevicePrimaryCtxRelease_v2(self.raw) };
    }
}

impl Inner {
    /// Gives everything back that is finished. What is not is left to the driver: waiting here would make a drop that
    /// blocks.
    fn give_back(&mut self, driver: &dyn Driver) {
        let _ = self.drain();
        // Kernels of the library's own go into the queue, beside the modules of the values that went just now.
        drop(self.kernels.take());
        let _ = self.drain();
        let quiet = self.all_finished(&self.all_last_uses()).unwrap_or(false);
        if quiet {
            let ledger = &self.ledger;
            let staging = self.staging.get_mut().unwrap_or_else(PoisonError::into_inner);
            staging.release(driver, |used| ledger.is_finished(used));
        }
        // Streams go with their lanes, into the queue. From here on nobody knows which of them are busy.
        self.lanes.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        for (thing, after) in self.drops.take() {
            match thing {
                Garbage::RawStream(_) => drop(self.release(thing, after)),
                // A module, page-locked memory or a value that a kernel may still use: leaked, never freed under it.
                _ => std::mem::forget(thing),
            }
        }
        let events = std::mem::take(&mut *self.cuda.free.lock().unwrap_or_else(PoisonError::into_inner));
        for event in events {
            let raw: CUevent = event.0;
            // SAFETY: nobody holds the event.
            let _ = unsafe { driver.cuEventDestroy_v2(raw) };
        }
        // SAFETY: both streams are ours; what still runs on them completes.
        let _ = unsafe { driver.cuStreamDestroy_v2(self.home.0) };
        // SAFETY: as above.
        let _ = unsafe { driver.cuStreamDestroy_v2(self.reaper.stream().raw.0) };
    }
}
