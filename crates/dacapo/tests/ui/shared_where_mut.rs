// error: E0308
// says: mismatched types
// why: what a kernel writes is lent with `&mut`
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(k.saxpy(baked(1.0), &x, &y))?; //~
    //+ device.record(k.saxpy(baked(1.0), &x, &mut y))?;
    Ok(())
}
