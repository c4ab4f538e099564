// error: E0133
// says: call to unsafe function
// why: arguments of an undeclared kernel are a promise of the caller's
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let raw = RawKernel::load(device, "", "f")?;
    stream.run(raw.launch(grid::linear(4, 32), vec![RawArg::write(&mut y)]))?; //~
    //+ stream.run(unsafe { raw.launch(grid::linear(4, 32), vec![RawArg::write(&mut y)]) })?;
    Ok(())
}
