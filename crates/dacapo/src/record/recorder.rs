//! The recorder: where ops go.

use std::any::Any;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::device::{Device, Each, Keeps, drop_each, go_on, keep_first};
use crate::element::Pod;
use crate::error::{Error, ErrorKind, Result};
use crate::held::Purpose;
use crate::kernel::Grid;
use crate::memory::{Access, Accesses, Allocation, Buffer, Kind, Mode, Scalar, Temp, TempScalar};
use crate::pool::{Pool, Space};
#[cfg(feature = "nccl")]
use crate::record::Owed;
use crate::record::scope::{Scope, ScopeKind, is_open};
use crate::record::written::{Written, temp_of, unwritten};
use crate::record::{ForeignWork, Node, Op, Told, Work};
use crate::value::{AnySlot, Readings};

/// Where ops go: into a graph, or to a stream when run eagerly. The closure cannot tell which.
///
/// `'r` is the brand of one recording: neither the recorder nor its temps can leave the closure or the thread.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Buffer, Recorder, Result, Slice, copy};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// fn layer(r: &mut Recorder<'_>, x: &Slice<f32>) -> Result<Buffer<f32>> {
///     let mut t = r.alloc(x.len())?; // scratch, planned
///     let mut y = r.output(x.len())?; // yours and the graph's
///     r.run(copy(x, &mut t))?;
///     r.run(copy(&t, &mut y))?;
///     Ok(y)
/// }
/// let x = device.buffer(&[1.0, 2.0])?;
/// let y = stream.run(|r: &mut Recorder<'_>| layer(r, &x))?; // eagerly
/// let mut graph = device.record(|r| layer(r, &x))?; // the same code as a graph
/// assert_eq!(stream.read(graph.launch_sync(&stream)?)?, stream.read(&y)?);
/// # Ok(()) }
/// ```
///
/// # Other calls inside the closure
///
/// | call | inside a recording, or an eager run |
/// |---|---|
/// | `r.run(op)`, `r.alloc`, `r.workspace`, `r.output`, `r.keep` | recorded |
/// | `stream.run`, `run_in`, `read`, `write`, `synchronize`, `is_done`; `scalar.set`, `get`; `host.set`, `to_vec`; `graph.launch`, `launch_sync`, `submit`, `preload`; `device.synchronize`; a warm-up; `capture::begin` | refused: [`ErrorKind::EagerInRecording`], because they would take effect immediately |
/// | `device.zeros`, `buffer`, `scalar`, `host`, `stream`, `pool`, `arena`; `Kernels::load` | done now: they only create something |
/// | `slot.set` | done now: this recording keeps the value it has already read, launches see the new one |
/// | `device.record(..)` | a separate recording, which refuses temps of this one; refused if it has collectives that ranks compare |
/// | Rust's `if`, `for`, `return` | run once, while recording |
/// | a panic | drops the recording and propagates; if you catch it inside, the op it came from leaves no trace |
/// | the same calls from another thread | as usual: they see the memory as it is now |
///
/// # Why this is safe
///
/// 1. A recorder exists only inside the call that made it, and its brand is quantified in [`Op`]: nothing branded can
///    be returned, stored outside, or swapped with another recording's.
/// 2. Recording an op makes no driver call, but one may load a kernel of the library's or open the way to another device, once;
///    and it holds no lock afterwards. Outputs are allocated at once, and are owned
///    from then on. So a panic in the closure leaves nothing behind but memory, which is dropped with it.
/// 3. Every node is checked against its own accesses when it arrives; the order between nodes comes from all accesses,
///    when the recording is complete.
pub struct Recorder<'r> {
    pub(super) core: Recorded,
    /// The paths of labels around what is recorded now, from the outside in.
    labels: Vec<Arc<str>>,
    grid: Option<Grid>,
    /// Where the op was made that is recorded now, if it is one of the library's own that consists of others.
    at: Option<&'static Location<'static>>,
    /// Bodies that are being recorded, from the outside in.
    pub(super) scopes: Vec<Scope>,
    /// What must have been recorded when the recording is complete.
    #[cfg(feature = "nccl")]
    owed: Vec<Arc<Owed>>,
    /// How many attempts were begun: what was done in one that failed is told apart by this, also where it is no node.
    #[cfg(feature = "nccl")]
    attempts: u64,
    _brand: PhantomData<*mut &'r ()>,
}

