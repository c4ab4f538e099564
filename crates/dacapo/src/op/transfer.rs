//! Copies and fills.

use std::panic::Location;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::element::{Pod, bytes_of};
use crate::error::{Error, Result};
use crate::kernel::ToArg;
use crate::memory::{Access, FromHost, HostSide, Slice, ToHost};
use crate::record::{FillRecipe, Node, Op, Work};
use crate::value::{Snapshot, Value};

fn same_length(what: &'static str, source: usize, target: usize) -> Result<()> {
    match source == target {
        true => Ok(()),
        false => Err(Error::lengths(what, [("`source`", source), ("`target`", target)], "elements")),
    }
}

/// Copies device memory to device memory. If the lengths differ, recording or running it is an error.
///
/// The two may be on two GPUs, or on two devices of a [`software_group`](crate::Device::software_group): then it runs on a stream
/// or in a graph of either, and has an order with the work of both.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// let devices = dacapo::Device::software_group(2)?; // or Device::cuda(0)?, Device::cuda(1)?
/// let (here, there) = (devices[0].stream()?, devices[1].stream()?);
/// let x = devices[0].buffer(&[1u32, 2, 3])?;
/// let mut y = devices[1].zeros::<u32>(3)?;
/// here.run(dacapo::copy(&x, &mut y))?;
/// assert_eq!(there.read(&y)?, [1, 2, 3]); // waits for the other device's stream by itself
/// # Ok(()) }
/// ```
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let x = device.buffer(&[1u32, 2, 3])?;
/// let mut y = device.zeros::<u32>(3)?;
/// stream.run(dacapo::copy(&x, &mut y))?;
/// assert_eq!(stream.read(&y)?, [1, 2, 3]);
/// assert!(stream.run(dacapo::copy(&x[..2], &mut y)).is_err());
/// # Ok(()) }
/// ```
#[doc(alias = "memcpy")]
#[doc(alias = "cudaMemcpy")]
#[doc(alias = "cudaMemcpyAsync")]
#[doc(alias = "dtod")]
#[track_caller]
pub fn copy<T: Pod>(source: &Slice<T>, target: &mut Slice<T>) -> impl Op<Out = ()> {
    let at = Location::caller();
    move |recorder| {
        same_length("copy", source.len(), target.len()).map_err(|e| recorder.blame(e, "copy", at))?;
        let access = smallvec![Access::read("source", source), Access::out("target", target)];
        recorder.push(Node::new("copy".into(), at, access, Work::Copy), &[])
    }
}

/// Sets every element to one value.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<f32>(4)?;
/// stream.run(dacapo::fill(&mut y[1..3], dacapo::baked(2.0)))?;
/// assert_eq!(stream.read(&y)?, [0.0, 2.0, 2.0, 0.0]);
/// # Ok(()) }
/// ```
#[doc(alias = "memset")]
#[doc(alias = "cudaMemset")]
#[track_caller]
pub fn fill<T: Pod>(target: &mut Slice<T>, value: impl Value<T>) -> impl Op<Out = ()> {
    let (at, value) = (Location::caller(), value.into_val());
    move |recorder| {
        let access = smallvec![Access::out("target", target)];
        let slot = value.slot();
        if !matches!(size_of::<T>(), 1 | 2 | 4) {
            // A memset knows elements of 1, 2 and 4 bytes; all others are a kernel of ours.
            let device = recorder.device().clone();
            let recipe = move |snapshot: &Snapshot<'_>| filled_with(snapshot, value.seen(snapshot));
            return device.own_kernels()?.fill(recorder, at, access, slot, size_of::<T>(), recipe);
        }
        let recipe: FillRecipe = Arc::new(move |snapshot| filled_with(snapshot, value.seen(snapshot)));
        recorder.push(Node::new("fill".into(), at, access, Work::Fill(recipe)), &[slot])
    }
}

/// The bytes of a fill's value. A report is told the value itself: bytes would be a riddle to people.
#[inline]
fn filled_with<T: Pod>(snapshot: &Snapshot<'_>, value: T) -> SmallVec<[u8; 16]> {
    if snapshot.wants_texts() {
        snapshot.tell(&mut std::iter::once(value.text().into()));
    }
    bytes_of(&[value]).into()
}

/// Copies a host buffer to device memory. In a graph, each replay copies what the host buffer holds at that time.
///
/// For a copy outside a graph, [`Stream::write`](crate::Stream::write) takes any slice.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut next = device.host(&[1u32, 2])?;
/// let mut x = device.zeros::<u32>(2)?;
/// let mut graph = device.record(dacapo::upload(&next, &mut x))?;
/// next.set(&[3, 4])?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&x)?, [3, 4]);
/// # Ok(()) }
/// ```
#[doc(alias = "htod")]
#[doc(alias = "memcpy")]
#[doc(alias = "cudaMemcpy")]
#[track_caller]
pub fn upload<T: Pod>(source: impl FromHost<T>, target: &mut Slice<T>) -> impl Op<Out = ()> {
    let at = Location::caller();
    move |recorder| {
        let HostSide { access, gate } = source.side();
        same_length("upload", access.len(), target.len()).map_err(|e| recorder.blame(e, "upload", at))?;
        let access = smallvec![access, Access::out("target", target)];
        let work = Work::Upload(gate);
        recorder.push(Node::new("upload".into(), at, access, work), &[])
    }
}

/// Copies device memory to a host buffer, at each replay.
///
/// For a copy outside a graph, [`Stream::read`](crate::Stream::read) returns a `Vec`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let x = device.buffer(&[1u32, 2])?;
/// let mut seen = device.host(&[0u32; 2])?;
/// let mut graph = device.record(dacapo::download(&x, &mut seen))?;
/// graph.launch(&stream)?;
/// assert_eq!(seen.to_vec()?, [1, 2]); // waits for the launch
/// # Ok(()) }
/// ```
#[doc(alias = "dtoh")]
#[doc(alias = "memcpy")]
#[doc(alias = "cudaMemcpy")]
#[track_caller]
pub fn download<T: Pod>(source: &Slice<T>, mut target: impl ToHost<T>) -> impl Op<Out = ()> {
    let at = Location::caller();
    move |recorder| {
        let HostSide { access, gate } = target.side();
        same_length("download", source.len(), access.len()).map_err(|e| recorder.blame(e, "download", at))?;
        let access = smallvec![Access::read("source", source), access];
        let work = Work::Download(gate);
        recorder.push(Node::new("download".into(), at, access, work), &[])
    }
}
