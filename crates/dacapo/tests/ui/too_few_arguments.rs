// error: E0061
// says: this method takes 3 arguments but 2 arguments were supplied
// why: every argument of a kernel is there
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(k.saxpy(baked(1.0), &x))?; //~
    //+ device.record(k.saxpy(baked(1.0), &x, &mut y))?;
    Ok(())
}
