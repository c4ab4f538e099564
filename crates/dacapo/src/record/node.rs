//! One recorded op.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::device::{Device, JointOp, Needed, Partner, RawStream};
use crate::error::{Error, Result};
use crate::kernel::{Args, Function, Grid, KernelDecl, Prepared, check_grid};
use crate::memory::{Access, Accesses, Gate};
use crate::record::Told;
use crate::value::{Readings, Snapshot};

/// Computes geometry and arguments from the current slots; or says which condition fails, and then has written nothing.
pub(crate) type KernelRecipe = Arc<dyn Fn(&Snapshot<'_>, &mut Args) -> Result<Grid> + Send + Sync>;
/// Computes the bytes of one element from the current slots.
pub(crate) type FillRecipe = Arc<dyn Fn(&Snapshot<'_>) -> SmallVec<[u8; 16]> + Send + Sync>;
/// Enqueues another library's work, given addresses and lengths in bytes.
pub(crate) type ForeignCall =
    Arc<dyn Fn(RawStream, &mut dyn Iterator<Item = (u64, usize)>) -> Result<()> + Send + Sync>;

/// What the raw calls of a capture are called.
pub(crate) const CAPTURED: &str = "captured";

/// What a node does.
#[derive(Clone)]
pub(crate) enum Work {
    /// Launches a kernel; its pointers are the accesses, in order.
    Kernel(KernelWork),
    /// Copies the first access to the second.
    Copy,
    /// Sets all elements of the first access.
    Fill(FillRecipe),
    /// Copies host memory, the first access, to the second.
    Upload(Arc<Gate>),
    /// Copies the first access to host memory, the second.
    Download(Arc<Gate>),
    /// Another library's work.
    Foreign(ForeignWork),
    /// What raw calls of a capture declared that they touch.
    Captured,
    /// Bodies, which run as a value on the device says. Their nodes follow this one. Apart, because few nodes are one.
    Branch(Box<Branch>),
}

/// A conditional node. Its accesses are those of its bodies, without the bodies' own temps, and of its condition.
#[derive(Clone)]
pub(crate) struct Branch {
    pub(crate) kind: BranchKind,
    /// The condition that it looks at, by its number in the recording.
    pub(crate) condition: u32,
    /// Where the condition's value also is: for eager runs, and so that the branch comes after who decides.
    pub(crate) state: Access,
    /// It runs where the `if` before it in its level does not: an `else`, on a driver that has none.
    pub(crate) is_else: bool,
    /// It is no conditional node: the kernels of its bodies look at the state themselves.
    pub(crate) is_guarded: bool,
    pub(crate) bodies: SmallVec<[Body; 2]>,
}

/// How the value of a condition chooses a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BranchKind {
    /// The first where it is not zero, else the second, if there is one.
    If,
    /// The one, as long as it is not zero; `once` if it is never zero at first.
    While { once: bool },
    /// The one of that number, if there is one.
    Switch,
}

/// Nodes of a recording inside another. They begin behind the branch, or where the body before ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    /// The scope that temps of this body belong to.
    pub(crate) scope: u32,
    /// The number of the first node behind it.
    pub(crate) end: u32,
}

impl Branch {
    /// Each body's scope and the numbers of its nodes; `at` is the branch's own.
    pub(crate) fn bodies(&self, at: usize) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> {
        let mut start = at + 1;
        self.bodies
            .iter()
            .map(move |body| (body.scope, std::mem::replace(&mut start, body.end as usize)..body.end as usize))
    }
}

#[derive(Clone)]
#[repr(C)] // what a changed slot touches comes first
pub(crate) struct KernelWork {
    pub(crate) recipe: KernelRecipe,
    pub(crate) function: Arc<Function>,
    /// How it was declared; a raw kernel was not.
    pub(crate) decl: Option<&'static KernelDecl>,
    /// A geometry that the call gave in place of the declared one.
    pub(crate) geometry: Option<Box<Grid>>,
    /// The conditions that it sets, by number. Their handles are its last arguments, in this order. One word in a node,
    /// because hardly any has them.
    pub(crate) sets: Option<Box<SmallVec<[u32; 2]>>>,
    /// What it looks at before anything else, in a graph. One word, as above.
    pub(crate) guard: Option<Box<Guard>>,
}

