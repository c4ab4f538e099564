// error: E0080
// says: a slot of a type without size holds nothing
// stage: codegen
// where: anywhere
// why: nothing can change in a slot of no bytes
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let a = Slot::new([0f32; 0]); //~
    //+ let a = Slot::new([0f32; 1]);
    Ok(())
}