/// What has been recorded.
pub(crate) struct Recorded {
    pub(crate) device: Device,
    pub(crate) id: u64,
    /// Each may hold a closure of the user's.
    pub(crate) nodes: Each<Node>,
    /// What the driver will be told of each node, as far as it is known already.
    pub(crate) told: Vec<Told>,
    pub(crate) readings: Readings,
    pub(super) temps: Vec<PlannedTemp>,
    /// Which temp each write was to, in order: so that a failed op's writes can be taken back.
    pub(super) writes: Vec<u32>,
    /// How many conditions there are.
    pub(crate) conditions: u32,
    /// How many bodies were begun.
    pub(super) bodies: u32,
    /// What temps lie in that have their addresses already.
    pub(crate) spaces: Vec<Space>,
    /// Memory that the graph holds with the user.
    pub(crate) outputs: Vec<Arc<Allocation>>,
    /// Those of them that this recording made: the others are of graphs that are parts of it.
    pub(crate) made: Vec<Arc<Allocation>>,
    /// Values that must live as long as the graph.
    pub(crate) keeps: Keeps,
    /// Pools of the graphs that are parts of this recording.
    pub(crate) pools: Vec<Pool>,
}

pub(super) struct PlannedTemp {
    pub(super) allocation: Arc<Allocation>,
    pub(super) written: Written,
}

/// How far a recording had come.
struct Mark {
    nodes: usize,
    writes: usize,
    outputs: usize,
    made: usize,
    keeps: usize,
    pools: usize,
    labels: usize,
    grid: Option<Grid>,
    at: Option<&'static Location<'static>>,
    scopes: usize,
    conditions: u32,
    #[cfg(feature = "nccl")]
    attempt: u64,
}

/// One op that is being recorded. What it has recorded is taken back if it fails, and also if it panics: a panic may be
/// caught inside the recording, which then goes on.
struct Attempt<'x, 'r> {
    recorder: &'x mut Recorder<'r>,
    before: Mark,
    succeeded: bool,
}

impl Drop for Attempt<'_, '_> {
    fn drop(&mut self) {
        if !self.succeeded {
            self.recorder.roll_back(&self.before);
        }
    }
}

impl Recorded {
    /// Lists that are full are moved, and so they grow by much while they are short; then to what the last graph had, unless
    /// that is far more.
    #[cold]
    fn make_room(&mut self) {
        let count = self.nodes.len();
        let grown = if count < 512 { 4 * count.max(2) } else { 2 * count };
        let last = self.device.0.ops_last.load(Ordering::Relaxed);
        let room = if count >= 32 { grown.max(last.min(64 * count)) } else { grown };
        self.nodes.reserve_exact(room - count);
        self.told.reserve_exact(room - count);
    }

    /// Nothing more will be recorded.
    fn complete(&mut self) {
        if self.nodes.capacity() > 4 * self.nodes.len().max(8) {
            self.nodes.shrink_to_fit();
            self.told.shrink_to_fit();
        }
    }

    /// Takes writes to temps back: so many stay.
    pub(super) fn unwrite(&mut self, stay: usize) {
        while self.writes.len() > stay {
            let temp = self.writes.pop().expect("longer than `stay`");
            self.temps[temp as usize].written.pop();
        }
    }

    /// All temps, also those that nothing touches; a temp's number is its place here.
    pub(crate) fn temps(&self) -> impl ExactSizeIterator<Item = &Arc<Allocation>> {
        self.temps.iter().map(|temp| &temp.allocation)
    }

    /// The temp of this number.
    pub(crate) fn temp(&self, number: usize) -> &Arc<Allocation> {
        &self.temps[number].allocation
    }
}

