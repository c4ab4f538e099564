// error: E0521
// says: borrowed data escapes outside of closure
// why: a recorder lives as long as its recording
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut keep: Option<&mut Recorder<'_>> = None;
    device.record(|r| { keep = Some(r); Ok(()) })?; //~
    //+ device.record(|r| { let kept = Some(r); Ok(()) })?;
    Ok(())
}
