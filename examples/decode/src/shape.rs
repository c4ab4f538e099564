//! How large the transformer is, and which sizes the kernels can do.

/// The sizes of a transformer, and how many sequences it has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks of attention and MLP.
    pub layers: usize,
    /// Numbers of a token's vector.
    pub dim: usize,
    /// Attention heads.
    pub heads: usize,
    /// Numbers inside the MLP.
    pub hidden: usize,
    /// Tokens there are.
    pub vocabulary: usize,
    /// Tokens of a sequence at most.
    pub context: usize,
    /// Sequences that the cache has room for.
    pub sequences: usize,
}

impl Shape {
    /// What the program decodes when it is told nothing.
    pub const SMALL: Shape =
        Shape { layers: 4, dim: 256, heads: 4, hidden: 704, vocabulary: 512, context: 256, sequences: 8 };

    /// Just large enough to have more than one of everything: for the software device.
    pub const TINY: Shape =
        Shape { layers: 2, dim: 32, heads: 2, hidden: 48, vocabulary: 40, context: 24, sequences: 4 };

    /// Large enough that a GPU has something to do.
    pub const MEDIUM: Shape =
        Shape { layers: 12, dim: 768, heads: 12, hidden: 2048, vocabulary: 4096, context: 512, sequences: 8 };

    /// Numbers of one head.
    pub fn head(&self) -> usize {
        self.dim / self.heads.max(1)
    }

    /// Elements of the keys of one layer, and of its values.
    pub fn cache(&self) -> usize {
        self.sequences * self.context * self.dim
    }

    /// Numbers that were learnt, or would have been.
    pub fn parameters(&self) -> usize {
        let layer = 4 * self.dim * self.dim + 3 * self.dim * self.hidden + 2 * self.dim;
        self.layers * layer + 2 * self.vocabulary * self.dim + self.dim
    }

    /// Refuses sizes that the kernels cannot do, with the rule.
    ///
    /// # Errors
    ///
    /// - The first rule that is broken.
    pub fn check(&self) -> Result<(), String> {
        let Shape { layers, dim, heads, hidden, vocabulary, context, sequences } = *self;
        let sizes = [layers, dim, heads, hidden, vocabulary, context, sequences];
        // So large that no product of three of them overflows, and all fit what the kernels count with.
        if sizes.iter().any(|&size| size == 0 || size > 1 << 16) {
            return Err("every size is between 1 and 65536".into());
        }
        if !dim.is_multiple_of(heads) || ![8, 16, 32, 64, 128].contains(&self.head()) {
            return Err(format!("a head has 8, 16, 32, 64 or 128 numbers; {dim} over {heads} heads is none of these"));
        }
        if !hidden.is_multiple_of(4) {
            return Err(format!("the MLP is read four numbers at a time, and {hidden} is no multiple of 4"));
        }
        if !(2..=8192).contains(&context) {
            return Err(format!("a context has 2 to 8192 tokens, not {context}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_no_kernel_can_do_are_refused_with_the_rule() {
        assert_eq!((Shape::SMALL.check(), Shape::TINY.check()), (Ok(()), Ok(())));
        for (shape, word) in [
            (Shape { heads: 3, ..Shape::SMALL }, "a head has"),
            (Shape { heads: 0, ..Shape::SMALL }, "between 1"),
            (Shape { hidden: 6, ..Shape::SMALL }, "multiple of 4"),
            (Shape { context: 1, ..Shape::SMALL }, "2 to 8192"),
        ] {
            let refused = shape.check().unwrap_err();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
