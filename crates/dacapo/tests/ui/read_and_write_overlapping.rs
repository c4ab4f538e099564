// error: E0502
// says: cannot borrow `y` as mutable because it is also borrowed as immutable
// why: ranges of one buffer that meet are the same memory
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(k.saxpy(baked(1.0), &y[..2], &mut y[1..3]))?; //~
    //+ { let (a, b) = y.split_at_mut(2); device.record(k.saxpy(baked(1.0), a, b))?; }
    Ok(())
}
