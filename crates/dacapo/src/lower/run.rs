//! A recording launched on a stream, in recorded order.

use std::cell::Cell;
use std::sync::Arc;

use dacapo_driver::types::*;
use dacapo_driver::{Call, leaves_undone};
use dacapo_ledger::{MemoryId, Touch, Touching, Use};

use crate::arrange::TempPlan;
use crate::device::{Counted, Cuda, Device, Garbage, Keeps, Named, Needed, RawStream, StreamInner};
use crate::error::{Error, ErrorKind, Result};
use crate::held::Purpose;
use crate::kernel::{Function, PointerRoom, Prepared};
use crate::lower::branching;
use crate::lower::declared::{declared, named};
use crate::lower::params::{self, AsAllocated, Resolve};
use crate::lower::stamps::{StampPlace, Stamps};
use crate::memory::{Access, Allocation, Arena, Extent, Kind, Mode, raw_places};
use crate::nesting::InForeign;
use crate::pool::Pool;
use crate::record::{JointOps, Node, NodeParams, Recorded, Told, Work, gates, lock_gates, partners};
use crate::trace::event;
use crate::value::Readings;

/// Launches everything in a recording, ordered against all other work by what it touches.
///
/// What the recording keeps, closures of foreign work among it, is let go when the work is over.
pub(crate) fn run(stream: &StreamInner, recorded: Recorded, arena: Option<&Arena>) -> Result<Option<Use<Cuda>>> {
    run_with(stream, recorded, (arena, None), &[], &mut || false)
}

/// The same with a stamp before and behind each op.
pub(crate) fn run_stamped(stream: &StreamInner, recorded: Recorded, stamps: &Stamps) -> Result<()> {
    run_with(stream, recorded, (None, Some(stamps)), &[], &mut || false).map(drop)
}

/// The same, with the contents of some places put aside before it and put back behind it: also when enqueueing it fails
/// half-way, and when a closure of foreign work panics.
///
/// All of it is one piece of work for the ledger. What others do with the same memory comes before all of it or after all
/// of it, and so neither sees it nor is undone by it.
pub(crate) fn run_and_put_back(
    stream: &StreamInner,
    recorded: Recorded,
    arena: Option<&Arena>,
    asides: &[Aside],
) -> Result<()> {
    run_with(stream, recorded, (arena, None), asides, &mut || false).map(drop)
}

/// The same. Where there is no memory for the temps, what was dropped is waited for; then `make_room` is asked for more, as
/// often as it says that there is some. No lock is held then, and nothing has been launched.
pub(crate) fn run_or(
    stream: &StreamInner,
    recorded: Recorded,
    arena: Option<&Arena>,
    make_room: &mut dyn FnMut() -> bool,
) -> Result<Option<Use<Cuda>>> {
    run_with(stream, recorded, (arena, None), &[], make_room)
}

fn run_with(
    stream: &StreamInner,
    recorded: Recorded,
    (arena, stamps): (Option<&Arena>, Option<&Stamps>),
    asides: &[Aside],
    make_room: &mut dyn FnMut() -> bool,
) -> Result<Option<Use<Cuda>>> {
    let device = &stream.device;
    device.drain()?;
    if recorded.nodes.is_empty() {
        return Ok(None);
    }
    let plan = TempPlan::in_a_line(&recorded);
    let arena = arena.filter(|_| plan.bytes() > 0);
    if let Some(arena) = arena {
        plan.expect_fits(&recorded.nodes, arena.bytes())?;
        arena.note_used(plan.bytes());
    }
    if recorded.conditions > 0 {
        if !asides.is_empty() {
            let what = "a warm-up with control flow, whose writes are put back".to_string();
            let needs = "`warmup_unrestored`, or no warm-up".to_string();
            return Err(recorded.nodes[0].blame(Error::new(ErrorKind::Unsupported { what, needs })));
        }
        return branching::run(stream, &recorded, &plan, stamps, make_room);
    }
    let (begun, mut has_waited) = (Cell::new(false), false);
    loop {
        match enqueue(stream, &recorded, &plan, (arena, stamps), asides, &begun) {
            Err(error) if error.is_memory() && !begun.get() => {
                // A budget was asked about only after what was dropped had come back.
                let is_budget = matches!(error.kind(), ErrorKind::OverBudget { .. });
                if !is_budget && !std::mem::replace(&mut has_waited, true) {
                    device.wait_for_freed()?;
                } else if make_room() {
                    has_waited = false;
                } else {
                    return Err(error);
                }
            }
            outcome => return outcome.map(Some),
        }
    }
}

