//! Streams, events and captures.

use std::ffi::c_void;

use dacapo_driver::Driver;
use dacapo_driver::types::*;

use super::{Answer, Program, answer};

/// How a capture treats calls beside it.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    /// No thread may make calls that synchronise.
    Global = CU_STREAM_CAPTURE_MODE_GLOBAL as isize,
    /// The capturing thread may not.
    ThreadLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL as isize,
    /// Everybody may.
    Relaxed = CU_STREAM_CAPTURE_MODE_RELAXED as isize,
}

// SAFETY of every block here: out pointers are to locals of the right type, and handles are numbers that the driver
// looks up and refuses if it does not know them.
impl Program {
    /// A stream that neither waits for the legacy stream nor makes it wait.
    pub(crate) fn stream(&self) -> Answer<CUstream> {
        let mut stream = CUstream::NULL;
        // SAFETY: see above.
        answer(unsafe { self.driver.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING) }).map(|()| stream)
    }

    /// A stream that the legacy stream orders itself with.
    pub(crate) fn blocking_stream(&self) -> Answer<CUstream> {
        let mut stream = CUstream::NULL;
        // SAFETY: see above.
        answer(unsafe { self.driver.cuStreamCreate(&mut stream, CU_STREAM_DEFAULT) }).map(|()| stream)
    }

    /// `cuStreamDestroy`.
    pub(crate) fn destroy_stream(&self, stream: CUstream) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuStreamDestroy_v2(stream) })
    }

    /// `cuStreamSynchronize`.
    pub(crate) fn synchronize(&self, stream: CUstream) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuStreamSynchronize(stream) })
    }

    /// Lets time pass, so that work that can run has run, without waiting for it: asks a stream that has none.
    pub(crate) fn linger(&self) -> Answer {
        let stream = self.stream()?;
        for _ in 0..200 {
            // SAFETY: see above.
            answer(unsafe { self.driver.cuStreamQuery(stream) })?;
        }
        Ok(())
    }

    /// `cuStreamBeginCapture`.
    pub(crate) fn begin_capture(&self, stream: CUstream, mode: Mode) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuStreamBeginCapture_v2(stream, mode as CUstreamCaptureMode) })
    }

    /// `cuStreamEndCapture`.
    pub(crate) fn end_capture(&self, stream: CUstream) -> Answer<CUgraph> {
        let mut graph = CUgraph::NULL;
        // SAFETY: see above.
        answer(unsafe { self.driver.cuStreamEndCapture(stream, &mut graph) }).map(|()| graph)
    }

    /// An event with time.
    pub(crate) fn event(&self) -> Answer<CUevent> {
        let mut event = CUevent::NULL;
        // SAFETY: see above.
        answer(unsafe { self.driver.cuEventCreate(&mut event, CU_EVENT_DEFAULT) }).map(|()| event)
    }

    /// An event without time.
    pub(crate) fn event_without_time(&self) -> Answer<CUevent> {
        let mut event = CUevent::NULL;
        // SAFETY: see above.
        answer(unsafe { self.driver.cuEventCreate(&mut event, CU_EVENT_DISABLE_TIMING) }).map(|()| event)
    }

    /// `cuEventDestroy`.
    pub(crate) fn destroy_event(&self, event: CUevent) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuEventDestroy_v2(event) })
    }

    /// `cuEventRecord`.
    pub(crate) fn record(&self, event: CUevent, stream: CUstream) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuEventRecord(event, stream) })
    }

    /// `cuEventRecordWithFlags` with `CU_EVENT_RECORD_EXTERNAL`: a node of its own in a capture.
    pub(crate) fn record_external(&self, event: CUevent, stream: CUstream) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL) })
    }

    /// `cuStreamWaitEvent`.
    pub(crate) fn wait(&self, stream: CUstream, event: CUevent) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_DEFAULT) })
    }

    /// `cuEventQuery`.
    pub(crate) fn query(&self, event: CUevent) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuEventQuery(event) })
    }

    /// `cuEventElapsedTime`, in milliseconds.
    pub(crate) fn elapsed(&self, start: CUevent, end: CUevent) -> Answer<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: see above.
        answer(unsafe { self.driver.cuEventElapsedTime_v2(&mut milliseconds, start, end) }).map(|()| milliseconds)
    }

    /// `cuLaunchHostFunc` with a function of the program that is given the program itself.
    pub(crate) fn host_function(&self, stream: CUstream, function: fn(&Program)) -> Answer {
        /// What the host function needs; freed by it.
        struct Call {
            program: *const Program,
            function: fn(&Program),
        }
        unsafe extern "C" fn run(data: *mut c_void) {
            // SAFETY: `data` is the box leaked below, and the driver calls this once.
            let call = unsafe { Box::from_raw(data.cast::<Call>()) };
            // SAFETY: the program waits for the stream before it ends, as every program here that uses this does.
            (call.function)(unsafe { &*call.program });
        }
        let data = Box::into_raw(Box::new(Call { program: self, function }));
        // SAFETY: `run` takes what `data` points to.
        answer(unsafe { self.driver.cuLaunchHostFunc(stream, Some(run), data.cast()) })
    }
}
