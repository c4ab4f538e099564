//! One replay: slots that changed are brought into the executable graph, then it is launched through the ledger.

use std::panic::Location;
use std::sync::Arc;

use dacapo_driver::types::CUgraphExec;
use dacapo_driver::{CUresult, Call};
use dacapo_ledger::{MemoryId, Touch, Touching, Use};

use crate::device::{Cuda, Device, Garbage, LaneStream, Named, Noted, Stream};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Replayable;
use crate::graph::stand_ins::Rebound;
use crate::held::Purpose;
use crate::lower::{Built, Parts, Rewritten, Stamps, executable_bytes, expect_whole, params_of, unpatched};
use crate::memory::Extent;
use crate::nesting::{is_outside, refuse_inside};
use crate::record::{Node, NodeParams, expect_written, lock_gates};
use crate::trace::event;

impl Replayable {
    /// One replay. `device` is its own, which its holder has at hand.
    #[track_caller]
    pub(crate) fn launch(&mut self, device: &Device, stream: &Stream) -> Result<&Use<Cuda>> {
        // The short way: what a launch needs that nobody and nothing is in the way of. A driver's launch leaves little of our
        // code and data in the caches, so that every line counts. No question for the current context: a launch takes it
        // from the stream, as observed. That the stream is of this device is part of being clean on it.
        if self.is_quiet && is_outside() && device.is_calm() {
            if self.has_slots && !self.readings.are_current() && stream.device().is(device) {
                self.refresh_quiet()?;
            }
            let (exec, name, has_partners) = (self.exec, &self.name, self.has_partners);
            let cuda = &device.0.cuda;
            let launched = device.ledger().launch_clean(cuda, stream.lane(), &mut self.set, |raw| {
                let noted = if has_partners { Some(name.note_first(device, raw)?) } else { None };
                // SAFETY: as in `enqueue_exec`.
                let code = unsafe { cuda.driver.cuGraphLaunch(exec, raw.raw.0) };
                if code != CUresult::CUDA_SUCCESS {
                    return again(device, exec, raw, code, (name, noted));
                }
                if !has_partners {
                    let _ = raw.notes.push(name);
                }
                Ok(())
            });
            match launched {
                Some(Ok(())) => {
                    self.replays += 1;
                    self.preloaded = true;
                    return self.announced();
                }
                Some(Err(error)) => return Err(self.refused(error)),
                None => {}
            }
        }
        self.launch_with(stream, &[])
    }

