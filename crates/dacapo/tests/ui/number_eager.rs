// error: E0277
// says: `f32` cannot stand for a by-value argument of type `f32`
// why: an op is a value that may be recorded later, so eager calls take no plain numbers either
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    stream.run(k.saxpy(2.0f32, &x, &mut y))?; //~
    //+ stream.run(k.saxpy(baked(2.0f32), &x, &mut y))?;
    Ok(())
}
