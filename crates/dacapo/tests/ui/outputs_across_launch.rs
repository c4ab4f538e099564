// error: E0502
// says: cannot borrow `g` as mutable because it is also borrowed as immutable
// why: the next launch would overwrite what is being read
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut g = device.record(|r| r.output::<f32>(4))?;
    let o = g.outputs();
    g.launch(stream)?; //~
    //+ stream.synchronize()?;
    stream.read(o)?;
    Ok(())
}
