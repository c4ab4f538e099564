//! Which part of the layers a rank has, where several decode together.
//!
//! | matrix | a rank's part | so it has |
//! |---|---|---|
//! | `qkv` | rows: its heads' queries, keys and values | its heads' part of the cache, whole |
//! | `out` | columns: what its heads answer | a part of every number of the sum |
//! | `gate_up` | rows: its numbers inside the MLP, gates and what they gate | these numbers, whole |
//! | `down` | columns: the same numbers | a part of every number of the sum |
//!
//! So ranks need each other only behind `out` and behind `down`. Everything else (embedding, norms, logits, the table of
//! turns) is whole on every rank.

use std::ops::Range;

use crate::shape::Shape;
use crate::weights::{Layer, Weights};

/// One of so many equal parts of the layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Which part.
    pub rank: usize,
    /// Of how many.
    pub size: usize,
}

impl Split {
    /// All of it: a model without ranks.
    pub const WHOLE: Split = Split { rank: 0, size: 1 };

    /// Refuses a split that has no equal parts, or parts that the kernels cannot do, with the rule.
    ///
    /// # Errors
    ///
    /// - The first rule that is broken.
    pub fn check(&self, shape: &Shape) -> Result<(), String> {
        let (Split { rank, size }, Shape { heads, hidden, .. }) = (*self, *shape);
        if rank >= size {
            return Err(format!("there is no rank {rank} of {size}"));
        }
        if !heads.is_multiple_of(size) {
            return Err(format!("{heads} heads cannot be shared equally by {size} ranks, and a head is not cut"));
        }
        if !hidden.is_multiple_of(4 * size) {
            return Err(format!(
                "the MLP's {hidden} numbers cannot be shared by {size} ranks: each part is read four numbers at a time, and {} \
                 does not divide {hidden}",
                4 * size
            ));
        }
        Ok(())
    }

    /// Numbers of its heads together.
    pub fn dim(&self, shape: &Shape) -> usize {
        shape.dim / self.size
    }

    /// Its numbers inside the MLP.
    pub fn hidden(&self, shape: &Shape) -> usize {
        shape.hidden / self.size
    }

    /// Elements of its keys of one layer, and of its values.
    pub fn cache(&self, shape: &Shape) -> usize {
        shape.cache() / self.size
    }

    /// Its part of all weights.
    pub fn weights(&self, shape: &Shape, whole: &Weights<Vec<f32>>) -> Weights<Vec<f32>> {
        let (dim, hidden) = (self.part(shape.dim), self.part(shape.hidden));
        let layer = |layer: &Layer<Vec<f32>>| Layer {
            attention_norm: layer.attention_norm.clone(),
            qkv: rows(&layer.qkv, [3, shape.dim, shape.dim], dim.clone()),
            out: columns(&layer.out, shape.dim, dim.clone()),
            mlp_norm: layer.mlp_norm.clone(),
            gate_up: rows(&layer.gate_up, [2, shape.hidden, shape.dim], hidden.clone()),
            down: columns(&layer.down, shape.hidden, hidden.clone()),
        };
        Weights { layers: whole.layers.iter().map(layer).collect(), ..whole.clone() }
    }

    /// Which of so many numbers are its own.
    fn part(&self, all: usize) -> Range<usize> {
        all * self.rank / self.size..all * (self.rank + 1) / self.size
    }
}

/// The same rows of each of the matrices that stand one below the other. Sizes are [matrices, outputs, inputs].
fn rows(matrices: &[f32], [_, outputs, inputs]: [usize; 3], of: Range<usize>) -> Vec<f32> {
    matrices.chunks(outputs * inputs).flat_map(|matrix| &matrix[of.start * inputs..of.end * inputs]).copied().collect()
}

