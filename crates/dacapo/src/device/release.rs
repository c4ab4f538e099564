//! How each thing of the queue is released.
//!
//! - A release that is refused, and has done nothing, is tried again by the next who empties the queue; that one is told.
//! - After any other code the thing is taken for gone: to release it twice could hit another's. It is told as well.

use std::any::Any;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use dacapo_driver::types::{CUdeviceptr, CUgraph, CUgraphExec, CUmodule};
use dacapo_driver::{CUresult, Call, Check, DriverError, leaves_undone};
use dacapo_ledger::{Lane, Touch, Use};

use crate::device::{Counted, Cuda, Garbage, Inner, RawHandle, sweeper};
use crate::error::{Error, Result};

/// What became of one thing.
pub(super) enum Released {
    /// Gone; these values are to be dropped.
    Yes(Vec<Arc<dyn Any + Send + Sync>>),
    /// Taken for gone, with what the driver said.
    Gone(Error),
    /// Nothing in flight uses it, and its release may wait for all that is.
    Apart(Garbage),
    /// Not now.
    NotYet(Garbage, Vec<Use<Cuda>>, Option<Error>),
}

impl Released {
    /// What a call that releases has done, by its code.
    pub(super) fn by(thing: Garbage, call: Call, code: CUresult) -> Released {
        match code.check(call) {
            Ok(()) => Released::Yes(Vec::new()),
            Err(error) if leaves_undone(call, code) => Released::NotYet(thing, Vec::new(), Some(error.into())),
            Err(error) => Released::Gone(error.into()),
        }
    }
}

impl Inner {
    /// Releases one thing whose uses, as far as they are in `after`, are its last.
    pub(super) fn release(&self, thing: Garbage, after: Vec<Use<Cuda>>) -> Released {
        let driver = &*self.cuda.driver;
        match thing {
            Garbage::Booked(thing, booking) => match self.release(*thing, after) {
                Released::NotYet(thing, after, error) => Released::NotYet(thing.booked(Some(booking)), after, error),
                Released::Apart(thing) => Released::Apart(thing.booked(Some(booking))),
                over => over,
            },
            Garbage::Memory(address) => self.free(address, after),
            Garbage::Graph(exec, graph) => self.destroy_graph(exec, graph),
            Garbage::RawStream(raw) => {
                // SAFETY: the handle is ours and its owner is gone; what still runs on it completes.
                let code = unsafe { driver.cuStreamDestroy_v2(raw.0) };
                Released::by(thing, Call::cuStreamDestroy_v2, code)
            }
            Garbage::SharedStream(raw, theirs) => self.release_shared(raw, theirs, after),
            Garbage::Physical(handle) => {
                // SAFETY: ours, and released once; a mapping of it keeps the memory.
                let code = unsafe { driver.cuMemRelease(handle) };
                Released::by(thing, Call::cuMemRelease, code)
            }
            Garbage::Lane(ref lane) => {
                let last: Vec<Use<Cuda>> = self.ledger.last_use(lane).into_iter().collect();
                match self.all_finished(&last) {
                    Ok(true) => self.forget_lane(lane),
                    Ok(false) => Released::NotYet(thing, after, None),
                    Err(error) => Released::NotYet(thing, after, Some(error)),
                }
            }
            // Nobody can launch its kernels any more: those that run are among what is on the streams now.
            Garbage::Module(_) if after.is_empty() => {
                let uses = self.all_last_uses();
                self.once_finished(thing, uses, |thing| self.release_apart(thing))
            }
            // None of these is released in stream order: all must be over first.
            Garbage::Range { .. } | Garbage::Host(_) | Garbage::Module(_) => {
                self.once_finished(thing, after, |thing| self.release_apart(thing))
            }
            Garbage::Values(_) => self.once_finished(thing, after, |thing| self.release_finished_thing(thing)),
        }
    }

    /// Releases a thing if these uses are over.
    fn once_finished(
        &self,
        thing: Garbage,
        after: Vec<Use<Cuda>>,
        release: impl FnOnce(Garbage) -> Released,
    ) -> Released {
        match self.all_finished(&after) {
            Ok(true) => release(thing),
            Ok(false) => Released::NotYet(thing, after, None),
            Err(error) => Released::NotYet(thing, after, Some(error)),
        }
    }

    /// Releases a thing by a call that may wait for whatever the context is doing. Where there are ranks, not while it does
    /// anything ([`apart`](super::apart)): what another thread launches between the question and the call is waited for all the
    /// same, so the call is the sweeper's.
    fn release_apart(&self, thing: Garbage) -> Released {
        if Counted::are_any() && !sweeper::may_wait() {
            return Released::Apart(thing);
        }
        match self.in_flight_beside_partners() {
            Ok(uses) if uses.is_empty() => self.release_finished_thing(thing),
            Ok(_) => Released::Apart(thing),
            Err(error) => Released::NotYet(thing, Vec::new(), Some(error)),
        }
    }

