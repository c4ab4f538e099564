// error: E0308
// says: mismatched types
// why: rebound slices have the recorded element type
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let z = device.zeros::<u32>(4)?;
    let mut g = device.graph().record_into(&x[..], &mut y[..], |r, i, o| r.run(copy(i, o)))?;
    g.launch(stream, &z, &mut y)?; //~
    //+ g.launch(stream, &x, &mut y)?;
    Ok(())
}
