// error: E0277
// says: is not page-locked host memory of
// why: a replay would write into memory of the host that it does not hold
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut v = vec![0f32; 4];
    device.record(download(&x, &mut v))?; //~
    //+ v = stream.read(&x)?;
    Ok(())
}
