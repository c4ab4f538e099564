//! Programs as people write them: a step of training, random numbers, a loop over batches.

use dacapo::random::Generator;
use dacapo::{Recorder, Result, Slot, baked, copy, download, fill, upload};

use super::{Bench, right, scenarios};

scenarios!("step": training, random, batches);

/// Forward, loss, gradient and update in one graph, with a learning rate that changes.
fn training(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let rate = Slot::new(-0.5f32);
    let x = device.buffer(&[1.0f32, 2.0, 3.0, 4.0])?;
    let mut weights = device.buffer(&[1.0f32; 4])?;
    let mut step = device.graph().label("step").record(|r| {
        let (mut hidden, mut gradient, mut loss) = (r.alloc(4)?, r.alloc(4)?, r.output_scalar::<f32>()?);
        r.run(k.multiply(&x, &weights, &mut hidden))?;
        r.run(k.sum(&hidden, &mut loss))?;
        r.run(k.add(&x, baked(0.0), &mut gradient))?;
        r.run(k.saxpy(&rate, &gradient, &mut weights))?;
        Ok(loss)
    })?;
    right("loss", step.launch_sync(stream)?.get(stream)?, 10.0)?;
    rate.set(-0.25);
    right("loss", step.launch_sync(stream)?.get(stream)?, -5.0)?;
    right("weights", stream.read(&weights)?, [0.25, -0.5, -1.25, -2.0])
}

/// Draws in a graph and eagerly from one stream of numbers; saved and restored.
fn random(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let mut random = Generator::new(device, 42)?;
    let state = random.save(stream)?;
    let mut y = device.zeros::<u32>(5)?;
    let mut graph = device.record(random.words(&mut y))?;
    graph.launch(stream)?;
    right("a replay", stream.read(&y)?, state.next_words(5))?;
    let mut z = device.zeros::<u32>(3)?;
    stream.run(random.words(&mut z))?;
    right("an eager draw", stream.read(&z)?, state.advanced(5).next_words(3))?;
    random.restore(stream, &state)?;
    graph.launch(stream)?;
    right("restored", stream.read(&y)?, state.next_words(5))
}

/// Two streams: the next batch is copied in while the last one is worked on.
fn batches(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let copies = device.stream()?;
    let (mut next, mut result) = (device.host(&[0.0f32; 8])?, device.host(&[0.0f32; 8])?);
    let (mut staged, mut batch) = (device.zeros::<f32>(8)?, device.zeros::<f32>(8)?);
    let mut load = device.record(upload(&next, &mut staged))?;
    let mut work = device.record(|r: &mut Recorder<'_>| {
        let mut t = r.alloc(8)?;
        r.run(copy(&staged, &mut batch))?;
        r.run(fill(&mut t, baked(0.0f32)))?;
        r.run(k.saxpy(baked(3.0), &batch, &mut t))?;
        r.run(download(&t, &mut result))
    })?;
    for step in 1..4 {
        next.set(&[step as f32; 8])?;
        load.launch(&copies)?;
        work.launch(stream)?;
    }
    right("the last batch", result.to_vec()?, [9.0; 8])
}