impl<'r> Recorder<'r> {
    pub(crate) fn new(device: &Device, label: Option<&str>) -> Recorder<'r> {
        let core = Recorded {
            device: device.clone(),
            id: device.0.recordings.fetch_add(1, Ordering::Relaxed),
            nodes: Each::with_capacity(8),
            told: Vec::with_capacity(8),
            readings: Readings::default(),
            temps: Vec::new(),
            writes: Vec::new(),
            conditions: 0,
            bodies: 0,
            spaces: Vec::new(),
            outputs: Vec::new(),
            made: Vec::new(),
            keeps: Keeps::default(),
            pools: Vec::new(),
        };
        let labels = label.map(Arc::from).into_iter().collect();
        Recorder {
            core,
            labels,
            grid: None,
            at: None,
            scopes: Vec::new(),
            #[cfg(feature = "nccl")]
            owed: Vec::new(),
            #[cfg(feature = "nccl")]
            attempts: 0,
            _brand: PhantomData,
        }
    }

    /// What was recorded, complete.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotReduced`]: something is owed.
    pub(crate) fn complete(self) -> Result<Recorded> {
        #[cfg(feature = "nccl")]
        self.owed.iter().try_for_each(|owed| owed.expect_paid())?;
        Ok(self.into_recorded())
    }

    /// What was recorded so far.
    pub(crate) fn into_recorded(mut self) -> Recorded {
        self.core.complete();
        self.core
    }

    /// From here on the recording is complete only if this is paid.
    #[cfg(feature = "nccl")]
    pub(crate) fn owes(&mut self, owed: &Arc<Owed>) {
        self.owed.push(owed.clone());
    }

    /// Whether it is this recording that owes it.
    #[cfg(feature = "nccl")]
    pub(crate) fn is_owed(&self, owed: &Arc<Owed>) -> bool {
        self.owed.iter().rev().any(|known| Arc::ptr_eq(known, owed))
    }

    /// How many attempts were begun.
    #[cfg(feature = "nccl")]
    pub(crate) fn attempts(&self) -> u64 {
        self.attempts
    }

    /// The nodes behind the first so many.
    #[cfg(feature = "nccl")]
    pub(crate) fn since(&self, nodes: usize) -> &[Node] {
        self.core.nodes.get(nodes..).unwrap_or_default()
    }

    pub(crate) fn id(&self) -> u64 {
        self.core.id
    }

    /// Records one op. If it fails or panics, the recording is unchanged.
    ///
    /// # Errors
    ///
    /// - Any error from the op.
    pub fn run<O: Op>(&mut self, op: O) -> Result<O::Out> {
        self.attempt(op)
    }

    /// The same of any function of this recorder.
    pub(crate) fn attempt<T>(&mut self, body: impl FnOnce(&mut Recorder<'r>) -> Result<T>) -> Result<T> {
        let mut attempt = Attempt { before: self.mark(), recorder: self, succeeded: false };
        let outcome = body(attempt.recorder);
        attempt.succeeded = outcome.is_ok();
        outcome
    }

    /// Says how recording would fail. Nothing stays recorded.
    pub(crate) fn try_out(&mut self, body: impl FnOnce(&mut Recorder<'r>) -> Result<()>) -> Result<()> {
        let attempt = Attempt { before: self.mark(), recorder: self, succeeded: false };
        body(attempt.recorder)
    }

    fn mark(&mut self) -> Mark {
        #[cfg(feature = "nccl")]
        {
            self.attempts += 1;
        }
        Mark {
            nodes: self.core.nodes.len(),
            writes: self.core.writes.len(),
            outputs: self.core.outputs.len(),
            made: self.core.made.len(),
            keeps: self.core.keeps.len(),
            pools: self.core.pools.len(),
            labels: self.labels.len(),
            grid: self.grid,
            at: self.at,
            scopes: self.scopes.len(),
            conditions: self.core.conditions,
            #[cfg(feature = "nccl")]
            attempt: self.attempts,
        }
    }

    fn roll_back(&mut self, to: &Mark) {
        // Dropped at the end: a value of the user's may panic then, and nothing of the op may stay.
        let nodes = self.core.nodes.split_off(to.nodes);
        let keeps = self.core.keeps.split_off(to.keeps);
        self.core.told.truncate(to.nodes);
        self.core.outputs.truncate(to.outputs);
        self.core.made.truncate(to.made);
        self.core.pools.truncate(to.pools);
        self.labels.truncate(to.labels);
        self.grid = to.grid;
        self.at = to.at;
        self.scopes.truncate(to.scopes);
        self.core.conditions = to.conditions;
        self.core.unwrite(to.writes);
        #[cfg(feature = "nccl")]
        self.owed.iter().for_each(|owed| owed.cut(to.attempt, to.nodes));
        let mut panic = drop_each(keeps);
        keep_first(&mut panic, drop_each(nodes));
        go_on(panic);
    }

    /// Scratch memory of this recording: undefined until written, gone after the replay.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Full`], or more bytes than any device has.
    pub fn alloc<T: Pod>(&mut self, len: usize) -> Result<Temp<'r, T>> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(|| self.core.device.out_of_memory(usize::MAX))?;
        Ok(Temp::new(Buffer::new(self.alloc_bytes(bytes)?, len)))
    }

    /// Planned memory without a type, for embedded graphs.
    pub(crate) fn alloc_bytes(&mut self, bytes: usize) -> Result<Arc<Allocation>> {
        self.alloc_in(self.scope(), bytes)
    }

    /// The same, of a body that is being recorded.
    pub(crate) fn alloc_in(&mut self, home: u32, bytes: usize) -> Result<Arc<Allocation>> {
        let allocation = Allocation::unplaced(&self.core.device, Kind::Temp(self.core.id), bytes)?;
        allocation.set_index(self.core.temps.len() as u32);
        allocation.set_home(home);
        self.core.temps.push(PlannedTemp { allocation: allocation.clone(), written: Written::default() });
        Ok(allocation)
    }

    /// Scratch memory for a library's call: a temp like any other, but counted as a workspace in reports. Passed as
    /// `&mut`, it need not be written first.
    ///
    /// # Errors
    ///
    /// - As [`alloc`](Recorder::alloc).
    pub fn workspace(&mut self, bytes: usize) -> Result<Temp<'r, u8>> {
        let allocation = self.alloc_bytes(bytes)?;
        allocation.mark_workspace();
        Ok(Temp::new(Buffer::new(allocation, bytes)))
    }

    /// What an embedded graph holds is held by this one too.
    pub(crate) fn hold_parts<'p>(
        &mut self,
        outputs: &[Arc<Allocation>],
        keeps: &[Arc<dyn Any + Send + Sync>],
        pools: impl Iterator<Item = &'p Pool>,
    ) {
        self.core.outputs.extend_from_slice(outputs);
        self.core.keeps.extend_from_slice(keeps);
        for pool in pools {
            if !self.core.pools.contains(pool) {
                self.core.pools.push(pool.clone());
            }
        }
    }

    /// One scratch value of this recording.
    ///
    /// # Errors
    ///
    /// - As [`alloc`](Recorder::alloc).
    pub fn alloc_scalar<T: Pod>(&mut self) -> Result<TempScalar<'r, T>> {
        Ok(TempScalar::new(self.alloc(1)?))
    }

    /// Memory that you and the graph both hold: zeroed now, and allowed to leave the closure.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::OutOfMemory`], [`ErrorKind::Full`].
    pub fn output<T: Pod>(&mut self, len: usize) -> Result<Buffer<T>> {
        let buffer: Buffer<T> = self.core.device.allocate_elements(len, true, Purpose::Outputs)?;
        self.core.outputs.push(buffer.allocation().clone());
        self.core.made.push(buffer.allocation().clone());
        Ok(buffer)
    }

    /// One value that you and the graph both hold.
    ///
    /// # Errors
    ///
    /// - As [`output`](Recorder::output).
    pub fn output_scalar<T: Pod>(&mut self) -> Result<Scalar<T>> {
        Ok(Scalar::new(self.output(1)?))
    }

    /// Keeps a value alive as long as the graph, and until its last replay is over.
    pub fn keep<K: Any + Send + Sync>(&mut self, value: K) {
        self.core.keeps.push(Arc::new(value));
    }

    /// The device it records for.
    pub fn device(&self) -> &Device {
        &self.core.device
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.core.nodes.len()
    }

    /// How many kernels of declarations came after the first so many nodes.
    pub(crate) fn kernels_since(&self, nodes: usize) -> usize {
        let declared = |node: &&Node| matches!(&node.work, Work::Kernel(kernel) if kernel.decl.is_some());
        self.core.nodes[nodes..].iter().filter(declared).count()
    }

    /// Records with `at` as the place of every op inside: for ops of the library that consist of others, whose own
    /// lines nobody can edit.
    pub(crate) fn at<T>(
        &mut self,
        at: &'static Location<'static>,
        body: impl FnOnce(&mut Recorder<'r>) -> Result<T>,
    ) -> Result<T> {
        self.attempt(|recorder| {
            let before = recorder.at.replace(at);
            let out = body(recorder)?;
            recorder.at = before;
            Ok(out)
        })
    }

    /// The same error, naming an op that is recorded now.
    pub(crate) fn blame(&self, error: Error, op: &str, at: &'static Location<'static>) -> Error {
        error.of(op, self.label(), self.at.unwrap_or(at))
    }

    /// The labels around what is recorded now.
    pub(crate) fn label(&self) -> &str {
        self.labels.last().map_or("", |label| label)
    }

    pub(crate) fn push_label(&mut self, label: &str) {
        let path: Arc<str> = match self.labels.last() {
            Some(outer) if !outer.is_empty() => format!("{outer}/{label}").into(),
            _ => label.into(),
        };
        self.labels.push(path);
    }

    pub(crate) fn pop_label(&mut self) {
        self.labels.pop();
    }

    pub(crate) fn set_grid(&mut self, grid: Option<Grid>) -> Option<Grid> {
        std::mem::replace(&mut self.grid, grid)
    }

    /// The geometry for the next kernel of a declaration, if it is not its own.
    pub(crate) fn grid(&self) -> Option<Grid> {
        self.grid
    }

    /// It has its kernel.
    pub(crate) fn take_grid(&mut self) {
        self.grid = None;
    }

    /// Checks a node and takes it in.
    pub(crate) fn push(&mut self, node: Node, slots: &[Option<Arc<AnySlot>>]) -> Result<()> {
        self.make_room();
        self.core.nodes.push(node);
        self.arrive(slots)
    }

    /// The same of a node that is made where it stays, and given there what it touches: it is large, and not moved.
    #[inline]
    pub(crate) fn push_here(
        &mut self,
        node: impl FnOnce() -> Node,
        access: &mut Accesses,
        slots: &[Option<Arc<AnySlot>>],
    ) -> Result<()> {
        self.make_room();
        self.core.nodes.extend(std::iter::once_with(node));
        self.core.nodes.last_mut().expect("one was added").access = std::mem::take(access);
        self.arrive(slots)
    }

    /// Room for one more node.
    #[inline]
    fn make_room(&mut self) {
        if self.core.nodes.len() == self.core.nodes.capacity() {
            self.core.make_room();
        }
    }

    /// Checks the last node, which nobody has looked at, and takes it in; or takes it away.
    fn arrive(&mut self, slots: &[Option<Arc<AnySlot>>]) -> Result<()> {
        let Recorder { core, labels, at, scopes, .. } = self;
        let arrival = Arrival { core, is_in: false };
        let Recorded { nodes, readings, device, id, .. } = &mut *arrival.core;
        let node = nodes.last_mut().expect("pushed by the caller");
        if let Some(label) = labels.last() {
            node.label = label.clone().into();
        }
        node.at = at.unwrap_or(node.at);
        check(node, device, *id, scopes).map_err(|error| node.blame(error))?;
        // Those of an embedded node are numbers of another recording.
        node.slots.clear();
        let mut flags = 0;
        for (number, slot) in slots.iter().enumerate() {
            if let Some(slot) = slot {
                node.slots.push(readings.enter(slot));
                flags |= 1u64.checked_shl(number as u32).unwrap_or(0);
            }
        }
        // An embedded node brings its own.
        if node.slot_flags == 0 {
            node.slot_flags = flags;
        }
        arrival.take_in()
    }

    /// Takes in a node of another graph's recording, with temps of this one in place of its own.
    pub(crate) fn push_embedded(&mut self, mut node: Node, slots: &[Option<Arc<AnySlot>>]) -> Result<()> {
        let inner = std::mem::take(&mut node.label);
        let label: Arc<str> = match (self.label(), &*inner) {
            ("", inner) => inner.into(),
            (outer, "") => outer.into(),
            (outer, inner) => format!("{outer}/{inner}").into(),
        };
        self.attempt(|recorder| {
            recorder.labels.push(label);
            recorder.push(node, slots)?;
            recorder.labels.pop();
            Ok(())
        })
    }
}

