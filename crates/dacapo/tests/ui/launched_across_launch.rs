// error: E0499
// says: cannot borrow `g` as mutable more than once at a time
// why: outputs of one launch are lent until they are done with
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut g = device.record(k.relu(&mut y))?;
    let a = g.launch(stream)?;
    let b = g.launch(stream)?; //~
    //+ let b = 0;
    a.wait()?;
    Ok(())
}
