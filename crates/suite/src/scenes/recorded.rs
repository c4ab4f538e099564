//! Pages of graphs that were recorded.

use dacapo::flow::above;
use dacapo::inspect::Report;
use dacapo::page::Page;
use dacapo::{Buffer, Device, Op, Recorder, Result, Slot, baked, copy, fill};

use crate::forms::kernels::Kernels;

/// The example of the README, launched once: a copy into a temp, and a kernel that reads it.
///
/// # Errors
///
/// - Of the library.
pub fn saxpy() -> Result<Page> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let k = Kernels::load(&device)?;
    let x = device.buffer(&[1.0, 2.0, 3.0])?.named("x");
    let mut y = device.zeros::<f32>(3)?.named("y");
    let a = Slot::new(0.5);
    let mut graph = device.graph().label("saxpy").record(|r: &mut Recorder<'_>| {
        let mut t = r.alloc(x.len())?;
        r.run(copy(&x, &mut t))?;
        r.run(k.saxpy(&a, &t, &mut y))
    })?;
    graph.launch(&stream)?;
    Ok(Page::new(graph.inspect()).memory(&graph.memory()).books(&device.memory_report()?))
}

/// A loop of four rounds; in each a step, and then one of two things.
///
/// # Errors
///
/// - Of the library.
pub fn loop_with_a_branch() -> Result<Page> {
    let device = Device::software()?;
    let k = Kernels::load(&device)?;
    let mut y = device.zeros::<f32>(64)?.named("y");
    let mut z = device.zeros::<f32>(64)?.named("z");
    // As nodes of their own: a small branch would be kernels that look for themselves.
    let graph = device.graph().label("rounds").guarded(false).record(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(4), |r: &mut Recorder<'_>| {
            let step = |r: &mut Recorder<'_>| {
                r.run(k.add_stride(baked(1.0), &mut y))?;
                r.run(k.add_stride(baked(-0.5), &mut y))
            };
            r.run(step.label("step"))?;
            let (above, y) = (above(y.at(0), baked(2.0)), &y);
            r.when(above, |r: &mut Recorder<'_>| r.run(copy(y, &mut z)))?
                .otherwise(|r: &mut Recorder<'_>| r.run(fill(&mut z, baked(0.0))))
        })
        .map(drop)
    })?;
    Ok(Page::new(graph.inspect()))
}

/// So many layers of four ops each, under labels, with temps that share memory.
///
/// # Errors
///
/// - Of the library.
pub fn layers(count: usize) -> Result<Page> {
    let device = Device::software()?;
    let graph = layered(&device, count, 1.0)?;
    Ok(graph.books(&device.memory_report()?))
}

/// Four layers with the times of a replay, and of the same ops one after the other.
///
/// # Errors
///
/// - Of the library.
pub fn timed() -> Result<Page> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let k = Kernels::load(&device)?;
    let x = device.zeros::<f32>(256)?.named("x");
    let mut y = device.zeros::<f32>(256)?.named("y");
    let mut graph = device.graph().label("timed").record(layers_of(&k, &x, &mut y, 4, 1.0))?;
    let (eager, replayed) = (stream.profile(graph.as_op())?, graph.profile(&stream)?);
    Ok(Page::new(graph.inspect()).profile(replayed).profile(eager))
}

/// Two recordings of the same thing: the second has a layer more, and adds another number.
///
/// # Errors
///
/// - Of the library.
pub fn compared() -> Result<Page> {
    let device = Device::software()?;
    let before: Report = layered(&device, 2, 1.0)?.report;
    Ok(layered(&device, 3, 2.0)?.since(before))
}

fn layered(device: &Device, count: usize, by: f32) -> Result<Page> {
    let k = Kernels::load(device)?;
    let x = device.zeros::<f32>(256)?.named("x");
    let mut y = device.zeros::<f32>(256)?.named("y");
    let graph = device.graph().label("layers").record(layers_of(&k, &x, &mut y, count, by))?;
    Ok(Page::new(graph.inspect()).memory(&graph.memory()))
}

fn layers_of(k: &Kernels, x: &Buffer<f32>, y: &mut Buffer<f32>, count: usize, by: f32) -> impl Op<Out = ()> {
    move |r: &mut Recorder<'_>| {
        let mut last = r.alloc(x.len())?;
        r.run(copy(x, &mut last))?;
        for layer in 0..count {
            let (mut q, mut v, mut next) = (r.alloc(x.len())?, r.alloc(x.len())?, r.alloc(x.len())?);
            let part = |part: &str| format!("layer{layer}/{part}");
            r.run(k.add(&last, baked(by), &mut q).label(part("attend")))?;
            r.run(k.add(&last, baked(3.0), &mut v).label(part("attend")))?;
            r.run(k.multiply(&q, &v, &mut next).label(part("attend")))?;
            r.run(k.add_stride(baked(1.0), &mut next).label(part("mlp")))?;
            last = next;
        }
        r.run(copy(&last, y))
    }
}