/// Puts it all on the stream. `begun` is set when the temps have their memory.
fn enqueue(
    stream: &StreamInner,
    recorded: &Recorded,
    plan: &TempPlan,
    (arena, stamps): (Option<&Arena>, Option<&Stamps>),
    asides: &[Aside],
    begun: &Cell<bool>,
) -> Result<Use<Cuda>> {
    let device = &stream.device;
    let own = if arena.is_none() { plan.bytes() } else { 0 };
    // In the books until it is freed in stream order, below.
    let _booking = (own > 0).then(|| device.book(Purpose::Arenas, own)).transpose()?;
    let kept = Kept::new(stream, recorded);
    let mut touched = touched(recorded.nodes.iter());
    touched.extend(recorded.pools.iter().map(Pool::touched));
    touched.extend(arena.map(Arena::touched));
    touched.extend(asides.iter().filter_map(Aside::touched));
    touched.extend(stamps.map(Stamps::touched));
    let gates = gates(recorded.nodes.iter());
    let held = lock_gates(&gates);
    let name = named_run(&recorded.nodes);
    name.expect_partners()?;
    device.expect_untorn(&stream.lane)?;
    expect_whole(recorded.nodes.iter(), &AsAllocated)?;
    asides.iter().try_for_each(Aside::expect_whole).map_err(|error| recorded.nodes[0].blame(error))?;
    let submitted = device.ledger().submit::<_, Error>(&device.0.cuda, &stream.lane, Touch::Memory(&touched), |raw| {
        let lent = Lent::new(device, raw.raw.0, plan, arena, &kept.unfreed)?;
        begun.set(true);
        let put_aside = PutAside::new(device, raw.raw.0, asides)?;
        let nodes = (&recorded.nodes[..], &recorded.told[..]);
        let (noted, launched) = (name.noted_ahead(device, raw)?, Cell::new(0));
        let all = |stamps| launch_all(stream, raw.raw.0, nodes, &recorded.readings, (stamps, &launched));
        let outcome = match stamps {
            Some(stamps) => {
                let first = |place| stamps.launch(device, raw.raw.0, place);
                StampPlace::firsts().try_for_each(first).and_then(|()| all(Some((stamps, 0))))
            }
            None => all(None),
        };
        let outcome = outcome.and(put_aside.put_back());
        drop(lent);
        name.noted_behind(raw, noted, outcome.is_ok(), launched.get() > 0);
        outcome
    });
    drop(kept);
    // Before anyone is told: a subscriber is the program's code, and may use the same host memory.
    drop(held);
    match submitted {
        Ok(((), used)) => {
            event!(trace, ops = recorded.nodes.len(), first = %recorded.nodes[0].name, "ran eagerly");
            Ok(used)
        }
        Err(error) => Err(device.noted(error)),
    }
}

/// What errors call an eager run of these nodes, of which there is one at least.
pub(super) fn named_run(nodes: &[Node]) -> Arc<Named> {
    let first = &nodes[0];
    let needed = |joint: &JointOps| match nodes {
        [_] => Needed { ops: String::new(), ..joint.needed() },
        _ => joint.needed(),
    };
    Arc::new(Named {
        name: format!("eager `{}`", first.name),
        label: first.label.to_string(),
        at: Some(first.at),
        partners: partners(nodes).iter().map(needed).collect(),
    })
}

/// Launches one node on a stream that is being captured: without the ledger.
pub(crate) fn launch_one(
    device: &Device,
    stream: CUstream,
    (node, told): (&Node, &Told),
    readings: &Readings,
) -> Result<()> {
    launch(device, (stream, false), node, told, readings)
}

/// Launches nodes without a branch among them, of which this is known, on a stream of ours of this handle. With stamps around
/// each, and the number of the first, where there are any. Counts how many are launched.
pub(super) fn launch_all(
    of: &StreamInner,
    stream: CUstream,
    (nodes, told): (&[Node], &[Told]),
    readings: &Readings,
    (stamps, launched): (Option<(&Stamps, usize)>, &Cell<usize>),
) -> Result<()> {
    for (place, (node, told)) in nodes.iter().zip(told).enumerate() {
        let stamp = |at: fn(usize) -> StampPlace| match stamps {
            Some((stamps, first)) => stamps.launch(&of.device, stream, at(first + place)),
            None => Ok(()),
        };
        stamp(StampPlace::Before)?;
        // Between stamps nothing may overlap.
        let early = of.early && stamps.is_none();
        if node.may_be_there_in_part() {
            launched.set(place + 1);
        }
        launch(&of.device, (stream, early), node, told, readings).map_err(|error| node.blame(error))?;
        launched.set(place + 1);
        stamp(StampPlace::Behind)?;
    }
    Ok(())
}

