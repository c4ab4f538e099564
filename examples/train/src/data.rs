//! First parameters, inputs and targets by a formula of whole numbers: any program can make the same ones.
//!
//! A number is `mix` of a place, its upper 24 bits taken as a fraction of [-1, 1). All of it is exact in single precision, but
//! for one multiplication by a width. `crates/bench/anchors/torch_train.py` has the same formula in Python.

use crate::shape::{Model, Shape};

/// What numbers are for: each has a sequence of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    Parameters = 1,
    Inputs = 2,
    Targets = 3,
}

/// Numbers of unit variance lie this far around 0 when all are as likely.
const UNIT: f32 = 1.732_050_8;

/// Inputs and targets of one step, example by example (of a GRU: time by time, then example by example).
#[derive(Clone, PartialEq, Debug)]
pub struct Batch {
    /// What the network is shown.
    pub inputs: Vec<f32>,
    /// What it shall answer.
    pub targets: Vec<f32>,
}

impl Batch {
    /// The part of one rank of `ranks`, which divide the batch: its sequences, of every time; of the MLP its rows.
    pub fn part(&self, shape: Shape, rank: usize, ranks: usize) -> Batch {
        let times = match shape.model {
            Model::Gru => shape.time,
            Model::Mlp => 1,
        };
        let of = |numbers: &[f32], times: usize| {
            let part = numbers.len() / times / ranks;
            numbers.chunks(part * ranks).flat_map(|time| &time[rank * part..][..part]).copied().collect()
        };
        Batch { inputs: of(&self.inputs, times), targets: of(&self.targets, 1) }
    }
}

/// First parameters: even around 0, as wide as PyTorch makes them for layers of this width.
pub fn parameters(shape: Shape, seed: u32) -> Vec<f32> {
    numbers(seed, Purpose::Parameters, 0, shape.parameters(), 1.0 / (shape.hidden as f32).sqrt())
}

/// A batch without sense: random inputs of unit variance, and random targets. What speed is measured with.
pub fn noise(shape: Shape, seed: u32) -> Batch {
    Batch {
        inputs: numbers(seed, Purpose::Inputs, 0, shape.inputs(), UNIT),
        targets: numbers(seed, Purpose::Targets, 0, shape.targets(), UNIT),
    }
}

/// A batch that can be learnt from: a GRU shall answer half of what it was shown last, the other network what is positive of
/// what it is shown. Every step has other inputs.
pub fn lesson(shape: Shape, seed: u32, step: u32) -> Batch {
    let inputs = numbers(seed, Purpose::Inputs, step, shape.inputs(), UNIT);
    let targets = match shape.model {
        Model::Gru => inputs[inputs.len() - shape.targets()..].iter().map(|x| 0.5 * x).collect(),
        Model::Mlp => inputs.iter().map(|x| x.max(0.0)).collect(),
    };
    Batch { inputs, targets }
}

fn numbers(seed: u32, purpose: Purpose, step: u32, count: usize, width: f32) -> Vec<f32> {
    let start = mix(mix(seed.wrapping_add((purpose as u32).wrapping_mul(0x9E37_79B9))).wrapping_add(step));
    (0..count as u32).map(|at| fraction(mix(start.wrapping_add(at))) * width).collect()
}

/// The upper 24 bits as a number in [-1, 1).
fn fraction(bits: u32) -> f32 {
    (bits >> 8) as f32 / (1_u32 << 23) as f32 - 1.0
}

/// The finalizer of MurmurHash3 for 32 bits (Appleby, public domain): every bit of the result hangs on every bit of `x`.
fn mix(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x85EB_CA6B);
    let x = (x ^ (x >> 13)).wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { model: Model::Gru, hidden: 64, batch: 16, time: 4, layers: 1 };

    /// The same numbers stand in the Python program, which checks itself against them.
    #[test]
    fn the_formula_gives_these_numbers() {
        assert_eq!([mix(0), mix(1), mix(0x9E37_79B9)], [0, 0x514E_28B7, 0x92CA_2F0E]);
        // The first parameters at seed 1, where the width is 1/8, in units of 2^-23 of it.
        let first: Vec<f32> = parameters(SHAPE, 1)[..4].iter().map(|x| x * 8.0 * 8_388_608.0).collect();
        assert_eq!(first, [6050562.0, -3899370.0, 4264703.0, 6293690.0]);
    }

    #[test]
    fn every_row_is_in_one_part() {
        for model in [Model::Gru, Model::Mlp] {
            let shape = Shape { model, ..SHAPE };
            let whole = lesson(shape, 1, 0);
            let parts = [0, 1, 2, 3].map(|rank| whole.part(shape, rank, 4));
            let mut of_parts: Vec<f32> = parts.iter().flat_map(|part| part.inputs.clone()).collect();
            let mut of_whole = whole.inputs.clone();
            assert!(parts.iter().all(|part| part.targets.len() == whole.targets.len() / 4));
            // What a rank is asked is what it is shown.
            let mine = Shape { batch: shape.batch / 4, ..shape };
            let last = &parts[3].inputs[mine.inputs() - mine.targets()..];
            let answer = |x: &f32| if model == Model::Gru { 0.5 * x } else { x.max(0.0) };
            assert!(last.iter().map(answer).eq(parts[3].targets.iter().copied()), "{model:?}");
            of_parts.sort_by(f32::total_cmp);
            of_whole.sort_by(f32::total_cmp);
            assert_eq!(of_parts, of_whole);
            assert_eq!(whole.part(shape, 0, 1), whole);
        }
    }

    #[test]
    fn numbers_are_even_around_zero_and_of_unit_variance() {
        let batch = noise(SHAPE, 7);
        for values in [&batch.inputs, &batch.targets] {
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            let variance = values.iter().map(|x| x * x).sum::<f32>() / values.len() as f32;
            assert!(mean.abs() < 0.1 && (variance - 1.0).abs() < 0.1, "{mean} {variance}");
        }
        assert!(parameters(SHAPE, 7).iter().all(|x| x.abs() <= 0.125));
        assert_ne!(lesson(SHAPE, 7, 0), lesson(SHAPE, 7, 1));
        assert_eq!(lesson(SHAPE, 7, 1), lesson(SHAPE, 7, 1));
    }
}
