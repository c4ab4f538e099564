//! The tutorial's first half: run a kernel now, record it, give it temps and outputs, look at the graph.
//!
//! `cargo run -p dacapo --example first_steps`

use dacapo::{Device, Recorder, Result, Slice, Slot, baked, copy, fill};

dacapo::kernels! {
    /// What is in `saxpy.ptx`.
    pub unsafe struct Kernels(include_str!("../kernels/saxpy.ptx")) {
        /// y ← a·x + y
        fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
    }
}

/// All steps, one after the other.
pub fn main() -> Result<()> {
    let device = Device::best()?;
    let stream = device.stream()?;
    let k = Kernels::load(&device)?;

    run_now(&device, &stream, &k)?;
    record_and_replay(&device, &stream, &k)?;
    a_number_that_changes(&device, &stream, &k)?;
    temps_and_outputs(&device, &stream, &k)?;
    a_function_of_memory(&device, &stream)?;
    a_mistake(&device, &stream, &k)
}

fn run_now(device: &Device, stream: &dacapo::Stream, k: &Kernels) -> Result<()> {
    let x = device.buffer(&[1.0f32, 2.0, 3.0])?;
    let mut y = device.zeros::<f32>(3)?;
    stream.run(k.saxpy(baked(2.0), &x, &mut y))?; // enqueued now
    assert_eq!(stream.read(&y)?, [2.0, 4.0, 6.0]); // waits for it
    Ok(())
}

fn record_and_replay(device: &Device, stream: &dacapo::Stream, k: &Kernels) -> Result<()> {
    let x = device.buffer(&[1.0f32, 2.0, 3.0])?;
    let mut y = device.zeros::<f32>(3)?;
    let mut graph = device.record(|r| {
        r.run(fill(&mut y, baked(0.0)))?;
        r.run(k.saxpy(baked(2.0), &x, &mut y))
    })?;
    for _ in 0..100 {
        graph.launch(stream)?; // both ops in one driver call
    }
    assert_eq!(stream.read(&y)?, [2.0, 4.0, 6.0]);
    Ok(())
}

fn a_number_that_changes(device: &Device, stream: &dacapo::Stream, k: &Kernels) -> Result<()> {
    let x = device.buffer(&[1.0f32])?;
    let mut y = device.zeros::<f32>(1)?;
    let a = Slot::new(0.0);
    let mut graph = device.record(k.saxpy(&a, &x, &mut y))?;
    for step in 1..=4 {
        a.set(step as f32);
        graph.launch(stream)?;
    }
    assert_eq!(stream.read(&y)?, [10.0]); // 1 + 2 + 3 + 4
    Ok(())
}

fn temps_and_outputs(device: &Device, stream: &dacapo::Stream, k: &Kernels) -> Result<()> {
    let x = device.buffer(&[1.0f32, 2.0])?;
    let twice = |r: &mut Recorder<'_>, x: &Slice<f32>| {
        let mut t = r.alloc::<f32>(x.len())?; // memory of the graph's own: gone after a replay
        r.run(copy(x, &mut t))?;
        let mut y = r.output::<f32>(x.len())?; // a buffer that the closure may return
        r.run(copy(&t, &mut y))?;
        r.run(k.saxpy(baked(1.0), &t, &mut y))?;
        Ok(y)
    };
    let mut graph = device.record(|r: &mut Recorder<'_>| twice(r, &x))?;
    let y = graph.launch(stream)?.wait()?;
    assert_eq!(stream.read(y)?, [2.0, 4.0]);

    println!("{}", graph.inspect()); // ops, edges, memory, the critical path
    println!("{}", graph.memory()); // and how many bytes it takes
    Ok(())
}

fn a_function_of_memory(device: &Device, stream: &dacapo::Stream) -> Result<()> {
    let (mut a, mut b) = (device.buffer(&[1.0f32, 2.0])?, device.zeros::<f32>(2)?);
    let mut step = device.graph().label("step").record_into(&a[..], &mut b[..], |r, from, to| r.run(copy(from, to)))?;
    step.launch(stream, &a, &mut b)?;
    step.launch(stream, &b, &mut a)?; // the same graph on other memory
    assert_eq!(stream.read(&a)?, [1.0, 2.0]);
    Ok(())
}

fn a_mistake(device: &Device, stream: &dacapo::Stream, k: &Kernels) -> Result<()> {
    let x = device.buffer(&[1.0f32, 2.0, 3.0])?.named("x");
    let mut y = device.zeros::<f32>(2)?.named("y");
    let error = stream.run(k.saxpy(baked(1.0), &x, &mut y)).unwrap_err();
    println!("{error:#}"); // the op, its line, the condition with its numbers, what to do
    assert!(error.to_string().contains("x.len() == y.len()"));
    Ok(())
}
