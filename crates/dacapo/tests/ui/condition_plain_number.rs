// error: E0277
// says: cannot be compared with a `f32` in a condition
// why: a plain number would be frozen into the graph without a word
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    device.record(|r| {
    r.when(dacapo::flow::above(x.at(0), 4.0), |r| r.run(fill(&mut y, baked(1.0)))).map(drop) //~
    //+ r.when(dacapo::flow::above(x.at(0), baked(4.0)), |r| r.run(fill(&mut y, baked(1.0)))).map(drop)
    })?;
    Ok(())
}
