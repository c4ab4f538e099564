// error: E0521
// says: borrowed data escapes outside of closure
// why: each recording has a brand of its own
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|a| {
    device.record(|b| { std::mem::swap(a, b); Ok(()) }) //~
    //+ device.record(|b| { let both = (a, b); Ok(()) })
    })?;
    Ok(())
}
