//! What a graph consists of, whatever its type.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use dacapo_driver::types::CUgraphExec;
use dacapo_driver::{CUresult, Call};
use dacapo_ledger::{Access as Touching, MemoryId, SetId, Touch, Use};
use smallvec::SmallVec;

use crate::device::{Booking, Cuda, Device, Garbage, Keeps, LaneStream, Named, Purpose, Stream, go_on, keep_first};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::memory::{GraphMemory, executable_bytes};
use crate::kernel::ModuleSource;
use crate::lower::{Built, CapturedGraph, NodeParams, Resolve, Rewritten, Stamps, params_of, touched, unpatched};
use crate::memory::{Allocation, Arena, Gate, Kind, Place, Space};
use crate::plan::{self, Order, Shape};
use crate::pool::{Members, Pool};
use crate::record::{
    Node, Recorded, Recording, TempPlan, Work, expect_written, gates, lock_gates, may_idle, refuse_inside,
};
use crate::trace::event;
use crate::value::{AnySlot, Readings};

/// What a graph was asked to be.
pub(crate) struct GraphOptions {
    pub(crate) label: String,
    pub(crate) pool: Option<Pool>,
    pub(crate) arena: Option<Arena>,
    /// Whether each temp has memory of its own.
    pub(crate) apart: bool,
    pub(crate) shape: Shape,
    pub(crate) upload: bool,
}

/// A stand-in: what a launch must bind.
pub(crate) struct Hole {
    pub(crate) allocation: Arc<Allocation>,
}

/// A lowered recording and all that it holds.
///
/// # Why this is safe
///
/// 1. *Memory.* `nodes` hold every allocation that the executable graph names, and `spaces` what its temps lie in; none is
///    freed before this is dropped, and then only behind the last replay, because the graph's cell is folded into each
///    allocation's record first.
///    Temps share bytes only where edges order all that touches one before all that touches the other.
/// 2. *Races.* Every launch goes through the ledger with the set of all that the nodes touch. One executable graph never
///    overlaps itself: launching takes `&mut`, and another stream waits for the cell.
/// 3. *Handles.* The executable graph and its template are destroyed by the device's queue, after this is gone.
/// 4. *Values.* What foreign work or the pool keeps is dropped only when the last replay is known to be over.
/// 5. *Half-patched nodes.* A node whose patch was refused stays in `dirty`, and nothing launches while one is.
#[repr(C)] // in this order: what a launch touches comes first, in as few cache lines as it fits
pub(crate) struct Replayable {
    pub(crate) device: Device,
    set: SetId,
    pub(crate) uploaded: bool,
    /// Whether it came of a capture: then its nodes are not all that it does.
    pub(crate) captured: bool,
    pub(super) built: Built,
    pub(crate) replays: u64,
    /// The last launch.
    last: Option<Use<Cuda>>,
    pub(crate) name: Arc<Named>,
    pub(crate) readings: Readings,
    /// Nodes that must be told again before the next launch.
    dirty: SmallVec<[u32; 4]>,
    gates: Vec<Arc<Gate>>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) holes: Vec<Hole>,
    /// What the dirty nodes will be told. Filled and emptied by a launch; after one that was refused, what it would have told.
    changes: Vec<(u32, NodeParams)>,
    pub(crate) order: Order,
    bound: Vec<Option<Place>>,
    /// Which memory the nodes were told last for each stand-in, and where; not held.
    bound_last: Vec<(Weak<Allocation>, u64)>,
    /// Whether bytes of a temp hang on a grid that a slot may empty.
    may_idle: bool,
    keeps: Keeps,
    outputs: Vec<Arc<Allocation>>,
    /// What the temps lie in.
    spaces: Vec<Space>,
    pools: Members,
    shape: Shape,
    /// The arena that was asked for.
    arena: Option<Arena>,
    /// Whether each temp was to have memory of its own.
    apart: bool,
    /// Replays by this executable graph when another recording had it.
    earlier: Vec<Use<Cuda>>,
    /// Whether the ledger has let go of the set.
    is_retired: bool,
}

/// A recording that is planned, with memory for its temps, and not lowered.
pub(crate) struct Drafted {
    pub(super) recorded: Recorded,
    pools: Members,
    pub(super) order: Order,
    /// What its executable will take, in the books before anything was asked of the driver.
    executable: Option<Booking>,
}

