//! Calls of cudarc's as an op.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::Arc;

use ::cudarc::driver::{CudaContext, CudaSlice, CudaStream, sys};

use super::refused;
use crate::device::RawStream;
use crate::error::Result;
use crate::memory::lists::RawSlice;
use crate::memory::{Reads, Writes};
use crate::op::foreign_at;
use crate::record::{Op, Recorder};

/// An op from work that cudarc puts on a stream: [`foreign`](crate::raw::foreign) with cudarc's types.
///
/// `f` gets a stream in whose context nothing is tracked, and the declared memory as slices that cudarc's calls take:
/// `.arg(&*x)`, `stream.memcpy_dtod(&*x, &mut *y)`. It runs once for each recording, with a stream that is being
/// captured, and once for each eager run. The work is ordered by what was declared, so nothing has to be waited for.
/// See [`interop::cudarc`](crate::interop::cudarc) for slices that `f` brings itself.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let Ok(device) = dacapo::Device::cuda(0) else { return Ok(()) }; // no driver to share
/// use dacapo::interop::cudarc::foreign;
/// let (stream, x) = (device.stream()?, device.buffer(&[1.0f32, 2.0])?);
/// let mut y = device.zeros::<f32>(2)?;
/// // SAFETY: the copy reads `x` and writes `y`, both declared, and can be replayed.
/// let op = unsafe { foreign(&x[..], &mut y[..], |stream, x, mut y| Ok(stream.memcpy_dtod(&*x, &mut *y)?)) };
/// device.record(op)?.launch_sync(&stream)?;
/// assert_eq!(stream.read(&y)?, [1.0, 2.0]);
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// When the op is recorded or run:
///
/// - [`ErrorKind::Interop`](crate::ErrorKind::Interop): the device is not on the driver that cudarc opens; `f` kept the
///   stream; or cudarc has stored an error, as it does when a slice with events is copied inside a recording.
/// - Any error from `f`.
///
/// # Safety
///
/// - As [`foreign`](crate::raw::foreign): `f` enqueues only work that touches only the declared memory, may be
///   replayed, and terminates; it neither synchronises the stream nor keeps it or anything made from it.
/// - `f` does not swap the slices it is given for others (`std::mem::swap`): a swapped slice would free the declared
///   memory when dropped.
#[doc(alias = "stream capture")]
#[track_caller]
pub unsafe fn foreign<I, O>(
    reads: I,
    writes: O,
    f: impl for<'c> Fn(&'c Arc<CudaStream>, <I::Raw as Lend>::Read<'c>, <O::Raw as Lend>::Write<'c>) -> Result<()>
    + Send
    + Sync
    + 'static,
) -> impl Op<Out = ()>
where
    I: Reads<Raw: Lend>,
    O: Writes<Raw: Lend>,
{
    let at = Location::caller();
    move |recorder: &mut Recorder<'_>| {
        let context = recorder.device().untracked()?;
        let call = move |raw: RawStream, ins: I::Raw, outs: O::Raw| {
            with_stream(&context, raw, |stream| {
                // SAFETY: the addresses are those of declared memory, which is held while the work may run.
                let (ins, outs) = unsafe { (ins.read(stream), outs.write(stream)) };
                f(stream, ins, outs)
            })
        };
        // SAFETY: the caller's promises.
        recorder.run(unsafe { foreign_at(at, reads, writes, call) })
    }
}

/// Calls `f` with a stream that it must not keep, and looks at what cudarc parked meanwhile.
fn with_stream(
    context: &Arc<CudaContext>,
    raw: RawStream,
    f: impl FnOnce(&Arc<CudaStream>) -> Result<()>,
) -> Result<()> {
    // What was parked before is not about this op.
    let _ = context.check_err();
    let raw: sys::CUstream = std::ptr::with_exposed_provenance_mut(raw.0.bits() as usize);
    // SAFETY: the stream is of this context and lives until `f` has returned; that nothing keeps it is looked at below.
    let stream = unsafe { context.wrap_borrowed_stream(raw) };
    let called = f(&stream);
    if let Err(parked) = context.check_err() {
        return Err(refused(format!(
            "cudarc could not wait for a slice's events or record them ({parked}): a slice whose context tracks events was \
             copied or filled in this work; declare its memory, or pass it to kernels only"
        )));
    }
    called?;
    match Arc::strong_count(&stream) {
        1 => Ok(()),
        kept => Err(refused(format!(
            "the work kept its stream, which ends with it: {} clones, slices or events of it are left",
            kept - 1
        ))),
    }
}

/// Memory to read, as a `CudaSlice` for cudarc's calls. Dropping it frees nothing.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let Ok(device) = dacapo::Device::cuda(0) else { return Ok(()) }; // no driver to share
/// use dacapo::interop::cudarc::{Lent, foreign};
/// let (stream, x) = (device.stream()?, device.buffer(&[1.0f32, 2.0])?);
/// // SAFETY: nothing is enqueued.
/// stream.run(unsafe { foreign(&x[..], (), |_, x: Lent<'_, f32>, ()| {
///     assert_eq!(x.len(), 2); // a `CudaSlice<f32>`
///     Ok(())
/// }) })?;
/// # Ok(()) }
/// ```
pub struct Lent<'c, T> {
    slice: ManuallyDrop<CudaSlice<T>>,
    _stream: PhantomData<&'c CudaStream>,
}

