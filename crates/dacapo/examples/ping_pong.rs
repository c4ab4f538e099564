//! Two buffers that take turns: each step reads one and writes the other.
//!
//! `cargo run -p dacapo --example ping_pong`

use dacapo::{Device, Result, baked, copy};

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

/// Doubles a number ten times.
pub fn main() -> Result<()> {
    let device = Device::best()?;
    let stream = device.stream()?;
    let k = Kernels::load(&device)?;

    let (mut now, mut next) = (device.buffer(&[1.0f32])?, device.zeros::<f32>(1)?);
    let mut step = device.graph().record_into(&now[..], &mut next[..], |r, now, next| {
        r.run(copy(now, next))?;
        r.run(k.saxpy(baked(1.0), now, next)) // next ← now + now
    })?;
    for _ in 0..10 {
        step.launch(&stream, &now, &mut next)?;
        std::mem::swap(&mut now, &mut next);
    }
    assert_eq!(stream.read(&now)?, [1024.0]);
    Ok(())
}