/// What must hold of each node of a recording: whose memory it touches, and that it does not write what it also touches
/// otherwise.
fn check(node: &Node, device: &Device, recording: u64, scopes: &[Scope]) -> Result<()> {
    let fail = |kind| Err(Error::new(kind));
    if let Work::Foreign(ForeignWork { joint: Some(joint), .. }) = &node.work
        && !joint.with.is_alone()
        && scopes.iter().any(|scope| matches!(scope.what, ScopeKind::Round { is_bounded: false, .. }))
    {
        return fail(ErrorKind::NoBound);
    }
    // A decision reads all that it looks at before it writes.
    let may_overlap = matches!(&node.work, Work::Kernel(kernel) if kernel.sets.is_some());
    let accesses = &node.access[..];
    for (number, access) in accesses.iter().enumerate() {
        let allocation = &access.place.allocation;
        if !allocation.device().is(device) {
            expect_way(node, access, device)?;
        }
        match allocation.kind() {
            Kind::Temp(of) if of != recording => return fail(ErrorKind::ForeignTemp),
            Kind::Temp(_) if !is_open(scopes, allocation.home()) => return fail(ErrorKind::TempOfBody),
            Kind::StandIn(of) if of != recording => return fail(ErrorKind::ForeignTemp),
            Kind::StandIn(_) if matches!(node.work, Work::Foreign(_)) => {
                return fail(ErrorKind::NoMemoryYet { call: "foreign" });
            }
            _ => {}
        }
        if may_overlap {
            continue;
        }
        for other in &accesses[number + 1..] {
            if (access.mode.writes() || other.mode.writes()) && access.place.overlaps(&other.place) {
                let (written, read) = if access.mode.writes() { (access, other) } else { (other, access) };
                return fail(ErrorKind::Overlap { written: written.describe(), other: read.describe() });
            }
        }
    }
    Ok(())
}

