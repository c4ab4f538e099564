// error: E0277
// says: is not page-locked host memory of
// why: a host slice in a recording would be frozen data, or a pointer into memory that is gone
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let h = device.host(&[1f32; 4])?;
    device.record(upload(&[1.0f32, 2.0], &mut y))?; //~
    //+ device.record(upload(&h, &mut y))?;
    Ok(())
}
