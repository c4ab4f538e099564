// error: E0499
// says: cannot borrow `y` as mutable more than once at a time
// why: two ops described at once cannot both write a buffer
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let (mut l, mut z) = (device.scalar(0f32)?, device.zeros::<f32>(4)?);
    device.record(k.mse(&x, &x, &mut y, &mut l).zip(k.relu(&mut y)))?; //~
    //+ device.record(k.mse(&x, &x, &mut y, &mut l).zip(k.relu(&mut z)))?;
    Ok(())
}
