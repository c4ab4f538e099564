// error: E0277
// says: Baked<u32>` cannot stand for a by-value argument of type `f32`
// why: a value has the parameter's own type
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(k.saxpy(baked(1u32), &x, &mut y))?; //~
    //+ device.record(k.saxpy(baked(1f32), &x, &mut y))?;
    Ok(())
}