/// Launches one node; with `early`, while the kernel before it ends, if it waits for that by itself.
fn launch(
    device: &Device,
    (stream, early): (CUstream, bool),
    node: &Node,
    told: &Told,
    readings: &Readings,
) -> Result<()> {
    let driver = device.driver();
    let recorded = told.prepared().cloned();
    let Some(mut params) = NodeParams::of(device, node, readings, &AsAllocated, &[], recorded)? else {
        let Work::Foreign(foreign) = &node.work else { unreachable!("only foreign work has no parameters") };
        let places = raw_places(node.access.iter().map(|access| &access.place));
        // The stream's lock is held: a call of ours from inside would wait for itself.
        let _inside = InForeign::enter();
        return named(device, node, || (foreign.call)(RawStream(stream), &mut places.into_iter()));
    };
    if !params.is_enabled() {
        return Ok(());
    }
    params::want_shared(device, node, CUfunction::NULL, &params)?;
    match &mut params {
        NodeParams::Kernel { prepared } => {
            let Work::Kernel(kernel) = &node.work else { unreachable!("parameters of a kernel") };
            launch_kernel(device, (stream, early), node, &kernel.function, prepared)
        }
        NodeParams::Copy { source, target, bytes } => {
            if let Some([from, to]) = node.devices() {
                let code = named(device, node, || unsafe {
                    // SAFETY: as below; the contexts are those of the two allocations, which hold their devices.
                    driver.cuMemcpyPeerAsync(
                        target.address,
                        to.context(),
                        source.address,
                        from.context(),
                        *bytes,
                        stream,
                    )
                });
                return device.check(code, Call::cuMemcpyPeerAsync);
            }
            let code = named(device, node, || {
                // SAFETY: both places are inside their allocations, which are held as above; host memory is page-locked,
                // and a unified address.
                unsafe { driver.cuMemcpyAsync(target.address, source.address, *bytes, stream) }
            });
            device.check(code, Call::cuMemcpyAsync)
        }
        NodeParams::Fill { target, value, size, count } => {
            // SAFETY: the place is inside its allocation, which is held as above, and aligned to its element.
            let (code, call) = named(device, node, || unsafe {
                match size {
                    1 => (driver.cuMemsetD8Async(*target, *value as u8, *count, stream), Call::cuMemsetD8Async),
                    2 => (driver.cuMemsetD16Async(*target, *value as u16, *count, stream), Call::cuMemsetD16Async),
                    _ => (driver.cuMemsetD32Async(*target, *value, *count, stream), Call::cuMemsetD32Async),
                }
            });
            device.check(code, call)
        }
        NodeParams::Nothing => Ok(()),
    }
}

