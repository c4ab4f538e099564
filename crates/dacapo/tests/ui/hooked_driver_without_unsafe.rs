// error: E0133
// says: call to unsafe function
// why: a driver that lies breaks everything above it
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let other = Software::new().open_hooked(|machine| std::sync::Arc::new(machine))?; //~
    //+ let other = unsafe { Software::new().open_hooked(|machine| std::sync::Arc::new(machine)) }?;
    Ok(())
}
