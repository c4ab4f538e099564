//! A page that has one of everything: what is kept of a version of the format is made of it.

use dacapo::flow::above;
use dacapo::page::Page;
use dacapo::{Buffer, Device, Op, Recorder, Result, Slot, baked, copy, fill};

use crate::forms::kernels::Kernels;

dacapo::kernels! {
    /// A declaration that promises too much.
    unsafe struct Careless(include_str!("../../kernels/forms.ptx")) {
        /// y ← x\[offset..\]
        fn window_of(n: u32 = y.len(), offset: u32, x: &[u32], y: &out [u32]) {
            entry: "window";
            grid: linear(y.len(), 32);
        }
    }
}

/// What the graph works on.
struct Data {
    x: Buffer<f32>,
    y: Buffer<f32>,
    z: Buffer<f32>,
    from: Buffer<u32>,
    to: Buffer<u32>,
    offset: Slot<u32>,
}

/// Labels, a loop with a branch in it, temps that share memory, a slot, times of a replay and of an eager run, memory, a
/// finding at an op, and an earlier recording to compare with.
///
/// # Errors
///
/// - Of the library.
pub fn everything() -> Result<Page> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let mut data = Data {
        x: device.zeros(256)?.named("x"),
        y: device.zeros(256)?.named("y"),
        z: device.zeros(256)?.named("z"),
        from: device.zeros(64)?.named("from"),
        to: device.zeros(64)?.named("to"),
        offset: Slot::new(0),
    };
    let (k, careless) = (Kernels::load(&device)?, Careless::load(&device)?);
    let record = |data: &mut Data, layers| {
        device.graph().label("everything").guarded(false).record(steps(&k, &careless, data, layers))
    };
    let before = record(&mut data, 1)?.inspect();
    let mut graph = record(&mut data, 2)?;
    let (eager, replayed) = (stream.profile(graph.as_op())?, graph.profile(&stream)?);
    let page = Page::new(graph.inspect()).memory(&graph.memory()).books(&device.memory_report()?);
    let page = page.since(before).profile(replayed).profile(eager);
    // Far behind the end: the device is lost by it, and has told what was found.
    data.offset.set(1 << 20);
    let lost = graph.launch(&stream).and_then(|launched| launched.wait());
    assert!(lost.is_err() && !device.found().is_empty(), "a kernel that reads beyond its memory is found");
    Ok(page.findings(device.found()))
}

fn steps(k: &Kernels, careless: &Careless, data: &mut Data, layers: usize) -> impl Op<Out = ()> {
    let Data { x, y, z, from, to, offset } = data;
    move |r: &mut Recorder<'_>| {
        let mut last = r.alloc(x.len())?;
        r.run(copy(&*x, &mut last))?;
        for layer in 0..layers {
            let (mut q, mut next) = (r.alloc(x.len())?, r.alloc(x.len())?);
            let part = |part: &str| format!("layer{layer}/{part}");
            r.run(k.add(&last, baked(1.0), &mut q).label(part("attend")))?;
            r.run(k.multiply(&q, &last, &mut next).label(part("attend")))?;
            r.run(k.add_stride(baked(layers as f32), &mut next).label(part("mlp")))?;
            last = next;
        }
        r.run(copy(&last, &mut *y))?;
        r.repeat_times(baked(3), |r: &mut Recorder<'_>| {
            r.run(k.add_stride(baked(1.0), &mut *y))?;
            let (above, y) = (above(y.at(0), baked(2.0)), &*y);
            r.when(above, |r: &mut Recorder<'_>| r.run(copy(y, &mut *z)))?
                .otherwise(|r: &mut Recorder<'_>| r.run(fill(&mut *z, baked(0.0))))
        })?;
        r.run(careless.window_of(&*offset, &*from, &mut *to).label("reads"))
    }
}
