//! One allocation: whatever a slice can be of.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dacapo_driver::types::CUdeviceptr;
use dacapo_ledger::MemoryId;

use crate::device::{Booking, Device, Garbage};
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

/// Whose the memory is, and so what becomes of it behind its last use.
pub(crate) enum Owner {
    /// Ours: freed.
    Us,
    /// Part of something that it holds and must not outlive: a global's module.
    PartOf { _whole: Arc<dyn Any + Send + Sync> },
    /// Another library's: this value is dropped, and with it the memory.
    #[cfg_attr(not(feature = "cudarc"), allow(dead_code, reason = "only other libraries own memory"))]
    Theirs(Arc<dyn Any + Send + Sync>),
    /// Borrowed: whoever lent it has promised to outlive every use.
    #[cfg_attr(not(feature = "cudarc"), allow(dead_code, reason = "only other libraries lend memory"))]
    Borrowed,
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
    /// The body of its recording that it belongs to; 0 for the recording itself.
    home: AtomicU32,
    /// Whether it is a temp for a library's scratch: for reports only.
    workspace: AtomicBool,
    /// How many handles of the user's hold it: for reports only.
    handles: AtomicUsize,
    /// What the program calls it: for errors, reports and findings.
    name: Mutex<Option<Arc<str>>>,
    owner: Owner,
    /// Its bytes in the device's books.
    booking: OnceLock<Booking>,
    device: Device,
}

impl Allocation {
    /// Memory that has no address yet.
    ///
    /// # Errors
    ///
    /// - More allocations are alive than can be numbered, or this one is larger than an offset can say.
    pub(crate) fn unplaced(device: &Device, kind: Kind, bytes: usize) -> Result<Arc<Allocation>> {
        Allocation::owned(device, kind, bytes, Owner::Us)
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
        Allocation::owned(device, kind, bytes, Owner::PartOf { _whole: whole })
    }

    /// Memory of any owner.
    ///
    /// # Errors
    ///
    /// - As [`unplaced`](Allocation::unplaced).
    pub(crate) fn owned(device: &Device, kind: Kind, bytes: usize, owner: Owner) -> Result<Arc<Allocation>> {
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
            home: AtomicU32::new(0),
            workspace: AtomicBool::new(false),
            handles: AtomicUsize::new(0),
            name: Mutex::default(),
            owner,
            booking: OnceLock::new(),
            device: device.clone(),
        })
    }

    /// Gives it an address and enters it into the ledger. From here on its drop frees the address.
    pub(crate) fn place_at(&self, address: CUdeviceptr) {
        self.address.store(address, Ordering::Release);
        self.memory.get_or_init(|| self.device.ledger().add_memory());
        self.device.live().allocations.add(1);
    }

    /// Its bytes stay in the books until the driver has them back.
    pub(crate) fn keep_booking(&self, booking: Booking) {
        let _ = self.booking.set(booking.taken());
    }

    /// Gives a temp an address inside memory that somebody else holds and frees: an arena's.
    pub(crate) fn lend_address(&self, address: CUdeviceptr) {
        self.address.store(address, Ordering::Release);
    }

    /// Memory that another library owns, at its address.
    #[cfg(feature = "cudarc")]
    pub(crate) fn theirs<V: Any + Send + Sync>(mut self: Arc<Self>, address: CUdeviceptr, value: V) -> Arc<Allocation> {
        let only = Arc::get_mut(&mut self).expect("made just now, and held by nobody else");
        only.owner = Owner::Theirs(Arc::new(value));
        self.place_at(address);
        self
    }

    /// Gives the memory away, to be freed by another: its address, and the owner where that was never we. Every use must
    /// be over.
    #[cfg(feature = "cudarc")]
    pub(crate) fn give_away(mut self) -> (CUdeviceptr, Owner) {
        let owner = std::mem::replace(&mut self.owner, Owner::Borrowed);
        (self.address(), owner)
    }

    /// Whether it may be given away: it is neither a part of something nor borrowed.
    #[cfg(feature = "cudarc")]
    pub(crate) fn is_ours_or_theirs(&self) -> bool {
        matches!(self.owner, Owner::Us | Owner::Theirs(_))
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

    /// The body of its recording that it belongs to.
    pub(crate) fn home(&self) -> u32 {
        self.home.load(Ordering::Relaxed)
    }

    pub(crate) fn set_home(&self, home: u32) {
        self.home.store(home, Ordering::Relaxed);
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

    /// What the program calls it.
    pub(crate) fn name(&self) -> Option<Arc<str>> {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_name(&self, name: String) {
        #[cfg(feature = "software")]
        if let (Some(machine), 1..) = (self.device.machine(), self.address()) {
            machine.label(self.address(), &name);
        }
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.into());
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
        let booking = self.booking.take();
        self.device.live().allocations.sub(1);
        // Taken, so that the queue has the only hold on what is another's: it is dropped there, not here.
        match (std::mem::replace(&mut self.owner, Owner::Borrowed), self.kind) {
            (Owner::Us, Kind::Device | Kind::Arena) if address != 0 => {
                self.device.put(Garbage::Memory(address).booked(booking), after);
            }
            (Owner::Us, Kind::Host) if address != 0 => self.device.put(Garbage::Host(address).booked(booking), after),
            (Owner::Theirs(value), _) => self.device.queue_values(vec![value], after),
            // A module's global goes with its module; the rest has no memory of its own.
            _ => {}
        }
    }
}
