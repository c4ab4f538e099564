//! The same transformer in plain Rust and double precision, one sequence at a time: what the device is held against.
//!
//! Written from the definitions, not from the kernels: no cache layout, no order of sums in common with them. So it agrees up
//! to rounding, and [`TOLERANCE`] says how far that may go.

use crate::model::EPSILON;
use crate::shape::Shape;
use crate::weights::{Layer, Weights};

/// How far a logit of the device may be from the reference's, as a part of the largest of its row. Single precision has
/// 6e-8; what is left is what some thousand sums and products make of it.
pub const TOLERANCE: f64 = 2e-5;

/// One sequence in plain Rust.
pub struct Reference<'w> {
    shape: Shape,
    weights: &'w Weights<Vec<f32>>,
    /// Keys and values of each layer, a vector for each position so far.
    past: Vec<[Vec<Vec<f64>>; 2]>,
}

impl<'w> Reference<'w> {
    /// Before the first token.
    pub fn new(shape: Shape, weights: &'w Weights<Vec<f32>>) -> Reference<'w> {
        Reference { shape, weights, past: vec![Default::default(); shape.layers] }
    }

    /// What it thinks of every token as the one after `token`, which stands behind all that it was given before.
    pub fn step(&mut self, token: u32) -> Vec<f64> {
        let (dim, weights) = (self.shape.dim, self.weights);
        let at = token as usize * dim;
        let mut x: Vec<f64> = weights.embedding[at..at + dim].iter().map(|&value| value.into()).collect();
        for (layer, past) in weights.layers.iter().zip(&mut self.past) {
            let attended = attention(&self.shape, layer, past, &norm(&x, &layer.attention_norm));
            add(&mut x, &product(&layer.out, &attended));
            let gated = product(&layer.gate_up, &norm(&x, &layer.mlp_norm));
            let (gates, ups) = gated.split_at(self.shape.hidden);
            let inner: Vec<f64> = gates.iter().zip(ups).map(|(&gate, up)| gate / (1.0 + (-gate).exp()) * up).collect();
            add(&mut x, &product(&layer.down, &inner));
        }
        product(&weights.logits, &norm(&x, &weights.norm))
    }
}

fn attention(shape: &Shape, layer: &Layer<Vec<f32>>, past: &mut [Vec<Vec<f64>>; 2], x: &[f64]) -> Vec<f64> {
    let (dim, head) = (shape.dim, shape.head());
    let (mut q, mut k) = (product(&layer.qkv[..dim * dim], x), product(&layer.qkv[dim * dim..2 * dim * dim], x));
    let v = product(&layer.qkv[2 * dim * dim..], x);
    let [keys, values] = past;
    for vector in [&mut q, &mut k] {
        turn(vector, head, keys.len());
    }
    keys.push(k);
    values.push(v);
    let mut out = vec![0.0; dim];
    for first in (0..dim).step_by(head) {
        let part = first..first + head;
        let score = |key: &Vec<f64>| dot(&q[part.clone()], &key[part.clone()]) / (head as f64).sqrt();
        let scores: Vec<f64> = keys.iter().map(score).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        for (weight, value) in weights.iter().zip(values.iter()) {
            for i in part.clone() {
                out[i] += weight / total * value[i];
            }
        }
    }
    out
}

/// Rotary position embedding, with the angle computed here and not taken from the weights' table.
fn turn(vector: &mut [f64], head: usize, position: usize) {
    for (number, pair) in vector.chunks_mut(2).enumerate() {
        let angle = position as f64 / 10_000_f64.powf(2.0 * (number % (head / 2)) as f64 / head as f64);
        let (sine, cosine) = angle.sin_cos();
        (pair[0], pair[1]) = (pair[0] * cosine - pair[1] * sine, pair[0] * sine + pair[1] * cosine);
    }
}

fn norm(x: &[f64], gain: &[f32]) -> Vec<f64> {
    let scale = 1.0 / (dot(x, x) / x.len() as f64 + f64::from(EPSILON)).sqrt();
    x.iter().zip(gain).map(|(x, &gain)| x * scale * f64::from(gain)).collect()
}

fn product(w: &[f32], x: &[f64]) -> Vec<f64> {
    w.chunks(x.len()).map(|row| row.iter().zip(x).map(|(&w, x)| f64::from(w) * x).sum()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(x: &mut [f64], y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

/// The first of the largest: what a temperature of 0 takes.
pub fn likeliest(logits: &[f64]) -> u32 {
    let top = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logits.iter().position(|&logit| logit == top).unwrap_or(0) as u32
}

/// How far the device's logits are from the reference's, as a part of the largest.
pub fn distance(device: &[f32], reference: &[f64]) -> f64 {
    let largest = reference.iter().fold(0.0, |most: f64, logit| most.max(logit.abs()));
    let apart = |(device, reference): (&f32, &f64)| (f64::from(*device) - reference).abs();
    // A number that is none is as far away as can be.
    let far = |most: f64, apart: f64| if apart.is_nan() { f64::INFINITY } else { most.max(apart) };
    device.iter().zip(reference).map(apart).fold(0.0, far) / largest
}
