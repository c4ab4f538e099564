// error: E0277
// says: `u32` cannot stand for a by-value argument of type `u32`
// why: the loop variable would be that of the recording for ever
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    for step in 0..4u32 {
    device.record(k.window(step, &x, &mut y))?; //~
    //+ { let step = Slot::new(step); device.record(k.window(&step, &x, &mut y))?; }
    }
    Ok(())
}
