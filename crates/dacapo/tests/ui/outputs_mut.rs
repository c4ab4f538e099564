// error: E0599
// says: no method named `outputs_mut` found
// why: exchanging an output would leave the graph writing to the old one
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut g = device.record(|r| r.output::<f32>(4))?;
    g.outputs_mut(); //~
    //+ g.outputs();
    Ok(())
}
