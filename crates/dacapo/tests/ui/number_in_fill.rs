// error: E0277
// says: `{float}` cannot stand for a by-value argument of type `f32`
// why: a fill freezes its value like a kernel does
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(fill(&mut y, 0.0))?; //~
    //+ device.record(fill(&mut y, baked(0.0)))?;
    Ok(())
}
