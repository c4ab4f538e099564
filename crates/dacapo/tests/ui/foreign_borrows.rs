// error: E0373
// says: may outlive borrowed value `number`
// why: a capture may be made again, and what it froze must live as long as the graph
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let number = 1;
    let op =
    unsafe { foreign(&x[..], &mut y[..], |_, _, _| { let _ = &number; Ok(()) }) } //~
    //+ unsafe { foreign(&x[..], &mut y[..], move |_, _, _| { let _ = &number; Ok(()) }) }
    ;
    device.record(op)?;
    Ok(())
}
