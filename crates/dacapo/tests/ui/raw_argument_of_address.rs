// error: E0308
// why: an address is no argument: memory is lent
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let argument = RawArg::read(0xdead_beef_u64); //~
    //+ let argument = RawArg::read(&x);
    Ok(())
}