/// Columns of a matrix with so many inputs.
fn columns(matrix: &[f32], inputs: usize, of: Range<usize>) -> Vec<f32> {
    matrix.chunks(inputs).flat_map(|row| &row[of.clone()]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Shapes and numbers of ranks that go together, by chance.
    fn cases() -> impl Iterator<Item = (Shape, usize)> {
        let mut random = Random::new(7);
        (0..40).map(move |_| {
            let size = 1 + random.below(6);
            let heads = size * (1 + random.below(3));
            let (dim, hidden) = (heads * [8, 16][random.below(2)], 4 * size * (1 + random.below(5)));
            (Shape { layers: 1 + random.below(2), dim, heads, hidden, ..Shape::TINY }, size)
        })
    }

    /// The matrix of which these are the parts, each with the same columns of every row.
    fn beside(parts: &[Vec<f32>], outputs: usize) -> Vec<f32> {
        let row = |row: usize| {
            parts.iter().flat_map(move |part| {
                let inputs = part.len() / outputs;
                &part[row * inputs..(row + 1) * inputs]
            })
        };
        (0..outputs).flat_map(row).copied().collect()
    }

    #[test]
    fn the_parts_together_are_the_whole() {
        for (shape, size) in cases() {
            let whole = Weights::new(&shape, 3);
            let parts: Vec<_> = (0..size).map(|rank| Split { rank, size }.weights(&shape, &whole)).collect();
            for part in &parts {
                assert_eq!((&part.embedding, &part.logits), (&whole.embedding, &whole.logits));
                assert_eq!((&part.norm, &part.turns), (&whole.norm, &whole.turns));
                assert_eq!(part.layers.len(), shape.layers);
            }
            for (number, layer) in whole.layers.iter().enumerate() {
                let all = |of: fn(&Layer<Vec<f32>>) -> &Vec<f32>| -> Vec<Vec<f32>> {
                    parts.iter().map(|part| of(&part.layers[number]).clone()).collect()
                };
                // Queries of all ranks, then keys, then values: three long rows. Gates and what they gate are two.
                assert_eq!(beside(&all(|layer| &layer.qkv), 3), layer.qkv, "{shape:?} on {size}");
                assert_eq!(beside(&all(|layer| &layer.out), shape.dim), layer.out, "{shape:?} on {size}");
                assert_eq!(beside(&all(|layer| &layer.gate_up), 2), layer.gate_up, "{shape:?} on {size}");
                assert_eq!(beside(&all(|layer| &layer.down), shape.dim), layer.down, "{shape:?} on {size}");
                for part in &parts {
                    assert_eq!(part.layers[number].attention_norm, layer.attention_norm);
                    assert_eq!(part.layers[number].mlp_norm, layer.mlp_norm);
                }
            }
        }
    }

    /// y = W x in whole numbers, which have no order of sums.
    fn product(w: &[f32], x: &[i64]) -> Vec<i64> {
        w.chunks(x.len()).map(|row| row.iter().zip(x).map(|(&w, x)| w as i64 * x).sum()).collect()
    }

    /// What the matrices of a layer make of a vector, with products in place of attention and of the gate's function: each
    /// number of a head takes query, key and value of its own, each number of the MLP its own gate.
    fn made(layer: &Layer<Vec<f32>>, x: &[i64]) -> Vec<i64> {
        let qkv = product(&layer.qkv, x);
        let (dim, gated) = (qkv.len() / 3, product(&layer.gate_up, x));
        let attended: Vec<i64> = (0..dim).map(|i| qkv[i] * qkv[dim + i] + 3 * qkv[2 * dim + i]).collect();
        let (gates, ups) = gated.split_at(gated.len() / 2);
        let inner: Vec<i64> = gates.iter().zip(ups).map(|(gate, up)| (gate + 5) * up).collect();
        let (out, down) = (product(&layer.out, &attended), product(&layer.down, &inner));
        out.iter().zip(down).map(|(out, down)| out + down).collect()
    }

    #[test]
    fn what_the_ranks_make_adds_up_to_what_one_makes() {
        let mut random = Random::new(8);
        for (shape, size) in cases() {
            let mut whole = Weights::new(&shape, 3);
            for layer in &mut whole.layers {
                for matrix in [&mut layer.qkv, &mut layer.out, &mut layer.gate_up, &mut layer.down] {
                    matrix.iter_mut().for_each(|w| *w = random.below(9) as f32 - 4.0);
                }
            }
            let x: Vec<i64> = (0..shape.dim).map(|_| random.below(9) as i64 - 4).collect();
            let parts: Vec<_> = (0..size).map(|rank| Split { rank, size }.weights(&shape, &whole)).collect();
            for (number, layer) in whole.layers.iter().enumerate() {
                let mut sum = vec![0; shape.dim];
                for part in &parts {
                    sum.iter_mut().zip(made(&part.layers[number], &x)).for_each(|(sum, part)| *sum += part);
                }
                assert_eq!(sum, made(layer, &x), "{shape:?} on {size}");
            }
        }
    }

    #[test]
    fn what_cannot_be_shared_is_refused_with_the_rule() {
        let refused = |rank, size, shape: Shape| Split { rank, size }.check(&shape).err().unwrap_or_default();
        assert_eq!(refused(1, 2, Shape::TINY), "");
        assert_eq!(refused(0, 1, Shape::TINY), "");
        let four_heads = Shape { heads: 4, ..Shape::TINY };
        assert_eq!(refused(3, 4, four_heads), "");
        assert!(refused(0, 4, Shape::TINY).starts_with("2 heads cannot be shared equally by 4 ranks"));
        assert!(refused(0, 3, four_heads).starts_with("4 heads cannot"));
        let rule = refused(0, 4, Shape { hidden: 24, ..four_heads });
        assert!(rule.contains("24 numbers") && rule.contains("16 does not divide 24"), "{rule}");
        assert!(refused(2, 2, Shape::TINY).contains("no rank 2 of 2") && refused(0, 0, Shape::TINY).contains("of 0"));
    }
}
