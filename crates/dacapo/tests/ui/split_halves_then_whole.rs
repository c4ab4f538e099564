// error: E0499
// says: cannot borrow `y` as mutable more than once at a time
// why: the whole cannot be written while a half is lent
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let (a, b) = y.split_at_mut(2);
    device.record(k.relu(&mut y))?; //~
    //+ device.record(k.relu(b))?;
    device.record(k.relu(a))?;
    Ok(())
}
