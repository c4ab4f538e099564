// error: E0502
// says: cannot borrow `c` as mutable because it is also borrowed as immutable
// why: an op that is not run yet holds its scalars
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut c = device.scalar(1f32)?;
    let op = k.scale(&c, &x, &mut y);
    c.set(stream, 2.0)?; //~
    //+ c.get(stream)?;
    stream.run(op)?;
    Ok(())
}
