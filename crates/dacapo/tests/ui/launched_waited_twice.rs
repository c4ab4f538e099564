// error: E0382
// says: use of moved value: `a`
// why: waiting ends the lending
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut g = device.record(k.relu(&mut y))?;
    let a = g.launch(stream)?;
    a.wait()?;
    a.wait()?; //~
    //+ stream.synchronize()?;
    Ok(())
}
