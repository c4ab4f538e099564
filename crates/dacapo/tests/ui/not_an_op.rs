// error: E0277
// why: an op is a function of a recorder
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(5)?; //~
    //+ device.record(|r| Ok(5))?;
    Ok(())
}
