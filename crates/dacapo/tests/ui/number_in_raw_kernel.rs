// error: E0277
// says: `f32` cannot stand for a by-value argument of type `_`
// why: the unchecked door freezes nothing in silence either
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let argument = RawArg::value(2.0f32); //~
    //+ let argument = RawArg::value(baked(2.0f32));
    Ok(())
}
