//! The feed-forward network's step by hand.
//!
//! ```text
//! layer 1 .. layer L (with the loss) -> back L .. back 2 -> first weights -> adam
//!                                              \-> other weights ----------/
//! ```

use dacapo_cli::session::DeviceBytes;
use dacapo_example_train::{Adam, Shape};

use super::by_hand::{Functions, Memory, adam, float, number, product};
use dacapo_cli::bench::raw::{KernelNode, Raw};
use dacapo_cli::complaint::Complaint;

pub fn nodes<'d>(
    raw: &Raw<'d>,
    functions: &Functions,
    memory: &Memory<'_>,
    shape: Shape,
) -> Result<(Vec<DeviceBytes<'d>>, Vec<KernelNode>), Complaint> {
    let (hidden, rows, last) = (shape.hidden, shape.rows(), shape.layers - 1);
    let (one, h, m) = (rows * hidden, hidden as u64, rows as u64);
    let floats = |n: usize| raw.floats(&vec![0.0; n]);
    let (between, slopes, dy) = (floats(last * one)?, floats(last * one)?, floats((last + 1) * one)?);
    let weights = |layer: usize| float(&memory.parameters, layer * (hidden * hidden + hidden));
    let biases = |layer: usize| float(&memory.parameters, layer * (hidden * hidden + hidden) + hidden * hidden);
    let gradient = |layer: usize| float(&memory.gradient, layer * (hidden * hidden + hidden));
    let into = |layer: usize| if layer == 0 { memory.inputs.address() } else { float(&between, (layer - 1) * one) };

    let mut nodes: Vec<KernelNode> = Vec::new();
    for l in 0..last {
        let (y, slope) = (float(&between, l * one), float(&slopes, l * one));
        let words = [into(l), weights(l), biases(l), y, slope, m, h, h];
        let after: Vec<usize> = l.checked_sub(1).into_iter().collect();
        nodes.push(product(functions.linear_gelu, [rows, hidden, 1], &words, &after));
    }
    let Adam { beta1, beta2, .. } = Adam::default();
    let words = [
        into(last),
        weights(last),
        biases(last),
        memory.targets.address(),
        float(&dy, last * one),
        memory.parts.address(),
        memory.powers.address(),
        number(beta1),
        number(beta2),
        m,
        h,
        h,
    ];
    nodes.push(product(functions.linear_gelu_loss, [rows, hidden, 1], &words, &[last - 1]));
    for l in (0..last).rev() {
        let words = [float(&dy, (l + 1) * one), weights(l + 1), float(&slopes, l * one), float(&dy, l * one), m, h, h];
        let before = nodes.len() - 1;
        nodes.push(product(functions.linear_gelu_backward, [rows, hidden, 1], &words, &[before]));
    }
    let back = nodes.len() - 1;
    let words = [dy.address(), memory.inputs.address(), gradient(0), h, h, m];
    nodes.push(product(functions.weight_gradient, [hidden, hidden, 1], &words, &[back]));
    // Of the layers behind the first everything was there one step earlier.
    let words = [float(&dy, one), between.address(), gradient(1), h, h, m];
    nodes.push(product(functions.weight_gradient, [hidden, hidden, last], &words, &[back - 1]));
    nodes.push(adam(functions.adam, memory, shape, &[back + 1, back + 2]));
    Ok((vec![between, slopes, dy], nodes))
}
