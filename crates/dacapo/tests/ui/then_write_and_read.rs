// error: E0502
// says: cannot borrow `y` as immutable because it is also borrowed as mutable
// why: `then` describes both ops before either runs; a closure is the way
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut z = device.zeros(4)?;
    device.record(k.relu(&mut y).then(copy(&y, &mut z)))?; //~
    //+ device.record(|r| { r.run(k.relu(&mut y))?; r.run(copy(&y, &mut z)) })?;
    Ok(())
}
