// error: E0501
// says: cannot borrow `*r` as mutable because previous closure requires unique access
// why: an op records through the recorder that it is given
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| r.run(|_| r.run(k.relu(&mut y))))?; //~
    //+ device.record(|r| r.run(|inner| inner.run(k.relu(&mut y))))?;
    Ok(())
}
