// error: E0499
// says: cannot borrow `y` as mutable more than once at a time
// why: elements are lent like the slice they are of
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut z = device.zeros::<f32>(2)?;
    let a = y.at_mut(0);
    let b = y.at_mut(1); //~
    //+ let b = z.at_mut(1);
    stream.run(k.bump(a).then(k.bump(b)))?;
    Ok(())
}
