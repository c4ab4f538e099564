//! The feed-forward network's gradient: layer by layer forward, the loss, and layer by layer back.
//!
//! What goes into the layers lies in one piece, and so does what comes back out of them: all weight gradients are one launch
//! in the end, large enough to fill the device. With other ranks each layer has a launch of its own, on the way back: what it gives
//! is on its way to them while the layers below are computed.

use dacapo::collective::Bucketed;
use dacapo::{Op, Recorder, Result, Slice, baked};

use crate::kernels::Kernels;
use crate::network::Network;

/// Records everything from the static inputs to the gradient of all parameters and the parts of the loss, of all ranks where there
/// are some.
pub fn backpropagate(
    r: &mut Recorder<'_>,
    k: &Kernels,
    network: &mut Network,
    gradient: &mut Slice<f32>,
    parts: &mut Slice<f32>,
    mut ranks: Option<&mut Bucketed>,
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
    let (m, n) = (hidden, hidden);
    if let Some(ranks) = &mut ranks {
        ranks.add(r, parts)?;
    }

    for l in (0..last).rev() {
        if let Some(ranks) = &mut ranks {
            let (dy, x, gradient) =
                (&dy[(l + 1) * one..], &between[l * one..][..one], &mut gradient[layout[l + 1].both()]);
            r.run(k.weight_gradient(&dy[..one], x, gradient, baked(m), baked(n)).label("backward/weights"))?;
            ranks.add(r, gradient)?;
        }
        let (now, later) = dy.split_at_mut((l + 1) * one);
        let (w, slope) = (&parameters[layout[l + 1].weights.clone()], &slopes[l * one..][..one]);
        let back = k.linear_gelu_backward(&later[..one], w, slope, &mut now[l * one..], baked(rows));
        r.run(back.label("backward"))?;
    }

    let (first, rest) = gradient.split_at_mut(layout[0].both().end);
    r.run(k.weight_gradient(&dy[..one], inputs, first, baked(m), baked(n)).label("backward/weights"))?;
    match ranks {
        Some(ranks) => ranks.add(r, first),
        None if last == 0 => Ok(()),
        None => r.run(k.weight_gradient(&dy[one..], &between, rest, baked(m), baked(n)).label("backward/weights")),
    }
}
