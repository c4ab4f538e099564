// error: E0596
// says: Shared<f32>` as mutable
// why: a second handle reads only
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let (mut s, mut z) = (y.share(), device.zeros::<f32>(4)?);
    device.record(k.relu(&mut s))?; //~
    //+ device.record(copy(&s, &mut z))?;
    Ok(())
}
