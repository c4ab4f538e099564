// error: E0277
// says: is not memory that is read
// says: a tuple of up to four
// why: what foreign work is given are slices, and the message says how they are written
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(unsafe { foreign(&x, &mut y[..], |_, _, _| Ok(())) })?; //~
    //+ device.record(unsafe { foreign(&x[..], &mut y[..], |_, _, _| Ok(())) })?;
    Ok(())
}
