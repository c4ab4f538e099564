// error: E0507
// says: cannot move out of `z`, a captured variable in an `FnMut` closure
// why: a warm-up runs the body again, so it must be callable again
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let z = device.zeros::<f32>(1)?;
    device.graph().warmup(2).record(move |r| Ok(z))?; //~
    //+ device.graph().record(move |r| Ok(z))?;
    Ok(())
}
