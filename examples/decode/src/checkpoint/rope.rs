//! Rotary positions: by how much each pair of a head's elements is turned, plain and as Llama 3.1 scales it.
//!
//! Computed in double precision and rounded once. The pairs are element i of the first half of a head with element i of the
//! second, which is what the kernels do.

use std::f64::consts::TAU;

/// How queries and keys are turned.
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// The base of the frequencies.
    pub theta: f64,
    /// How they are scaled.
    pub scaling: Option<Llama3>,
}

/// The scaling of Llama 3.1: low frequencies are divided by `factor`, high ones stay, those between are blended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Llama3 {
    /// What low frequencies are divided by.
    pub factor: f64,
    /// Turns over the original context below which a frequency is low.
    pub low: f64,
    /// Turns over the original context above which a frequency is high.
    pub high: f64,
    /// Positions that the model was made for before.
    pub original: f64,
}

impl Rope {
    /// Radians a position for each pair of a head.
    pub fn frequencies(&self, head: usize) -> Vec<f64> {
        let plain = (0..head / 2).map(|pair| self.theta.powf(-2.0 * pair as f64 / head as f64));
        plain.map(|frequency| self.scaling.map_or(frequency, |scaling| scaling.of(frequency))).collect()
    }

    /// Cosine and sine for each position and pair of a head.
    pub fn turns(&self, head: usize, positions: usize) -> Vec<f32> {
        let frequencies = self.frequencies(head);
        (0..positions)
            .flat_map(|position| frequencies.iter().map(move |frequency| (position as f64 * frequency).sin_cos()))
            .flat_map(|(sine, cosine)| [cosine as f32, sine as f32])
            .collect()
    }
}

impl Llama3 {
    fn of(self, frequency: f64) -> f64 {
        let Llama3 { factor, low, high, original } = self;
        let turns = original * frequency / TAU;
        if turns < low {
            frequency / factor
        } else if turns > high {
            frequency
        } else {
            let kept = (turns - low) / (high - low);
            (1.0 - kept) * frequency / factor + kept * frequency
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of transformers 5.22.2 for Llama-3.2-1B, in single precision: the last high one, the three between, and low ones.
    #[test]
    fn scaled_frequencies_are_those_of_transformers() {
        let scaling = Llama3 { factor: 32.0, low: 1.0, high: 4.0, original: 8192.0 };
        let frequencies = Rope { theta: 500_000.0, scaling: Some(scaling) }.frequencies(64);
        let expected = [
            (0, 1.0),
            (1, 6.636_012_793e-1),
            (14, 3.211_446_106e-3),
            (15, 1.290_548_011e-3),
            (16, 4.295_567_051e-4),
            (17, 9.708_286_234e-5),
            (18, 1.946_163_866e-5),
            (31, 9.418_306_490e-8),
        ];
        for (pair, expected) in expected {
            let found = frequencies[pair];
            assert!((found / expected - 1.0).abs() < 1e-6, "pair {pair}: {found:e}, expected {expected:e}");
        }
    }
}
