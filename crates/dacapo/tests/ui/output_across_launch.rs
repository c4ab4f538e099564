// error: E0499
// says: cannot borrow `g` as mutable more than once at a time
// why: the next launch would overwrite what is being read
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut g = device.record(|r| r.output::<f32>(4))?;
    let o = g.launch(stream)?.wait()?;
    g.launch(stream)?; //~
    //+ stream.synchronize()?;
    stream.read(o)?;
    Ok(())
}
