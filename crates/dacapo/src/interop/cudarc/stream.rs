//! One stream, as both libraries know it.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock};

use ::cudarc::driver::{CudaStream, sys};
use dacapo_driver::types::CUstream;
use dacapo_ledger::LaneKind;

use super::refused;
use crate::device::{Device, LaneStream, Notes, RawHandle, Stream};
use crate::error::Result;

impl Stream {
    /// A cudarc stream as one of ours. We keep it alive and never destroy it.
    ///
    /// Our work on it is ordered as on any other stream. Work that cudarc puts there is unknown to us: see
    /// [`interop::cudarc`](crate::interop::cudarc). Make it once and clone it: two made from the same stream wait for
    /// each other needlessly.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Interop`](crate::ErrorKind::Interop): it belongs to another context, or it is a default stream.
    ///   The legacy default stream waits for all others; the per-thread one is a different stream in each thread.
    ///
    /// # Safety
    ///
    /// - While our work is put on it, the stream is not capturing: cudarc's `begin_capture` is safe to call, but the
    ///   work would then run when its graph is launched, and not when we expect it.
    pub unsafe fn from_cudarc(device: &Device, stream: &Arc<CudaStream>) -> Result<Stream> {
        device.enter()?;
        device.expect_context_of(stream.context())?;
        let raw = CUstream::from_bits(stream.cu_stream().addr() as u64);
        // 0, 1 and 2 are the default streams: cuda.h, `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`.
        if raw.bits() <= 2 {
            return Err(refused("a default stream cannot be used: make one with `CudaContext::new_stream`"));
        }
        let theirs: Arc<dyn Any + Send + Sync> = stream.clone();
        let stream = LaneStream {
            raw: RawHandle(raw),
            drops: device.0.drops.clone(),
            notes: Notes::default(),
            torn: Mutex::default(),
            theirs: OnceLock::from(theirs),
            borrowed: true,
            retained: device.0.cuda.retained.clone(),
        };
        Ok(Stream::on(device, stream, LaneKind::User, false))
    }

    /// Lends the stream to cudarc's calls, in the context that [`Device::to_cudarc`] returns.
    ///
    /// What they put there runs in stream order and is unknown to us: see [`interop::cudarc`](crate::interop::cudarc).
    /// Clones of the stream, and slices made with it, may outlive the closure; such slices are freed on the stream when
    /// they are dropped. The stream is not destroyed before they are gone.
    ///
    /// # Errors
    ///
    /// - As [`Device::to_cudarc`].
    /// - [`ErrorKind::EagerInRecording`](crate::ErrorKind::EagerInRecording): inside a recording.
    ///
    /// # Safety
    ///
    /// - While our work is put on it, the stream is not capturing, as for [`Stream::from_cudarc`].
    /// - What is put there does not touch our memory, except through [`foreign`](crate::interop::cudarc::foreign).
    /// - cudarc does not count a lent stream: without a second stream of its own it tracks no events. In that case,
    ///   synchronise before a slice that was used here is used on another stream, and before a slice that was used on
    ///   two streams is given to [`Buffer::from_cudarc`](crate::Buffer::from_cudarc).
    #[track_caller]
    pub unsafe fn with_cudarc<R>(&self, f: impl FnOnce(&Arc<CudaStream>) -> R) -> Result<R> {
        self.0.enter("Stream::with_cudarc")?;
        let lane = self.0.lane.stream();
        if let Some(theirs) = lane.theirs.get() {
            let theirs = theirs.clone().downcast::<CudaStream>();
            let theirs = theirs.unwrap_or_else(|_| unreachable!("only cudarc's streams are kept with a lane"));
            return Ok(f(&theirs));
        }
        let context = self.device().to_cudarc()?;
        let raw: sys::CUstream = std::ptr::with_exposed_provenance_mut(lane.raw.0.bits() as usize);
        // SAFETY: the stream is of this context, and is not destroyed while anybody but its lane holds what is made here.
        let made: Arc<dyn Any + Send + Sync> = unsafe { context.wrap_borrowed_stream(raw) };
        let _ = lane.theirs.set(made);
        // SAFETY: the caller's promises.
        unsafe { self.with_cudarc(f) }
    }
}