    /// What is in flight on this device, if this process has partners at all.
    pub(super) fn in_flight_beside_partners(&self) -> Result<Vec<Use<Cuda>>> {
        if !Counted::are_any() {
            return Ok(Vec::new());
        }
        let mut uses = self.all_last_uses();
        uses.extend(self.ledger.last_use(&self.reaper));
        let mut pending = Vec::new();
        for used in uses {
            if !self.all_finished(std::slice::from_ref(&used))? {
                pending.push(used);
            }
        }
        Ok(pending)
    }

    /// Releases what nothing in flight uses.
    fn release_finished_thing(&self, thing: Garbage) -> Released {
        let driver = &*self.cuda.driver;
        match thing {
            Garbage::Range { base, mapped, reserved } => self.unmap(base, mapped, reserved),
            Garbage::Host(address) => {
                let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
                // SAFETY: page-locked memory of ours that nobody holds and nothing in flight touches.
                let code = unsafe { driver.cuMemFreeHost(pointer) };
                Released::by(thing, Call::cuMemFreeHost, code)
            }
            Garbage::Module(module) => self.unload(module),
            Garbage::Values(kept) => {
                self.values_waiting.fetch_sub(1, Ordering::AcqRel);
                Released::Yes(kept)
            }
            _ => unreachable!("all else is released without waiting"),
        }
    }

    /// Frees device memory in stream order, behind its last uses.
    fn free(&self, address: CUdeviceptr, after: Vec<Use<Cuda>>) -> Released {
        let driver = &*self.cuda.driver;
        let thing = Garbage::Memory(address);
        let pending: Vec<Use<Cuda>> = after.iter().filter(|used| !self.ledger.is_finished(used)).cloned().collect();
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
            Err(DriverError { code, call: Call::cuMemFreeAsync }) => Released::by(thing, Call::cuMemFreeAsync, code),
            Err(error) => Released::NotYet(thing, Vec::new(), Some(error.into())),
        }
    }

    fn forget_lane(&self, lane: &Lane<Cuda>) -> Released {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| known != lane);
        Released::Yes(Vec::new())
    }

    /// Destroying an executable graph while it runs neither waits nor stops it.
    fn destroy_graph(&self, exec: CUgraphExec, graph: CUgraph) -> Released {
        let driver = &*self.cuda.driver;
        if !exec.is_null() {
            // SAFETY: the handle is ours, and its owner is gone.
            let code = unsafe { driver.cuGraphExecDestroy(exec) };
            if leaves_undone(Call::cuGraphExecDestroy, code) {
                return Released::by(Garbage::Graph(exec, graph), Call::cuGraphExecDestroy, code);
            }
            self.counters.graphs.sub(1);
        }
        // SAFETY: as above.
        let code = unsafe { driver.cuGraphDestroy(graph) };
        Released::by(Garbage::Graph(CUgraphExec::NULL, graph), Call::cuGraphDestroy, code)
    }

    fn release_shared(&self, raw: RawHandle, theirs: Arc<dyn Any + Send + Sync>, after: Vec<Use<Cuda>>) -> Released {
        if raw.0.is_null() {
            return Released::Yes(vec![theirs]);
        }
        if Arc::strong_count(&theirs) > 1 {
            // What they made of it (memory, events) still names it.
            return Released::NotYet(Garbage::SharedStream(raw, theirs), after, None);
        }
        drop(theirs);
        self.release(Garbage::RawStream(raw), after)
    }

    fn unload(&self, module: CUmodule) -> Released {
        // SAFETY: nobody holds the module, and no kernel of it runs.
        let code = unsafe { self.cuda.driver.cuModuleUnload(module) };
        if !leaves_undone(Call::cuModuleUnload, code) {
            self.counters.modules.sub(1);
        }
        Released::by(Garbage::Module(module), Call::cuModuleUnload, code)
    }

    fn unmap(&self, base: CUdeviceptr, mapped: usize, reserved: usize) -> Released {
        let driver = &*self.cuda.driver;
        let mut unmapped = Ok(());
        if mapped > 0 {
            // SAFETY: nobody holds an address of it, and nothing in flight touches one.
            let code = unsafe { driver.cuMemUnmap(base, mapped) };
            // A lost context lets go of nothing: mapped or not, it stays until the process ends.
            if leaves_undone(Call::cuMemUnmap, code) || code.is_sticky() {
                return Released::by(Garbage::Range { base, mapped, reserved }, Call::cuMemUnmap, code);
            }
            unmapped = code.check(Call::cuMemUnmap);
        }
        // SAFETY: nothing is mapped there any more.
        let code = unsafe { driver.cuMemAddressFree(base, reserved) };
        let freed = Released::by(Garbage::Range { base, mapped: 0, reserved }, Call::cuMemAddressFree, code);
        match (freed, unmapped) {
            (Released::Yes(_), Err(error)) => Released::Gone(error.into()),
            (freed, _) => freed,
        }
    }

    /// The last work of every stream, also of those that were dropped with work in flight.
    pub(crate) fn all_last_uses(&self) -> Vec<Use<Cuda>> {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let uses = lanes.iter().filter_map(|lane| self.ledger.last_use(lane));
        uses.filter(|used| !self.ledger.is_finished(used)).collect()
    }

    /// Whether all these uses are over, asking the driver about those that are not known to be.
    pub(super) fn all_finished(&self, uses: &[Use<Cuda>]) -> Result<bool> {
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
