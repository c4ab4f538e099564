// error: E0308
// says: mismatched types
// why: an op can fail, and says so
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| 5)?; //~
    //+ device.record(|r| Ok(5))?;
    Ok(())
}