/// What a copy alone may touch: memory of another device, with the other end on this one.
#[cold]
#[inline(never)]
fn expect_way(node: &Node, access: &Access, device: &Device) -> Result<()> {
    let allocation = &access.place.allocation;
    let is_near = |access: &Access| access.place.allocation.device().is(device);
    let may = matches!(node.work, Work::Copy)
        && node.access.iter().any(is_near)
        && allocation.device().is_kin(device)
        // Planned memory is of one recording, and recordings are numbered by device.
        && !matches!(allocation.kind(), Kind::Temp(_) | Kind::StandIn(_));
    match may {
        true => device.way_to(allocation.device()).map(drop),
        false => Err(device.stranger(&format!("`{}`", access.name), allocation.device())),
    }
}

/// A node that stands behind the others and is not one of them yet. Its recipe is the user's code: should that panic, the
/// node goes again.
struct Arrival<'c> {
    core: &'c mut Recorded,
    is_in: bool,
}

impl Arrival<'_> {
    /// Runs the recipe, checks what the node reads against what is written so far, and takes down what it writes.
    fn take_in(mut self) -> Result<()> {
        let Recorded { nodes, told, readings, device, temps, writes, .. } = &mut *self.core;
        let (node, before) = nodes.split_last().expect("pushed by the caller");
        match node.work {
            Work::Kernel(_) => told.extend(std::iter::once_with(Told::kernel)),
            _ => told.push(Told::nothing()),
        }
        let now = told.last_mut().expect("pushed just now");
        node.prepare_to(now, device, readings)?;
        // Only of temps is it asked what was written.
        if !temps.is_empty() && !now.is_idle() {
            for access in node.access.iter().filter(|access| access.mode == Mode::Read) {
                if let Some(temp) = temp_of(access)
                    && let Some(gap) = temps[temp].written.gap(access)
                {
                    return Err(node.blame(unwritten(access, gap, before, |number| told[number].is_idle())));
                }
            }
            for access in node.access.iter().filter(|access| access.mode.writes()) {
                if let Some(temp) = temp_of(access) {
                    temps[temp].written.push(access);
                    writes.push(temp as u32);
                }
            }
        }
        self.is_in = true;
        Ok(())
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        if !self.is_in {
            self.core.nodes.pop();
            self.core.told.truncate(self.core.nodes.len());
        }
    }
}
