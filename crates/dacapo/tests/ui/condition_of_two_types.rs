// error: E0277
// says: cannot be compared with a `f32` in a condition
// why: numbers of one type are compared
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let limit = Slot::new(4u32);
    let limit2 = Slot::new(4.0f32);
    device.record(|r| {
    r.when(dacapo::flow::above::<f32>(x.at(0), &limit), |r| r.run(fill(&mut y, baked(1.0)))).map(drop) //~
    //+ r.when(dacapo::flow::above::<f32>(x.at(0), &limit2), |r| r.run(fill(&mut y, baked(1.0)))).map(drop)
    })?;
    Ok(())
}
