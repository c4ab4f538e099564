//! Another library's work.

use std::panic::Location;
use std::sync::Arc;

use crate::device::RawStream;
use crate::error::Result;
use crate::memory::{Access, Reads, Writes};
use crate::record::{ForeignWork, Node, Op, Work};

/// Work that only a stream can record: a library's call, another crate's kernel.
///
/// `f` is called with a stream to enqueue on and the addresses of what was declared, when those are known: once for each
/// recording, with a private stream that is captured into the graph; once for each eager run, with the user's stream. It
/// may be called again if a capture was broken from outside, and is for each [`Graph::profile`](crate::Graph::profile). What
/// it enqueues is frozen: slots and rebound slices do not reach into it, and stand-ins of `record_into` are refused. What it
/// must keep alive it owns: the graph keeps `f` until its last replay is over.
///
/// # Safety
///
/// `f` must, on that stream, only enqueue work that:
///
/// - touches only the declared memory, and writes only what is declared as written;
/// - may be replayed any number of times, also after `f` has returned, as long as `f` itself is kept;
/// - ends.
///
/// And `f` must not synchronise or query the stream, nor keep the stream's handle or an address.
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
        let work = Work::Foreign(ForeignWork { call });
        recorder.push(Node::new("foreign".into(), at, access.into_iter().collect(), work), &[])
    }
}
