//! The training step in plain Rust: the same operations, rounded the same way, in the same order as `kernels/network.cu`.
//!
//! So the device's results are compared bit for bit, not within a bound. Nothing here knows of devices or graphs.

use crate::shape::{Adam, Shape};

/// One tensor of parameters with what training keeps beside it.
#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    /// The parameters.
    pub value: Vec<f32>,
    gradient: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
}

impl Tensor {
    fn new(value: Vec<f32>) -> Tensor {
        let zeros = vec![0.0; value.len()];
        Tensor { value, gradient: zeros.clone(), mean: zeros.clone(), square: zeros }
    }
}

/// A network on the host, with its optimiser.
#[derive(Clone, PartialEq, Debug)]
pub struct Reference {
    shape: Shape,
    adam: Adam,
    /// Weights and bias of the first layer, then of the second.
    pub tensors: [Tensor; 4],
    powers: [f32; 2],
}

impl Reference {
    /// A network with these parameters, before its first step.
    pub fn new(shape: Shape, adam: Adam, parameters: [Vec<f32>; 4]) -> Reference {
        Reference { shape, adam, tensors: parameters.map(Tensor::new), powers: [1.0; 2] }
    }

    /// One step on one batch: gradients to zero, forward, loss, backward, Adam at this rate. Returns the loss.
    pub fn step(&mut self, rate: f32, x: &[f32], labels: &[u32]) -> f32 {
        let Shape { inputs, hidden, classes, .. } = self.shape;
        for tensor in &mut self.tensors {
            tensor.gradient.fill(0.0);
        }
        let [w1, b1, w2, b2] = &mut self.tensors;
        let before = linear_forward(x, &w1.value, &b1.value, inputs);
        let after: Vec<f32> = before.iter().map(|x| if *x > 0.0 { *x } else { 0.0 }).collect();
        let logits = linear_forward(&after, &w2.value, &b2.value, hidden);
        let (loss, dlogits) = softmax_cross_entropy(&logits, labels, classes);

        linear_backward_weight(&dlogits, &after, &mut w2.gradient, hidden, classes);
        linear_backward_bias(&dlogits, &mut b2.gradient);
        let dafter = linear_backward_input(&dlogits, &w2.value, hidden, classes);
        let dbefore: Vec<f32> = after.iter().zip(&dafter).map(|(y, dy)| if *y > 0.0 { *dy } else { 0.0 }).collect();
        linear_backward_weight(&dbefore, x, &mut w1.gradient, inputs, hidden);
        linear_backward_bias(&dbefore, &mut b1.gradient);

        self.powers = [self.powers[0] * self.adam.beta1, self.powers[1] * self.adam.beta2];
        for tensor in &mut self.tensors {
            adam_step(Adam { rate, ..self.adam }, self.powers, tensor);
        }
        loss
    }
}

fn linear_forward(x: &[f32], w: &[f32], b: &[f32], inputs: usize) -> Vec<f32> {
    let dot = |row: &[f32], w: &[f32], b: f32| row.iter().zip(w).fold(b, |sum, (x, w)| x.mul_add(*w, sum));
    let rows = x.chunks(inputs);
    rows.flat_map(|row| w.chunks(inputs).zip(b).map(move |(w, b)| dot(row, w, *b))).collect()
}

fn linear_backward_input(dy: &[f32], w: &[f32], inputs: usize, outputs: usize) -> Vec<f32> {
    let element = |dy: &[f32], i: usize| (0..outputs).fold(0.0, |sum: f32, o| dy[o].mul_add(w[o * inputs + i], sum));
    dy.chunks(outputs).flat_map(|dy| (0..inputs).map(move |i| element(dy, i))).collect()
}

fn linear_backward_weight(dy: &[f32], x: &[f32], dw: &mut [f32], inputs: usize, outputs: usize) {
    for (at, dw) in dw.iter_mut().enumerate() {
        let (o, i) = (at / inputs, at % inputs);
        let rows = dy.chunks(outputs).zip(x.chunks(inputs));
        *dw = rows.fold(*dw, |sum, (dy, x)| dy[o].mul_add(x[i], sum));
    }
}

fn linear_backward_bias(dy: &[f32], db: &mut [f32]) {
    let outputs = db.len();
    for (o, db) in db.iter_mut().enumerate() {
        *db = dy.chunks(outputs).fold(*db, |sum, dy| sum + dy[o]);
    }
}

/// The threads of the kernel's one block: what decides the order of the loss's sum.
const THREADS: usize = 256;