    /// One replay that touches some memory beside that of the graph.
    #[inline(never)]
    #[track_caller]
    pub(crate) fn launch_with(&mut self, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<&Use<Cuda>> {
        self.expect_launchable(stream, "Graph::launch")?;
        self.device.expect_context()?;
        if !self.device.0.drops.is_empty() {
            self.drain()?;
        }
        self.expect_whole(stream)?;
        if self.has_slots || !self.dirty.is_empty() {
            self.refresh_quiet()?;
        }
        if !self.gates.is_empty() {
            return self.launch_gated(stream, extra);
        }
        self.enqueue(stream, extra)?;
        self.announced()
    }

    /// # Errors
    ///
    /// - A partner is dead, or a launch that should have written what this one reads, or what is on the stream.
    pub(super) fn expect_whole(&self, stream: &Stream) -> Result<()> {
        if !self.name.partners.is_empty() {
            self.name.expect_partners().map_err(|error| self.refused(error))?;
        }
        self.device.expect_untorn(stream.lane()).map_err(|error| self.refused(error))?;
        expect_whole(self.nodes.iter(), &self.stand_ins).map_err(|error| self.device.noted(error))
    }

    /// What a launch asks first, by the name and the line of the call that the user has made.
    #[inline]
    #[track_caller]
    pub(crate) fn expect_launchable(&self, stream: &Stream, call: &'static str) -> Result<()> {
        if !stream.device().is(&self.device) {
            return Err(self.device.stranger("the stream", stream.device()).on_line(Location::caller()));
        }
        refuse_inside(call)
    }

    /// The launch that was made just now, told to whoever listens. No lock is held: a subscriber is the program's code.
    #[inline(always)]
    fn announced(&self) -> Result<&Use<Cuda>> {
        event!(trace, label = %self.name.label, position = self.last_use().position(), "launched");
        Ok(self.last_use())
    }

    #[cold]
    fn drain(&self) -> Result<()> {
        self.device.enter()?;
        self.device.drain()
    }

    /// With host memory: no copy of the host's begins while this is enqueued.
    #[cold]
    fn launch_gated(&mut self, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<&Use<Cuda>> {
        let gates = self.gates.clone();
        let held = lock_gates(&gates);
        self.enqueue(stream, extra)?;
        drop(held);
        self.announced()
    }

    /// Puts the launch on the stream, through the ledger.
    fn enqueue(&mut self, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<()> {
        let exec = self.exec;
        self.enqueue_exec(exec, stream, extra)?;
        self.preloaded = true;
        Ok(())
    }

    /// One replay by a second executable graph, with a stamp before and behind each op. The first one is as it was.
    #[track_caller]
    pub(crate) fn launch_stamped(
        &mut self,
        stream: &Stream,
        extra: &[(MemoryId, Touching)],
        stamps: &Stamps,
    ) -> Result<()> {
        self.device.enter()?;
        self.device.drain()?;
        self.expect_whole(stream)?;
        self.refresh_quiet()?;
        let (nodes, order) = (&self.nodes, &self.order);
        // A stamp before and behind each op: three nodes for one.
        let booking = self.device.book(Purpose::Executables, 3 * executable_bytes(nodes, order))?;
        let told = Vec::new();
        let parts = Parts { nodes, told, arrangement: order, readings: &self.readings, places: &self.stand_ins };
        let mut built = Built::stamped(&self.device, parts, Some(stamps), booking)?;
        let launched = self.launch_preloaded(built.exec, stream, extra);
        // The driver lets what runs complete.
        self.device.put(Garbage::Graph(built.exec, built.template).booked(built.booking.take()), Vec::new());
        launched
    }

    /// Brings an executable graph onto the device, waits for that, and launches it. Without, what the first launch has to
    /// prepare would be in the times: on an H200 a step of 20 us was seen to take 60 to 90.
    fn launch_preloaded(&mut self, exec: CUgraphExec, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<()> {
        let device = &self.device;
        {
            let _relaxed = device.relaxed()?;
            let queues = &device.0.cuda;
            let preloaded = device.ledger().submit::<_, Error>(queues, &stream.0.lane, Touch::Memory(&[]), |raw| {
                // SAFETY: the executable graph is ours and alive.
                device.check(unsafe { device.driver().cuGraphUpload(exec, raw.raw.0) }, Call::cuGraphUpload)
            });
            preloaded.map_err(|error| device.noted(error))?;
        }
        stream.0.wait_for_all()?;
        let gates = self.gates.clone();
        let held = lock_gates(&gates);
        self.enqueue_exec(exec, stream, extra)?;
        drop(held);
        self.announced().map(drop)
    }

    fn enqueue_exec(&mut self, exec: CUgraphExec, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<()> {
        let device = &self.device;
        let (set, name) = (&mut self.set, &self.name);
        let submitted = device.ledger().launch::<_, Error>(&device.0.cuda, stream.lane(), set, extra, |raw| {
            let noted = name.noted_ahead(device, raw)?;
            // SAFETY: the executable graph is ours and alive; everything its nodes touch is held by `self.nodes`, or
            // bound by this launch and kept by the ledger until it is over; `&mut self` keeps other launches away.
            let code = unsafe { device.driver().cuGraphLaunch(exec, raw.raw.0) };
            if code != CUresult::CUDA_SUCCESS {
                return again(device, exec, raw, code, (name, noted));
            }
            name.noted_behind(raw, noted, true, true);
            Ok(())
        });
        if let Err(error) = submitted {
            return Err(self.refused(error));
        }
        self.replays += 1;
        Ok(())
    }

    /// A launch that the driver refused, with the graph's name. A lost context names all that was in flight instead.
    #[cold]
    fn refused(&self, error: Error) -> Error {
        match (self.device.noted(error), self.name.at) {
            (error, Some(at)) if !matches!(error.kind(), ErrorKind::Lost { .. }) => {
                error.of(&self.name.name, &self.name.label, at)
            }
            (error, _) => error,
        }
    }

    /// As [`refresh`](Replayable::refresh), and the graph is not quiet if it fails: the nodes that are dirty stay so.
    #[inline(never)]
    pub(super) fn refresh_quiet(&mut self) -> Result<()> {
        self.is_quiet = false;
        self.refresh()?;
        self.is_quiet = self.looks_quiet();
        Ok(())
    }

    /// Brings changed slots into the executable graph. All recipes are evaluated before the first node is changed.
    #[inline]
    fn refresh(&mut self) -> Result<()> {
        // One node at the addresses that it has, the common case: its values are changed where they are.
        if self.dirty.is_empty()
            && self.stand_ins.is_empty()
            && let Some(number) = self.readings.refresh_one()
        {
            return self.rewrite(number);
        }
        let dirty = &mut self.dirty;
        self.readings.refresh(|readers| {
            for &op in readers {
                // Two slots of one node: still one node.
                if dirty.last() != Some(&op) {
                    dirty.push(op);
                }
            }
        });
        if self.dirty.is_empty() {
            return Ok(());
        }
        self.device.make_current()?;
        self.patch()
    }

    /// Brings the slots of one node, which nobody was told of yet, into its parameters.
    #[inline]
    fn rewrite(&mut self, number: u32) -> Result<()> {
        let rewritten = match self.device.make_current() {
            Ok(()) => self.rewrite_now(number as usize),
            Err(error) => Err(error),
        };
        match rewritten {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.dirty.push(number);
                self.patch()
            }
            Err(error) => {
                self.dirty.push(number);
                Err(error)
            }
        }
    }

    /// The same in the right context. False, and nothing is done, if that is not how this node is told.
    #[inline]
    fn rewrite_now(&mut self, number: usize) -> Result<bool> {
        let node = &self.nodes[number];
        match self.built.rewrite(&self.device, number, node, &self.readings)? {
            Rewritten::Same => {}
            Rewritten::Other { was_enabled } => {
                if self.may_idle && was_enabled != self.built.is_enabled(number) {
                    // Told is only what may be launched. It stays dirty, and is looked at again.
                    self.expect_written(&[]).inspect_err(|_| self.built.forget(number))?;
                }
                if let Err(error) = self.built.tell(&self.device, number, node, Some(was_enabled)) {
                    return Err(untold(node, 1, error));
                }
            }
            Rewritten::Elsewhere => return Ok(false),
        }
        Ok(true)
    }

    /// Tells every dirty node its parameters.
    #[inline(never)]
    fn patch(&mut self) -> Result<()> {
        if self.dirty.len() > 1 {
            self.dirty.sort_unstable();
            self.dirty.dedup();
        }
        // The list is kept between launches: changing numbers allocates nothing.
        let changes = &mut self.changes;
        changes.clear();
        for &number in &self.dirty {
            let node = &self.nodes[number as usize];
            if let Some(params) = params_of(&self.device, node, &self.readings, &self.stand_ins, self.built.handles())?
            {
                changes.push((number, params));
            }
        }
        if self.may_idle {
            let changed = std::mem::take(changes);
            let flips = |(number, now): &(u32, NodeParams)| {
                self.built.told(*number as usize).is_none_or(|told| told.is_enabled() != now.is_enabled())
            };
            let checked = if changed.iter().any(flips) { self.expect_written(&changed) } else { Ok(()) };
            self.changes = changed;
            checked?;
        }
        for (done, (number, params)) in self.changes.drain(..).enumerate() {
            let node = &self.nodes[number as usize];
            if let Err(error) = self.built.patch(&self.device, number as usize, node, params) {
                self.dirty.drain(..done);
                return Err(untold(node, self.dirty.len(), error));
            }
        }
        self.dirty.clear();
        self.stand_ins.were_told();
        Ok(())
    }

    /// Refuses a launch in which an op would read bytes of a temp that no op has written, because a grid is empty. `changes`
    /// are what nodes will be told, ascending.
    #[cold]
    fn expect_written(&self, changes: &[(u32, NodeParams)]) -> Result<()> {
        let is_idle = |number: usize| {
            let change = changes.binary_search_by_key(&number, |(changed, _)| *changed as usize).ok();
            change
                .map(|change| &changes[change].1)
                .or(self.built.told(number))
                .is_some_and(|params| !params.is_enabled())
        };
        expect_written(&self.nodes, is_idle)
    }

    /// Binds the stand-ins for this launch and all later ones; the nodes that touch a changed one become dirty.
    pub(crate) fn bind(&mut self, places: Vec<Extent>) {
        for (hole, place) in places.into_iter().enumerate() {
            let Some(rebound) = self.stand_ins.bind(hole, place) else { continue };
            let number = self.stand_ins.holes[hole].allocation.number();
            for (node, _) in self.nodes.iter().enumerate().filter(|(_, node)| node.touches(number)) {
                if matches!(rebound, Rebound::Reused) {
                    self.built.forget(node);
                }
                self.dirty.push(node as u32);
            }
        }
    }

    /// Pays the first launch's cost now.
    #[track_caller]
    pub(crate) fn preload(&mut self, stream: &Stream) -> Result<()> {
        self.expect_launchable(stream, "Graph::preload")?;
        if self.preloaded {
            return Ok(());
        }
        let device = &self.device;
        stream.0.enter("Graph::preload")?;
        let _relaxed = device.relaxed()?;
        let exec = self.built.exec;
        let upload = |raw: &LaneStream| {
            // SAFETY: the executable graph is ours and alive.
            device.check(unsafe { device.driver().cuGraphUpload(exec, raw.raw.0) }, Call::cuGraphUpload)
        };
        let submitted = device.ledger().prepare(&device.0.cuda, &stream.0.lane, &mut self.set, upload);
        submitted.map_err(|error| device.noted(error))?;
        self.preloaded = true;
        Ok(())
    }
}

/// A node that could not be told: so many nodes have old values.
#[cold]
fn untold(node: &Node, nodes: usize, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Lost { .. } => error,
        _ => node.blame(unpatched(nodes, error)),
    }
}

/// A launch that was refused: made again if only the context was missing.
#[cold]
fn again(
    device: &Device,
    exec: CUgraphExec,
    stream: &LaneStream,
    mut code: CUresult,
    (name, noted): (&Arc<Named>, Option<Noted>),
) -> Result<()> {
    if code == CUresult::CUDA_ERROR_INVALID_CONTEXT {
        device.enter()?;
        // SAFETY: as of the launch that was refused.
        code = unsafe { device.driver().cuGraphLaunch(exec, stream.raw.0) };
    }
    let launched = device.check(code, Call::cuGraphLaunch);
    name.noted_behind(stream, noted, launched.is_ok(), launched.is_ok());
    launched
}
