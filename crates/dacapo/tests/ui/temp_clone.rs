// error: E0599
// says: no method named `share` found
// why: a temp has no second handles that could leave
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| {
        let t = r.alloc::<f32>(4)?;
    let s = t.share(); //~
    //+ let s = &t[..];
        Ok(())
    })?;
    Ok(())
}