/// Memory to write, as a `CudaSlice` for cudarc's calls. Dropping it frees nothing.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let Ok(device) = dacapo::Device::cuda(0) else { return Ok(()) }; // no driver to share
/// use dacapo::interop::cudarc::{LentMut, foreign};
/// let (stream, mut y) = (device.stream()?, device.buffer(&[1.0f32, 2.0])?);
/// // SAFETY: the memset writes `y`, which is declared.
/// stream.run(unsafe {
///     foreign((), &mut y[..], |stream, (), mut y: LentMut<'_, f32>| Ok(stream.memset_zeros(&mut *y)?))
/// })?;
/// assert_eq!(stream.read(&y)?, [0.0, 0.0]);
/// # Ok(()) }
/// ```
pub struct LentMut<'c, T>(Lent<'c, T>);

impl<'c, T> Lent<'c, T> {
    /// # Safety
    ///
    /// - The memory outlives the work that uses it.
    unsafe fn new(raw: RawSlice<T>, stream: &'c Arc<CudaStream>) -> Lent<'c, T> {
        // SAFETY: the caller's promise. The context tracks nothing, so no events are made; the slice is never dropped.
        let slice = unsafe { stream.upgrade_device_ptr(raw.ptr, raw.len) };
        Lent { slice: ManuallyDrop::new(slice), _stream: PhantomData }
    }
}

impl<T> Drop for Lent<'_, T> {
    fn drop(&mut self) {
        // SAFETY: taken once, here. Leaked, it lets go of its stream and leaves the memory alone.
        let _ = unsafe { ManuallyDrop::take(&mut self.slice) }.leak();
    }
}

impl<T> Deref for Lent<'_, T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.slice
    }
}

impl<T> Deref for LentMut<'_, T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.0
    }
}

impl<T> DerefMut for LentMut<'_, T> {
    fn deref_mut(&mut self) -> &mut CudaSlice<T> {
        &mut self.0.slice
    }
}

impl<T> fmt::Debug for Lent<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent<{}>[{}]", std::any::type_name::<T>(), self.slice.len())
    }
}

impl<T> fmt::Debug for LentMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LentMut<{}>[{}]", std::any::type_name::<T>(), self.0.slice.len())
    }
}

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// Addresses that can be lent to cudarc: what [`Reads`] and [`Writes`] name, a slice or a tuple of up to four. Sealed.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let Ok(device) = dacapo::Device::cuda(0) else { return Ok(()) }; // no driver to share
/// use dacapo::interop::cudarc::foreign;
/// let (stream, a, b) = (device.stream()?, device.buffer(&[1u32])?, device.buffer(&[2u32, 3])?);
/// // SAFETY: nothing is enqueued.
/// stream.run(unsafe { foreign((&a[..], &b[..]), (), |_, (a, b), ()| {
///     assert_eq!((a.len(), b.len()), (1, 2)); // each is lent on its own
///     Ok(())
/// }) })?;
/// # Ok(()) }
/// ```
pub trait Lend: Sealed {
    /// As memory that is read.
    type Read<'c>;
    /// As memory that is written.
    type Write<'c>;
    /// # Safety
    ///
    /// - The memory outlives the work that uses it.
    #[doc(hidden)]
    unsafe fn read<'c>(self, stream: &'c Arc<CudaStream>) -> Self::Read<'c>;
    /// # Safety
    ///
    /// - As [`read`](Lend::read).
    #[doc(hidden)]
    unsafe fn write<'c>(self, stream: &'c Arc<CudaStream>) -> Self::Write<'c>;
}

impl<T> Sealed for RawSlice<T> {}

impl<T> Lend for RawSlice<T> {
    type Read<'c> = Lent<'c, T>;
    type Write<'c> = LentMut<'c, T>;

    unsafe fn read<'c>(self, stream: &'c Arc<CudaStream>) -> Lent<'c, T> {
        // SAFETY: the caller's promise.
        unsafe { Lent::new(self, stream) }
    }

    unsafe fn write<'c>(self, stream: &'c Arc<CudaStream>) -> LentMut<'c, T> {
        // SAFETY: the caller's promise.
        LentMut(unsafe { Lent::new(self, stream) })
    }
}

macro_rules! tuples {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Sealed),*> Sealed for ($($name,)*) {}

        #[allow(unused_variables, unused_unsafe, clippy::unused_unit, reason = "the tuple of nothing")]
        impl<$($name: Lend),*> Lend for ($($name,)*) {
            type Read<'c> = ($($name::Read<'c>,)*);
            type Write<'c> = ($($name::Write<'c>,)*);

            unsafe fn read<'c>(self, stream: &'c Arc<CudaStream>) -> Self::Read<'c> {
                // SAFETY: the caller's promise, for each of them.
                unsafe { ($(self.$index.read(stream),)*) }
            }

            unsafe fn write<'c>(self, stream: &'c Arc<CudaStream>) -> Self::Write<'c> {
                // SAFETY: the caller's promise, for each of them.
                unsafe { ($(self.$index.write(stream),)*) }
            }
        }
    };
}
tuples!();
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
