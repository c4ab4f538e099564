// error: E0521
// says: borrowed data escapes outside of closure
// why: a temp of a body stays in its body
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| {
        let mut keep = r.alloc::<f32>(4)?;
    r.repeat_times(baked(2), |r| { keep = r.alloc::<f32>(4)?; Ok(()) }).map(drop) //~
    //+ r.repeat_times(baked(2), |r| r.run(fill(&mut keep, baked(1.0)))).map(drop)
    })?;
    Ok(())
}
