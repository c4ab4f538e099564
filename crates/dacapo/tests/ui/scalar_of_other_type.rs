// error: E0308
// says: mismatched types
// why: a scalar has the parameter's own type
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let (b, c) = (device.scalar(1f64)?, device.scalar(1f32)?);
    device.record(k.scale(&b, &x, &mut y))?; //~
    //+ device.record(k.scale(&c, &x, &mut y))?;
    Ok(())
}
