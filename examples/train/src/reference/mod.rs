//! The training step in plain Rust: the same operations, rounded the same way, in the same order as `kernels/training.cu`.
//!
//! So the device's results are compared bit for bit, not within a bound. Nothing here knows of devices or graphs.

mod apart;
mod arithmetic;
mod gru;
mod mlp;

use crate::data::Batch;
use crate::shape::{Adam, Layer, Model, Shape, TILE};
use arithmetic::{by_halves, product, total};

pub use apart::Apart;

/// A network on the host, with its optimiser.
#[derive(Clone, PartialEq, Debug)]
pub struct Reference {
    shape: Shape,
    adam: Adam,
    /// All parameters, as the device has them.
    pub parameters: Vec<f32>,
    /// Adam's mean of the gradients.
    pub mean: Vec<f32>,
    /// And of their squares.
    pub square: Vec<f32>,
    /// The powers of Adam's betas.
    pub powers: [f32; 2],
}

impl Reference {
    /// A network with these parameters, before its first step.
    pub fn new(shape: Shape, adam: Adam, parameters: Vec<f32>) -> Reference {
        let zeros = vec![0.0; parameters.len()];
        Reference { shape, adam, parameters, mean: zeros.clone(), square: zeros, powers: [1.0; 2] }
    }

    /// One step on one batch: forward, loss, backward, Adam at this rate. Returns the loss.
    pub fn step(&mut self, rate: f32, batch: &Batch) -> f32 {
        let (loss, gradient) = self.gradient(batch);
        self.update(rate, gradient);
        loss
    }

    fn update(&mut self, rate: f32, gradient: Vec<f32>) {
        let Adam { beta1, beta2, epsilon, .. } = self.adam;
        self.powers = [self.powers[0] * beta1, self.powers[1] * beta2];
        let past = [1.0 - self.powers[0], 1.0 - self.powers[1]];
        for (at, g) in gradient.into_iter().enumerate() {
            let (p, m, v) = (&mut self.parameters[at], &mut self.mean[at], &mut self.square[at]);
            *m = beta1.mul_add(*m, (1.0 - beta1) * g);
            *v = beta2.mul_add(*v, (1.0 - beta2) * g * g);
            *p = (-rate).mul_add(*m / past[0] / ((*v / past[1]).sqrt() + epsilon), *p);
        }
    }

    /// The loss of a batch and the gradient of all parameters.
    pub fn gradient(&self, batch: &Batch) -> (f32, Vec<f32>) {
        let (loss, terms) = self.terms(batch);
        (loss, terms.iter().flat_map(Terms::sum).collect())
    }

    fn terms(&self, batch: &Batch) -> (f32, Vec<Terms>) {
        match self.shape.model {
            Model::Gru => gru::gradient(self.shape, &self.parameters, batch),
            Model::Mlp => mlp::gradient(self.shape, &self.parameters, batch),
        }
    }
}

/// What a layer's gradient is the sum of: a term for each row of `dy` and `x`.
struct Terms {
    dy: Vec<f32>,
    x: Vec<f32>,
    /// Numbers of a row of `dy`, and of `x`.
    widths: [usize; 2],
}

impl Terms {
    fn new(dy: Vec<f32>, x: Vec<f32>, widths: [usize; 2]) -> Terms {
        Terms { dy, x, widths }
    }

    fn rows(&self) -> usize {
        self.dy.len() / self.widths[0]
    }

    fn sum(&self) -> Vec<f32> {
        weight_gradient(&self.dy, &self.x, self.widths[0], self.widths[1])
    }

    /// The sum of the terms' sizes.
    fn mass(&self) -> Vec<f32> {
        let sizes = |numbers: &[f32]| numbers.iter().map(|number| number.abs()).collect::<Vec<_>>();
        weight_gradient(&sizes(&self.dy), &sizes(&self.x), self.widths[0], self.widths[1])
    }
}

/// A layer's weights and biases.
fn layer<'p>(parameters: &'p [f32], layer: &Layer) -> (&'p [f32], &'p [f32]) {
    (&parameters[layer.weights.clone()], &parameters[layer.biases.clone()])
}

