// error: E0277
// says: cannot be known at compilation time
// why: two slices cannot be exchanged: they are not values
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let (a, b) = y.split_at_mut(2);
    std::mem::swap(a, b); //~
    //+ stream.run(copy(a, b))?;
    Ok(())
}
