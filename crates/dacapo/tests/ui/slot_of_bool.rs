// error: E0277
// says: `bool` is not plain data that a GPU can hold
// why: a slot's bytes go to a kernel
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let a = Slot::new(true); //~
    //+ let a = Slot::new(1u8);
    Ok(())
}
