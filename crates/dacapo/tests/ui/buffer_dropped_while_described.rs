// error: E0505
// says: cannot move out of `y` because it is borrowed
// why: an op that is not run yet holds its memory
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let op = k.relu(&mut y);
    drop(y); //~
    //+ drop(x);
    stream.run(op)?;
    Ok(())
}
