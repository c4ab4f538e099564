// error: E0521
// says: borrowed data escapes outside of closure
// why: a temp stays in its recording
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let (mut keep, mut keep2) = (None::<Temp<'_, f32>>, None::<Buffer<f32>>);
    device.record(|r| { keep = Some(r.alloc::<f32>(4)?); Ok(()) })?; //~
    //+ device.record(|r| { keep2 = Some(r.output::<f32>(4)?); Ok(()) })?;
    Ok(())
}
