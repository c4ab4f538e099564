//! The feed-forward network's loss and gradient.

use super::arithmetic::{gelu, product};
use super::{Terms, layer, linear, loss};
use crate::data::Batch;
use crate::shape::Shape;

/// The loss, and what the gradient of each layer is the sum of.
pub fn gradient(shape: Shape, parameters: &[f32], batch: &Batch) -> (f32, Vec<Terms>) {
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
    let mut terms = Vec::new();
    for (l, place) in layout.iter().enumerate().rev() {
        if l > 0 {
            let (w, past) = (layer(parameters, place).0, &dy);
            let row = |at: usize| &past[at / hidden * hidden..];
            let one = |at: usize| product(hidden, |t| row(at)[t], |t| w[t * hidden + at % hidden]);
            let before = scaled((0..past.len()).map(one).collect(), &slopes[l - 1]);
            terms.push(Terms::new(std::mem::replace(&mut dy, before), between[l].clone(), [hidden; 2]));
        } else {
            terms.push(Terms::new(std::mem::take(&mut dy), between[l].clone(), [hidden; 2]));
        }
    }
    terms.reverse();
    (loss, terms)
}
