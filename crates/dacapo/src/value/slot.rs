//! Slots and baked values, and what may stand for a by-value parameter.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::element::{Pod, bytes_of};
use crate::value::reading::{AnySlot, Snapshot};

/// A by-value kernel argument that can change between replays.
///
/// A launch reads each slot once, so two nodes of one replay never see different values. [`set`](Slot::set) takes
/// effect from the next launch on. Clones share one value.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Slot, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let level = Slot::new(1.5f32);
/// let mut y = device.zeros::<f32>(2)?;
/// let mut graph = device.record(fill(&mut y, &level))?;
/// level.set(2.5); // no new recording: the next launch patches the node
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&y)?, [2.5, 2.5]);
/// # Ok(()) }
/// ```
#[doc(alias = "scalar argument")]
#[doc(alias = "kernel parameter")]
pub struct Slot<T: Pod> {
    cell: Arc<Cell>,
    of: PhantomData<T>,
}

/// A slot, whatever its type. What a launch looks at is one word, at the same place in each; the rest is for values that do
/// not fit in it.
#[doc(hidden)]
pub struct Cell {
    /// The value itself where it fits; how often it was set where it does not.
    word: AtomicU64,
    /// The value where it does not fit, as a `Mutex<T>`.
    large: Option<Box<dyn Large>>,
}

/// Whether a value is kept in the word.
const fn fits<T>() -> bool {
    size_of::<T>() <= size_of::<u64>()
}

/// A value that fits, as a word.
fn to_word<T: Pod>(value: T) -> u64 {
    let mut word = [0; 8];
    word[..size_of::<T>()].copy_from_slice(bytes_of(&[value]));
    u64::from_ne_bytes(word)
}

/// The value in a word.
fn of_word<T: Pod>(word: u64) -> T {
    bytemuck::pod_read_unaligned(&word.to_ne_bytes()[..size_of::<T>()])
}

impl Cell {
    /// Changes whenever the value does.
    #[inline]
    pub(super) fn word(&self) -> u64 {
        self.word.load(Ordering::Acquire)
    }

    /// The bytes of a value that does not fit in a word, and the count that they are of; none if it fits.
    pub(super) fn read_large(&self) -> Option<(u64, Vec<u8>)> {
        self.large.as_ref().map(|large| large.read(&self.word))
    }

    /// A value that does not fit in a word, locked.
    fn held<T: Pod>(&self) -> MutexGuard<'_, T> {
        let value = self.large.as_deref().and_then(|large| large.as_any().downcast_ref::<Mutex<T>>());
        held(value.expect("made with the slot, which knows its type"))
    }
}

impl<T: Pod> Slot<T> {
    /// A slot with its first value.
    pub fn new(value: T) -> Slot<T> {
        const { assert!(size_of::<T>() > 0, "a slot of a type without size holds nothing") }
        let (word, large): (u64, Option<Box<dyn Large>>) = match fits::<T>() {
            true => (to_word(value), None),
            false => (0, Some(Box::new(Mutex::new(value)))),
        };
        Slot { cell: Arc::new(Cell { word: AtomicU64::new(word), large }), of: PhantomData }
    }

    /// Sets the value for every launch that begins after this call.
    pub fn set(&self, value: T) {
        if fits::<T>() {
            self.cell.word.store(to_word(value), Ordering::Release);
            return;
        }
        let mut held = self.cell.held::<T>();
        *held = value;
        // Under the lock, so that whoever sees the new count and then locks also sees the new value.
        self.cell.word.fetch_add(1, Ordering::Release);
    }

    /// The value that the next launch will read.
    pub fn get(&self) -> T {
        match fits::<T>() {
            true => of_word(self.cell.word()),
            false => *self.cell.held::<T>(),
        }
    }
}

fn held<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value that does not fit in a word, whatever its type: a `Mutex<T>`.
trait Large: Send + Sync {
    /// Its bytes, and the count that they are of.
    fn read(&self, count: &AtomicU64) -> (u64, Vec<u8>);
    fn as_any(&self) -> &dyn Any;
}

impl<T: Pod> Large for Mutex<T> {
    fn read(&self, count: &AtomicU64) -> (u64, Vec<u8>) {
        let held = held(self);
        (count.load(Ordering::Acquire), bytes_of(&[*held]).to_vec())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<T: Pod> Clone for Slot<T> {
    fn clone(&self) -> Slot<T> {
        Slot { cell: self.cell.clone(), of: PhantomData }
    }
}

impl<T: Pod> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slot").field(&self.get()).finish()
    }
}

/// A by-value argument that is the same in every replay: what [`baked`] returns.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Baked, baked, fill};
/// # let device = dacapo::Device::software()?;
/// const EPSILON: f32 = 1e-5;
/// let epsilon: Baked<f32> = baked(EPSILON); // `Copy`: one constant, many ops
/// let (mut x, mut y) = (device.zeros(1)?, device.zeros(1)?);
/// let graph = device.record(|r| r.run(fill(&mut x, epsilon)).and_then(|()| r.run(fill(&mut y, epsilon))))?;
/// assert_eq!(graph.len(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Baked<T>(T);

impl<T: Copy> Baked<T> {
    /// The value.
    #[cfg(feature = "cublaslt")]
    pub(crate) fn get(self) -> T {
        self.0
    }
}

/// A by-value argument that is the same in every replay, and says so in the source.
///
/// A plain number does not compile as an argument: it would be frozen into the graph without a word.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<u32>(3)?;
/// let mut graph = device.record(fill(&mut y, baked(7)))?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&y)?, [7; 3]);
/// # Ok(()) }
/// ```
#[doc(alias = "constant")]
#[doc(alias = "scalar argument")]
pub fn baked<T>(value: T) -> Baked<T> {
    Baked(value)
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for super::Baked<T> {}
    impl<T: super::Pod> Sealed for &super::Slot<T> {}
}

/// What can be passed for a by-value parameter of type `T`: `&Slot<T>` or `baked(x)`, never a plain number.
///
/// Take `impl Value<T>` in a function of your own to let its caller choose.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Op, Slice, Slot, Value, baked, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// fn reset(y: &mut Slice<f32>, to: impl Value<f32>) -> impl Op<Out = ()> {
///     fill(y, to)
/// }
/// let mut y = device.zeros::<f32>(1)?;
/// stream.run(reset(&mut y, baked(1.0)))?;
/// stream.run(reset(&mut y, &Slot::new(2.0)))?;
/// assert_eq!(stream.read(&y)?, [2.0]);
/// # Ok(()) }
/// ```
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
        Val::Slot(SlotVal(self.cell.clone(), PhantomData))
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
pub struct SlotVal<T: Pod>(Arc<Cell>, PhantomData<T>);

impl<T: Pod> Val<T> {
    /// The value in this launch.
    #[inline]
    pub fn seen(&self, snapshot: &Snapshot<'_>) -> T {
        match self {
            Val::Baked(value) => *value,
            Val::Slot(slot) => {
                let address = Arc::as_ptr(&slot.0).addr();
                match fits::<T>() {
                    true => of_word(snapshot.word(address)),
                    false => bytemuck::pod_read_unaligned(snapshot.large(address)),
                }
            }
        }
    }

    /// The slot behind it, if there is one.
    #[allow(private_interfaces, reason = "hidden: called by what `kernels!` writes, which only passes it on")]
    pub fn slot(&self) -> Option<Arc<AnySlot>> {
        match self {
            Val::Baked(_) => None,
            Val::Slot(slot) => Some(slot.0.clone()),
        }
    }
}
