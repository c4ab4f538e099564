// error: E0277
// says: cannot be shared between threads safely
// why: a temp stays on the thread that records
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| {
        let t = r.alloc::<f32>(4)?;
        std::thread::scope(|scope| {
    scope.spawn(|| t.len()); //~
    //+ t.len();
        });
        Ok(())
    })?;
    Ok(())
}
