// error: none
// says: lifetime may not live long enough
// why: a temp is dead after the replay; what leaves is an output
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| r.alloc_scalar::<f32>())?; //~
    //+ device.record(|r| r.output_scalar::<f32>())?;
    Ok(())
}