/// The guard of a kernel that is inside a branch and not inside a conditional node. The state of the branch is the last access
/// of the kernel's node.
#[derive(Clone)]
pub(crate) struct Guard {
    /// The entry point that has it.
    pub(crate) function: Arc<Function>,
    /// Whether it does something where the state is not zero; else where it is.
    pub(crate) side: bool,
}

impl KernelWork {
    /// Runs the recipe: writes the arguments, from the first, and returns the geometry, which is not checked yet.
    ///
    /// # Errors
    ///
    /// - A condition does not hold. No argument was written.
    #[inline]
    pub(crate) fn grid(&self, snapshot: &Snapshot<'_>, args: &mut Args) -> Result<Grid> {
        args.begin();
        let grid = (self.recipe)(snapshot, args)?;
        Ok(self.geometry.as_deref().copied().unwrap_or(grid))
    }
}

impl KernelWork {
    /// Runs the recipe for the first time, and checks what no launch may exceed. What it gives is written where it stays.
    ///
    /// # Errors
    ///
    /// - A condition or a limit that does not hold.
    fn prepare(&self, device: &Device, snapshot: &Snapshot<'_>, prepared: &mut Prepared) -> Result<()> {
        let grid = (self.recipe)(snapshot, &mut prepared.args)?;
        prepared.grid = self.geometry.as_deref().copied().unwrap_or(grid);
        check_grid(device.properties(), &self.function, &prepared.grid)
    }
}

#[derive(Clone)]
pub(crate) struct ForeignWork {
    pub(crate) call: ForeignCall,
    /// Whom it is done with, where that are other devices.
    pub(crate) joint: Option<Joint>,
}

/// Work that others take part in.
#[derive(Clone)]
pub(crate) struct Joint {
    pub(crate) with: Arc<dyn Partner>,
    /// What all of them must record alike, where there is such a thing.
    pub(crate) what: Option<String>,
    /// Whether it is several calls: if one is refused, the others may be on the stream.
    pub(crate) is_group: bool,
}

/// One recorded op: what, where, on what, and how it is computed.
#[derive(Clone)]
#[repr(C)] // what a changed slot touches comes first
pub(crate) struct Node {
    pub(crate) work: Work,
    pub(crate) name: Cow<'static, str>,
    pub(crate) label: Label,
    pub(crate) at: &'static Location<'static>,
    pub(crate) access: Accesses,
    /// The slots its recipe reads, as numbers in the recording's readings.
    pub(crate) slots: SmallVec<[u32; 2]>,
    /// Of its by-value arguments in order, the first in the lowest bit: whether each is a slot. For reports.
    pub(crate) slot_flags: u64,
}

impl Node {
    #[inline]
    pub(crate) fn new(name: Cow<'static, str>, at: &'static Location<'static>, access: Accesses, work: Work) -> Node {
        Node { name, label: Label::default(), at, access, slots: SmallVec::new(), slot_flags: 0, work }
    }

    /// What the raw calls of a capture touch.
    pub(crate) fn raw_capture(at: &'static Location<'static>, access: Vec<Access>) -> Node {
        Node::new(CAPTURED.into(), at, access.into_iter().collect(), Work::Captured)
    }

    /// The same error, naming this op.
    pub(crate) fn blame(&self, error: Error) -> Error {
        error.of(&self.name, &self.label, self.at)
    }

    /// Whether part of it may be on the stream when it was refused, and others wait for that.
    pub(crate) fn may_be_there_in_part(&self) -> bool {
        matches!(&self.work, Work::Foreign(ForeignWork { joint: Some(Joint { is_group: true, .. }), .. }))
    }

    /// Runs the recipe of a kernel, and checks what no launch may exceed.
    pub(crate) fn prepare(&self, device: &Device, kernel: &KernelWork, snapshot: &Snapshot<'_>) -> Result<Prepared> {
        let mut args = Args::default();
        let grid = kernel.grid(snapshot, &mut args).map_err(|error| self.blame(error))?;
        check_grid(device.properties(), &kernel.function, &grid).map_err(|error| self.blame(error))?;
        Ok(Prepared { grid, args })
    }

    /// The same of a node that is being recorded, to where it stays; nothing, if it is no kernel.
    pub(crate) fn prepare_to(&self, told: &mut Told, device: &Device, readings: &Readings) -> Result<()> {
        let (Work::Kernel(kernel), Some(prepared)) = (&self.work, told.prepared_mut()) else { return Ok(()) };
        let prepared = kernel.prepare(device, &Snapshot::new(readings, &self.access), prepared);
        prepared.map_err(|error| self.blame(error))
    }

