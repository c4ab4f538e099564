// error: E0502
// says: cannot borrow `y` as immutable because it is also borrowed as mutable
// why: an op that is not run yet holds its memory
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let op = k.relu(&mut y);
    stream.read(&y)?; //~
    //+ stream.read(&x)?;
    stream.run(op)?;
    Ok(())
}
