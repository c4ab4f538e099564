// error: E0308
// says: mismatched types
// why: one value is not a slice
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let c = device.scalar(1f32)?;
    device.record(k.saxpy(baked(1.0), &c, &mut y))?; //~
    //+ device.record(k.saxpy(baked(1.0), c.as_slice(), &mut y))?;
    Ok(())
}
