// error: E0080
// says: elements without size cannot be in a buffer
// stage: codegen
// where: anywhere
// why: an element without size has no address to be at
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let z = device.host(&[[0f32; 0]])?; //~
    //+ let z = device.host(&[[0f32; 1]])?;
    Ok(())
}
