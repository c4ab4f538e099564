// error: E0277
// says: cannot be sent between threads safely
// why: a recording is made by one thread
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| {
        std::thread::scope(|scope| {
    scope.spawn(|| r.alloc::<f32>(1).is_ok()); //~
    //+ r.alloc::<f32>(1).is_ok();
        });
        Ok(())
    })?;
    Ok(())
}
