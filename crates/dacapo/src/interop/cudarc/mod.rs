//! Conversions to and from the contexts, streams and slices of the crate `cudarc`.
//!
//! Both libraries work in the device's primary context, so each can use the other's memory and streams. Neither can see
//! what the other has put on a stream. This table says, for each direction, what is waited for and why a call is
//! `unsafe`:
//!
//! | from | to | call | consumes | `unsafe` | what is waited for, and by whom |
//! |---|---|---|---|---|---|
//! | `CudaContext` | `Device` | [`Device::from_cudarc`](crate::Device::from_cudarc) | no | no | nothing |
//! | `Device` | `CudaContext` | [`Device::to_cudarc`](crate::Device::to_cudarc) | no | no | nothing |
//! | `CudaStream` | `Stream` | [`Stream::from_cudarc`](crate::Stream::from_cudarc) | no, held | yes: a capture that cudarc begins on it would swallow our work | nothing; the stream's own order holds for both |
//! | `Stream` | `CudaStream` | [`Stream::with_cudarc`](crate::Stream::with_cudarc) | no | yes: as above | nothing; the stream's own order holds for both |
//! | `CudaSlice` | `Buffer` | [`Buffer::from_cudarc`](crate::Buffer::from_cudarc) | yes | no | the host waits for the slice's stream, and that for the slice's events |
//! | `Buffer` | `CudaSlice` | [`Buffer::into_cudarc`](crate::Buffer::into_cudarc) | yes, if nobody else holds it | no | the host waits for our last use |
//! | `CudaView` | `&Slice` | [`Borrowed::new`] | no, borrowed | yes: a graph keeps the address, and cannot keep the memory | the same wait as for a `CudaSlice` |
//! | `&Slice` | `CudaSlice`, lent | [`foreign`] | no, borrowed | yes: it is another library's work | the ledger orders it, eagerly and in a graph |
//!
//! A buffer that came from cudarc goes back to cudarc: dropped, it waits in the device's queue for its last use and is then
//! dropped as the `CudaSlice` it was; [`Buffer::into_cudarc`](crate::Buffer::into_cudarc) gives that slice back.
//!
//! # Work that cudarc puts on a shared stream by itself
//!
//! It runs in stream order: after what either library put there before, and before what comes later. This library does
//! not know about it. That is harmless as long as it touches only cudarc's memory. But [`Stream::is_done`] may be late
//! because of it, a fault in it is blamed on our launches, and it is not ordered against our work on *other* streams.
//! To have it ordered by the memory it touches, use [`foreign`].
//!
//! # Event tracking
//!
//! Once a second stream was created in a cudarc context, it keeps two events with each slice, waits for them before a
//! call and records them after it. In a capture the wait is refused (the event is from outside, code 905) and the
//! recorded event then belongs to the capture, so that dropping the slice fails much later, in an unrelated call. So
//! [`foreign`] gives its closure streams of a separate context, with tracking off, and slices without events. Switching
//! tracking off in the *program's* context would break the order for every other thread that relies on it, so that is
//! never done. Slices that the closure brings itself may still have events:
//!
//! - as kernel arguments, their events are ignored: the stream decides, and it does not track;
//! - in a copy or a fill, cudarc uses the slice's events. In a recording that is refused, and the op fails with
//!   [`ErrorKind::Interop`], which says so. Declare the memory, or copy before the recording.
//!
//! # Example
//!
//! `twice`, a kernel that cudarc has loaded in `context`, inside a graph:
//!
//! ```no_run
//! use cudarc::driver::{CudaContext, CudaFunction, LaunchConfig, PushKernelArg};
//! # use std::{error::Error, sync::Arc};
//! # fn in_a_graph(context: Arc<CudaContext>, twice: CudaFunction) -> Result<(), Box<dyn Error>> {
//! let device = dacapo::Device::from_cudarc(&context)?;
//! let stream = device.stream()?;
//! let x = dacapo::Buffer::from_cudarc(&device, context.default_stream().clone_htod(&[1.0f32; 1024])?)?;
//! let mut y = device.zeros::<f32>(1024)?;
//! // SAFETY: `twice` reads the first 1024 elements of `x` and writes those of `y`, and ends.
//! let mut graph = device.record(unsafe {
//!     dacapo::interop::cudarc::foreign(&x[..], &mut y[..], move |stream, x, mut y| {
//!         let launch = LaunchConfig::for_num_elems(1024);
//!         stream.launch_builder(&twice).arg(&*x).arg(&mut *y).launch(launch)?;
//!         Ok(())
//!     })
//! })?;
//! graph.launch_sync(&stream)?;
//! assert_eq!(stream.read(&y)?, [2.0; 1024]);
//! # Ok(()) }
//! ```
//!
//! [`Stream::is_done`]: crate::Stream::is_done

mod context;
mod slice;
mod stream;
mod view;
mod work;

use std::fmt;

pub use view::Borrowed;
pub use work::{Lend, Lent, LentMut, foreign};

use crate::error::{Error, ErrorKind};

/// An error, together with the value that the call was given.
///
/// `?` keeps the error and drops the rest.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let Ok(device) = dacapo::Device::cuda(0) else { return Ok(()) }; // no driver to share
/// let theirs = device.to_cudarc()?.new_stream()?;
/// let y = device.buffer(&[1.0f32, 2.0])?;
/// let also = y.share();
/// let refused = y.into_cudarc(&theirs).unwrap_err(); // somebody else holds the memory
/// assert_eq!(device.stream()?.read(&refused.given)?, [1.0, 2.0]); // the buffer is back
/// # drop(also);
/// # Ok(()) }
/// ```
pub struct Refused<T> {
    /// Why the call failed.
    pub error: Error,
    /// What was given.
    pub given: T,
}

impl<T> Refused<T> {
    fn new(error: Error, given: T) -> Refused<T> {
        Refused { error, given }
    }
}

impl<T> From<Refused<T>> for Error {
    fn from(refused: Refused<T>) -> Error {
        refused.error
    }
}

impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, f)
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<T> std::error::Error for Refused<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<::cudarc::driver::DriverError> for Error {
    fn from(error: ::cudarc::driver::DriverError) -> Error {
        Error::msg("a call of cudarc failed").with_source(error)
    }
}

fn refused(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::Interop { why: why.into() })
}
