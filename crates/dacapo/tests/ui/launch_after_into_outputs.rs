// error: E0382
// says: borrow of moved value: `g`
// why: the outputs without the graph are no graph
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut g = device.record(|r| r.output::<f32>(4))?;
    let o = g.into_outputs();
    g.launch(stream)?; //~
    //+ stream.read(&o)?;
    Ok(())
}
