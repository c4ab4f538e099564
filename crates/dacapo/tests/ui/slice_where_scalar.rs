// error: E0308
// says: mismatched types
// why: a slice is not one value
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(k.scale(&x, &x, &mut y))?; //~
    //+ device.record(k.scale(x.at(0), &x, &mut y))?;
    Ok(())
}
