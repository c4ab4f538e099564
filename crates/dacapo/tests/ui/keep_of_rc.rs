// error: E0277
// says: cannot be sent between threads safely
// why: what a graph keeps is dropped by whoever drains the queue, on any thread
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| { r.keep(std::rc::Rc::new(1)); Ok(()) })?; //~
    //+ device.record(|r| { r.keep(std::sync::Arc::new(1)); Ok(()) })?;
    Ok(())
}
