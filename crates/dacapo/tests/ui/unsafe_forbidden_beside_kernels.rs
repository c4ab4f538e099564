// error: unsafe_code
// says: usage of an `unsafe` block
// why: a crate that forbids unsafe code can use another crate's kernels, and has no other door
#![forbid(unsafe_code)]
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let own = Nn::load(device)?;
    stream.run(unsafe { foreign((), &mut y[..], |_, _, _| Ok(())) })?; //~
    //+ stream.run(own.saxpy(baked(1.0), &x, &mut y))?;
    Ok(())
}
