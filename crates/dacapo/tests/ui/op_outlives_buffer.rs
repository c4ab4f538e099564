// error: E0597
// says: `z` does not live long enough
// why: an op cannot outlive what it touches
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let op = {
        let mut z = device.zeros::<f32>(1)?;
    k.relu(&mut z) //~
    //+ k.relu(&mut y)
    };
    stream.run(op)?;
    Ok(())
}
