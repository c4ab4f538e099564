// error: E0277
// says: Slot<f64>` cannot stand for a by-value argument of type `f32`
// why: a slot has the parameter's own type
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let (a, b) = (Slot::new(1.0f32), Slot::new(1.0f64));
    device.record(k.saxpy(&b, &x, &mut y))?; //~
    //+ device.record(k.saxpy(&a, &x, &mut y))?;
    Ok(())
}
