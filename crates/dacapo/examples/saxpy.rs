//! The README's program: a kernel, recorded once, replayed with a number that changes.
//!
//! `cargo run -p dacapo --example saxpy`

use dacapo::{Device, Slot, copy};

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

/// Prints `[3.0, 6.0, 9.0]`.
pub fn main() -> dacapo::Result<()> {
    let device = Device::best()?; // the GPU, or the software device
    let stream = device.stream()?;
    let k = Kernels::load(&device)?;
    let x = device.buffer(&[1.0, 2.0, 3.0])?;
    let mut y = device.zeros::<f32>(3)?;
    let a = Slot::new(0.0); // changes between replays

    let mut graph = device.record(|r| {
        let mut t = r.alloc(x.len())?; // planned memory, cannot leave
        r.run(copy(&x, &mut t))?;
        r.run(k.saxpy(&a, &t, &mut y)) // edges come from what is read and written
    })?;
    for step in 0..3 {
        a.set(step as f32); // patched in at the next launch
        graph.launch(&stream)?;
    }
    let result = stream.read(&y)?; // waits, in order
    assert_eq!(result, [3.0, 6.0, 9.0]);
    println!("{result:?}");
    Ok(())
}
