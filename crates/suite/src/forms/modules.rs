//! Callables that are backed by graphs.

use dacapo::port::{Forward, graphed};
use dacapo::{Buffer, Device, Recorder, Scalar, Stream, baked};

use super::check::{Outcome, same};
use super::forms;
use super::kernels::{Kernels, ramp};

forms!("modules": graphed_by_shape, graphed_pair, dyn_module, own_module);

/// One recording for each length of the input.
fn graphed_by_shape(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut calls = 0;
    let mut double = graphed(device, |r: &mut Recorder<'_>, x: &Buffer<f32>| {
        calls += 1;
        let mut y = r.output(x.len())?;
        r.run(k.add(x, baked(0.0), &mut y))?;
        r.run(k.saxpy(baked(1.0), x, &mut y))?;
        Ok(y)
    });
    for len in [3, 5, 3, 5, 3] {
        let x = device.buffer(&ramp(len))?;
        let want: Vec<f32> = ramp(len).iter().map(|x| 2.0 * x).collect();
        same("2x", stream.read(double.call(&stream, &x)?)?, want)?;
    }
    same("recordings", double.recordings(), 2)?;
    drop(double);
    same("calls of the closure", calls, 2)
}

/// A pair of inputs, one of them a number.
fn graphed_pair(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut scaled = graphed(device, |r: &mut Recorder<'_>, (x, s): &(Buffer<f32>, Scalar<f32>)| {
        let mut y = r.output(x.len())?;
        r.run(k.add(x, baked(0.0), &mut y))?;
        r.run(k.scale_by(s, &mut y))?;
        Ok(y)
    });
    let mut input = (device.buffer(&ramp(4))?, device.scalar(3.0f32)?);
    same("3x", stream.read(scaled.call(&stream, &input)?)?, [0.0, 3.0, 6.0, 9.0])?;
    input.1.set(&stream, -1.0)?;
    stream.write(&mut input.0[..1], &[5.0])?;
    same("-x", stream.read(scaled.call(&stream, &input)?)?, [-5.0, -1.0, -2.0, -3.0])?;
    same("recordings", scaled.recordings(), 1)
}

/// A list of modules behind one type, each fed by the one before.
fn dyn_module(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let k = &k;
    let layer = |by: f32| {
        graphed(device, move |r: &mut Recorder<'_>, x: &Buffer<f32>| {
            let mut y = r.output(x.len())?;
            r.run(k.add(x, baked(by), &mut y))?;
            Ok(y)
        })
    };
    type Layer<'a> = Box<dyn Forward<Input = Buffer<f32>, Output = Buffer<f32>> + 'a>;
    let mut layers: Vec<Layer<'_>> = vec![Box::new(layer(1.0)), Box::new(layer(10.0)), Box::new(layer(100.0))];
    let x = device.buffer(&ramp(3))?;
    for _ in 0..2 {
        let mut at: &Buffer<f32> = &x;
        for layer in &mut layers {
            at = layer.forward(&stream, at)?;
        }
        same("x + 111", stream.read(at)?, [111.0, 112.0, 113.0])?;
    }
    Ok(())
}

/// A module of one's own: two graphs, launched in turn, one output.
struct Pair {
    first: dacapo::Graph<()>,
    second: dacapo::Graph<Buffer<f32>>,
}

impl Forward for Pair {
    type Input = ();
    type Output = Buffer<f32>;

    fn forward(&mut self, stream: &Stream, _: &()) -> dacapo::Result<&Buffer<f32>> {
        self.first.launch(stream)?;
        self.second.launch_sync(stream)
    }
}

/// The trait is for anyone to implement.
fn own_module(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut state = device.zeros::<f32>(2)?;
    let first = device.record(k.add_stride(baked(1.0), &mut state))?;
    let second = device.record(|r| {
        let mut y = r.output(2)?;
        r.run(k.add(&state, baked(0.5), &mut y))?;
        Ok(y)
    })?;
    same("ops", (first.len(), second.len()), (1, 1))?;
    let mut pair = Pair { first, second };
    for want in [1.5, 2.5] {
        same("y", stream.read(pair.forward(&stream, &())?)?, [want; 2])?;
    }
    Ok(())
}
