// error: E0382
// says: use of moved value: `op`
// why: an op is run once; a graph is what runs again
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let op = k.relu(&mut y);
    stream.run(op)?;
    device.record(op)?; //~
    //+ device.record(k.relu(&mut y))?;
    Ok(())
}