impl Drafted {
    /// Joins the pools, and takes memory; books that of an executable before it, if one will be made.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::PoolSealed`], and as [`Space::new`].
    pub(super) fn new(mut recorded: Recorded, options: &GraphOptions, book: bool) -> Result<Drafted> {
        let pools = Members::join(options.pool.as_ref(), &recorded.pools)?;
        let order = order_of(&recorded.nodes, options.shape);
        let plan = TempPlan::new(&recorded, &order);
        let executable = match book {
            true => Some(recorded.device.book(Purpose::Executables, executable_bytes(&recorded.nodes, &order))?),
            false => None,
        };
        match options.apart {
            true => recorded.spaces = Space::apart(&recorded.device, &plan)?,
            false => {
                let (device, arena) = (&recorded.device, options.arena.as_ref());
                let space = Space::new(device, &plan, &recorded.nodes, arena, pools.own())?;
                recorded.spaces.extend(space);
            }
        }
        Ok(Drafted { recorded, pools, order, executable })
    }
}

/// Stand-ins are where this launch has bound them.
struct AsBound<'b> {
    holes: &'b [Hole],
    bound: &'b [Option<Place>],
}

impl Resolve for AsBound<'_> {
    fn place<'p>(&'p self, place: &'p Place) -> (u64, u64) {
        let hole = self.holes.iter().position(|hole| hole.allocation.number() == place.allocation.number());
        match hole.and_then(|hole| self.bound[hole].as_ref()) {
            Some(bound) if bound.address() != 0 => {
                (bound.address() + place.start as u64, (bound.start + place.start) as u64)
            }
            _ => (place.address(), place.start as u64),
        }
    }
}

impl Replayable {
    /// Plans and lowers a recording. `given` is the memory that the stand-ins were made after: a driver refuses a copy
    /// without addresses, so the nodes are built with these, and no launch is made before it has bound its own.
    pub(crate) fn make(
        recorded: Recorded,
        options: GraphOptions,
        holes: Vec<Hole>,
        given: Vec<Place>,
    ) -> Result<Replayable> {
        let mut drafted = Drafted::new(recorded, &options, true)?;
        let bound: Vec<Option<Place>> = given.into_iter().map(Some).collect();
        let places = AsBound { holes: &holes, bound: &bound };
        let Recorded { device, nodes, readings, .. } = &mut drafted.recorded;
        let booking = drafted.executable.take().expect("asked for above");
        let built = Built::new(device, nodes, &drafted.order, readings, &places, booking)?;
        let mut graph = Replayable::assemble(drafted, options, holes, built)?;
        graph.bound_last =
            bound.iter().flatten().map(|place| (Arc::downgrade(&place.allocation), place.address())).collect();
        Ok(graph)
    }

    /// Of a capture: what was recorded through the guard is held, the graph is the driver's.
    pub(crate) fn of_capture(
        recorded: Recorded,
        template: CapturedGraph<'_>,
        label: String,
        pool: Option<Pool>,
    ) -> Result<Replayable> {
        let pools = Members::join(pool.as_ref(), &recorded.pools)?;
        let order = order_of(&recorded.nodes, Shape::Line);
        let built = template.instantiate(recorded.nodes.len())?;
        let options = GraphOptions { label, pool, arena: None, apart: false, shape: Shape::Line, upload: false };
        let mut graph =
            Replayable::put_together(Drafted { recorded, pools, order, executable: None }, options, Vec::new(), built);
        graph.captured = true;
        Ok(graph)
    }

    pub(super) fn assemble(
        drafted: Drafted,
        options: GraphOptions,
        holes: Vec<Hole>,
        built: Built,
    ) -> Result<Replayable> {
        let upload = options.upload;
        let mut graph = Replayable::put_together(drafted, options, holes, built);
        if upload {
            graph.upload_now()?;
        }
        Ok(graph)
    }

