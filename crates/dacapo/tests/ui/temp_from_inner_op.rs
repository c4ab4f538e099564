// error: none
// says: lifetime may not live long enough
// why: an op cannot return a temp; a function of the recorder can
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| {
    let t = r.run(|r| r.alloc::<f32>(4))?; //~
    //+ let t = r.alloc::<f32>(4)?;
        Ok(())
    })?;
    Ok(())
}
