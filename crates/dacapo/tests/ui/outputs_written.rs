// error: E0596
// says: behind a `&` reference
// why: a graph's outputs are its own to write
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let g = device.record(|r| r.output::<f32>(4))?;
    let o: &Buffer<f32> = g.outputs();
    stream.write(&mut *o, &[0.0; 4])?; //~
    //+ stream.read(o)?;
    Ok(())
}
