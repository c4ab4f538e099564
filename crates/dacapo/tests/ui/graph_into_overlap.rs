// error: E0502
// says: cannot borrow `y` as mutable because it is also borrowed as immutable
// why: rebound slices are lent like an op's
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut g = device.graph().record_into(&x[..], &mut y[..], |r, i, o| r.run(copy(i, o)))?;
    g.launch(stream, &y, &mut y)?; //~
    //+ g.launch(stream, &x, &mut y)?;
    Ok(())
}