/// x Wᵀ + b, for rows of `k` numbers.
fn linear(x: &[f32], (w, b): (&[f32], &[f32]), k: usize) -> Vec<f32> {
    let one = |row: &[f32], w: &[f32], b: f32| product(k, |t| row[t], |t| w[t]) + b;
    x.chunks(k).flat_map(|row| w.chunks(k).zip(b).map(move |(w, b)| one(row, w, *b))).collect()
}

/// dyᵀ x with the sums of dy's columns behind it, for rows of `m` and `n` numbers.
fn weight_gradient(dy: &[f32], x: &[f32], m: usize, n: usize) -> Vec<f32> {
    let rows = dy.len() / m;
    let weight = |at: usize| product(rows, |t| dy[t * m + at / n], |t| x[t * n + at % n]);
    let bias = |at: usize| total(rows, |t| dy[t * m + at]);
    (0..m * n).map(weight).chain((0..m).map(bias)).collect()
}

/// The mean square distance of answers, `n` a row, from targets, and its gradient.
fn loss(y: &[f32], targets: &[f32], n: usize) -> (f32, Vec<f32>) {
    let (rows, count) = (y.len() / n, y.len() as f32);
    let scale = 2.0 / count;
    let distance = |row: usize, column: usize| match row < rows && column < n {
        true => y[row * n + column] - targets[row * n + column],
        false => 0.0,
    };
    // A part for each tile: each thread has four columns of a row, and the threads are added by halves.
    let part = |tile: usize| {
        let (row0, column0) = (tile / n.div_ceil(TILE) * TILE, tile % n.div_ceil(TILE) * TILE);
        let thread = |t: usize| {
            let four = (0..4).map(|i| distance(row0 + t / 8, column0 + t % 8 * 4 + i));
            four.fold(0.0, |sum: f32, d| d.mul_add(d, sum))
        };
        by_halves(&mut (0..256).map(thread).collect::<Vec<_>>()) / count
    };
    let mut sums = [0.0_f32; 256];
    for tile in 0..rows.div_ceil(TILE) * n.div_ceil(TILE) {
        sums[tile % 256] += part(tile);
    }
    (by_halves(&mut sums), y.iter().zip(targets).map(|(y, target)| (y - target) * scale).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data;

    /// Gradients against difference quotients of the loss, in steps that f32 can still tell apart.
    #[test]
    fn gradients_are_the_slopes_of_the_loss() {
        for model in [Model::Gru, Model::Mlp] {
            let shape = Shape { model, hidden: 8, batch: 3, time: 3, layers: 3 };
            // Large weights, so that every path counts.
            let parameters: Vec<f32> = data::parameters(shape, 5).iter().map(|p| 2.0 * p).collect();
            let batch = data::noise(shape, 5);
            let gradient = Reference::new(shape, Adam::default(), parameters.clone()).gradient(&batch).1;
            for at in (0..parameters.len()).step_by(3) {
                let loss = |by: f32| {
                    let mut moved = parameters.clone();
                    moved[at] += by;
                    f64::from(Reference::new(shape, Adam::default(), moved).gradient(&batch).0)
                };
                let slope = (loss(1e-2) - loss(-1e-2)) / 2e-2;
                let found = f64::from(gradient[at]);
                assert!((slope - found).abs() < 1e-3, "{model:?}, parameter {at}: {found}, slope {slope}");
            }
            assert!(gradient.iter().any(|g| g.abs() > 0.02), "{model:?}");
        }
    }

    #[test]
    fn the_loss_is_the_mean_square_distance() {
        let (y, targets): (Vec<f32>, Vec<f32>) = (0..70 * 40).map(|i| (i as f32 * 0.001, 1.0)).unzip();
        let exact = y.iter().zip(&targets).map(|(y, t)| f64::from(y - t).powi(2)).sum::<f64>() / y.len() as f64;
        let (found, gradient) = loss(&y, &targets, 40);
        assert!((f64::from(found) - exact).abs() < 1e-6 * exact, "{found} {exact}");
        assert_eq!(gradient[0], -2.0 / 2800.0);
    }
}
