// error: E0277
// why: a slice comes from a buffer, never from an address
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let s = Slice::<f32> { _elements: std::marker::PhantomData, units: [] }; //~
    //+ let s = &x[..];
    Ok(())
}
