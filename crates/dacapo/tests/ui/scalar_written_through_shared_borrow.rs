// error: E0308
// says: mismatched types
// why: a scalar that a kernel writes is lent with `&mut`
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut c = device.scalar(1f32)?;
    device.record(k.bump(&c))?; //~
    //+ device.record(k.bump(&mut c))?;
    Ok(())
}
