// error: E0308
// says: mismatched types
// why: a graph may be writing it at that moment
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let h = device.host(&[1f32; 4])?;
    let seen: &[f32] = &h; //~
    //+ let seen: Vec<f32> = h.to_vec()?;
    Ok(())
}