    /// Of a copy from one device to another: both.
    pub(crate) fn devices(&self) -> Option<[&Device; 2]> {
        let (Work::Copy, [source, target]) = (&self.work, &self.access[..]) else { return None };
        let devices = [source, target].map(|access| access.place.allocation.device());
        (!devices[0].is(devices[1])).then_some(devices)
    }

    /// What a kernel with a wait of its own touches before that, by name; none for other kernels.
    pub(crate) fn early(&self) -> Option<&'static [&'static str]> {
        match &self.work {
            Work::Kernel(kernel) => kernel.decl.and_then(|decl| decl.early),
            _ => None,
        }
    }

    /// Whether it touches the allocation of this number.
    pub(crate) fn touches(&self, allocation: u32) -> bool {
        self.access.iter().any(|access| access.place.allocation.number() == allocation)
    }

    /// The number of the node that follows this one and what is inside it.
    pub(crate) fn next(&self, at: usize) -> usize {
        match &self.work {
            Work::Branch(branch) => branch.bodies.last().map_or(at + 1, |body| body.end as usize),
            _ => at + 1,
        }
    }

    /// The gate of its host memory.
    pub(crate) fn gate(&self) -> Option<&Arc<Gate>> {
        match &self.work {
            Work::Upload(gate) | Work::Download(gate) => Some(gate),
            _ => None,
        }
    }
}

/// What the program calls an op. Most have no label, and then there is nothing to count.
#[derive(Clone, Default)]
pub(crate) struct Label(Option<Arc<str>>);

impl From<Arc<str>> for Label {
    fn from(label: Arc<str>) -> Label {
        Label(Some(label))
    }
}

impl Deref for Label {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_deref().unwrap_or("")
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// Holds the gates of all host memory that some nodes touch, while their work is enqueued.
pub(crate) fn lock_gates<'g>(gates: &'g [Arc<Gate>]) -> SmallVec<[std::sync::MutexGuard<'g, ()>; 2]> {
    gates.iter().map(|gate| gate.lock()).collect()
}

/// The gates of some nodes, each once, in an order that is the same for everyone.
pub(crate) fn gates<'n>(nodes: impl Iterator<Item = &'n Node>) -> Vec<Arc<Gate>> {
    let mut gates: Vec<Arc<Gate>> = nodes.filter_map(Node::gate).cloned().collect();
    gates.sort_by_key(|gate| Arc::as_ptr(gate).addr());
    gates.dedup_by_key(|gate| Arc::as_ptr(gate).addr());
    gates
}

/// A partner, and the ops that are done with it.
pub(crate) struct JointOps {
    pub(crate) with: Arc<dyn Partner>,
    /// Those that it must have alike.
    pub(crate) alike: Vec<JointOp>,
    /// How errors name all of them.
    names: Vec<String>,
}

impl JointOps {
    /// What somebody who waits for the partner waits at, as far as can be said: the first few ops.
    pub(crate) fn needed(&self) -> Needed {
        let (first, more) = self.names.split_at(self.names.len().min(Needed::NAMED_MAX));
        let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
        Needed { life: self.with.life().clone(), ops: format!("{}{more}", first.join(", ")) }
    }
}

/// With whom some nodes are done, and what.
pub(crate) fn partners(nodes: &[Node]) -> Vec<JointOps> {
    let mut partners: Vec<JointOps> = Vec::new();
    for node in nodes {
        let Work::Foreign(ForeignWork { joint: Some(joint), .. }) = &node.work else { continue };
        let known =
            partners.iter().position(|known| std::ptr::addr_eq(Arc::as_ptr(&known.with), Arc::as_ptr(&joint.with)));
        let number = known.unwrap_or_else(|| {
            partners.push(JointOps { with: joint.with.clone(), alike: Vec::new(), names: Vec::new() });
            partners.len() - 1
        });
        let label = if node.label.is_empty() { String::new() } else { format!(" in {}", &*node.label) };
        let name = format!("`{}`{label} at {}", node.name, node.at);
        if let Some(what) = &joint.what {
            partners[number].alike.push(JointOp { what: what.clone(), named: name.clone(), at: node.at });
        }
        partners[number].names.push(name);
    }
    partners
}
