// error: E0277
// says: `Rc<i32>` cannot be sent between threads safely
// why: what a graph keeps is dropped by whoever drains the queue, on any thread
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let (rc, arc) = (std::rc::Rc::new(1), std::sync::Arc::new(1));
    let op = unsafe { foreign(&x[..], &mut y[..], move |_, _, _| { let _ = &rc; Ok(()) }) }; //~
    //+ let op = unsafe { foreign(&x[..], &mut y[..], move |_, _, _| { let _ = &arc; Ok(()) }) };
    device.record(op)?;
    Ok(())
}
