//! The feed-forward network's gradient: layer by layer forward, the loss, and layer by layer back.
//!
//! What goes into the layers lies in one piece, and so does what comes back out of them: all weight gradients are one launch
//! in the end, large enough to fill the device.

use dacapo::{Op, Recorder, Result, Slice, baked};

use crate::kernels::Kernels;
use crate::network::Network;

/// Records everything from the static inputs to the gradient of all parameters and the parts of the loss.
pub fn backpropagate(
    r: &mut Recorder<'_>,
    k: &Kernels,
    network: &mut Network,
    gradient: &mut Slice<f32>,
    parts: &mut Slice<f32>,
) -> Result<()> {
    let Network { shape, adam, parameters, powers, inputs, targets, .. } = network;
    let (hidden, rows) = (shape.hidden as u32, shape.rows() as u32);
    let layout = shape.layout();
    let last = layout.len() - 1;
    // Numbers between two layers.
    let one = shape.inputs();

    // What goes into the layers but the first, whose is the network's input.
    let (mut between, mut slopes) = (r.alloc(last * one)?, r.alloc(last * one)?);
    for (l, layer) in layout[..last].iter().enumerate() {
        let (past, future) = between.split_at_mut(l * one);
        let x = if l == 0 { &inputs[..] } else { &past[(l - 1) * one..] };
        let (w, b) = (&parameters[layer.weights.clone()], &parameters[layer.biases.clone()]);
        let slope = &mut slopes[l * one..][..one];
        r.run(k.linear_gelu(x, w, b, &mut future[..one], slope).label("forward"))?;
    }

    let mut dy = r.alloc((last + 1) * one)?;
    let x = if last == 0 { &inputs[..] } else { &between[(last - 1) * one..] };
    let (w, b) = (&parameters[layout[last].weights.clone()], &parameters[layout[last].biases.clone()]);
    let (beta1, beta2) = (baked(adam.beta1), baked(adam.beta2));
    let loss = k.linear_gelu_loss(x, w, b, targets, &mut dy[last * one..], parts, powers, beta1, beta2);
    r.run(loss.label("loss"))?;

    for l in (0..last).rev() {
        let (now, later) = dy.split_at_mut((l + 1) * one);
        let (w, slope) = (&parameters[layout[l + 1].weights.clone()], &slopes[l * one..][..one]);
        let back = k.linear_gelu_backward(&later[..one], w, slope, &mut now[l * one..], baked(rows));
        r.run(back.label("backward"))?;
    }

    let (m, n) = (baked(hidden), baked(hidden));
    let first = layout[0].both();
    r.run(k.weight_gradient(&dy[..one], inputs, &mut gradient[first.clone()], m, n).label("backward/weights"))?;
    if last == 0 {
        return Ok(());
    }
    let rest = &mut gradient[first.end..];
    r.run(k.weight_gradient(&dy[one..], &between, rest, m, n).label("backward/weights"))
}
