//! As with numr: the closure writes into tensors that are passed in, and the graph keeps those that were listed.
//!
//! ```text
//! let graph = capture_graph_into_with_arena(&client, &[&a, &x], &[&y], bytes, |c| {
//!     let scaled = c.mul(&a, &x)?;             // in the arena
//!     c.add_into(&y, &y, &scaled)
//! })?;
//! for v in 0..10 { client.write_host_slice(&a, &[v])?; graph.launch()?; }
//! ```

use dacapo::{Result, Slice};

use crate::{REPLAYS, Setting, expect};

/// Every form below.
pub fn run(setting: &Setting) -> Result<()> {
    fixed_buffers(setting)?;
    any_buffers(setting)
}

/// With fixed buffers, destination passing is what every operation does. N2: intermediates are temps; the arena is planned
/// from their lifetimes, so there is no size to guess and none to exhaust. N1, N4: whatever is used is kept alive, in the
/// right order, whether anybody listed it or not.
fn fixed_buffers(setting: &Setting) -> Result<()> {
    let Setting { device, stream, kernels, .. } = setting;
    let (x, mut y) = (device.buffer(&setting.x)?, device.zeros::<f32>(setting.x.len())?);
    let mut a = device.scalar(0.0)?;
    let mut graph = device.record(|r| {
        let (mut scaled, mut sum) = (r.alloc(x.len())?, r.alloc(x.len())?);
        r.run(kernels.scale(&a, &x, &mut scaled))?;
        r.run(kernels.add(&y, &scaled, &mut sum))?;
        r.run(dacapo::copy(&sum, &mut y))
    })?;
    expect("the arena", graph.memory().temps() > 0)?;
    drop(x);
    for v in 0..REPLAYS {
        a.set(stream, v as f32)?;
        graph.launch(stream)?;
    }
    setting.check("fixed buffers", &stream.read(&y)?)?;
    // N3, N6: what the graph holds can be asked and printed.
    expect("three operations in a line", graph.len() == 3 && graph.dependencies() == [(0, 1), (1, 2)])
}

/// N1 as a function of memory: recorded once, launched on whatever slices fit, checked at each launch.
fn any_buffers(setting: &Setting) -> Result<()> {
    let Setting { device, stream, kernels, .. } = setting;
    let x = device.buffer(&setting.x)?;
    let a = device.buffer(&(0..REPLAYS).map(|v| v as f32).collect::<Vec<f32>>())?;
    let (mut y, mut z) = (device.zeros::<f32>(x.len())?, device.zeros::<f32>(x.len())?);
    let step =
        |r: &mut dacapo::Recorder<'_>, (a, x, y): (&Slice<f32>, &Slice<f32>, &Slice<f32>), out: &mut Slice<f32>| {
            let mut scaled = r.alloc(x.len())?;
            r.run(kernels.scale(a.at(0), x, &mut scaled))?;
            r.run(kernels.add(y, &scaled, out))
        };
    let mut graph = device.graph().record_into((&a[..1], &x[..], &y[..]), &mut z[..], step)?;
    for v in 0..REPLAYS {
        graph.launch(stream, (&a[v..v + 1], &x, &y), &mut z)?;
        std::mem::swap(&mut y, &mut z);
    }
    setting.check("any buffers", &stream.read(&y)?)?;
    // A slice of another length is an error that says so, and nothing runs.
    expect("a wrong length", graph.launch(stream, (&a[..2], &x, &y), &mut z).is_err())
}
