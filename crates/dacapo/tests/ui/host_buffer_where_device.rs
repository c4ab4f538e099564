// error: E0308
// says: mismatched types
// why: host memory is copied, not launched on
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut h = device.host(&[1f32; 4])?;
    device.record(k.relu(&mut h))?; //~
    //+ device.record(upload(&h, &mut y))?;
    Ok(())
}
