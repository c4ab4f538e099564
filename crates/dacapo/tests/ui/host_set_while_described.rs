// error: E0502
// says: cannot borrow `h` as mutable because it is also borrowed as immutable
// why: an op that is not run yet holds its host buffer
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut h = device.host(&[1f32; 4])?;
    let op = upload(&h, &mut y);
    h.set(&[0.0; 4])?; //~
    //+ h.to_vec()?;
    stream.run(op)?;
    Ok(())
}
