//! Weights by a formula: nothing is learnt here, and the same seed gives the same transformer everywhere.

use dacapo::Buffer;

use crate::random::Random;
use crate::shape::Shape;

/// The weights of one layer. Matrices are [outputs, inputs], row by row.
#[derive(Clone, Debug)]
pub struct Layer<T> {
    /// Gains of the norm before attention.
    pub attention_norm: T,
    /// Queries, keys and values: [3 dim, dim].
    pub qkv: T,
    /// [dim, dim].
    pub out: T,
    /// Gains of the norm before the MLP.
    pub mlp_norm: T,
    /// Gates, then what they gate: [2 hidden, dim].
    pub gate_up: T,
    /// [dim, hidden].
    pub down: T,
}

/// All weights.
#[derive(Clone, Debug)]
pub struct Weights<T> {
    /// A vector for each token.
    pub embedding: T,
    /// The layers, first to last.
    pub layers: Vec<Layer<T>>,
    /// Gains of the last norm.
    pub norm: T,
    /// [vocabulary, dim].
    pub logits: T,
    /// Cosine and sine for each position and pair of a head.
    pub turns: T,
}

impl Weights<Vec<f32>> {
    /// The weights of a seed.
    pub fn new(shape: &Shape, seed: u64) -> Weights<Vec<f32>> {
        let Shape { layers, dim, hidden, vocabulary, .. } = *shape;
        let mut random = Random::new(seed);
        // Even around 0 with variance 1 / inputs, so that vectors neither grow nor shrink.
        let mut matrix = |outputs: usize, inputs: usize| -> Vec<f32> {
            let width = (3.0 / inputs as f32).sqrt();
            (0..outputs * inputs).map(|_| width * (2.0 * random.unit() - 1.0)).collect()
        };
        let embedding = matrix(vocabulary, dim).into_iter().map(|x| x * (dim as f32).sqrt()).collect();
        let layer = |_| Layer {
            attention_norm: gains(dim),
            qkv: matrix(3 * dim, dim),
            out: matrix(dim, dim),
            mlp_norm: gains(dim),
            gate_up: matrix(2 * hidden, dim),
            down: matrix(dim, hidden),
        };
        let layers = (0..layers).map(layer).collect();
        // Wider than the rest: else all tokens would be about equally likely.
        let logits = matrix(vocabulary, dim).into_iter().map(|x| 2.0 * x).collect();
        Weights { embedding, layers, norm: gains(dim), logits, turns: turns(shape) }
    }
}

impl<T> Weights<T> {
    /// The same weights as something else: as device memory, for one.
    ///
    /// # Errors
    ///
    /// - The first that `of` answers.
    pub fn map<U, E>(&self, of: impl Fn(&T) -> Result<U, E>) -> Result<Weights<U>, E> {
        let layer = |layer: &Layer<T>| {
            Ok(Layer {
                attention_norm: of(&layer.attention_norm)?,
                qkv: of(&layer.qkv)?,
                out: of(&layer.out)?,
                mlp_norm: of(&layer.mlp_norm)?,
                gate_up: of(&layer.gate_up)?,
                down: of(&layer.down)?,
            })
        };
        Ok(Weights {
            embedding: of(&self.embedding)?,
            layers: self.layers.iter().map(layer).collect::<Result<_, E>>()?,
            norm: of(&self.norm)?,
            logits: of(&self.logits)?,
            turns: of(&self.turns)?,
        })
    }
}

impl Weights<Buffer<f32>> {
    /// How many numbers they are.
    pub fn elements(&self) -> usize {
        let layer = |layer: &Layer<Buffer<f32>>| {
            let Layer { attention_norm, qkv, out, mlp_norm, gate_up, down } = layer;
            [attention_norm, qkv, out, mlp_norm, gate_up, down].iter().map(|matrix| matrix.len()).sum::<usize>()
        };
        let Weights { embedding, layers, norm, logits, turns } = self;
        let rest: usize = [embedding, norm, logits, turns].iter().map(|matrix| matrix.len()).sum();
        rest + layers.iter().map(layer).sum::<usize>()
    }
}

/// Not all the same, so that a norm that forgot them would show.
fn gains(dim: usize) -> Vec<f32> {
    (0..dim).map(|i| 1.0 + 0.25 * (i as f32 / dim as f32 - 0.5)).collect()
}

/// Rotary position embedding (Su et al., RoFormer, 2021): pair `i` of a head turns by position / 10000^(2i / head).
fn turns(shape: &Shape) -> Vec<f32> {
    let head = shape.head();
    let angle = |position: usize, pair: usize| position as f64 / 10_000_f64.powf(2.0 * pair as f64 / head as f64);
    (0..shape.context)
        .flat_map(|position| (0..head / 2).map(move |pair| angle(position, pair).sin_cos()))
        .flat_map(|(sine, cosine)| [cosine as f32, sine as f32])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_the_weights_and_there_are_as_many_as_the_shape_says() {
        let shape = Shape::TINY;
        let (one, same, other) = (Weights::new(&shape, 1), Weights::new(&shape, 1), Weights::new(&shape, 2));
        assert_eq!(one.layers[1].down, same.layers[1].down);
        assert_ne!(one.layers[1].down, other.layers[1].down);
        let count = |layer: &Layer<Vec<f32>>| {
            let Layer { attention_norm, qkv, out, mlp_norm, gate_up, down } = layer;
            [attention_norm, qkv, out, mlp_norm, gate_up, down].iter().map(|matrix| matrix.len()).sum::<usize>()
        };
        let all = one.embedding.len() + one.logits.len() + one.norm.len() + one.layers.iter().map(count).sum::<usize>();
        assert_eq!(all, shape.parameters());
    }
}
