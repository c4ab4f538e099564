//! One allocation: whatever a slice can be of.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use dacapo_driver::types::CUdeviceptr;
use dacapo_ledger::MemoryId;

use crate::device::{Device, Garbage};
use crate::error::Result;
use crate::memory::numbers;

/// What kind of memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Device memory that the user may hold.
    Device,
    /// Page-locked host memory.
    Host,
    /// Planned memory of the recording with this number; no address until it is planned.
    Temp(u64),
    /// Stands for memory that a launch names; the recording with this number.
    StandIn(u64),
    /// A global variable of a module.
    State,
    /// Memory that temps are laid out in. No slice is of it.
    Arena,
}

/// Memory with a number. The last hold puts it into the device's queue of drops.
pub(crate) struct Allocation {
    number: u32,
    kind: Kind,
    bytes: usize,
    /// Where it is; 0 as long as it is nowhere.
    address: AtomicU64,
    /// What the ledger calls it, once it is in the ledger.
    memory: OnceLock<MemoryId>,
    /// Which temp of its recording it is.
    index: AtomicU32,
    /// Whether it is a temp for a library's scratch: for reports only.
    workspace: AtomicBool,
    /// How many handles of the user's hold it: for reports only.
    handles: AtomicUsize,
    /// What the memory is a part of, and must not outlive: a global's module.
    _whole: Option<Arc<dyn Any + Send + Sync>>,
    device: Device,
}

impl Allocation {
    /// Memory that has no address yet.
    ///
    /// # Errors
    ///
    /// - More allocations are alive than can be numbered, or this one is larger than an offset can say.
    pub(crate) fn unplaced(device: &Device, kind: Kind, bytes: usize) -> Result<Arc<Allocation>> {
        Allocation::new(device, kind, bytes, None)
    }

    /// Memory that is a part of something else, which it holds.
    ///
    /// # Errors
    ///
    /// - As [`unplaced`](Allocation::unplaced).
    pub(crate) fn part_of<W: Any + Send + Sync>(
        device: &Device,
        kind: Kind,
        bytes: usize,
        whole: Arc<W>,
    ) -> Result<Arc<Allocation>> {
        Allocation::new(device, kind, bytes, Some(whole))
    }

    fn new(
        device: &Device,
        kind: Kind,
        bytes: usize,
        whole: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Result<Arc<Allocation>> {
        if bytes as u64 >> numbers::OFFSET_BITS != 0 {
            return Err(device.out_of_memory(bytes));
        }
        numbers::enter(|number| Allocation {
            number,
            kind,
            bytes,
            address: AtomicU64::new(0),
            memory: OnceLock::new(),
            index: AtomicU32::new(0),
            workspace: AtomicBool::new(false),
            handles: AtomicUsize::new(0),
            _whole: whole,
            device: device.clone(),
        })
    }

    /// Gives it an address and enters it into the ledger. From here on its drop frees the address.
    pub(crate) fn place_at(&self, address: CUdeviceptr) {
        self.address.store(address, Ordering::Release);
        self.memory.get_or_init(|| self.device.ledger().add_memory());
        self.device.live().allocations.add(1);
    }

    /// Gives a temp an address inside memory that somebody else holds and frees: an arena's.
    pub(crate) fn lend_address(&self, address: CUdeviceptr) {
        self.address.store(address, Ordering::Release);
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Where it is; 0 if it is nowhere (yet).
    pub(crate) fn address(&self) -> CUdeviceptr {
        self.address.load(Ordering::Acquire)
    }

    /// What the ledger calls it; none while it has no address.
    pub(crate) fn memory(&self) -> Option<MemoryId> {
        self.memory.get().copied()
    }

    /// Which temp of its recording it is.
    pub(crate) fn index(&self) -> u32 {
        self.index.load(Ordering::Relaxed)
    }

    pub(crate) fn set_index(&self, index: u32) {
        self.index.store(index, Ordering::Relaxed);
    }

    /// Whether it is a temp for a library's scratch.
    pub(crate) fn is_workspace(&self) -> bool {
        self.workspace.load(Ordering::Relaxed)
    }

    pub(crate) fn mark_workspace(&self) {
        self.workspace.store(true, Ordering::Relaxed);
    }

    /// Whether a handle of the user's still holds it.
    pub(crate) fn is_held(&self) -> bool {
        self.handles.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn add_handle(&self) {
        self.handles.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn drop_handle(&self) {
        self.handles.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        numbers::leave(self.number);
        let Some(memory) = self.memory() else { return };
        let after = self.device.ledger().remove_memory(memory);
        let address = self.address();
        self.device.live().allocations.sub(1);
        match self.kind {
            Kind::Device | Kind::Arena if address != 0 => self.device.put(Garbage::Memory(address), after),
            Kind::Host if address != 0 => self.device.put(Garbage::Host(address), after),
            // A module's global goes with its module; the rest has no memory of its own.
            _ => {}
        }
    }
}
