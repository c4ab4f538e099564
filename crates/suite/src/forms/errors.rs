//! Errors: what is refused, by what rule, and that everything works after it.

use dacapo::grid::{self, Grid};
use dacapo::{Device, ErrorKind, Op, Recorder, Slot, baked, copy, fill};

use super::check::{Outcome, holds, refused, same, shape};
use super::forms;
use super::kernels::{Kernels, ramp};

forms!("errors": then_retry, grid_too_large, bad_module => "invalid-image", signature, overlap, panic_in_closure, out_of_memory);

/// An error, then the same device, stream and graph again.
fn then_retry(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y, mut short) = (device.buffer(&ramp(8))?, device.zeros::<f32>(8)?, device.zeros::<f32>(7)?);
    for _ in 0..3 {
        let is_condition = |kind: &ErrorKind| matches!(kind, ErrorKind::Requires { .. });
        refused("recorded", device.record(k.saxpy(baked(1.0), &x, &mut short)), is_condition)?;
        refused("eager", stream.run(k.saxpy(baked(1.0), &x, &mut short)), is_condition)?;
        let mut graph = device.record(k.saxpy(baked(1.0), &x, &mut y))?;
        shape(&graph, 1, &[])?;
        graph.launch(&stream)?;
    }
    let want: Vec<f32> = ramp(8).iter().map(|x| 3.0 * x).collect();
    same("y", stream.read(&y)?, want)?;
    same("the short one", stream.read(&short)?, [0.0; 7])
}

/// Geometry over a limit is refused, recorded and eagerly; no blocks is no work.
fn grid_too_large(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(4)?;
    let is_grid = |kind: &ErrorKind| matches!(kind, ErrorKind::GridTooLarge { .. });
    let grids = [
        grid::exact([1, 1, 1], [2048, 1, 1]),
        grid::exact([1, 70_000, 1], [1, 1, 1]),
        grid::exact([1, 1, 1], [1, 1, 65]),
        grid::exact([1, 1, 1], [0, 1, 1]),
        grid::linear(usize::MAX, 1),
        Grid { shared: 1 << 20, ..grid::linear(1, 1) },
    ];
    for grid in grids {
        refused(&format!("{grid:?}"), device.record(k.add_stride(baked(1.0), &mut y).with_grid(grid)), is_grid)?;
        refused(&format!("{grid:?}"), stream.run(k.add_stride(baked(1.0), &mut y).with_grid(grid)), is_grid)?;
    }
    let mut graph =
        device.record(k.add_stride(baked(1.0), &mut y).with_grid(grid::exact([70_000, 1, 1], [1, 1, 1])))?;
    shape(&graph, 1, &[])?;
    // No blocks is no work.
    let mut none = device.record(k.add_stride(baked(1.0), &mut y).with_grid(grid::exact([0, 1, 1], [32, 1, 1])))?;
    shape(&none, 1, &[])?;
    none.launch(&stream)?;
    same("y", stream.read(&y)?, [0.0; 4])?;
    drop(none);
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [1.0; 4])
}

dacapo::kernels! {
    /// Text that no driver takes.
    unsafe struct NotPtx("this is not PTX") {
        /// Nothing.
        fn nothing() { grid: exact([1, 1, 1], [1, 1, 1]); }
    }
}

dacapo::kernels! {
    /// A kernel that is not there.
    unsafe struct Missing(super::kernels::PTX) {
        /// Nothing.
        fn absent() { grid: exact([1, 1, 1], [1, 1, 1]); }
    }
}

/// PTX that is none, and an entry point that is not there.
fn bad_module(device: &Device) -> Outcome {
    refused("no PTX", NotPtx::load(device).map(|k| drop(k.nothing())), |kind| {
        matches!(kind, ErrorKind::BadModule { .. })
    })?;
    let missing = Missing::load(device).map(|k| drop(k.absent()));
    refused(
        "a missing entry point",
        missing,
        |kind| matches!(kind, ErrorKind::NoSuchKernel { name, .. } if name == "absent"),
    )?;
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(2)?;
    stream.run(k.add_stride(baked(1.0), &mut y))?;
    same("y", stream.read(&y)?, [1.0; 2])
}

dacapo::kernels! {
    /// `churn` with a parameter too few.
    unsafe struct Few(super::kernels::PTX) {
        /// Declared without `rounds`.
        fn churn(n: u32 = y.len(), y: &mut [u32]) { grid: linear(y.len(), 32); }
    }
}

