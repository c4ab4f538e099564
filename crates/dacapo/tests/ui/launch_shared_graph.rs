// error: E0596
// says: cannot borrow `g` as mutable
// why: one executable graph cannot overlap itself
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let g = device.record(k.relu(&mut y))?;
    g.launch(stream)?; //~
    //+ g.len();
    Ok(())
}
