//! The same step in plain Rust: the same operations in the same order, each rounded once, so that results are compared bit for
//! bit and not within a bound.

use super::network::{HIDDEN, INPUTS, OUTPUTS, Parameters};

/// One step of gradient descent on one batch.
pub fn step(parameters: &mut Parameters, x: &[f32], target: &[f32], rate: f32) {
    let [w1, b1, w2, b2] = parameters;
    let hidden: Vec<f32> = forward(x, w1, b1, INPUTS).into_iter().map(|x| if x > 0.0 { x } else { 0.0 }).collect();
    let mut error = forward(&hidden, w2, b2, HIDDEN);
    descend(&mut error, target, 1.0);

    let (dw2, db2) = (weight_gradient(&error, &hidden, OUTPUTS, HIDDEN), bias_gradient(&error, OUTPUTS));
    let back = input_gradient(&error, w2, OUTPUTS, HIDDEN);
    let back: Vec<f32> = hidden.iter().zip(back).map(|(y, dy)| if *y > 0.0 { dy } else { 0.0 }).collect();
    let (dw1, db1) = (weight_gradient(&back, x, HIDDEN, INPUTS), bias_gradient(&back, HIDDEN));

    descend(w1, &dw1, rate);
    descend(b1, &db1, rate);
    descend(w2, &dw2, rate);
    descend(b2, &db2, rate);
}

/// Half the mean square of what the network is off by.
pub fn loss(parameters: &Parameters, x: &[f32], target: &[f32]) -> f32 {
    let [w1, b1, w2, b2] = parameters;
    let hidden: Vec<f32> = forward(x, w1, b1, INPUTS).into_iter().map(|x| x.max(0.0)).collect();
    let squares = forward(&hidden, w2, b2, HIDDEN).into_iter().zip(target).map(|(y, t)| (y - t) * (y - t));
    squares.sum::<f32>() / 2.0 / target.len() as f32
}

fn forward(x: &[f32], w: &[f32], b: &[f32], inputs: usize) -> Vec<f32> {
    let element = |row: &[f32], w: &[f32], b: f32| row.iter().zip(w).fold(b, |sum, (x, w)| x.mul_add(*w, sum));
    x.chunks(inputs).flat_map(|row| w.chunks(inputs).zip(b).map(move |(w, b)| element(row, w, *b))).collect()
}

fn input_gradient(dy: &[f32], w: &[f32], outputs: usize, inputs: usize) -> Vec<f32> {
    let element = |dy: &[f32], i: usize| (0..outputs).fold(0.0f32, |sum, o| dy[o].mul_add(w[o * inputs + i], sum));
    dy.chunks(outputs).flat_map(|dy| (0..inputs).map(move |i| element(dy, i))).collect()
}

fn weight_gradient(dy: &[f32], x: &[f32], outputs: usize, inputs: usize) -> Vec<f32> {
    let element = |o: usize, i: usize| {
        dy.chunks(outputs).zip(x.chunks(inputs)).fold(0.0f32, |sum, (dy, x)| dy[o].mul_add(x[i], sum))
    };
    (0..outputs).flat_map(|o| (0..inputs).map(move |i| element(o, i))).collect()
}

fn bias_gradient(dy: &[f32], outputs: usize) -> Vec<f32> {
    (0..outputs).map(|o| dy.chunks(outputs).fold(0.0, |sum, dy| sum + dy[o])).collect()
}

fn descend(values: &mut [f32], gradient: &[f32], rate: f32) {
    values.iter_mut().zip(gradient).for_each(|(value, gradient)| *value = (-rate).mul_add(*gradient, *value));
}

#[cfg(test)]
mod tests {
    use super::super::network::{batch, parameters};
    use super::*;

    #[test]
    fn steps_make_the_loss_smaller() {
        let ((x, target), mut parameters) = (batch(), parameters());
        let before = loss(&parameters, &x, &target);
        for _ in 0..50 {
            step(&mut parameters, &x, &target, 0.005);
        }
        let after = loss(&parameters, &x, &target);
        assert!(after < before / 2.0, "{before} -> {after}");
    }
}