    /// All that a graph is. Nothing of it can fail: an executable graph is never without its owner.
    fn put_together(drafted: Drafted, options: GraphOptions, holes: Vec<Hole>, built: Built) -> Replayable {
        let Drafted { mut recorded, pools, order, .. } = drafted;
        let device = recorded.device.clone();
        let mut members = touched(recorded.nodes.iter());
        members.extend(pools.all().map(Pool::touched));
        members.extend(recorded.spaces.iter().map(Space::touched));
        members.sort_by_key(|(memory, _)| *memory);
        members.dedup_by_key(|(memory, _)| *memory);
        let set = device.ledger().add_set(&members);
        for (number, node) in recorded.nodes.iter().enumerate() {
            for &slot in &node.slots {
                recorded.readings.read_by(slot, number as u32);
            }
        }
        let at = recorded.nodes.first().map(|node| node.at);
        let name = Arc::new(Named { name: "graph".into(), label: options.label, at });
        let mut keeps = recorded.keeps;
        for node in &recorded.nodes {
            if let Work::Foreign(foreign) = &node.work {
                keeps.push(Arc::new(foreign.call.clone()));
            }
        }
        let graph = Replayable {
            gates: gates(recorded.nodes.iter()),
            bound: vec![None; holes.len()],
            bound_last: vec![(Weak::new(), 0); holes.len()],
            may_idle: recorded.nodes.iter().any(may_idle),
            device,
            nodes: recorded.nodes,
            order,
            readings: recorded.readings,
            built,
            set,
            dirty: SmallVec::new(),
            changes: Vec::new(),
            holes,
            keeps,
            outputs: recorded.outputs,
            spaces: recorded.spaces,
            pools,
            name,
            replays: 0,
            last: None,
            uploaded: false,
            captured: false,
            shape: options.shape,
            arena: options.arena,
            apart: options.apart,
            earlier: Vec::new(),
            is_retired: false,
        };
        event!(info, label = %graph.name.label, ops = graph.nodes.len(), temp_bytes = graph.temp_bytes(), "recorded");
        graph
    }

