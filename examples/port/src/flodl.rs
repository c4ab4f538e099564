//! As with flodl: some eager runs to warm up, a capture on a side stream, then replays on static inputs.
//!
//! ```text
//! let graph = cuda_graph_capture(3, pool, || y.add_(&x.mul(&a)?))?;      // y has moved three times before the capture
//! for v in 0..10 { a.copy_(&full(v), non_blocking)?; graph.replay()?; }
//! cuda_synchronize();
//! ```

use dacapo::{Graph, Recorder, Result, Slot};

use crate::{REPLAYS, Setting, expect};

/// Every form below.
pub fn run(setting: &Setting) -> Result<()> {
    warm_up_and_replay(setting)?;
    one_object_several_captures(setting)
}

/// L3: eager runs before the recording; they leave no trace, because the recorder knows what they wrote and puts it back.
/// L4: they run on a stream of the library's own. L6: nothing in the closure can synchronise or read: it would be an error
/// with a name.
fn warm_up_and_replay(setting: &Setting) -> Result<()> {
    let Setting { device, stream, kernels, .. } = setting;
    // L9: inputs are buffers that stay where they are; `write` copies the next batch there, in the order of the stream.
    let (mut x, mut y) = (device.zeros::<f32>(setting.x.len())?, device.zeros::<f32>(setting.x.len())?);
    let a = Slot::new(1.0);
    let pool = device.pool();
    // L1: graphs of one pool belong together: they hold it, and their replays never overlap, whatever their streams.
    let step = |r: &mut Recorder<'_>| r.run(kernels.axpy(&a, &x, &mut y));
    let mut graph = device.graph().pool(&pool).warmup(3).record(step)?;
    for v in 0..REPLAYS {
        stream.write(&mut x, &setting.x)?;
        a.set(v as f32);
        graph.launch(stream)?; // L5
    }
    device.synchronize()?; // L12; reading would have waited, too
    setting.check("warm-up and replay", &stream.read(&y)?)
}

/// L2: one object, empty at first, recorded, reset, recorded again.
fn one_object_several_captures(setting: &Setting) -> Result<()> {
    let Setting { device, stream, kernels, .. } = setting;
    let (x, mut y) = (device.buffer(&setting.x)?, device.zeros::<f32>(setting.x.len())?);
    let a = Slot::new(0.0);
    let mut graph = Graph::empty(device, ());
    expect("an empty graph does not launch", graph.launch(stream).is_err())?;
    for half in 0..2 {
        graph.rerecord(kernels.axpy(&a, &x, &mut y))?;
        for v in (0..REPLAYS).filter(|v| v % 2 == half) {
            a.set(v as f32);
            graph.launch(stream)?;
        }
        graph.reset();
    }
    setting.check("several captures", &stream.read(&y)?)
}
