// error: unused_must_use
// says: that must be used
// why: an op that is never run does nothing
#![deny(unused_must_use)]
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    k.relu(&mut y); //~
    //+ stream.run(k.relu(&mut y))?;
    Ok(())
}
