// error: E0596
// says: Shared<f32>` as mutable
// why: a second handle reads only
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut s = y.share();
    stream.write(&mut s, &[0.0; 4])?; //~
    //+ stream.read(&s)?;
    Ok(())
}
