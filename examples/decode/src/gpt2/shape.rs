//! How large the transformer is, which sizes the kernels can do, and what a step must read.

/// Numbers of one attention head: the kernels know no other.
pub const HEAD: usize = 64;

/// The sizes of the transformer, and how many sequences are decoded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks of attention and MLP.
    pub layers: usize,
    /// Numbers of a token's vector.
    pub dim: usize,
    /// Numbers inside the MLP.
    pub hidden: usize,
    /// Tokens there are.
    pub vocabulary: usize,
    /// Tokens of a sequence at most.
    pub context: usize,
    /// Sequences of the batch.
    pub sequences: usize,
}

impl Shape {
    /// GPT-2-small's sizes, with a context of 128.
    pub const SMALL: Shape =
        Shape { layers: 12, dim: 768, hidden: 3072, vocabulary: 50_257, context: 128, sequences: 1 };

    /// More than one of everything, and nothing that fills a block evenly: for the software device.
    pub const TINY: Shape = Shape { layers: 2, dim: 128, hidden: 160, vocabulary: 75, context: 40, sequences: 1 };

    /// Attention heads.
    pub fn heads(&self) -> usize {
        self.dim / HEAD
    }

    /// Elements of the keys of one layer, and of its values.
    pub fn cache(&self) -> usize {
        self.sequences * self.context * self.dim
    }

    /// Numbers that were learnt, or would have been.
    pub fn parameters(&self) -> usize {
        self.weights_read() + self.vocabulary * self.dim
    }

    /// Those of them that every step reads: all but the table of the tokens' vectors, of which it reads a row a sequence.
    pub fn weights_read(&self) -> usize {
        let layer = 4 * self.dim * self.dim + 2 * self.dim * self.hidden + 2 * self.dim;
        self.layers * layer + self.vocabulary * self.dim + self.dim
    }

    /// Bytes that a step at this position must read at least: weights, and keys and values of every sequence.
    pub fn bytes_read(&self, position: usize) -> usize {
        let cached = 2 * self.layers * self.sequences * (position + 1) * self.dim;
        2 * (self.weights_read() + cached)
    }

    /// Refuses sizes that the kernels cannot do, with the rule.
    ///
    /// # Errors
    ///
    /// - The first rule that is broken.
    pub fn check(&self) -> Result<(), String> {
        let Shape { layers, dim, hidden, vocabulary, context, sequences } = *self;
        // So large that the kernels can count all elements of a matrix and of a layer's cache in 32 bits.
        if [layers, hidden, vocabulary, context].iter().any(|&size| size == 0 || size > 1 << 16) {
            return Err("every size is between 1 and 65536".into());
        }
        if dim == 0 || dim > 768 || !dim.is_multiple_of(HEAD) {
            return Err(format!("a vector has 64, 128, .. 768 numbers, not {dim}"));
        }
        if !hidden.is_multiple_of(32) {
            return Err(format!("the MLP is multiplied 32 numbers at a time, and {hidden} is no multiple of 32"));
        }
        if !(1..=32).contains(&sequences) {
            return Err(format!("a batch has 1 to 32 sequences, not {sequences}"));
        }
        if context < 2 {
            return Err("a context has at least 2 tokens".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpt2_small_reads_as_many_bytes_as_are_said() {
        let shape = Shape::SMALL;
        assert_eq!(shape.parameters(), 162_148_608);
        // The figure that limits are computed from: 247 MB of weights, and 3.7 MB of keys and values at position 99.
        assert_eq!(2 * shape.weights_read(), 247_102_464);
        assert_eq!(shape.bytes_read(99) - 2 * shape.weights_read(), 3_686_400);
    }

    #[test]
    fn sizes_that_no_kernel_can_do_are_refused_with_the_rule() {
        assert_eq!((Shape::SMALL.check(), Shape::TINY.check()), (Ok(()), Ok(())));
        for (shape, word) in [
            (Shape { dim: 1024, ..Shape::SMALL }, "64, 128"),
            (Shape { dim: 96, ..Shape::SMALL }, "64, 128"),
            (Shape { hidden: 100, ..Shape::SMALL }, "multiple of 32"),
            (Shape { sequences: 33, ..Shape::SMALL }, "1 to 32"),
            (Shape { layers: 0, ..Shape::SMALL }, "between 1"),
            (Shape { context: 1, ..Shape::SMALL }, "at least 2"),
        ] {
            let refused = shape.check().unwrap_err();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
