// error: E0277
// says: cannot stand for a by-value argument of type `f32`
// why: a slot is lent, so that it can be set after the recording
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let a = Slot::new(1.0f32);
    device.record(k.saxpy(a, &x, &mut y))?; //~
    //+ device.record(k.saxpy(&a, &x, &mut y))?;
    Ok(())
}
