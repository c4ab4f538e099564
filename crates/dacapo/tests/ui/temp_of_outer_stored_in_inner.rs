// error: E0521
// says: borrowed data escapes outside of closure
// why: each recording has a brand of its own
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|a| {
        let mut t = a.alloc::<f32>(1)?;
    device.record(|b| { t = b.alloc::<f32>(1)?; Ok(()) }).map(|_| ()) //~
    //+ device.record(|b| { let t = b.alloc::<f32>(1)?; Ok(()) }).map(|_| ())
    })?;
    Ok(())
}
