// error: E0133
// says: call to unsafe function
// why: what another library enqueues is a promise of the caller's
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(foreign(&x[..], &mut y[..], |_, _, _| Ok(())))?; //~
    //+ device.record(unsafe { foreign(&x[..], &mut y[..], |_, _, _| Ok(())) })?;
    Ok(())
}
