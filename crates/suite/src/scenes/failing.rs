//! A test that fails, as its author would write it.

use dacapo::{Device, Op, Recorder, Result, baked, copy, fill};

use crate::forms::kernels::Kernels;

dacapo::kernels! {
    /// A declaration that promises too much.
    unsafe struct Filters(include_str!("smooth.ptx")) {
        /// y ← the mean of each of x with the next
        fn smooth(n: u32 = y.len(), x: &[f32], y: &out [f32]) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 64);
        }
    }
}

/// The name of the test, and so of its thread.
pub const FAILING: &str = "filters::a_flat_signal_stays_flat";

//   fill ──► smooth ──► add ──► copy
/// The test [`FAILING`]: of four ops under labels, the one that smooths reads a number beyond its input.
///
/// # Panics
///
/// - As a test that fails: the replay is refused, and unwrapped.
pub fn fails() {
    smoothed().unwrap();
}

fn smoothed() -> Result<()> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let (filters, k) = (Filters::load(&device)?, Kernels::load(&device)?);
    let mut signal = device.zeros::<f32>(256)?.named("signal");
    let mut flat = device.zeros::<f32>(256)?.named("flat");
    let mut graph = device.graph().label("filter").record(|r: &mut Recorder<'_>| {
        let (mut smooth, mut raised) = (r.alloc::<f32>(256)?, r.alloc::<f32>(256)?);
        r.run(fill(&mut signal, baked(1.0)).label("signal"))?;
        r.run(filters.smooth(&signal, &mut smooth).label("low pass"))?;
        r.run(k.add(&smooth, baked(0.5), &mut raised).label("low pass"))?;
        r.run(copy(&raised, &mut flat))
    })?;
    graph.launch(&stream)?.wait().map(drop)
}
