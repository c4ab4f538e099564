// error: E0277
// says: `{float}` cannot stand for a by-value argument of type `f32`
// why: a plain number would be frozen in the graph without a word
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| r.run(k.saxpy(2.0, &x, &mut y)))?; //~
    //+ device.record(|r| r.run(k.saxpy(baked(2.0), &x, &mut y)))?;
    Ok(())
}
