//! What a stream operation or a graph node does, with its arguments copied.

use std::sync::Arc;

use dacapo_driver::types::CUlaunchAttributeValue;

use super::device::On;
use super::graph_memory::AllocWork;
use super::objects::{Event, Function};
use super::table::Key;
use super::user_object::References;
use crate::detect::declared::Declared;
use crate::exec::Grid;
use crate::finding::FindingOp;
use crate::memory::home::Home;

/// What a task does when its turn comes.
pub(crate) enum Work {
    /// Nothing: a join, an empty node, a stream's wait.
    Nothing,
    /// Starts a kernel.
    Kernel(Arc<KernelWork>),
    /// A kernel that has begun.
    Running(Box<Grid>),
    /// Copies memory.
    Copy(Arc<CopyWork>),
    /// Copies bytes that were taken from pageable host memory when the call was made.
    CopyTaken(Arc<CopyWork>, Vec<u8>),
    /// Sets memory.
    Set(Arc<SetWork>),
    /// Calls a host function.
    Host(HostWork),
    /// Calls a stream callback; it runs after a fault too.
    Callback(CallbackWork),
    /// Marks an event as having happened; the number is which record of it.
    Record(Key<Event>, u64),
    /// Stream-ordered memory: maps an address that the pool hands out again. It was freed again, for the program, where that call
    /// has come before this piece runs; so whose it is comes along.
    Map { address: u64, bytes: u64, label: String, home: Home },
    /// Stream-ordered memory: ends an allocation.
    Unmap { address: u64 },
    /// Calls of NCCL, by how far they have come.
    Collective(crate::nccl::Run),
    /// Writes words, or waits for them: from the operation of this number on.
    Values(Arc<super::value_ops::ValueWork>, usize),
    /// Sets conditions to their defaults: the begin of a launch.
    Defaults(Vec<(Arc<super::conditional::Condition>, Option<u32>)>),
    /// Reads a condition and puts the chosen body into the order.
    Branch(crate::enqueue::Branch),
    /// Graph memory: an allocation node.
    GraphAlloc(Arc<AllocWork>),
    /// Graph memory: a free node, or a free in a stream.
    GraphFree { address: u64 },
    /// Gives back references to user objects.
    Release(References),
    /// A host function or callback is being called on some thread, outside the machine's lock.
    Called,
}

impl Work {
    /// Where it is done, if that is not simply the device of whoever has asked for it.
    pub(crate) fn on(&self) -> Option<On> {
        match self {
            Work::Kernel(work) => Some(work.function.on()),
            Work::Set(work) => work.on,
            Work::Values(work, _) => work.on,
            _ => None,
        }
    }

    /// Whose it is, as far as that was told.
    pub(crate) fn by(&self) -> Option<&Arc<FindingOp>> {
        match self {
            Work::Kernel(work) => work.by.as_ref(),
            Work::Copy(work) | Work::CopyTaken(work, _) => work.by.as_ref(),
            Work::Set(work) => work.by.as_ref(),
            Work::Collective(run) => run.by(),
            Work::Branch(branch) => branch.by(),
            _ => None,
        }
    }
}

/// A kernel launch with its arguments copied.
#[derive(Clone)]
pub(crate) struct KernelWork {
    pub(crate) function: Arc<Function>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    /// Shared by copies of this work, so that what was lent of it stays where it is.
    pub(crate) params: Arc<[u8]>,
    /// Given as one buffer (`extra`), and so handed back.
    pub(crate) as_buffer: bool,
    pub(crate) cooperative: bool,
    pub(crate) priority: i32,
    /// May begin before the kernel that it comes after is over.
    pub(crate) programmatic: bool,
    /// Attributes that were set and have no meaning here but must read back.
    pub(crate) attributes: Vec<(u32, CUlaunchAttributeValue)>,
    /// Whose it is, as far as that was told.
    pub(crate) by: Option<Arc<FindingOp>>,
    /// What it may touch, as far as that was told.
    pub(crate) declared: Option<Arc<Declared>>,
}

/// Where one end of a copy lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyMemory {
    /// The machine's address space: device memory, or pinned host memory by its address.
    Device,
    /// Host memory that the driver knows (allocated or registered).
    Pinned,
    /// Any other host memory.
    Pageable,
}

/// One end of a copy, its offsets applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) place: CopyMemory,
    /// `CU_MEMORYTYPE_*`, as the program named it.
    pub(crate) kind: u32,
    pub(crate) address: u64,
    /// Bytes from row to row.
    pub(crate) pitch: u64,
    /// Bytes from slice to slice.
    pub(crate) slice: u64,
    /// The device whose memory it is, if it is a device's.
    pub(crate) device: Option<usize>,
    /// An array by its handle, with the offsets that the program named.
    pub(crate) array: Option<(u64, [u64; 3])>,
}

/// A copy of `extent` bytes, rows and slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyWork {
    pub(crate) source: Side,
    pub(crate) target: Side,
    pub(crate) extent: [u64; 3],
    /// Whose it is, as far as that was told.
    pub(crate) by: Option<Arc<FindingOp>>,
}

impl CopyWork {
    /// The rows as `(target, source)` addresses; each is `extent[0]` bytes.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..self.extent[2]).flat_map(move |z| {
            (0..self.extent[1]).map(move |y| {
                let at = |side: &Side| side.address + z * side.slice + y * side.pitch;
                (at(&self.target), at(&self.source))
            })
        })
    }

    /// Whether an end is host memory that the driver does not know.
    pub(crate) fn is_pageable(&self) -> bool {
        [self.source.place, self.target.place].contains(&CopyMemory::Pageable)
    }

    /// Whether an end lies on another device in `new`: one device has no other.
    pub(crate) fn moves_to(&self, new: &CopyWork) -> bool {
        let moves = |old: Option<usize>, new: Option<usize>| old.is_some() && new.is_some() && old != new;
        moves(self.source.device, new.source.device) || moves(self.target.device, new.target.device)
    }

    /// What an update may not change: how the ends were named, and how many dimensions are copied.
    pub(crate) fn shape(&self) -> (u32, u32, u8) {
        let dimensions = if self.extent[2] > 1 { 3 } else { 1 + u8::from(self.extent[1] > 1) };
        (self.source.kind, self.target.kind, dimensions)
    }
}

/// A memory set of rows of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetWork {
    pub(crate) address: u64,
    pub(crate) pitch: u64,
    pub(crate) value: u32,
    /// 1, 2 or 4 bytes.
    pub(crate) element: u32,
    pub(crate) width: u64,
    pub(crate) height: u64,
    /// Where it is done; what may be touched is told by that.
    pub(crate) on: Option<On>,
    /// Whose it is, as far as that was told.
    pub(crate) by: Option<Arc<FindingOp>>,
}

impl SetWork {
    /// The element as bytes.
    pub(crate) fn pattern(&self) -> Vec<u8> {
        self.value.to_le_bytes()[..self.element as usize].to_vec()
    }
}

/// A host function: C code that runs when its turn comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostWork {
    /// The function's address, never 0.
    pub(crate) function: usize,
    /// What it is given.
    pub(crate) data: usize,
}

/// A stream callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallbackWork {
    /// The function's address, never 0.
    pub(crate) function: usize,
    /// The stream's handle as the program named it.
    pub(crate) stream: u64,
    /// What it is given.
    pub(crate) data: usize,
}
