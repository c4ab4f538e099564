// error: E0507
// says: cannot move out of `z`, a captured variable in an `FnMut` closure
// why: verifying runs the body twice
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let z = device.zeros::<f32>(1)?;
    device.graph().verify(move |r| Ok(z))?; //~
    //+ device.graph().verify(move |r| Ok(z.len()))?;
    Ok(())
}