fn launch_kernel(
    device: &Device,
    (stream, early): (CUstream, bool),
    node: &Node,
    function: &Function,
    prepared: &mut Prepared,
) -> Result<()> {
    let driver = device.driver();
    let ([x, y, z], [tx, ty, tz]) = (prepared.grid.blocks, prepared.grid.threads);
    let (early, shared) = (early && function.waits(), prepared.grid.shared);
    let function = function.raw;
    let code = declared(device, node, &mut prepared.args, |args| {
        let mut room = PointerRoom::new();
        let (pointers, extra) = (args.pointers(&mut room).as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: the function's module is held by the node; there is a pointer for each of its parameters, to as
        // many bytes as it has, which stay in place until the call returns; the addresses among them are of
        // memory that the recording holds and the ledger keeps until this use is over; what the kernel does with
        // them is the promise of its declaration.
        // Early: before anything else it waits until the kernel before it on the stream is over and visible, which
        // waited likewise or began in full order; what is no kernel comes in full order anyway.
        unsafe {
            if !early {
                return driver.cuLaunchKernel(function, x, y, z, tx, ty, tz, shared, stream, pointers, extra);
            }
            let mut allowed = CUlaunchAttribute {
                id: CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                pad: [0; 4],
                value: CUlaunchAttributeValue { words: [1, 0, 0, 0, 0, 0, 0, 0] },
            };
            let config = CUlaunchConfig {
                gridDimX: x,
                gridDimY: y,
                gridDimZ: z,
                blockDimX: tx,
                blockDimY: ty,
                blockDimZ: tz,
                sharedMemBytes: shared,
                hStream: stream,
                attrs: &mut allowed,
                numAttrs: 1,
            };
            driver.cuLaunchKernelEx(&config, function, pointers, extra)
        }
    });
    device.check(code, if early { Call::cuLaunchKernelEx } else { Call::cuLaunchKernel })
}

/// A place, and as much memory that its contents are kept in meanwhile.
pub(crate) struct Aside {
    pub(crate) place: Extent,
    pub(crate) kept: Arc<Allocation>,
}

impl Aside {
    /// The memory that it is kept in. The place itself is among what the ops write.
    fn touched(&self) -> Option<(MemoryId, Touching)> {
        Some((self.kept.memory()?, Touching::Write))
    }

    /// # Errors
    ///
    /// - Nobody has written the place since a launch that should have is dead: put back, that would look like its contents.
    pub(crate) fn expect_whole(&self) -> Result<()> {
        let Some(memory) = self.place.allocation.memory().filter(|_| Counted::have_died()) else { return Ok(()) };
        self.place.allocation.device().writers(memory).expect_whole()
    }
}

/// Contents that were put aside on a stream. Put back once: by hand, or when enqueueing what came between panics.
pub(crate) struct PutAside<'a> {
    device: &'a Device,
    stream: CUstream,
    asides: &'a [Aside],
}

impl<'a> PutAside<'a> {
    pub(crate) fn new(device: &'a Device, stream: CUstream, asides: &'a [Aside]) -> Result<PutAside<'a>> {
        for Aside { place, kept } in asides {
            copy(device, stream, place.address(), kept.address(), place.bytes)?;
        }
        Ok(PutAside { device, stream, asides })
    }

    /// Puts it back, and keeps it for another time.
    pub(crate) fn put_back_once(&self) -> Result<()> {
        let back = |aside: &Aside| {
            copy(self.device, self.stream, aside.kept.address(), aside.place.address(), aside.place.bytes)
        };
        self.asides.iter().try_for_each(back)
    }

    pub(crate) fn put_back(mut self) -> Result<()> {
        self.put_all_back()
    }

    fn put_all_back(&mut self) -> Result<()> {
        let mut outcome = Ok(());
        for Aside { place, kept } in std::mem::take(&mut self.asides) {
            let again = || copy(self.device, self.stream, kept.address(), place.address(), place.bytes);
            // A refusal may pass; what was written would stay.
            outcome = outcome.and(again().or_else(|_| again()));
        }
        outcome
    }
}

impl Drop for PutAside<'_> {
    fn drop(&mut self) {
        // Nobody can be told while a panic goes on.
        let _ = self.put_all_back();
    }
}

fn copy(device: &Device, stream: CUstream, source: CUdeviceptr, target: CUdeviceptr, bytes: usize) -> Result<()> {
    // SAFETY: both are so many bytes of allocations that the caller holds, and that the ledger keeps until this use of the
    // stream is over.
    let code = unsafe { device.driver().cuMemcpyAsync(target, source, bytes, stream) };
    device.check(code, Call::cuMemcpyAsync)
}

/// What some nodes touch, for the ledger: each allocation once, `Write` if any node writes it.
pub(crate) fn touched<'n>(nodes: impl Iterator<Item = &'n Node>) -> Vec<(MemoryId, Touching)> {
    let mut touched: Vec<(MemoryId, Touching)> = Vec::new();
    // Most nodes touch what the nodes just before them touched: those are not even collected.
    let mut recent = [(u32::MAX, Touching::Read); 8];
    let mut oldest = 0;
    for access in nodes.flat_map(|node| &node.access) {
        let allocation = &access.place.allocation;
        if matches!(allocation.kind(), Kind::StandIn(_)) {
            continue;
        }
        // What has no bytes reads and writes nothing.
        if access.place.bytes == 0 {
            continue;
        }
        // A temp lies in an arena, which is in the ledger.
        let Some(memory) = allocation.memory() else { continue };
        let touching = if access.mode.writes() { Touching::Write } else { Touching::Read };
        let number = allocation.number();
        let known = recent.iter_mut().find(|(known, _)| *known == number);
        match known {
            Some((_, known)) if *known == Touching::Write || touching == Touching::Read => continue,
            Some((_, known)) => *known = touching,
            None => {
                recent[oldest] = (number, touching);
                oldest = (oldest + 1) % recent.len();
            }
        }
        touched.push((memory, touching));
    }
    touched.sort_by_key(|(memory, touching)| (*memory, *touching == Touching::Read));
    touched.dedup_by_key(|(memory, _)| *memory);
    touched
}

