// error: E0521
// says: borrowed data escapes outside of closure
// why: a stand-in has no memory of its own
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut keep: Option<&mut Slice<f32>> = None;
    device.graph().record_into(&x[..], &mut y[..], |r, i, o| { keep = Some(o); Ok(()) })?; //~
    //+ device.graph().record_into(&x[..], &mut y[..], |r, i, o| { let kept = Some(o); Ok(()) })?;
    Ok(())
}
