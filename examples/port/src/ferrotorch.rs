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

use dacapo::{Pool, Result};

use crate::{REPLAYS, Setting, expect};

/// Every form below.
pub fn run(setting: &Setting) -> Result<()> {
    scalar_and_pool(setting)
}

/// F3: a scalar at a fixed place in device memory, set in the order of the stream. F10 to F13: a pool of what belongs
/// together; but what the graph uses needs no pool to stay alive.
fn scalar_and_pool(setting: &Setting) -> Result<()> {
    let Setting { device, stream, kernels, .. } = setting;
    let (x, mut y) = (device.buffer(&setting.x)?, device.zeros::<f32>(setting.x.len())?);
    let mut a = device.scalar(0.0)?;
    let pool = device.pool();
    let handle = pool.handle(); // F13: found again by its number, from any thread
    let mut graph = device.recording().label("port").pool(&pool).record(kernels.axpy_at(&a, &x, &mut y))?;
    drop(x);
    // F11: a sealed pool takes no more graphs; those in it go on. F12: any value can be kept, and is released in order.
    pool.keep(String::from("whatever must not die first"))?;
    pool.seal();
    expect("a sealed pool", device.recording().pool(&pool).record(kernels.axpy_at(&a, &y.share(), &mut y)).is_err())?;
    // F12: with a graph in it, nothing is let go.
    pool.unseal();
    expect("a pool in use", pool.clear().is_err())?;
    graph.upload(stream)?; // F5
    for v in 0..REPLAYS {
        a.set(stream, v as f32)?;
        graph.launch(stream)?; // F4
    }
    setting.check("scalar and pool", &stream.read(&y)?)?;
    expect("F6: successful launches are counted", graph.num_replays() == REPLAYS as u64)?;
    expect("F7: the graph's pool can be asked", graph.pool().is_some_and(|pool| pool.len() == 1))?;
    expect("F13: a handle is released once", Pool::release(handle) && !Pool::release(handle))
}
