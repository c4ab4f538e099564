// error: E0502
// says: cannot borrow `y` as immutable because it is also borrowed as mutable
// why: the whole cannot be read while its pieces are lent
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut pieces = y.chunks_mut(2);
    stream.read(&y)?; //~
    //+ stream.read(&x)?;
    stream.run(k.relu(pieces.next().unwrap()))?;
    Ok(())
}