dacapo::kernels! {
    /// `churn` with a parameter of another size.
    unsafe struct Wide(super::kernels::PTX) {
        /// Declared with 64 bits where there are 32.
        fn churn(n: u32 = y.len(), rounds: u64, y: &mut [u32]) { grid: linear(y.len(), 32); }
    }
}

/// A declaration that the PTX contradicts.
fn signature(device: &Device) -> Outcome {
    let mut y = device.zeros::<u32>(1)?;
    let is_signature = |kind: &ErrorKind| matches!(kind, ErrorKind::Signature { .. });
    refused("a parameter too few", Few::load(device).map(|k| drop(k.churn(&mut y))), is_signature)?;
    let wide = Wide::load(device).map(|k| drop(k.churn(baked(1), &mut y)));
    let error = refused("a parameter too wide", wide, is_signature)?;
    holds("the parameter is named", error.to_string().contains("`rounds`"))
}

/// Memory of one op that meets, and memory of another device.
fn overlap(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.buffer(&ramp(8))?;
    let shared = y.share();
    let is_overlap = |kind: &ErrorKind| matches!(kind, ErrorKind::Overlap { .. });
    let error = refused("y read and written", device.record(k.saxpy(baked(1.0), &shared, &mut y)), is_overlap)?;
    holds("both sides are named", error.to_string().contains("`y`") && error.to_string().contains("`x`"))?;
    refused("eagerly", stream.run(k.add(&shared[..4], baked(1.0), &mut y[3..7])), is_overlap)?;
    let mut graph = device.record(k.add(&shared[..4], baked(1.0), &mut y[4..]))?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [0.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0])?;
    let stranger = Device::software()?;
    let x = stranger.zeros::<f32>(8)?;
    let is_stranger = |kind: &ErrorKind| matches!(kind, ErrorKind::WrongDevice { .. });
    refused("another device's memory", device.record(copy(&x, &mut y)), is_stranger)?;
    let mut z = stranger.zeros::<f32>(8)?;
    refused("another device's kernels", stranger.record(k.saxpy(baked(1.0), &x, &mut z)), is_stranger)?;
    refused("another device's stream", graph.launch(&stranger.stream()?), is_stranger)?;
    refused("a read there", stranger.stream()?.read(&y), is_stranger)?;
    same("replays", graph.num_replays(), 1)
}

/// A panic in the closure goes on, and leaves nothing behind.
fn panic_in_closure(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut y = device.zeros::<u32>(4)?;
    let hook = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        device.record(|r: &mut Recorder<'_>| {
            r.run(fill(&mut y, baked(1)))?;
            // `resume_unwind` does not print, unlike `panic!`.
            std::panic::resume_unwind(Box::new("on purpose"));
            #[allow(unreachable_code, reason = "gives the closure its type")]
            Ok(())
        })
    }));
    holds("the panic went on", hook.is_err_and(|panic| panic.downcast_ref() == Some(&"on purpose")))?;
    // Not inside a recording any more.
    same("y", stream.read(&y)?, [0; 4])?;
    let eager = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        stream.run(|_: &mut Recorder<'_>| -> dacapo::Result<()> { std::panic::resume_unwind(Box::new(())) })
    }));
    holds("that one too", eager.is_err())?;
    let value = Slot::new(3);
    let mut graph = device.record(fill(&mut y, &value))?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [3; 4])
}

/// More memory than there is, as a buffer and as a temp; then less.
fn out_of_memory(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let much = device.properties().memory_bytes;
    let is_memory = |kind: &ErrorKind| matches!(kind, ErrorKind::OutOfMemory { .. });
    refused("a buffer", device.zeros::<u8>(much + 1), is_memory)?;
    refused("more bytes than can be counted", device.zeros::<u64>(usize::MAX / 4), is_memory)?;
    let temp = device.record(|r| {
        let mut t = r.alloc::<u8>(much + 1)?;
        r.run(fill(&mut t, baked(1)))
    });
    refused("a temp", temp, is_memory)?;
    let eager = stream.run(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u8>(much + 1)?;
        r.run(fill(&mut t, baked(1)))
    });
    refused("an eager temp", eager, is_memory)?;
    let mut y = device.zeros::<u8>(16)?;
    let mut graph = device.record(fill(&mut y, baked(1)))?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [1; 16])
}
