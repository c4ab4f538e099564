// error: E0308
// says: mismatched types
// why: bytes do not change their meaning on the way
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let z = device.zeros::<u32>(4)?;
    device.record(copy(&z, &mut y))?; //~
    //+ device.record(copy(&x, &mut y))?;
    Ok(())
}
