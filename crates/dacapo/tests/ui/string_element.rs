// error: E0277
// says: `String` is not plain data that a GPU can hold
// why: a GPU cannot follow host pointers
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let z = device.buffer(&[String::new()])?; //~
    //+ let z = device.buffer(&[[1u8; 4]])?;
    Ok(())
}
