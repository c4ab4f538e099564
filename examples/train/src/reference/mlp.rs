//! The feed-forward network's loss and gradient.

use super::arithmetic::{gelu, product};
use super::{layer, linear, loss, weight_gradient};
use crate::data::Batch;
use crate::shape::Shape;

/// The loss, and the gradient of all parameters.
pub fn gradient(shape: Shape, parameters: &[f32], batch: &Batch) -> (f32, Vec<f32>) {
    let hidden = shape.hidden;
    let layout = shape.layout();
    let (mut between, mut slopes) = (vec![batch.inputs.clone()], Vec::new());
    for (l, place) in layout.iter().enumerate() {
        let (y, slope) = linear(&between[l], layer(parameters, place), hidden).into_iter().map(gelu).unzip();
        between.push(y);
        slopes.push(slope);
    }
    let (loss, dy) = loss(&between[layout.len()], &batch.targets, hidden);
    let scaled = |dy: Vec<f32>, slopes: &Vec<f32>| dy.iter().zip(slopes).map(|(dy, slope)| dy * slope).collect();
    let mut dy: Vec<f32> = scaled(dy, &slopes[layout.len() - 1]);
    let mut gradients = Vec::new();
    for (l, place) in layout.iter().enumerate().rev() {
        gradients.push(weight_gradient(&dy, &between[l], hidden, hidden));
        if l > 0 {
            let (w, past) = (layer(parameters, place).0, &dy);
            let row = |at: usize| &past[at / hidden * hidden..];
            let one = |at: usize| product(hidden, |t| row(at)[t], |t| w[t * hidden + at % hidden]);
            dy = scaled((0..past.len()).map(one).collect(), &slopes[l - 1]);
        }
    }
    (loss, gradients.into_iter().rev().flatten().collect())
}
