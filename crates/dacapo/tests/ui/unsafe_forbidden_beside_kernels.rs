// error: unsafe_code
// says: usage of an `unsafe` block
// why: a crate that forbids unsafe code can declare kernels, and still has no other door
#![forbid(unsafe_code)]
use kit::*;

dacapo::kernels! {
    pub unsafe struct Own("") {
        fn scale(n: i32 = y.len(), a: f32, y: &mut [f32]) {
            requires: a >= 0.0;
            default_grid: linear(y.len(), 256);
        }
    }
}

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let own = Own::load(device)?;
    stream.run(unsafe { foreign((), &mut y[..], |_, _, _| Ok(())) })?; //~
    //+ stream.run(own.scale(baked(1.0), &mut y))?;
    Ok(())
}
