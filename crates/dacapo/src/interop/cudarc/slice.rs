//! Memory that changes hands.
//!
//! Nothing is copied. Whoever takes memory waits on the host until the other's last use is over: from then on its own
//! order is enough.

use std::sync::Arc;

use ::cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut, sys};
use dacapo_ledger::Touching;

use super::{Refused, refused};
use crate::device::Device;
use crate::element::Pod;
use crate::error::{Error, Result};
use crate::memory::{Allocation, Buffer, Kind, Owner};
use crate::nesting::refuse_in_recording;

/// What the library relies on: a slice's alignment is known from its offset.
pub(super) const ALIGNMENT: u64 = 256;

impl<T: Pod> Buffer<T> {
    /// Takes over a cudarc slice. Waits for the work on its stream, and for its events.
    ///
    /// After its last use the memory is freed by cudarc, as the slice would have been.
    ///
    /// # Errors
    ///
    /// With the slice:
    ///
    /// - [`ErrorKind::Interop`](crate::ErrorKind::Interop): it belongs to another context, its stream is capturing, or
    ///   its address is not a multiple of 256.
    /// - [`ErrorKind::EagerInRecording`](crate::ErrorKind::EagerInRecording); any error from earlier work.
    #[track_caller]
    pub fn from_cudarc(device: &Device, mut slice: CudaSlice<T>) -> Result<Buffer<T>, Refused<CudaSlice<T>>>
    where
        T: 'static,
    {
        let taken = take(device, &mut slice).and_then(|address| {
            let allocation = Allocation::owned(device, Kind::Device, slice.num_bytes(), Owner::Borrowed)?;
            Ok((address, allocation))
        });
        match taken {
            Ok((address, allocation)) => {
                let len = slice.len();
                Ok(Buffer::new(allocation.theirs(address, slice), len))
            }
            Err(error) => Err(Refused::new(error, slice)),
        }
    }

    /// Gives the memory to cudarc, which frees it on `stream`. Waits for our last use of it.
    ///
    /// A buffer that came from cudarc is returned as the slice it was, and is freed on the stream it came with.
    ///
    /// # Errors
    ///
    /// With the buffer:
    ///
    /// - [`ErrorKind::Interop`](crate::ErrorKind::Interop): something else holds the memory (a graph, whose replays
    ///   would touch freed memory, or a [`Shared`](crate::memory::Shared)), or the stream belongs to another context.
    /// - [`ErrorKind::EagerInRecording`](crate::ErrorKind::EagerInRecording); any error from earlier work.
    #[track_caller]
    pub fn into_cudarc(self, stream: &Arc<CudaStream>) -> Result<CudaSlice<T>, Refused<Buffer<T>>>
    where
        T: 'static,
    {
        if let Err(error) = self.can_be_given(stream) {
            return Err(Refused::new(error, self));
        }
        let (allocation, len) = (self.allocation().clone(), self.len());
        drop(self);
        let given = match Arc::try_unwrap(allocation) {
            Ok(only) => only,
            // Another thread cannot have taken a hold: it would have needed the buffer.
            Err(_) => unreachable!("`can_be_given` has counted the holds"),
        };
        match given.give_away() {
            (_, Owner::Theirs(slice)) => {
                let slice = slice.downcast::<CudaSlice<T>>().ok().and_then(Arc::into_inner);
                Ok(slice.expect("made of a slice of this type, and held here only"))
            }
            // SAFETY: memory of `len` elements from the driver's allocator, of this context, which nobody else knows any
            // more and nothing uses.
            (address, _) => Ok(unsafe { stream.upgrade_device_ptr(address, len) }),
        }
    }

    fn can_be_given(&self, stream: &Arc<CudaStream>) -> Result<()> {
        refuse_in_recording("Buffer::into_cudarc")?;
        let allocation = self.allocation();
        let device = allocation.device();
        device.enter()?;
        device.expect_context_of(stream.context())?;
        if allocation.bytes() == 0 {
            return Err(refused("cudarc's slices have memory, and this buffer has none"));
        }
        if !allocation.is_ours_or_theirs() {
            return Err(refused("this memory is a part of something else, and cannot be freed alone"));
        }
        if Arc::strong_count(allocation) > 1 {
            return Err(refused(format!(
                "{} others hold this memory: graphs that would replay into it, shared handles, or launches in flight",
                Arc::strong_count(allocation) - 1
            )));
        }
        if let Some(memory) = allocation.memory() {
            for pending in device.ledger().wait_list(memory, Touching::Write) {
                device.wait_for(&pending)?;
            }
        }
        // A slice has two events where its context tracks, and cudarc panics if one cannot be made: tried here first.
        stream.context().check_err()?;
        drop((stream.context().new_event(None)?, stream.context().new_event(None)?));
        Ok(())
    }
}

/// Checks a slice and waits until nothing of cudarc's uses it: its address.
fn take<T: Pod>(device: &Device, slice: &mut CudaSlice<T>) -> Result<u64> {
    refuse_in_recording("Buffer::from_cudarc")?;
    device.enter()?;
    device.expect_context_of(slice.context())?;
    let address = quiet(device, slice)?;
    if slice.num_bytes() > 0 && !address.is_multiple_of(ALIGNMENT) {
        return Err(refused(format!(
            "the memory is at {address:#x}, and a buffer begins at a multiple of {ALIGNMENT}"
        )));
    }
    Ok(address)
}

/// Waits until nothing of cudarc's uses some memory: its address.
pub(super) fn quiet<T: Pod, M: DevicePtrMut<T>>(device: &Device, memory: &mut M) -> Result<u64> {
    let stream = memory.stream().clone();
    let context = stream.context().clone();
    if stream.capture_status()? != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE {
        return Err(refused("the slice's stream is capturing: what was captured has not happened"));
    }
    let _relaxed = device.relaxed()?;
    // cudarc looks at events only while it counts a second stream, and what was put on one that is dropped since may still
    // run. One more stream makes it look.
    let alone = context.is_event_tracking() && !context.is_in_multi_stream_mode();
    let _second = if alone { Some(stream.fork()?) } else { None };
    let address = {
        // The stream waits for the slice's events, where it has any; what that answered is parked in the context.
        let (address, _behind) = memory.device_ptr_mut(&stream);
        address
    };
    context.check_err()?;
    stream.synchronize().map_err(Error::from)?;
    Ok(address)
}
