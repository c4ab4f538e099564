// error: E0515
// why: a slice of a temp is as dead as the temp
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| { let t = r.alloc::<f32>(4)?; Ok(&t[..2]) })?; //~
    //+ device.record(|r| { let t = r.alloc::<f32>(4)?; Ok(t[..2].len()) })?;
    Ok(())
}
