// error: E0308
// says: mismatched types
// why: only the loop counts its rounds
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let mut used = device.zeros::<u32>(1)?;
    device.record(|r| {
        let rounds = r.repeat_times(baked(2), |r| r.run(fill(&mut y, baked(1.0))))?;
    r.run(copy(&used[..], rounds.count().as_slice())) //~
    //+ r.run(copy(rounds.count().as_slice(), &mut used[..]))
    })?;
    Ok(())
}
