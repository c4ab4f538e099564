//! The same training three times: step by step on a stream, as replays of one graph, and in plain Rust.
//!
//! All three see the same batches, the same first parameters and the same rates, so their losses and last parameters can be
//! compared bit for bit.

use std::time::{Duration, Instant};

use dacapo::{Device, Result, Slot};

use crate::data;
use crate::kernels::Kernels;
use crate::network::Network;
use crate::reference::Reference;
use crate::shape::{Adam, Shape};

/// What shall be trained, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Training {
    /// The network.
    pub shape: Shape,
    /// The optimiser, with the rate of the first step.
    pub adam: Adam,
    /// How many steps.
    pub steps: usize,
    /// Decides data and first parameters.
    pub seed: u32,
}

/// How one training went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The loss of each step.
    pub losses: Vec<f32>,
    /// The parameters after the last step.
    pub parameters: Vec<f32>,
    /// The time of all steps, with reading the losses.
    pub elapsed: Duration,
}

impl Outcome {
    /// A number for all losses and parameters: the same for the same bits. (FNV-1a, by Fowler, Noll and Vo.)
    pub fn digest(&self) -> u64 {
        let bytes = self.losses.iter().chain(&self.parameters).flat_map(|value| value.to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }
}

impl Training {
    /// The rate of a step: it is halved for the second half. A recorded step must follow that, too.
    pub fn rate(&self, step: usize) -> f32 {
        if step * 2 < self.steps { self.adam.rate } else { self.adam.rate / 2.0 }
    }

    /// Each step as its own launches on a stream. `done` is told of each.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn eager(&self, device: &Device, done: impl Fn()) -> Result<Outcome> {
        let (kernels, stream, rate) = (Kernels::load(device)?, device.stream()?, Slot::new(0.0));
        let mut network = self.start(device)?;
        let (mut losses, started) = (Vec::new(), Instant::now());
        for step in 0..self.steps {
            rate.set(self.rate(step));
            network.feed(&stream, &self.batch(step))?;
            losses.push(stream.run(network.step(&kernels, &rate))?.get(&stream)?);
            done();
        }
        let elapsed = started.elapsed();
        Ok(Outcome { losses, parameters: network.parameters(&stream)?, elapsed })
    }

    /// One graph, recorded before the first step and replayed for each. Also says how many nodes and edges it has.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn replayed(&self, device: &Device, done: impl Fn()) -> Result<(Outcome, [usize; 2])> {
        let (kernels, stream, rate) = (Kernels::load(device)?, device.stream()?, Slot::new(0.0));
        let mut network = self.start(device)?;
        let mut graph = device.graph().label("train").record(network.step(&kernels, &rate))?;
        let (mut losses, started) = (Vec::new(), Instant::now());
        for step in 0..self.steps {
            rate.set(self.rate(step));
            network.feed(&stream, &self.batch(step))?;
            losses.push(graph.launch_sync(&stream)?.get(&stream)?);
            done();
        }
        let elapsed = started.elapsed();
        let size = [graph.len(), graph.dependencies().len()];
        Ok((Outcome { losses, parameters: network.parameters(&stream)?, elapsed }, size))
    }

    /// The steps in plain Rust, on the host.
    pub fn reference(&self, done: impl Fn()) -> Outcome {
        let mut network = Reference::new(self.shape, self.adam, data::parameters(self.shape, self.seed));
        let (mut losses, started) = (Vec::new(), Instant::now());
        for step in 0..self.steps {
            losses.push(network.step(self.rate(step), &self.batch(step)));
            done();
        }
        let elapsed = started.elapsed();
        Outcome { losses, parameters: network.parameters, elapsed }
    }

    fn start(&self, device: &Device) -> Result<Network> {
        self.start_as(device, self.shape)
    }

    /// The network before the first step, for batches of this shape.
    pub(crate) fn start_as(&self, device: &Device, shape: Shape) -> Result<Network> {
        Network::new(device, shape, self.adam, &data::parameters(self.shape, self.seed))
    }

    /// The batch of a step.
    pub(crate) fn batch(&self, step: usize) -> data::Batch {
        data::lesson(self.shape, self.seed, step as u32)
    }
}
