//! Kernels declared and recorded in a crate of edition 2021.

dacapo::kernels! {
    /// What is in `saxpy.ptx`.
    pub unsafe struct Kernels(include_str!("saxpy.ptx")) {
        /// y ← a·x + y
        fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
    }
}

#[test]
fn it_runs() -> dacapo::Result<()> {
    let device = dacapo::Device::software()?;
    let stream = device.stream()?;
    let k = Kernels::load(&device)?;
    let x = device.buffer(&[1.0f32, 2.0])?;
    let mut y = device.zeros::<f32>(2)?;
    let a = dacapo::Slot::new(2.0);
    let mut graph = device.record(|r: &mut dacapo::Recorder<'_>| r.run(k.saxpy(&a, &x, &mut y)))?;
    graph.launch(&stream)?;
    assert_eq!(stream.read(&y)?, [2.0, 4.0]);
    Ok(())
}
