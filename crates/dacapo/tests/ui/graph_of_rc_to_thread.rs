// error: E0277
// says: `Rc<i32>` cannot be sent between threads safely
// why: a graph is as `Send` as its outputs
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let g = device.record(|r| Ok(std::rc::Rc::new(1)))?;
    std::thread::spawn(move || g.len()); //~
    //+ g.len();
    Ok(())
}
