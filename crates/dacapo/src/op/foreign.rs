//! Another library's work.

use std::panic::Location;
use std::sync::Arc;

use crate::device::RawStream;
use crate::error::Result;
use crate::memory::{Access, Reads, Writes};
use crate::record::{ForeignWork, Node, Op, Work};

/// Another library's work as an op: whatever can only be put on a stream.
///
/// `f` gets a stream to enqueue on and the addresses of the declared memory. A recording calls it once, with a private
/// stream that is captured into the graph; an eager run calls it once, with your stream. It is called again if
/// something else broke the capture, and for each [`Graph::profile`](crate::Graph::profile).
///
/// What `f` enqueues is frozen: slots and rebound slices do not affect it, and the stand-ins of `record_into` are
/// refused. The graph keeps `f`, and what `f` owns, until its last replay is over.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{driver::Driver, raw::foreign};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.buffer(&[1u32, 2])?, device.zeros::<u32>(2)?);
/// let cuda = device.machine().unwrap().clone(); // stands for any library that takes a stream
/// // SAFETY: the copy reads `x`, writes `y`, both declared and equally long, and can be replayed.
/// let mut graph = device.record(unsafe { foreign(&x[..], &mut y[..], move |stream, x, y| {
///     let code = cuda.cuMemcpyDtoDAsync_v2(y.ptr, x.ptr, x.len * 4, stream.0);
///     code.is_success().then_some(()).ok_or_else(|| dacapo::Error::msg(code.to_string()))
/// }) })?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&y)?, [1, 2]);
/// # Ok(()) }
/// ```
///
/// # Safety
///
/// `f` must, on that stream, only enqueue work that:
///
/// - touches only the declared memory, and writes only what is declared as written;
/// - may be replayed any number of times, even after `f` has returned, as long as `f` itself is kept;
/// - ends.
///
/// And `f` must not synchronise or query the stream, nor keep the stream's handle or an address.
#[doc(alias = "stream capture")]
#[doc(alias = "cublas")]
#[doc(alias = "cudnn")]
#[track_caller]
pub unsafe fn foreign<I: Reads, O: Writes>(
    reads: I,
    writes: O,
    f: impl Fn(RawStream, I::Raw, O::Raw) -> Result<()> + Send + Sync + 'static,
) -> impl Op<Out = ()> {
    // SAFETY: the caller's promises.
    unsafe { foreign_at(Location::caller(), reads, writes, f) }
}

/// The same, made at another line.
///
/// # Safety
///
/// - As [`foreign`].
pub(crate) unsafe fn foreign_at<I: Reads, O: Writes>(
    at: &'static Location<'static>,
    reads: I,
    mut writes: O,
    f: impl Fn(RawStream, I::Raw, O::Raw) -> Result<()> + Send + Sync + 'static,
) -> impl Op<Out = ()> {
    move |recorder| {
        let mut access: Vec<Access> = Vec::new();
        reads.access(&mut access);
        writes.access(&mut access);
        let call = Arc::new(move |stream: RawStream, places: &mut dyn Iterator<Item = (u64, usize)>| {
            let inputs = I::raw(places);
            f(stream, inputs, O::raw(places))
        });
        let work = Work::Foreign(ForeignWork { call, joint: None });
        recorder.push(Node::new("foreign".into(), at, access.into_iter().collect(), work), &[])
    }
}
