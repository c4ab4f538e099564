//! The sizes of a network, where its parameters lie, and the settings of its optimiser.

use std::ops::Range;

/// Which network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// A GRU cell, step by step over a sequence, and a linear layer over its last state.
    Gru,
    /// Linear layers, each with GELU behind it.
    Mlp,
}

/// How large everything is. Inputs and answers are as wide as the hidden layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Which network.
    pub model: Model,
    /// Numbers of a layer: a multiple of 8.
    pub hidden: usize,
    /// Sequences of one step.
    pub batch: usize,
    /// Length of a sequence; for the MLP each of its places is an example.
    pub time: usize,
    /// Layers of the MLP; a GRU has its own two.
    pub layers: usize,
}

/// Where a layer's weights and biases lie among all parameters: the biases right behind the weights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// The weights, a row for each output.
    pub weights: Range<usize>,
    /// The biases, one for each output.
    pub biases: Range<usize>,
}

impl Layer {
    fn at(start: usize, outputs: usize, inputs: usize) -> Layer {
        let middle = start + outputs * inputs;
        Layer { weights: start..middle, biases: middle..middle + outputs }
    }

    /// Weights and biases.
    pub fn both(&self) -> Range<usize> {
        self.weights.start..self.biases.end
    }
}

impl Shape {
    /// Why a network cannot have these sizes, if so.
    pub fn refused(&self) -> Option<&'static str> {
        let Shape { model, hidden, batch, time, layers } = *self;
        let sizes = [3 * hidden * hidden, 4 * time * batch * hidden, layers * hidden * hidden];
        match () {
            () if hidden == 0 || !hidden.is_multiple_of(8) => Some("the hidden layer's width is not a multiple of 8"),
            () if batch == 0 || time == 0 => Some("there is nothing to learn from"),
            () if model == Model::Mlp && layers == 0 => Some("there is no layer"),
            () if sizes.iter().any(|size| *size > 1 << 28) => Some("the network is too large for this example"),
            () => None,
        }
    }

    /// Examples that a linear layer over all of the input sees.
    pub fn rows(&self) -> usize {
        self.time * self.batch
    }

    /// Numbers of one input.
    pub fn inputs(&self) -> usize {
        self.rows() * self.hidden
    }

    /// Rows of the answer.
    pub fn answers(&self) -> usize {
        match self.model {
            Model::Gru => self.batch,
            Model::Mlp => self.rows(),
        }
    }

    /// Numbers of one answer.
    pub fn targets(&self) -> usize {
        self.answers() * self.hidden
    }

    /// The layers, as they lie among the parameters: of a GRU those of the input, of the state, and of the output.
    pub fn layout(&self) -> Vec<Layer> {
        let Shape { model, hidden, layers, .. } = *self;
        let widths = match model {
            Model::Gru => vec![3 * hidden, 3 * hidden, hidden],
            Model::Mlp => vec![hidden; layers],
        };
        let place = |start: &mut usize, outputs: usize| {
            let layer = Layer::at(*start, outputs, hidden);
            *start = layer.biases.end;
            Some(layer)
        };
        widths.into_iter().scan(0, place).collect()
    }

    /// How many parameters there are.
    pub fn parameters(&self) -> usize {
        self.layout().last().map_or(0, |layer| layer.biases.end)
    }

    /// Blocks of the kernel that computes the loss: each leaves a part of it.
    pub fn loss_parts(&self) -> usize {
        self.answers().div_ceil(TILE) * self.hidden.div_ceil(TILE)
    }
}

/// Rows and columns that one block of a product computes.
pub const TILE: usize = 32;

/// The settings of Adam.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Adam {
    /// The learning rate.
    pub rate: f32,
    /// How slowly the mean of the gradients forgets.
    pub beta1: f32,
    /// How slowly the mean of their squares forgets.
    pub beta2: f32,
    /// Keeps the quotient finite.
    pub epsilon: f32,
}

impl Default for Adam {
    fn default() -> Adam {
        Adam { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_lie_one_behind_the_other() {
        let shape = Shape { model: Model::Gru, hidden: 256, batch: 32, time: 16, layers: 0 };
        let layout = shape.layout();
        assert_eq!(layout.len(), 3);
        assert!(layout.windows(2).all(|pair| pair[0].biases.end == pair[1].weights.start));
        assert_eq!(shape.parameters(), 2 * (768 * 256 + 768) + 256 * 256 + 256);
        assert_eq!(Shape { model: Model::Mlp, layers: 4, ..shape }.parameters(), 4 * (256 * 256 + 256));
        assert_eq!(shape.refused(), None);
        assert!(Shape { hidden: 12, ..shape }.refused().is_some());
    }
}
