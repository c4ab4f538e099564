// error: E0277
// says: is not page-locked host memory of
// why: the same for a vector that is freed before the replay
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let v = vec![7f32; 4];
    device.record(upload(&v, &mut y))?; //~
    //+ stream.write(&mut y, &v)?;
    Ok(())
}
