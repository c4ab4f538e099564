// error: E0061
// says: this method takes 3 arguments but 4 arguments were supplied
// why: a derived parameter is computed, never given: it cannot be wrong
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(k.saxpy(baked(1.0), &x, &mut y, baked(4u32)))?; //~
    //+ device.record(k.saxpy(baked(1.0), &x, &mut y))?;
    Ok(())
}
