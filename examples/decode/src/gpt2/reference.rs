//! The same transformer in plain Rust and double precision, one sequence at a time: what the device is held against.
//!
//! Written from the definitions, not from the kernels. It starts from the same weights, in bf16, and rounds nothing after
//! that. The device rounds keys, values and what goes into a product of many sequences to bf16, so it may be
//! [`TOLERANCE`] away.

use dacapo::half::bf16;

use super::shape::{HEAD, Shape};
use super::weights::{Layer, Weights};

/// What a norm adds under its root.
const EPSILON: f64 = 1e-5;

/// How far a logit of the device may be from the reference's, as a part of the largest of its row. A rounding to bf16 is
/// 2^-9 at most; some of them add up, layer by layer.
pub const TOLERANCE: f64 = 0.02;

/// One sequence in plain Rust.
pub struct Reference<'w> {
    shape: Shape,
    weights: &'w Weights<Vec<bf16>>,
    /// Keys and values of each layer, a vector for each position so far.
    past: Vec<[Vec<Vec<f64>>; 2]>,
}

impl<'w> Reference<'w> {
    /// Before the first token.
    pub fn new(shape: Shape, weights: &'w Weights<Vec<bf16>>) -> Reference<'w> {
        Reference { shape, weights, past: vec![Default::default(); shape.layers] }
    }

    /// Behind so many positions of which nothing is known: keys and values are zero, as in a cache that was never written.
    pub fn behind(shape: Shape, weights: &'w Weights<Vec<bf16>>, positions: usize) -> Reference<'w> {
        let nothing = vec![vec![0.0; shape.dim]; positions];
        Reference { shape, weights, past: vec![[nothing.clone(), nothing]; shape.layers] }
    }

    /// What it thinks of every token as the one after `token`, which stands behind all that it was given before.
    pub fn step(&mut self, token: u32) -> Vec<f64> {
        let (dim, weights) = (self.shape.dim, self.weights);
        let at = token as usize * dim;
        let mut x: Vec<f64> = weights.embedding[at..at + dim].iter().map(|value| value.to_f64()).collect();
        for (layer, past) in weights.layers.iter().zip(&mut self.past) {
            let attended = attention(dim, layer, past, &norm(&x, &layer.attention_norm));
            add(&mut x, &product(&layer.out, &attended));
            let inner: Vec<f64> = product(&layer.up, &norm(&x, &layer.mlp_norm)).into_iter().map(gelu).collect();
            add(&mut x, &product(&layer.down, &inner));
        }
        product(&weights.head, &norm(&x, &weights.norm))
    }
}

fn attention(dim: usize, layer: &Layer<Vec<bf16>>, past: &mut [Vec<Vec<f64>>; 2], x: &[f64]) -> Vec<f64> {
    let qkv = product(&layer.qkv, x);
    let [keys, values] = past;
    keys.push(qkv[dim..2 * dim].to_vec());
    values.push(qkv[2 * dim..].to_vec());
    let mut out = vec![0.0; dim];
    for first in (0..dim).step_by(HEAD) {
        let part = first..first + HEAD;
        let score = |key: &Vec<f64>| dot(&qkv[part.clone()], &key[part.clone()]) / (HEAD as f64).sqrt();
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

/// x times the normal distribution's share below x: (1 + erf(x / √2)) / 2, and erf by its series.
fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    // From here on it is 1 to the last bit of what the device can tell.
    if z.abs() > 4.0 {
        return if z > 0.0 { x } else { 0.0 };
    }
    let (mut term, mut sum) = (z, z);
    for n in 1..100 {
        term *= -z * z / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    0.5 * x * (1.0 + std::f64::consts::FRAC_2_SQRT_PI * sum)
}

fn norm(x: &[f64], gain: &[bf16]) -> Vec<f64> {
    let scale = 1.0 / (dot(x, x) / x.len() as f64 + EPSILON).sqrt();
    x.iter().zip(gain).map(|(x, gain)| x * scale * gain.to_f64()).collect()
}

fn product(w: &[bf16], x: &[f64]) -> Vec<f64> {
    w.chunks(x.len()).map(|row| row.iter().zip(x).map(|(w, x)| w.to_f64() * x).sum()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(x: &mut [f64], y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

/// The largest of the logits, and how far the next one is below it, as a part of the largest by size: where that is more than
/// twice [`TOLERANCE`], the device must choose the same token.
pub fn likeliest(logits: &[f64]) -> (u32, f64) {
    let largest = logits.iter().fold(0.0, |most: f64, logit| most.max(logit.abs()));
    let (mut first, mut second, mut token) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
    for (at, &logit) in logits.iter().enumerate() {
        if logit > first {
            (second, first, token) = (first, logit, at as u32);
        } else {
            second = second.max(logit);
        }
    }
    (token, (first - second) / largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gelu_is_what_tables_say() {
        // x Φ(x), Φ from Abramowitz and Stegun, table 26.1.
        for (x, expected) in
            [(0.0, 0.0), (1.0, 0.841_344_746), (-1.0, -0.158_655_254), (2.0, 2.0 * 0.977_249_868), (-6.0, 0.0)]
        {
            assert!((gelu(x) - expected).abs() < 1e-7, "{x}: {}", gelu(x));
        }
    }

    #[test]
    fn the_likeliest_is_the_first_of_the_largest() {
        assert_eq!(likeliest(&[1.0, 4.0, -8.0, 4.0]), (1, 0.0));
        assert_eq!(likeliest(&[1.0, 4.0, 3.0]), (1, 0.25));
    }
}
