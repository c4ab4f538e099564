//! The network on a device, and its step as an op: the same op is run eagerly and recorded.

use dacapo::{Buffer, Device, Op, Result, Slot, Stream, baked, copy, fill};

use super::kernels::Kernels;

/// Rows of the batch.
pub const ROWS: usize = 32;
/// Numbers of a row.
pub const INPUTS: usize = 16;
/// Neurons of the hidden layer.
pub const HIDDEN: usize = 32;
/// Numbers that the network answers with.
pub const OUTPUTS: usize = 4;

/// Weights and bias of the first layer, then of the second.
pub type Parameters = [Vec<f32>; 4];

/// A network on a device, with the batch that it learns.
pub struct Network {
    x: Buffer<f32>,
    target: Buffer<f32>,
    parameters: [Buffer<f32>; 4],
}

impl Network {
    /// A network with the first parameters.
    ///
    /// # Errors
    ///
    /// - The device has no memory for it.
    pub fn new(device: &Device) -> Result<Network> {
        let ((x, target), [w1, b1, w2, b2]) = (batch(), parameters());
        let parameters = [device.buffer(&w1)?, device.buffer(&b1)?, device.buffer(&w2)?, device.buffer(&b2)?];
        Ok(Network { x: device.buffer(&x)?, target: device.buffer(&target)?, parameters })
    }

    /// One step of gradient descent: forward, error, backward, and the parameters a little further down.
    pub fn step(&mut self, k: &Kernels, rate: &Slot<f32>) -> impl Op<Out = ()> {
        let Network { x, target, parameters: [w1, b1, w2, b2] } = self;
        move |r| {
            let mut sums = r.alloc(ROWS * HIDDEN)?;
            r.run(k.linear_forward(x, w1, b1, &mut sums))?;
            let mut hidden = r.alloc(ROWS * HIDDEN)?;
            r.run(k.relu(&sums, &mut hidden))?;
            let mut answer = r.alloc(ROWS * OUTPUTS)?;
            r.run(k.linear_forward(&hidden, w2, b2, &mut answer))?;
            let mut error = r.alloc(ROWS * OUTPUTS)?;
            r.run(copy(&answer, &mut error))?;
            r.run(k.sgd(baked(1.0), target, &mut error))?;

            let rows = ROWS as u32;
            let (mut dw2, mut db2) = (r.alloc(w2.len())?, r.alloc(b2.len())?);
            r.run(fill(&mut dw2, baked(0.0)))?;
            r.run(k.linear_backward_weight(&error, &hidden, &mut dw2, baked(rows)))?;
            r.run(fill(&mut db2, baked(0.0)))?;
            r.run(k.linear_backward_bias(&error, &mut db2))?;
            let mut back = r.alloc(ROWS * HIDDEN)?;
            r.run(k.linear_backward_input(&error, w2, &mut back, baked(rows)))?;
            let mut back_sums = r.alloc(ROWS * HIDDEN)?;
            r.run(k.relu_backward(&hidden, &back, &mut back_sums))?;
            let (mut dw1, mut db1) = (r.alloc(w1.len())?, r.alloc(b1.len())?);
            r.run(fill(&mut dw1, baked(0.0)))?;
            r.run(k.linear_backward_weight(&back_sums, x, &mut dw1, baked(rows)))?;
            r.run(fill(&mut db1, baked(0.0)))?;
            r.run(k.linear_backward_bias(&back_sums, &mut db1))?;

            r.run(k.sgd(rate, &dw1, w1))?;
            r.run(k.sgd(rate, &db1, b1))?;
            r.run(k.sgd(rate, &dw2, w2))?;
            r.run(k.sgd(rate, &db2, b2))
        }
    }

    /// The parameters as they are now.
    ///
    /// # Errors
    ///
    /// - What the work before failed with.
    pub fn read(&self, stream: &Stream) -> Result<Parameters> {
        let [w1, b1, w2, b2] = &self.parameters;
        Ok([stream.read(w1)?, stream.read(b1)?, stream.read(w2)?, stream.read(b2)?])
    }
}

/// Numbers in -1 to 1 that look like chance and are always the same.
fn numbers(count: usize, start: u32) -> Vec<f32> {
    let mut state = start;
    let mut next = || {
        // The generator of Numerical Recipes: any full-period one will do here.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// The batch and what the network should answer to it.
pub fn batch() -> (Vec<f32>, Vec<f32>) {
    let x = numbers(ROWS * INPUTS, 1);
    // Something that a network of two layers can learn and one layer cannot.
    let target = x.chunks(INPUTS).flat_map(|row| (0..OUTPUTS).map(|o| row[o] * row[o + OUTPUTS])).collect();
    (x, target)
}

/// The parameters before the first step.
pub fn parameters() -> Parameters {
    let scaled = |values: Vec<f32>, by: f32| values.into_iter().map(|value| value * by).collect::<Vec<_>>();
    [
        scaled(numbers(HIDDEN * INPUTS, 2), 0.5),
        vec![0.0; HIDDEN],
        scaled(numbers(OUTPUTS * HIDDEN, 3), 0.25),
        vec![0.0; OUTPUTS],
    ]
}