fn softmax_cross_entropy(logits: &[f32], labels: &[u32], classes: usize) -> (f32, Vec<f32>) {
    let (rows, mut sums) = (labels.len() as f32, [0.0_f32; THREADS]);
    let mut gradient = vec![0.0; logits.len()];
    for (at, ((row, label), to)) in logits.chunks(classes).zip(labels).zip(gradient.chunks_mut(classes)).enumerate() {
        let Some(chosen) = row.get(*label as usize) else { continue };
        let top = row.iter().fold(row[0], |top, x| if *x > top { *x } else { top });
        let sum = row.iter().fold(0.0, |sum: f32, x| sum + exp_nonpositive(x - top));
        for (c, (x, to)) in row.iter().zip(to).enumerate() {
            let p = exp_nonpositive(x - top) / sum;
            *to = if c == *label as usize { p - 1.0 } else { p } / rows;
        }
        sums[at % THREADS] += ln(sum) - (chosen - top);
    }
    let mut half = THREADS / 2;
    while half > 0 {
        for t in 0..half {
            sums[t] += sums[t + half];
        }
        half /= 2;
    }
    (sums[0] / rows, gradient)
}

fn adam_step(adam: Adam, powers: [f32; 2], tensor: &mut Tensor) {
    let Adam { rate, beta1, beta2, epsilon } = adam;
    let Tensor { value, gradient, mean, square } = tensor;
    for (((p, g), m), v) in value.iter_mut().zip(gradient).zip(mean).zip(square) {
        *m = beta1.mul_add(*m, (1.0 - beta1) * *g);
        *v = beta2.mul_add(*v, (1.0 - beta2) * *g * *g);
        let (m, v) = (*m / (1.0 - powers[0]), *v / (1.0 - powers[1]));
        *p = (-rate).mul_add(m / (v.sqrt() + epsilon), *p);
    }
}

fn exp_nonpositive(x: f32) -> f32 {
    if x.is_nan() || x < -87.0 {
        return 0.0;
    }
    let k = (x * std::f32::consts::LOG2_E).round_ties_even();
    let r = k.mul_add(1.904_654_3e-9, k.mul_add(-std::f32::consts::LN_2, x));
    let p = 1.984_127e-4_f32.mul_add(r, 1.388_888_9e-3).mul_add(r, 8.333_333e-3).mul_add(r, 4.166_666_7e-2);
    let p = p.mul_add(r, 0.166_666_67).mul_add(r, 0.5).mul_add(r, 1.0).mul_add(r, 1.0);
    p * f32::from_bits(((k as i32 + 127) << 23) as u32)
}

fn ln(x: f32) -> f32 {
    let bits = x.to_bits() as i32;
    let e = (bits - 0x3F2A_AAAB) >> 23;
    let f = f32::from_bits((bits - e * 0x80_0000) as u32) - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let p = 0.181_818_18_f32.mul_add(z, 0.222_222_22).mul_add(z, 0.285_714_3).mul_add(z, 0.4).mul_add(z, 0.666_666_7);
    (e as f32).mul_add(std::f32::consts::LN_2, (s * z).mul_add(p, s * 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Spiral;

    #[test]
    fn exponential_and_logarithm_are_right_to_single_precision() {
        for k in 0..2000 {
            let x = -(k as f32) * 0.0435;
            let (exact, found) = (f64::from(x).exp(), f64::from(exp_nonpositive(x)));
            assert!((found - exact).abs() <= 2e-7 * exact, "e^{x}: {found} {exact}");
            let y = 1.0 + k as f32 * 0.05;
            assert!((f64::from(ln(y)) - f64::from(y).ln()).abs() <= 3e-7 * f64::from(y).ln().max(0.01), "ln {y}");
        }
        assert_eq!((exp_nonpositive(0.0), exp_nonpositive(f32::NEG_INFINITY), ln(1.0)), (1.0, 0.0, 0.0));
    }

    /// Each gradient against a difference quotient of the loss, in steps that f32 can still tell apart.
    #[test]
    fn gradients_are_the_slopes_of_the_loss() {
        let shape = Shape { inputs: 2, hidden: 5, classes: 3, batch: 12 };
        let mut spiral = Spiral::new(1);
        let (parameters, (x, labels)) = (spiral.parameters(shape), spiral.batch(shape));
        let mut at = Reference::new(shape, Adam::default(), parameters.clone());
        at.step(0.0, &x, &labels);
        for (tensor, values) in parameters.iter().enumerate() {
            for element in 0..values.len() {
                let loss = |by: f32| {
                    let mut moved = parameters.clone();
                    moved[tensor][element] += by;
                    f64::from(Reference::new(shape, Adam::default(), moved).step(0.0, &x, &labels))
                };
                let (h, found) = (1e-2, f64::from(at.tensors[tensor].gradient[element]));
                let slope = (loss(h) - loss(-h)) / (2.0 * f64::from(h));
                assert!((slope - found).abs() < 2e-3, "tensor {tensor}, element {element}: {found}, slope {slope}");
            }
        }
    }

    #[test]
    fn a_label_that_is_no_class_counts_for_nothing() {
        let (loss, gradient) = softmax_cross_entropy(&[1.0, 2.0, 5.0, 0.0], &[9, 0], 2);
        assert_eq!(gradient[..2], [0.0, 0.0]);
        assert!((loss - (1.0 + (-5.0_f32).exp()).ln() / 2.0).abs() < 1e-6, "{loss}");
    }
}
