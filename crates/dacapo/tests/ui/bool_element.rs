// error: E0277
// says: `bool` is not plain data that a GPU can hold
// why: not every byte is a `bool`
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let z = device.zeros::<bool>(4)?; //~
    //+ let z = device.zeros::<u8>(4)?;
    Ok(())
}
