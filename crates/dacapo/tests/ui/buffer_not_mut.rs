// error: E0596
// says: cannot borrow `x` as mutable
// why: what is written is declared `mut`
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(k.relu(&mut x))?; //~
    //+ device.record(k.relu(&mut y))?;
    Ok(())
}
