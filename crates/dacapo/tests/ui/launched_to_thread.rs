// error: E0597
// says: `g` does not live long enough
// why: what lends outputs cannot outlive the graph; a ticket can
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut g = device.record(k.relu(&mut y))?;
    let a = g.launch(stream)?; //~
    //+ let a = g.submit(stream)?;
    std::thread::spawn(move || a.wait().map(|_| ()));
    Ok(())
}
