//! A network with one hidden layer on a device, and its training step as one operation.
//!
//! The operation is written once: run on a stream it is the eager step, recorded it is the graph's.

use dacapo::{Buffer, Device, Op, Result, Scalar, Slice, Slot, Stream, baked, fill};

use crate::kernels::Kernels;
use crate::shape::{Adam, Shape};

/// One tensor of parameters with what training keeps beside it.
struct Tensor {
    value: Buffer<f32>,
    gradient: Buffer<f32>,
    mean: Buffer<f32>,
    square: Buffer<f32>,
}

impl Tensor {
    fn new(device: &Device, value: &[f32]) -> Result<Tensor> {
        let zeros = || device.zeros(value.len());
        Ok(Tensor { value: device.buffer(value)?, gradient: zeros()?, mean: zeros()?, square: zeros()? })
    }
}

/// A network on a device, with its optimiser and its static inputs.
pub struct Network {
    shape: Shape,
    adam: Adam,
    /// Weights and bias of the first layer, then of the second.
    tensors: [Tensor; 4],
    /// The powers of Adam's betas. In device memory, because every replay needs the next ones.
    powers: Buffer<f32>,
    /// The batch: the same memory in every step, so that a graph finds it.
    inputs: (Buffer<f32>, Buffer<u32>),
}

impl Network {
    /// A network with these parameters, before its first step.
    pub fn new(device: &Device, shape: Shape, adam: Adam, parameters: &[Vec<f32>; 4]) -> Result<Network> {
        let [w1, b1, w2, b2] = parameters;
        let tensor = |values: &Vec<f32>| Tensor::new(device, values);
        Ok(Network {
            shape,
            adam,
            tensors: [tensor(w1)?, tensor(b1)?, tensor(w2)?, tensor(b2)?],
            powers: device.buffer(&[1.0, 1.0])?,
            inputs: (device.zeros(shape.batch * shape.inputs)?, device.zeros(shape.batch)?),
        })
    }

    /// Copies the next batch into the static inputs, behind the work that still reads the last one.
    pub fn feed(&mut self, stream: &Stream, (x, labels): &(Vec<f32>, Vec<u32>)) -> Result<()> {
        stream.write(&mut self.inputs.0, x)?;
        stream.write(&mut self.inputs.1, labels)
    }

    /// The parameters as they are now.
    pub fn parameters(&self, stream: &Stream) -> Result<Vec<Vec<f32>>> {
        self.tensors.iter().map(|tensor| stream.read(&tensor.value)).collect()
    }

    /// Zero the gradients, forward, loss, backward, Adam: one training step on what was fed. Gives the loss.
    ///
    /// The betas are baked into the graph; the rate may change from replay to replay.
    pub fn step(&mut self, k: &Kernels, rate: &Slot<f32>) -> impl Op<Out = Scalar<f32>> {
        move |r| {
            let Network { shape, adam, tensors, powers, inputs: (x, labels) } = self;
            let Shape { hidden, classes, batch, .. } = *shape;
            let rows = baked(u32::try_from(batch).map_err(|_| dacapo::Error::msg("the batch is too large"))?);
            for tensor in tensors.iter_mut() {
                r.run(fill(&mut tensor.gradient, baked(0.0)).label("zero"))?;
            }
            let [w1, b1, w2, b2] = tensors;

            let (mut before, mut after) = (r.alloc(batch * hidden)?, r.alloc(batch * hidden)?);
            r.run(k.linear_forward(x, &w1.value, &b1.value, &mut before).label("forward/first"))?;
            r.run(k.relu(&before, &mut after).label("forward/first"))?;
            let (mut logits, mut dlogits) = (r.alloc(batch * classes)?, r.alloc(batch * classes)?);
            r.run(k.linear_forward(&after, &w2.value, &b2.value, &mut logits).label("forward/second"))?;
            let mut loss = r.output_scalar()?;
            r.run(k.softmax_cross_entropy(&logits, labels, &mut dlogits, &mut loss).label("loss"))?;

            r.run(k.linear_backward_weight(&dlogits, &after, &mut w2.gradient, rows).label("backward/second"))?;
            r.run(k.linear_backward_bias(&dlogits, &mut b2.gradient).label("backward/second"))?;
            let (mut dafter, mut dbefore) = (r.alloc(batch * hidden)?, r.alloc(batch * hidden)?);
            r.run(k.linear_backward_input(&dlogits, &w2.value, &mut dafter, rows).label("backward/second"))?;
            r.run(k.relu_backward(&after, &dafter, &mut dbefore).label("backward/first"))?;
            r.run(k.linear_backward_weight(&dbefore, x, &mut w1.gradient, rows).label("backward/first"))?;
            r.run(k.linear_backward_bias(&dbefore, &mut b1.gradient).label("backward/first"))?;

            r.run(k.adam_advance(powers, baked(adam.beta1), baked(adam.beta2)).label("adam"))?;
            for tensor in [w1, b1, w2, b2] {
                r.run(adam_step(k, rate, *adam, powers, tensor).label("adam"))?;
            }
            Ok(loss)
        }
    }
}

fn adam_step(k: &Kernels, rate: &Slot<f32>, adam: Adam, powers: &Slice<f32>, tensor: &mut Tensor) -> impl Op<Out = ()> {
    let Tensor { value, gradient, mean, square } = tensor;
    let (beta1, beta2, epsilon) = (baked(adam.beta1), baked(adam.beta2), baked(adam.epsilon));
    k.adam_step(rate, beta1, beta2, epsilon, powers, gradient, value, mean, square)
}
