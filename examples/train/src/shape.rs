//! The sizes of the network and the settings of its optimiser.

/// How large everything is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Numbers of one example.
    pub inputs: usize,
    /// Numbers between the layers.
    pub hidden: usize,
    /// Classes to tell apart.
    pub classes: usize,
    /// Examples of one step.
    pub batch: usize,
}

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
        Adam { rate: 0.02, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}
