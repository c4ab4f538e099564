// error: E0271
// why: a graph keeps its output type
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut g = device.record(|r| r.output::<f32>(4))?;
    g.rerecord(|r| r.output::<u32>(4))?; //~
    //+ g.rerecord(|r| r.output::<f32>(4))?;
    Ok(())
}
