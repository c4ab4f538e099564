//! The example of the README, as it stands there.

use dacapo::{Device, Result, Slot, copy};

dacapo::kernels! {
    /// Kernels of the example.
    pub unsafe struct Kernels(include_str!("saxpy.ptx")) {
        /// y ← a·x + y
        fn saxpy(n: i32 = y.len(), a: f32, x: &[f32], y: &mut [f32]) {
            entry: "saxpy_f32";
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
    }
}

#[test]
fn the_example_of_the_readme() -> Result<()> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let k = Kernels::load(&device)?;
    let x = device.buffer(&[1.0, 2.0, 3.0])?;
    let mut y = device.zeros::<f32>(3)?;
    let a = Slot::new(0.0);
    let mut graph = device.record(|r| {
        let mut t = r.alloc(x.len())?;
        r.run(copy(&x, &mut t))?;
        r.run(k.saxpy(&a, &t, &mut y))
    })?;
    for step in 0..3 {
        a.set(step as f32);
        graph.launch(&stream)?;
    }
    assert_eq!(stream.read(&y)?, [3.0, 6.0, 9.0]);
    assert_eq!(device.findings(), [] as [String; 0]);
    println!("{:?}\n{}", graph, graph.inspect());
    Ok(())
}
