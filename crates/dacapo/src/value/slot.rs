//! Slots and baked values, and what may stand for a by-value parameter.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::element::{Pod, bytes_of};
use crate::value::reading::{ReadSlot, SlotBytes, Snapshot};

/// A by-value kernel argument that may change between replays.
///
/// A launch takes one snapshot of each slot, so two nodes of one replay never see different values; [`set`](Slot::set)
/// acts on later launches only. Clones are the same slot.
///
/// ```
/// let a = dacapo::Slot::new(1.5f32);
/// a.set(2.5);
/// assert_eq!(a.get(), 2.5);
/// ```
pub struct Slot<T: Pod> {
    cell: Arc<Cell<T>>,
}

/// The value and how often it was set. The count is looked at without the lock: a launch whose slots did not change
/// reads one word for each.
struct Cell<T> {
    version: AtomicU64,
    value: Mutex<T>,
}

impl<T: Pod> Slot<T> {
    /// A slot with a first value.
    pub fn new(value: T) -> Slot<T> {
        const { assert!(size_of::<T>() > 0, "a slot of a type without size holds nothing") }
        Slot { cell: Arc::new(Cell { version: AtomicU64::new(1), value: Mutex::new(value) }) }
    }

    /// Another value for every launch that begins after this call.
    pub fn set(&self, value: T) {
        let mut held = self.cell.value.lock().unwrap_or_else(PoisonError::into_inner);
        *held = value;
        // Under the lock, so that whoever sees the new count and then locks also sees the new value.
        self.cell.version.fetch_add(1, Ordering::Release);
    }

    /// The value that the next launch will take.
    pub fn get(&self) -> T {
        *self.cell.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Pod> Clone for Slot<T> {
    fn clone(&self) -> Slot<T> {
        Slot { cell: self.cell.clone() }
    }
}

impl<T: Pod> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slot").field(&self.get()).finish()
    }
}

impl<T: Pod> ReadSlot for Cell<T> {
    fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    fn read(&self) -> (u64, SlotBytes) {
        let held = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        (self.version.load(Ordering::Acquire), SlotBytes::from_slice(bytes_of(&[*held])))
    }
}

/// A by-value argument that is the same in every replay: see [`baked`].
#[derive(Clone, Copy, Debug)]
pub struct Baked<T>(T);

/// A by-value argument that is the same in every replay, and says so.
pub fn baked<T>(value: T) -> Baked<T> {
    Baked(value)
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for super::Baked<T> {}
    impl<T: super::Pod> Sealed for &super::Slot<T> {}
}

/// What may stand for a by-value parameter of type `T`: `&Slot<T>` or `baked(x)`; never a plain number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand for a by-value argument of type `{T}`",
    label = "expected `&Slot<{T}>` or `baked(..)`",
    note = "a plain number would be frozen into the recording without a word: `&Slot<{T}>` changes between replays, `baked(..)` says it never will"
)]
pub trait Value<T: Pod>: sealed::Sealed {
    #[doc(hidden)]
    fn into_val(self) -> Val<T>;
}

impl<T: Pod> Value<T> for Baked<T> {
    fn into_val(self) -> Val<T> {
        Val::Baked(self.0)
    }
}

impl<T: Pod> Value<T> for &Slot<T> {
    fn into_val(self) -> Val<T> {
        Val::Slot(SlotVal(self.cell.clone()))
    }
}

/// A by-value argument inside a recipe.
#[doc(hidden)]
pub enum Val<T: Pod> {
    Baked(T),
    Slot(SlotVal<T>),
}

/// The slot of a recipe. Opaque: what is behind it is the library's.
#[doc(hidden)]
pub struct SlotVal<T: Pod>(Arc<Cell<T>>);

impl<T: Pod> Val<T> {
    /// The value in this launch.
    pub fn get(&self, snapshot: &Snapshot<'_>) -> T {
        match self {
            Val::Baked(value) => *value,
            Val::Slot(slot) => {
                let address = Arc::as_ptr(&slot.0).addr();
                let bytes = snapshot.slot(address).expect("every slot of a recipe is among its node's");
                bytemuck::pod_read_unaligned(bytes)
            }
        }
    }

    /// The slot behind it, if there is one.
    #[allow(private_interfaces)]
    pub fn slot(&self) -> Option<Arc<dyn ReadSlot>> {
        match self {
            Val::Baked(_) => None,
            Val::Slot(slot) => Some(slot.0.clone()),
        }
    }
}
