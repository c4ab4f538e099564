//! Weights by a formula of whole numbers: any program can make the same ones, to the bit.
//!
//! A number is a hash of its matrix and place, its upper 24 bits taken as a fraction of [-1, 1), times a width in single
//! precision, and rounded to bf16. `crates/bench/anchors/torch_decode.py` has the same formula in Python.

use dacapo::half::bf16;

use super::shape::Shape;

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
    /// [hidden, dim].
    pub up: T,
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
    pub head: T,
}

impl Weights<Vec<bf16>> {
    /// The weights of a seed. Matrix number `n` is the n-th of: embedding, head, last norm, then six a layer, in the order of
    /// [`Layer`].
    pub fn new(shape: &Shape, seed: u32) -> Weights<Vec<bf16>> {
        let Shape { layers, dim, hidden, vocabulary, .. } = *shape;
        // Even around 0 with variance 1 / inputs, so that vectors neither grow nor shrink.
        let matrix = |number: usize, outputs: usize, inputs: usize, wider: f32| {
            numbers(seed, number as u32, outputs * inputs, 0.0, wider * (3.0 / inputs as f32).sqrt())
        };
        // Not all the same, so that a norm that forgot them would show.
        let gains = |number: usize| numbers(seed, number as u32, dim, 1.0, 0.125);
        let layer = |layer: usize| Layer {
            attention_norm: gains(6 * layer + 3),
            qkv: matrix(6 * layer + 4, 3 * dim, dim, 1.0),
            out: matrix(6 * layer + 5, dim, dim, 1.0),
            mlp_norm: gains(6 * layer + 6),
            up: matrix(6 * layer + 7, hidden, dim, 1.0),
            down: matrix(6 * layer + 8, dim, hidden, 1.0),
        };
        Weights {
            embedding: numbers(seed, 0, vocabulary * dim, 0.0, 1.0),
            layers: (0..layers).map(layer).collect(),
            norm: gains(2),
            // Wider than the rest: else all tokens would be about equally likely.
            head: matrix(1, vocabulary, dim, 2.0),
        }
    }
}

impl<T> Layer<T> {
    /// The same weights as something else.
    pub fn map<U>(&self, of: impl Fn(&T) -> U) -> Layer<U> {
        let Layer { attention_norm, qkv, out, mlp_norm, up, down } = self;
        Layer {
            attention_norm: of(attention_norm),
            qkv: of(qkv),
            out: of(out),
            mlp_norm: of(mlp_norm),
            up: of(up),
            down: of(down),
        }
    }

    fn try_map<U, E>(&self, of: impl Fn(&T) -> Result<U, E>) -> Result<Layer<U>, E> {
        let Layer { attention_norm, qkv, out, mlp_norm, up, down } = self.map(of);
        Ok(Layer { attention_norm: attention_norm?, qkv: qkv?, out: out?, mlp_norm: mlp_norm?, up: up?, down: down? })
    }
}

impl<T> Weights<T> {
    /// The same weights as something else: as device memory, for one.
    ///
    /// # Errors
    ///
    /// - The first that `of` answers.
    pub fn map<U, E>(&self, of: impl Fn(&T) -> Result<U, E>) -> Result<Weights<U>, E> {
        Ok(Weights {
            embedding: of(&self.embedding)?,
            layers: self.layers.iter().map(|layer| layer.try_map(&of)).collect::<Result<_, E>>()?,
            norm: of(&self.norm)?,
            head: of(&self.head)?,
        })
    }
}

/// So many numbers of a matrix: even from `middle - width` to `middle + width`.
fn numbers(seed: u32, matrix: u32, count: usize, middle: f32, width: f32) -> Vec<bf16> {
    let start = mix(mix(seed.wrapping_add((matrix + 1).wrapping_mul(0x9E37_79B9))));
    let number = |at: u32| {
        let fraction = (mix(start.wrapping_add(at)) >> 8) as f32 / (1_u32 << 23) as f32 - 1.0;
        bf16::from_f32(middle + fraction * width)
    };
    (0..count as u32).map(number).collect()
}

/// The finalizer of MurmurHash3 (Appleby, public domain).
fn mix(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x85EB_CA6B);
    x = (x ^ (x >> 13)).wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_weights_as_the_shape_says_and_each_has_its_own() {
        let shape = Shape::TINY;
        let (one, same, other) = (Weights::new(&shape, 1), Weights::new(&shape, 1), Weights::new(&shape, 2));
        assert_eq!(one.layers[1].down, same.layers[1].down);
        assert_ne!(one.layers[1].down, other.layers[1].down);
        assert_ne!(one.layers[0].down, one.layers[1].down);
        let Weights { embedding, layers, norm, head } = one.map(|matrix| Ok::<_, ()>(matrix.len())).unwrap();
        let count = |layer: &Layer<usize>| {
            let Layer { attention_norm, qkv, out, mlp_norm, up, down } = layer;
            attention_norm + qkv + out + mlp_norm + up + down
        };
        assert_eq!(embedding + norm + head + layers.iter().map(count).sum::<usize>(), shape.parameters());
    }

    #[test]
    fn the_first_numbers_are_those_of_the_python_side() {
        let first: Vec<f32> = numbers(1, 0, 4, 0.0, 1.0).iter().map(|x| x.to_f32()).collect();
        assert_eq!(first, [0.721_283_2, -0.464_841_13, 0.508_392_2, 0.750_266_3].map(|x| bf16::from_f32(x).to_f32()));
    }
}
