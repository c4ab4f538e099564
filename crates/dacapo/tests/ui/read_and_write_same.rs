// error: E0502
// says: cannot borrow `y` as mutable because it is also borrowed as immutable
// why: one op cannot read and write the same memory
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(k.saxpy(baked(1.0), &y, &mut y))?; //~
    //+ device.record(k.saxpy(baked(1.0), &x, &mut y))?;
    Ok(())
}