/// # Errors
///
/// - An op reads what nobody has written since a launch that should have is dead, and no op before it writes that.
pub(crate) fn expect_whole<'n>(nodes: impl Iterator<Item = &'n Node>, places: &impl Resolve) -> Result<()> {
    if !Counted::have_died() {
        return Ok(());
    }
    let mut written: Vec<MemoryId> = Vec::new();
    for node in nodes {
        let touches = |access: &&Access| access.place.bytes > 0;
        for access in node.access.iter().filter(touches).filter(|access| access.mode != Mode::Out) {
            let allocation = places.allocation(&access.place.allocation);
            let Some(memory) = allocation.memory().filter(|memory| !written.contains(memory)) else { continue };
            allocation.device().writers(memory).expect_whole().map_err(|error| node.blame(error))?;
        }
        let writes = node.access.iter().filter(touches).filter(|access| access.mode.writes());
        written.extend(writes.filter_map(|access| places.allocation(&access.place.allocation).memory()));
    }
    Ok(())
}

/// What must live until the work is over. Handed to the queue of drops with the stream's last work, also when enqueueing
/// failed half-way or a closure panicked.
pub(super) struct Kept<'s> {
    stream: &'s StreamInner,
    values: Keeps,
    /// Memory of the temps, if the stream did not take it back.
    unfreed: Cell<Option<CUdeviceptr>>,
}

impl<'s> Kept<'s> {
    pub(super) fn new(stream: &'s StreamInner, recorded: &Recorded) -> Kept<'s> {
        let mut values = recorded.keeps.clone();
        for node in &recorded.nodes {
            if let Work::Foreign(foreign) = &node.work {
                values.push(Arc::new(foreign.call.clone()));
            }
        }
        Kept { stream, values, unfreed: Cell::new(None) }
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        let device = &self.stream.device;
        let after = || device.ledger().last_use(&self.stream.lane).into_iter().collect();
        if let Some(address) = self.unfreed.take() {
            device.put(Garbage::Memory(address), after());
        }
        if !self.values.is_empty() {
            // Never at once: locks of host memory may be held here.
            device.queue_values(self.values.take(), after());
        }
    }
}

/// Memory for the temps of one eager run: an arena's, or the stream's own, allocated and freed in stream order.
struct Lent<'t> {
    device: &'t Device,
    stream: CUstream,
    plan: &'t TempPlan,
    /// What is to be freed; 0 if nothing is.
    own: CUdeviceptr,
    unfreed: &'t Cell<Option<CUdeviceptr>>,
}

impl<'t> Lent<'t> {
    fn new(
        device: &'t Device,
        stream: CUstream,
        plan: &'t TempPlan,
        arena: Option<&Arena>,
        unfreed: &'t Cell<Option<CUdeviceptr>>,
    ) -> Result<Lent<'t>> {
        let mut lent = Lent { device, stream, plan, own: 0, unfreed };
        if let Some(arena) = arena {
            plan.lend(arena.address());
        } else if plan.bytes() > 0 {
            // An allocation breaks every global capture of the process, and is refused under one.
            let _relaxed = device.relaxed()?;
            lent.own = device.allocate_on(stream, plan.bytes())?;
            plan.lend(lent.own);
        }
        Ok(lent)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.plan.take_back();
        if self.own == 0 {
            return;
        }
        let relaxed = self.device.relaxed();
        let is_left = relaxed.is_err() || {
            // SAFETY: allocated on this stream above; everything that uses it was enqueued on this stream before.
            let code = unsafe { self.device.driver().cuMemFreeAsync(self.own, self.stream) };
            leaves_undone(Call::cuMemFreeAsync, code)
        };
        if is_left {
            // The queue of drops frees it, behind this run.
            self.unfreed.set(Some(self.own));
        }
    }
}
