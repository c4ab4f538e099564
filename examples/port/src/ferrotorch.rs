//! As with ferrotorch-gpu: a device scalar, a pool that keeps buffers alive, a capture that is begun and ended.
//!
//! ```text
//! let mut a = DeviceScalar::new(stream, 0.0)?;
//! let pool = CapturePool::new();
//! pool.record_buffer(x);                                   // or the graph reads freed memory
//! let guard = CaptureGuard::begin_with_pool(stream, pool)?;
//! my_axpy(a.inner(), &x, &mut y, stream)?;
//! let graph = guard.finish()?;
//! graph.upload()?;
//! for v in 0..10 { a.update(v)?; graph.launch()?; }
//! ```

use dacapo::Result;
use dacapo::capture::{self, CaptureStream, Mode, Status};
use dacapo::graph::Pool;

use crate::{REPLAYS, Setting, expect};

/// Every form below.
pub fn run(setting: &Setting) -> Result<()> {
    begin_and_end(setting)?;
    scalar_and_pool(setting)
}

/// The same form here, for code that is being ported. It is `unsafe`, because raw calls on that stream are the caller's to
/// answer for; what goes through the guard is held by the graph, with no list to keep.
fn begin_and_end(setting: &Setting) -> Result<()> {
    let Setting { device, stream, kernels, .. } = setting;
    let (x, mut y) = (device.buffer(&setting.x)?, device.zeros::<f32>(setting.x.len())?);
    let mut a = device.scalar(0.0)?;
    // Only captures happen on such a stream, so no other work can get into one (and F19: there is no event tracking to
    // switch off).
    let side = CaptureStream::new(device)?;
    // F9: a guard; F1: modes, thread-local where none is named; F10: a graph that joins a pool.
    // SAFETY: nothing reaches the stream but the operation that the guard runs.
    let mut guard = unsafe { capture::begin_with_pool(&side, Mode::default(), &device.pool()) }?;
    expect("F2: the status can be asked", guard.status()? == Status::Active)?;
    guard.run(kernels.axpy_at(&a, &x, &mut y))?;
    let mut graph = guard.finish()?; // F8
    drop(x);
    for v in 0..REPLAYS {
        a.set(stream, v as f32)?;
        graph.launch(stream)?;
    }
    setting.check("begin and end", &stream.read(&y)?)?;

    // F9: a guard that is dropped ends its capture, and the stream is as before.
    // SAFETY: nothing is put on the stream.
    drop(unsafe { capture::begin(&side, Mode::Relaxed) }?);
    expect("a dropped guard", side.status()? == Status::None)?;
    // F8: a capture with nothing in it is an error, not an empty graph. F14: begin, closure and end in one call.
    // SAFETY: nothing is put on the stream.
    let empty = unsafe { capture::captured(&side, Mode::Relaxed, |_| Ok(())) };
    expect("a capture of nothing", empty.is_err())
}

/// F3: a scalar at a fixed place in device memory, set in the order of the stream. F10 to F13: a pool of what belongs
/// together; but what the graph uses needs no pool to stay alive.
fn scalar_and_pool(setting: &Setting) -> Result<()> {
    let Setting { device, stream, kernels, .. } = setting;
    let (x, mut y) = (device.buffer(&setting.x)?, device.zeros::<f32>(setting.x.len())?);
    let mut a = device.scalar(0.0)?;
    let pool = device.pool();
    let handle = pool.handle(); // F13: found again by its number, from any thread
    let mut graph = device.graph().label("port").pool(&pool).record(kernels.axpy_at(&a, &x, &mut y))?;
    drop(x);
    // F11: a sealed pool takes no more graphs; those in it go on. F12: any value can be kept, and is released in order.
    pool.keep(String::from("whatever must not die first"))?;
    pool.seal();
    expect("a sealed pool", device.graph().pool(&pool).record(kernels.axpy_at(&a, &y.share(), &mut y)).is_err())?;
    // F12: with a graph in it, nothing is let go.
    pool.unseal();
    expect("a pool in use", pool.clear().is_err())?;
    graph.preload(stream)?; // F5
    for v in 0..REPLAYS {
        a.set(stream, v as f32)?;
        graph.launch(stream)?; // F4
    }
    setting.check("scalar and pool", &stream.read(&y)?)?;
    expect("F6: successful launches are counted", graph.num_replays() == REPLAYS as u64)?;
    expect("F7: the graph's pool can be asked", graph.pool().is_some_and(|pool| pool.len() == 1))?;
    expect("F13: a handle is released once", Pool::release(handle) && !Pool::release(handle))
}
