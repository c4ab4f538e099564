// error: E0501
// says: cannot borrow `*r` as mutable because previous closure requires unique access
// why: a body has a recorder of its own
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| {
    r.repeat_times(baked(2), |_| r.run(fill(&mut y, baked(1.0)))).map(drop) //~
    //+ r.repeat_times(baked(2), |r| r.run(fill(&mut y, baked(1.0)))).map(drop)
    })?;
    Ok(())
}
