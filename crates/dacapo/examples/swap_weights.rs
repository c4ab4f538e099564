//! Weights that change while graphs are in use.
//!
//! `cargo run -p dacapo --example swap_weights`

use dacapo::shapes::GraphCache;
use dacapo::{Buffer, Device, Recorder, Result, copy};

/// The model: a copy of its weights stands for whatever it computes.
fn model(r: &mut Recorder<'_>, weights: &Buffer<f32>, len: usize) -> Result<Buffer<f32>> {
    let mut y = r.output::<f32>(len)?;
    r.run(copy(&weights[..len], &mut y))?;
    Ok(y)
}

/// Both ways to do it.
pub fn main() -> Result<()> {
    let device = Device::best()?;
    let stream = device.stream()?;

    // In place: the graph reads the same memory, and sees what is there when it is launched.
    let mut weights = device.buffer(&[1.0f32; 4])?;
    let mut graph = device.record(|r: &mut Recorder<'_>| model(r, &weights, 4))?;
    stream.write(&mut weights, &[2.0; 4])?; // in stream order: later launches see it
    assert_eq!(stream.read(graph.launch(&stream)?.wait()?)?, [2.0; 4]);

    // Other memory: every graph of a cache is changed, all of them or none.
    let mut cache = GraphCache::new(&device);
    for len in [1, 2, 4] {
        cache.run(&stream, &len, |r| model(r, &weights, len))?;
    }
    let fresh = device.buffer(&[3.0f32; 4])?;
    let done = cache.rerecord_all(|r, &len| model(r, &fresh, len))?;
    assert!(done.iter().all(|(_, how)| how.is_updated())); // in place: nothing was rebuilt
    drop(weights); // launches in flight keep it alive
    let y = cache.run(&stream, &2, |r| model(r, &fresh, 2))?;
    assert_eq!(stream.read(y)?, [3.0; 2]);
    Ok(())
}
