//! As with cuda-async: operations are values that run later, a scope records some of them, `update` runs one before the next
//! launch.
//!
//! ```text
//! let graph = CudaGraph::scope(&stream, |s| s.record(axpy(&mut y, &x, &a)))?;   // `a` is a tensor of one element
//! for v in 0..10 {
//!     graph.update(memcpy(&mut a, &a_tensor_with(v)))?;
//!     graph.launch().sync_on(&stream)?;
//! }
//! ```

use dacapo::{Op, Result, Slot, copy, fill};

use crate::{REPLAYS, Setting, expect};

/// Every form below.
pub fn run(setting: &Setting) -> Result<()> {
    scope(setting)?;
    one_operation(setting)
}

/// A1, A6: a scope is a closure over a recorder. Each `run` consumes its operation and ends its borrows, so what one
/// operation writes the next may read. A14: memory is asked for inside, and planned.
fn scope(setting: &Setting) -> Result<()> {
    let Setting { device, stream, kernels, .. } = setting;
    let (x, a) = (device.buffer(&setting.x)?, Slot::new(0.0));
    let mut graph = device.record(|r| {
        let mut twin = r.alloc(x.len())?;
        r.run(copy(&x, &mut twin))?;
        let mut y = r.output(x.len())?;
        r.run(kernels.axpy(&a, &twin, &mut y))?;
        Ok(y)
    })?;
    for v in 0..REPLAYS {
        // A3: no tensor of one element, no copy: the number is patched into the graph by the next launch.
        a.set(v as f32);
        // A4: on any stream (A5: so the graph has none of its own), and without waiting. What this returns can be waited
        // for, awaited or dropped; the last keeps the order of the stream.
        graph.launch(stream)?;
    }
    setting.check("scope", &stream.read(graph.outputs())?)?;
    // A2: the output is lent by each launch; taken out for good, the graph is consumed, and so "once" is a matter of types.
    setting.check("scope, output taken", &stream.read(&graph.into_outputs())?)
}

/// A7: an operation is a value. It can be named, composed, run now or recorded.
fn one_operation(setting: &Setting) -> Result<()> {
    let Setting { device, stream, kernels, .. } = setting;
    let (x, a) = (device.buffer(&setting.x)?, Slot::new(1.0));
    let (mut y, mut z) = (device.zeros::<f32>(x.len())?, device.zeros::<f32>(x.len())?);
    let both = kernels.axpy(&a, &x, &mut y).zip(kernels.axpy(&a, &x, &mut z)).label("both");
    let mut graph = device.record(both)?;
    // They touch different memory, so nothing orders them.
    expect("two independent operations", graph.dependencies().is_empty())?;
    for v in 0..REPLAYS {
        a.set(v as f32);
        graph.launch_sync(stream)?;
    }
    setting.check("first of two", &stream.read(&y)?)?;
    setting.check("second of two", &stream.read(&z)?)?;
    // A3 for whole arrays: any operation on the same stream before the next launch is in order with it.
    stream.run(fill(&mut y, &Slot::new(7.0)))?;
    a.set(0.0);
    graph.launch(stream)?;
    expect("an update before a launch", stream.read(&y)? == vec![7.0; x.len()])
}
