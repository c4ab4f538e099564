// error: E0277
// says: RangeBounds<usize>` is not satisfied
// why: nothing on the host is behind a slice
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let v = x[0]; //~
    //+ let v = stream.read(&x)?[0];
    Ok(())
}
