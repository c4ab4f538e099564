// error: E0599
// says: no method named `clone` found
// why: two owners could both write
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let z: Buffer<f32> = x.clone(); //~
    //+ let z: Shared<f32> = x.share().clone();
    Ok(())
}
