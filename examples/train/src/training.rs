//! The same training three times: step by step on a stream, as replays of one graph, and in plain Rust.
//!
//! All three see the same batches, the same first parameters and the same rates, so their losses and last parameters can be
//! compared bit for bit.

use std::time::{Duration, Instant};

use dacapo::{Device, Result, Slot};
use indicatif::ProgressBar;

use crate::data::Spiral;
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
    pub seed: u64,
}

/// How one training went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The loss of each step.
    pub losses: Vec<f32>,
    /// The parameters after the last step.
    pub parameters: Vec<Vec<f32>>,
    /// The time of all steps, with reading the losses.
    pub elapsed: Duration,
}

impl Training {
    /// The rate of a step: it is halved for the second half. A recorded step must follow that, too.
    pub fn rate(&self, step: usize) -> f32 {
        if step * 2 < self.steps { self.adam.rate } else { self.adam.rate / 2.0 }
    }

    /// Each step as its own launches on a stream.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn eager(&self, device: &Device, progress: &ProgressBar) -> Result<Outcome> {
        let (kernels, stream, rate) = (Kernels::load(device)?, device.stream()?, Slot::new(0.0));
        let (mut network, mut spiral) = self.start(device)?;
        let (mut losses, started) = (Vec::new(), Instant::now());
        for step in 0..self.steps {
            rate.set(self.rate(step));
            network.feed(&stream, &spiral.batch(self.shape))?;
            losses.push(stream.run(network.step(&kernels, &rate))?.get(&stream)?);
            progress.inc(1);
        }
        let elapsed = started.elapsed();
        Ok(Outcome { losses, parameters: network.parameters(&stream)?, elapsed })
    }

    /// One graph, recorded before the first step and replayed for each. Also says how many nodes and edges it has.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn replayed(&self, device: &Device, progress: &ProgressBar) -> Result<(Outcome, [usize; 2])> {
        let (kernels, stream, rate) = (Kernels::load(device)?, device.stream()?, Slot::new(0.0));
        let (mut network, mut spiral) = self.start(device)?;
        let mut graph = device.recording().label("train").record(network.step(&kernels, &rate))?;
        let (mut losses, started) = (Vec::new(), Instant::now());
        for step in 0..self.steps {
            rate.set(self.rate(step));
            network.feed(&stream, &spiral.batch(self.shape))?;
            losses.push(graph.launch_sync(&stream)?.get(&stream)?);
            progress.inc(1);
        }
        let elapsed = started.elapsed();
        let size = [graph.len(), graph.dependencies().len()];
        Ok((Outcome { losses, parameters: network.parameters(&stream)?, elapsed }, size))
    }

    /// The steps in plain Rust, on the host.
    pub fn reference(&self, progress: &ProgressBar) -> Outcome {
        let mut spiral = Spiral::new(self.seed);
        let mut network = Reference::new(self.shape, self.adam, spiral.parameters(self.shape));
        let (mut losses, started) = (Vec::new(), Instant::now());
        for step in 0..self.steps {
            let (x, labels) = spiral.batch(self.shape);
            losses.push(network.step(self.rate(step), &x, &labels));
            progress.inc(1);
        }
        let elapsed = started.elapsed();
        Outcome { losses, parameters: network.tensors.into_iter().map(|tensor| tensor.value).collect(), elapsed }
    }

    fn start(&self, device: &Device) -> Result<(Network, Spiral)> {
        let mut spiral = Spiral::new(self.seed);
        let parameters = spiral.parameters(self.shape);
        Ok((Network::new(device, self.shape, self.adam, &parameters)?, spiral))
    }
}
