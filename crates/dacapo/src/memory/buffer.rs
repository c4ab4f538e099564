//! Owned device memory, and read-only second handles on it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::element::Pod;
use crate::memory::{Allocation, Slice, numbers};

/// Owned device memory. `&Buffer` reads, `&mut Buffer` writes; it is not `Clone`.
///
/// It derefs to [`Slice`](crate::Slice), as `Vec` does to `[T]`.
///
/// A graph is bound to memory, not to variables: what a graph uses stays alive as long as the graph, even after the
/// `Buffer` is dropped. Between launches the memory is yours. Calls that touch it, from any thread or stream, take
/// effect in the order in which they were made.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::copy;
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let x = device.buffer(&[1.0f32, 2.0, 3.0, 4.0])?;
/// let mut y = device.zeros::<f32>(2)?;
/// stream.run(copy(&x[2..], &mut y))?;
/// assert_eq!(stream.read(&y)?, [3.0, 4.0]);
/// # Ok(()) }
/// ```
#[doc(alias = "cudaMalloc")]
#[doc(alias = "cuMemAlloc")]
#[doc(alias = "device memory")]
#[doc(alias = "DeviceBuffer")]
pub struct Buffer<T: Pod> {
    allocation: Arc<Allocation>,
    len: usize,
    _elements: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn new(allocation: Arc<Allocation>, len: usize) -> Buffer<T> {
        const { assert!(size_of::<T>() > 0, "elements without size cannot be in device memory") }
        debug_assert!(allocation.bytes() >= len * size_of::<T>());
        allocation.add_handle();
        Buffer { allocation, len, _elements: PhantomData }
    }

    /// Names the buffer. Errors, reports and the findings of the software device use the name.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// let mut w1 = device.zeros::<f32>(4)?.named("w1");
    /// let graph = device.record(dacapo::fill(&mut w1, dacapo::baked(1.0)))?;
    /// assert_eq!(graph.inspect().memories[0].name, "w1");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Buffer<T> {
        self.allocation.set_name(name.into());
        self
    }

    /// A second, read-only handle on the same memory.
    ///
    /// Every op still checks its ranges when it is recorded: reading through the handle what the same op writes is
    /// [`ErrorKind::Overlap`](crate::ErrorKind::Overlap).
    pub fn share(&self) -> Shared<T> {
        Shared(Buffer::new(self.allocation.clone(), self.len))
    }

    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    fn address(&self) -> usize {
        ((self.allocation.number() as u64) << numbers::OFFSET_BITS) as usize
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = Slice<T>;

    fn deref(&self) -> &Slice<T> {
        // SAFETY: the number is that of the allocation held here, which has `len` elements.
        unsafe { Slice::from_address(self.address(), self.len) }
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut Slice<T> {
        // SAFETY: as above; this handle is borrowed alone, and other handles give no `&mut`.
        unsafe { Slice::from_address_mut(self.address(), self.len) }
    }
}

impl<T: Pod> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.allocation.drop_handle();
    }
}

impl<T: Pod> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>[{}]", std::any::type_name::<T>(), self.len)?;
        self.allocation.name().map_or(Ok(()), |name| write!(f, " `{name}`"))
    }
}

/// A read-only handle on a buffer's memory: [`Buffer::share`]. Cloning it is cheap, and it never gives `&mut`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let weights = device.buffer(&[1.0f32, 2.0])?;
/// let shared: dacapo::memory::Shared<f32> = weights.share();
/// drop(weights); // the memory lives as long as the last handle
/// assert_eq!(stream.read(&shared.clone())?, [1.0, 2.0]);
/// # Ok(()) }
/// ```
pub struct Shared<T: Pod>(Buffer<T>);

impl<T: Pod> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        self.0.share()
    }
}

impl<T: Pod> Deref for Shared<T> {
    type Target = Slice<T>;

    fn deref(&self) -> &Slice<T> {
        &self.0
    }
}

impl<T: Pod> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared<{}>[{}]", std::any::type_name::<T>(), self.len())
    }
}
