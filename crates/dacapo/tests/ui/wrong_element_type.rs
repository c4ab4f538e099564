// error: E0308
// says: mismatched types
// why: a kernel's slices have its element types
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let z = device.zeros::<f64>(4)?;
    device.record(k.saxpy(baked(1.0), &z, &mut y))?; //~
    //+ device.record(k.saxpy(baked(1.0), &x, &mut y))?;
    Ok(())
}