    /// The same options again.
    pub(super) fn recording<'d>(&self, device: &'d Device) -> Recording<'d> {
        let mut recording = Recording::new(device);
        recording.label = (!self.name.label.is_empty()).then(|| self.name.label.clone());
        recording.pool = self.pools.own().cloned();
        recording.arena = self.arena.clone();
        recording.apart = self.apart;
        recording.shape = self.shape;
        recording
    }

    /// What a node was told last, as far as it is known.
    pub(super) fn told(&self, number: usize) -> Option<&NodeParams> {
        self.built.told(number)
    }

    /// Nodes that were told what is another recording's must be told their own before the next launch.
    pub(super) fn set_back(&mut self, nodes: &[u32]) {
        for &number in nodes {
            self.built.forget(number as usize);
            self.dirty.push(number);
        }
    }

    /// Another recording takes over the executable graph, whose nodes were told already. What is left of this one holds
    /// what its own replays may still use.
    pub(super) fn hand_over(&mut self, drafted: Drafted, options: GraphOptions) -> Replayable {
        let built = std::mem::replace(&mut self.built, Built::none());
        let mut graph = Replayable::put_together(drafted, options, Vec::new(), built);
        graph.uploaded = self.uploaded;
        // The driver runs one executable graph's launches one after another, also on other streams. Only its end must be
        // told of those that the new set does not know.
        graph.earlier = std::mem::take(&mut self.earlier);
        graph.earlier.extend(self.retire());
        let ledger = self.device.ledger();
        graph.earlier.retain(|used| !ledger.is_finished(used));
        graph
    }

    /// Folds the last replay's place into every allocation's record; it is the last use of all that this holds.
    fn retire(&mut self) -> Option<Use<Cuda>> {
        if std::mem::replace(&mut self.is_retired, true) {
            return self.last.clone();
        }
        let last = self.device.ledger().remove_set(self.set);
        self.last.clone_from(&last);
        last
    }

    /// Brings it onto the device, on a stream of its own.
    pub(super) fn upload_now(&mut self) -> Result<()> {
        let side = Stream::internal(&self.device)?;
        self.upload(&side)
    }

    /// One replay.
    #[track_caller]
    pub(crate) fn launch(&mut self, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<&Use<Cuda>> {
        // What a clean launch needs is here, and little else: a driver's launch leaves little of our code in the caches, so
        // that every line counts. No question for the current context: a launch takes it from the stream, as observed.
        if !stream.device().is(&self.device) {
            return Err(Error::new(ErrorKind::WrongDevice));
        }
        refuse_inside("Graph::launch")?;
        self.device.expect_context()?;
        if !self.device.0.drops.is_empty() {
            self.drain()?;
        }
        if !self.readings.is_empty() || !self.dirty.is_empty() {
            self.refresh()?;
        }
        if !self.gates.is_empty() {
            return self.launch_gated(stream, extra);
        }
        self.enqueue(stream, extra)?;
        self.announced()
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
    #[inline]
    fn enqueue(&mut self, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<()> {
        let exec = self.built.exec;
        self.enqueue_exec(exec, stream, extra)?;
        self.uploaded = true;
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
        self.refresh()?;
        let places = AsBound { holes: &self.holes, bound: &self.bound };
        let (nodes, order) = (&mut self.nodes, &self.order);
        // A stamp before and behind each op: three nodes for one.
        let booking = self.device.book(Purpose::Executables, 3 * executable_bytes(nodes, order))?;
        let mut built = Built::stamped(&self.device, nodes, order, &self.readings, &places, Some(stamps), booking)?;
        let launched = self.launch_uploaded(built.exec, stream, extra);
        // The driver lets what runs complete.
        self.device.put(Garbage::Graph(built.exec, built.template).booked(built.booking.take()), Vec::new());
        launched
    }

    /// Brings an executable graph onto the device, waits for that, and launches it. Without, what the first launch has to
    /// prepare would be in the times: on an H200 a step of 20 us was seen to take 60 to 90.
    fn launch_uploaded(&mut self, exec: CUgraphExec, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<()> {
        let device = &self.device;
        {
            let _relaxed = device.relaxed()?;
            let queues = &device.0.cuda;
            let uploaded = device.ledger().submit::<_, Error>(queues, &stream.0.lane, Touch::Memory(&[]), |raw| {
                // SAFETY: the executable graph is ours and alive.
                device.check(unsafe { device.driver().cuGraphUpload(exec, raw.raw.0) }, Call::cuGraphUpload)
            });
            uploaded.map_err(|error| device.noted(error))?;
        }
        stream.0.wait_for_all()?;
        let gates = self.gates.clone();
        let held = lock_gates(&gates);
        self.enqueue_exec(exec, stream, extra)?;
        drop(held);
        self.announced().map(drop)
    }

    #[inline(always)]
    fn enqueue_exec(&mut self, exec: CUgraphExec, stream: &Stream, extra: &[(MemoryId, Touching)]) -> Result<()> {
        let device = &self.device;
        let touch = if extra.is_empty() { Touch::Set(self.set) } else { Touch::SetAnd(self.set, extra) };
        let last = &mut self.last;
        let submitted = device.ledger().submit_over::<_, Error>(&device.0.cuda, &stream.0.lane, touch, last, |raw| {
            // SAFETY: the executable graph is ours and alive; everything its nodes touch is held by `self.nodes`, or
            // bound by this launch and kept by the ledger until it is over; `&mut self` keeps other launches away.
            let code = unsafe { device.driver().cuGraphLaunch(exec, raw.raw.0) };
            if code == CUresult::CUDA_SUCCESS { Ok(()) } else { again(device, exec, raw, code) }
        });
        if let Err(error) = submitted {
            return Err(device.noted(error));
        }
        stream.0.note(&self.name);
        self.replays += 1;
        Ok(())
    }

    /// The last launch that succeeded.
    pub(crate) fn last_use(&self) -> &Use<Cuda> {
        self.last.as_ref().expect("written by every launch that succeeds")
    }

    /// Brings changed slots into the executable graph. All recipes are evaluated before the first node is changed.
    #[inline(never)]
    fn refresh(&mut self) -> Result<()> {
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
        // One node at the addresses that it has, the common case: its values are changed where they are.
        if let [number] = self.dirty[..]
            && self.holes.is_empty()
        {
            let (number, node) = (number as usize, &self.nodes[number as usize]);
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
                Rewritten::Elsewhere => return self.patch(),
            }
            self.dirty.clear();
            return Ok(());
        }
        self.patch()
    }

    /// Tells every dirty node its parameters.
    #[inline(never)]
    fn patch(&mut self) -> Result<()> {
        if self.dirty.len() > 1 {
            self.dirty.sort_unstable();
            self.dirty.dedup();
        }
        let places = AsBound { holes: &self.holes, bound: &self.bound };
        // The list is kept between launches: changing numbers allocates nothing.
        let changes = &mut self.changes;
        changes.clear();
        for &number in &self.dirty {
            let node = &self.nodes[number as usize];
            if let Some(params) = params_of(&self.device, node, &self.readings, &places)? {
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
                for number in self.dirty.drain(..done) {
                    if !self.holes.is_empty() {
                        // Of these it is not noted which memory they were told of.
                        self.built.forget(number as usize);
                    }
                }
                return Err(untold(node, self.dirty.len(), error));
            }
        }
        self.dirty.clear();
        for (last, place) in self.bound_last.iter_mut().zip(&self.bound) {
            if let Some(place) = place
                && (last.0.as_ptr() != Arc::as_ptr(&place.allocation) || last.1 != place.address())
            {
                *last = (Arc::downgrade(&place.allocation), place.address());
            }
        }
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
    pub(crate) fn bind(&mut self, places: Vec<Place>) {
        for (hole, place) in places.into_iter().enumerate() {
            let before = self.bound[hole].as_ref().map(|before| (before.address(), before.start));
            if before == Some((place.address(), place.start)) {
                continue;
            }
            let number = self.holes[hole].allocation.number();
            let touching = self
                .nodes
                .iter()
                .enumerate()
                .filter(|(_, node)| node.access.iter().any(|access| access.place.allocation.number() == number));
            let (last, address) = &self.bound_last[hole];
            // Other memory at the same address: what the nodes were told reads the same, and names what is gone.
            let is_reused = last.as_ptr() != Arc::as_ptr(&place.allocation) && *address == place.address();
            for (number, _) in touching {
                if is_reused {
                    self.built.forget(number);
                }
                self.dirty.push(number as u32);
            }
            self.bound[hole] = Some(place);
        }
    }

    /// Forgets what was bound: the memory is not held, and must not be taken for bound again.
    pub(crate) fn unbind(&mut self) {
        self.bound.fill(None);
    }

    /// Pays the first launch's cost now.
    #[track_caller]
    pub(crate) fn upload(&mut self, stream: &Stream) -> Result<()> {
        let device = &self.device;
        if !stream.device().is(device) {
            return Err(Error::new(ErrorKind::WrongDevice));
        }
        refuse_inside("Graph::upload")?;
        if self.uploaded {
            return Ok(());
        }
        stream.0.enter("Graph::upload")?;
        let _relaxed = device.relaxed()?;
        let exec = self.built.exec;
        let submitted = device.ledger().submit::<_, Error>(
            &device.0.cuda,
            &stream.0.lane,
            Touch::Set(self.set),
            // SAFETY: the executable graph is ours and alive.
            |raw| device.check(unsafe { device.driver().cuGraphUpload(exec, raw.raw.0) }, Call::cuGraphUpload),
        );
        submitted.map_err(|error| device.noted(error))?;
        self.uploaded = true;
        Ok(())
    }

    /// The slots that a node reads.
    pub(crate) fn slots_of(&self, node: &Node) -> Vec<Option<Arc<AnySlot>>> {
        node.slots.iter().map(|&slot| Some(self.readings.slot(slot))).collect()
    }

    pub(crate) fn pool(&self) -> Option<&Pool> {
        self.pools.own()
    }

    /// Its pool, and those of the graphs inside it.
    pub(crate) fn all_pools(&self) -> impl Iterator<Item = &Pool> {
        self.pools.all()
    }

    pub(crate) fn keeps(&self) -> &[Arc<dyn Any + Send + Sync>] {
        &self.keeps
    }

    pub(crate) fn outputs(&self) -> &[Arc<Allocation>] {
        &self.outputs
    }

    /// How much memory it takes.
    pub(crate) fn memory(&self) -> GraphMemory {
        let bytes = |own: bool| self.spaces.iter().filter(|space| space.is_own() == own).map(|space| space.bytes).sum();
        let mut host: Vec<(u32, usize)> = self
            .nodes
            .iter()
            .flat_map(|node| &node.access)
            .map(|access| &access.place.allocation)
            .filter(|allocation| allocation.kind() == Kind::Host)
            .map(|allocation| (allocation.number(), allocation.bytes()))
            .collect();
        host.sort_unstable();
        host.dedup();
        GraphMemory {
            arena: bytes(true),
            arena_shared: bytes(false),
            workspaces: self.workspace_bytes(),
            executable: self.built.booking.as_ref().map_or(0, Booking::bytes),
            staging: host.iter().map(|(_, bytes)| bytes).sum(),
            outputs: self.outputs.iter().map(|output| output.bytes()).sum(),
        }
    }

    /// Bytes of planned memory.
    pub(crate) fn temp_bytes(&self) -> usize {
        self.spaces.iter().map(|space| space.bytes).sum()
    }

    /// How many of them are a library's workspace at some time.
    pub(crate) fn workspace_bytes(&self) -> usize {
        self.spaces.iter().map(|space| space.workspace_bytes).sum()
    }
}

/// A node that could not be told: so many nodes have old values.
#[cold]
fn untold(node: &Node, nodes: usize, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Lost { .. } => error,
        _ => node.blame(unpatched(nodes, &error)),
    }
}

/// A launch that was refused: made again if only the context was missing.
#[cold]
fn again(device: &Device, exec: CUgraphExec, stream: &LaneStream, mut code: CUresult) -> Result<()> {
    if code == CUresult::CUDA_ERROR_INVALID_CONTEXT {
        device.enter()?;
        // SAFETY: as of the launch that was refused.
        code = unsafe { device.driver().cuGraphLaunch(exec, stream.raw.0) };
    }
    device.check(code, Call::cuGraphLaunch)
}

/// The order that the data of some nodes demands.
pub(crate) fn order_of(nodes: &[Node], shape: Shape) -> Order {
    let mut touches = Vec::with_capacity(nodes.len() * 3);
    let mut ends = Vec::with_capacity(nodes.len());
    for node in nodes {
        touches.extend(node.access.iter().map(|access| plan::Touch {
            memory: access.place.allocation.number(),
            start: access.place.start as u64,
            end: (access.place.start + access.place.bytes) as u64,
            write: access.mode.writes(),
        }));
        ends.push(touches.len());
    }
    let ops = (0..nodes.len()).map(|op| &touches[if op == 0 { 0 } else { ends[op - 1] }..ends[op]]);
    plan::order(ops, shape)
}

impl Drop for Replayable {
    fn drop(&mut self) {
        // The last replay's place is folded into every allocation's record before any of them can be dropped.
        let after: Vec<Use<Cuda>> = self.retire().into_iter().collect();
        if !self.built.exec.is_null() {
            let all = self.earlier.iter().chain(&after).cloned().collect();
            let gone = Garbage::Graph(self.built.exec, self.built.template).booked(self.built.booking.take());
            self.device.put(gone, all);
        }
        let values = self.keeps.take();
        // A pool's values wait for the pool's last work, which this graph's is part of since the set was removed.
        // Theirs may go now, and panic: what this graph kept must still wait for its replay.
        let left = catch_unwind(AssertUnwindSafe(|| self.pools.leave()));
        // A replay may still run its modules' code and what foreign work keeps, which is in `keeps`. The rest of the
        // nodes goes now: memory waits in the queue for its own last uses. In the queue it would hold the device, which
        // holds the queue, and neither would ever go.
        let mut modules: Vec<Arc<ModuleSource>> = Vec::new();
        for node in std::mem::take(&mut self.nodes) {
            if let Work::Kernel(kernel) = &node.work
                && !modules.iter().any(|known| Arc::ptr_eq(known, &kernel.function.module))
            {
                modules.push(kernel.function.module.clone());
            }
        }
        if !after.is_empty() {
            self.device.put(Garbage::Modules(modules), after.clone());
        }
        let mut first = left.err();
        let put = catch_unwind(AssertUnwindSafe(|| self.device.put_values(values, after)));
        keep_first(&mut first, put.err());
        go_on(first);
    }
}
