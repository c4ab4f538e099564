//! A GRU's gradient: its cells step by step forward, the loss, and step by step back.
//!
//! The gates' shares of all inputs are one product before the first step, and all steps' weight gradients are one product
//! after the last: only what hangs on the state is done step by step.

use dacapo::collective::Bucketed;
use dacapo::{Op, Recorder, Result, Slice, baked};

use crate::kernels::Kernels;
use crate::network::Network;

/// Records everything from the static inputs to the gradient of all parameters and the parts of the loss, of all ranks where there
/// are some: the output layer's goes to them beside the whole way back.
pub fn backpropagate(
    r: &mut Recorder<'_>,
    k: &Kernels,
    network: &mut Network,
    gradient: &mut Slice<f32>,
    parts: &mut Slice<f32>,
    mut ranks: Option<&mut Bucketed>,
) -> Result<()> {
    let Network { shape, adam, parameters, powers, states, inputs, targets, .. } = network;
    let (time, hidden, batch) = (shape.time, shape.hidden as u32, shape.batch as u32);
    let layout = shape.layout();
    let [input, state, output] = &layout[..] else { unreachable!("a GRU has three layers") };
    // Numbers of one state of all examples.
    let one = shape.batch * shape.hidden;

    let mut from_inputs = r.alloc(time * 3 * one)?;
    let (w, b) = (&parameters[input.weights.clone()], &parameters[input.biases.clone()]);
    r.run(k.linear(inputs, w, b, &mut from_inputs).label("forward/inputs"))?;
    let mut gates = r.alloc(time * 4 * one)?;
    let (w, b) = (&parameters[state.weights.clone()], &parameters[state.biases.clone()]);
    for t in 0..time {
        let (past, future) = states.split_at_mut((t + 1) * one);
        let (shares, kept) = (&from_inputs[t * 3 * one..][..3 * one], &mut gates[t * 4 * one..][..4 * one]);
        r.run(k.gru_forward(shares, &past[t * one..], w, b, &mut future[..one], kept).label("forward/cell"))?;
    }

    let last = &states[time * one..];
    let (w, b) = (&parameters[output.weights.clone()], &parameters[output.biases.clone()]);
    let mut dy = r.alloc(one)?;
    let (beta1, beta2) = (baked(adam.beta1), baked(adam.beta2));
    r.run(k.linear_loss(last, w, b, targets, &mut dy, parts, powers, beta1, beta2).label("loss"))?;
    let (m, n) = (baked(hidden), baked(hidden));
    r.run(k.weight_gradient(&dy, last, &mut gradient[output.both()], m, n).label("backward/output"))?;
    if let Some(ranks) = &mut ranks {
        ranks.add(r, parts)?;
        ranks.add(r, &mut gradient[output.both()])?;
    }

    let (mut dx_gates, mut dh_gates) = (r.alloc(time * 3 * one)?, r.alloc(time * 3 * one)?);
    let mut carry = None;
    for t in (0..time).rev() {
        let (now, later) = dh_gates.split_at_mut((t + 1) * 3 * one);
        let mut carried = r.alloc(one)?;
        // Into the last step comes what the output layer sends back; into all others what the step behind does.
        let (dy, layer) = if t + 1 == time { (&dy[..], output) } else { (&later[..3 * one], state) };
        let past: &Slice<f32> = carry.as_deref().unwrap_or(&states[..one]);
        let (w, kept) = (&parameters[layer.weights.clone()], &gates[t * 4 * one..][..4 * one]);
        let (dx, dh) = (&mut dx_gates[t * 3 * one..][..3 * one], &mut now[t * 3 * one..]);
        let back = k.gru_backward(dy, w, past, kept, &states[t * one..][..one], dx, dh, &mut carried, baked(batch));
        r.run(back.label("backward/cell"))?;
        carry = Some(carried);
    }

    let (m, n) = (baked(3 * hidden), baked(hidden));
    r.run(k.weight_gradient(&dx_gates, inputs, &mut gradient[input.both()], m, n).label("backward/inputs"))?;
    if let Some(ranks) = &mut ranks {
        ranks.add(r, &mut gradient[input.both()])?;
    }
    let before = &states[..time * one];
    r.run(k.weight_gradient(&dh_gates, before, &mut gradient[state.both()], m, n).label("backward/states"))?;
    match ranks {
        Some(ranks) => ranks.add(r, &mut gradient[state.both()]),
        None => Ok(()),
    }
}
