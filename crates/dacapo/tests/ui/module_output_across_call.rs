// error: E0499
// says: cannot borrow `m` as mutable more than once at a time
// why: a result is lent until the next call
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut m = graphed(device, |r: &mut Recorder<'_>, x: &Buffer<f32>| {
        let mut o = r.output(x.len())?;
        r.run(copy(x, &mut o))?;
        Ok(o)
    });
    let a = m.call(stream, &x)?;
    m.call(stream, &y)?; //~
    //+ stream.synchronize()?;
    stream.read(a)?;
    Ok(())
}
