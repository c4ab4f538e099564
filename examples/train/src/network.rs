//! A network on a device, and its training step as one operation.
//!
//! The operation is written once: run on a stream it is the eager step, recorded it is the graph's. Everything between the
//! static inputs and the parameters is planned memory of the recording.

use dacapo::collective::{Bucketed, Communicator, Reduce};
use dacapo::{Buffer, Device, Op, Result, Scalar, Slot, Stream, baked};

use crate::data::Batch;
use crate::kernels::Kernels;
use crate::reference::Reference;
use crate::shape::{Adam, Model, Shape};
use crate::{gru, mlp};

/// A network on a device, with its optimiser and its static inputs.
pub struct Network {
    pub(crate) shape: Shape,
    pub(crate) adam: Adam,
    /// All parameters in one piece, so that one kernel moves them all.
    pub(crate) parameters: Buffer<f32>,
    mean: Buffer<f32>,
    square: Buffer<f32>,
    /// The powers of Adam's betas. In device memory, because every replay needs the next ones.
    pub(crate) powers: Buffer<f32>,
    /// A GRU's states from before the first input to after the last. The first is never written: it is 0.
    pub(crate) states: Buffer<f32>,
    /// The batch: the same memory in every step, so that a graph finds it.
    pub(crate) inputs: Buffer<f32>,
    pub(crate) targets: Buffer<f32>,
}

impl Network {
    /// A network with these parameters, before its first step.
    ///
    /// # Errors
    ///
    /// - Sizes that no network has, parameters of another network, or what the device answered.
    pub fn new(device: &Device, shape: Shape, adam: Adam, parameters: &[f32]) -> Result<Network> {
        if let Some(why) = shape.refused() {
            return Err(dacapo::Error::msg(why));
        }
        if parameters.len() != shape.parameters() {
            return Err(dacapo::Error::msg("the parameters are another network's"));
        }
        let states = if shape.model == Model::Gru { (shape.time + 1) * shape.targets() } else { 0 };
        Ok(Network {
            shape,
            adam,
            parameters: device.buffer(parameters)?,
            mean: device.zeros(parameters.len())?,
            square: device.zeros(parameters.len())?,
            powers: device.buffer(&[1.0, 1.0])?,
            states: device.zeros(states)?,
            inputs: device.zeros(shape.inputs())?,
            targets: device.zeros(shape.targets())?,
        })
    }

    /// Copies the next batch into the static inputs, behind the work that still reads the last one.
    ///
    /// # Errors
    ///
    /// - A batch of another shape, or what the device answered.
    pub fn feed(&mut self, stream: &Stream, batch: &Batch) -> Result<()> {
        stream.write(&mut self.inputs, &batch.inputs)?;
        stream.write(&mut self.targets, &batch.targets)
    }

    /// The parameters as they are now.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn parameters(&self, stream: &Stream) -> Result<Vec<f32>> {
        stream.read(&self.parameters)
    }

    /// All of it as it is now, in plain Rust, for batches of this shape.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn to_reference(&self, stream: &Stream, shape: Shape) -> Result<Reference> {
        let mut reference = Reference::new(shape, self.adam, stream.read(&self.parameters)?);
        reference.mean = stream.read(&self.mean)?;
        reference.square = stream.read(&self.square)?;
        stream.read(&self.powers)?.iter().zip(&mut reference.powers).for_each(|(now, power)| *power = *now);
        Ok(reference)
    }

    /// Forward, loss, backward, Adam: one training step on what was fed. Gives the loss.
    ///
    /// The betas are baked into the graph; the rate may change from replay to replay.
    pub fn step(&mut self, k: &Kernels, rate: &Slot<f32>) -> impl Op<Out = Scalar<f32>> {
        self.step_with(k, rate, None)
    }

    /// The same step of several ranks, each with an equal part of the batch: gradient and loss are those of the whole batch.
    ///
    /// A layer's gradient goes to the other ranks as soon as it is there, beside the way back through the layers below.
    pub fn step_among(&mut self, k: &Kernels, rate: &Slot<f32>, comm: &Communicator) -> impl Op<Out = Scalar<f32>> {
        // The mean over all rows is the average of the means over equal parts of them. Every layer fills a bucket: what can be
        // joined in a network this small is not worth waiting for.
        let layer_min = self.shape.layout().iter().map(|layer| layer.both().len()).min().unwrap_or(0);
        self.step_with(k, rate, Some(comm.bucketed(layer_min * size_of::<f32>(), Reduce::Average)))
    }

    fn step_with(&mut self, k: &Kernels, rate: &Slot<f32>, ranks: Option<Bucketed>) -> impl Op<Out = Scalar<f32>> {
        move |r| {
            let mut ranks = ranks;
            let (mut gradient, mut parts) = (r.alloc(self.shape.parameters())?, r.alloc(self.shape.loss_parts())?);
            match self.shape.model {
                Model::Gru => gru::backpropagate(r, k, self, &mut gradient, &mut parts, ranks.as_mut())?,
                Model::Mlp => mlp::backpropagate(r, k, self, &mut gradient, &mut parts, ranks.as_mut())?,
            }
            ranks.map_or(Ok(()), |ranks| ranks.finish(r))?;
            let Network { adam, parameters, mean, square, powers, .. } = self;
            let (beta1, beta2, epsilon) = (baked(adam.beta1), baked(adam.beta2), baked(adam.epsilon));
            let mut loss = r.output_scalar()?;
            let update =
                k.adam(rate, beta1, beta2, epsilon, powers, &gradient, &parts, parameters, mean, square, &mut loss);
            r.run(update.label("adam"))?;
            Ok(loss)
        }
    }
}
