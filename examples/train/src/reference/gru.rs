//! A GRU's loss and gradient.

use super::arithmetic::{shared_out, sigmoid, tangent};
use super::{Terms, layer, linear, loss};
use crate::data::Batch;
use crate::shape::Shape;

/// The gates of one unit in one step, and the new gate's share of the state.
#[derive(Clone, Copy)]
struct Gates {
    reset: f32,
    update: f32,
    fresh: f32,
    from_h: f32,
}

/// The loss, and what the gradient of each layer is the sum of.
pub fn gradient(shape: Shape, parameters: &[f32], batch: &Batch) -> (f32, Vec<Terms>) {
    let Shape { hidden, time, .. } = shape;
    let one = shape.batch * hidden;
    let layout = shape.layout();
    let [input, state, output] = &layout[..] else { unreachable!("a GRU has three layers") };
    let (input, state, output) = (layer(parameters, input), layer(parameters, state), layer(parameters, output));

    let from_inputs = linear(&batch.inputs, input, hidden);
    let (mut states, mut gates) = (vec![0.0; one], Vec::new());
    for t in 0..time {
        let h = states[t * one..].to_vec();
        for at in 0..one {
            let cell = forward(&from_inputs[t * 3 * one..], &h, state, hidden, at);
            states.push(cell.update.mul_add(h[at] - cell.fresh, cell.fresh));
            gates.push(cell);
        }
    }

    let last = &states[time * one..];
    let (loss, dy) = loss(&linear(last, output, hidden), &batch.targets, hidden);
    let of_output = Terms::new(dy.clone(), last.to_vec(), [hidden; 2]);

    let (mut dx_gates, mut dh_gates) = (vec![0.0; time * 3 * one], vec![0.0; time * 3 * one]);
    let mut carry = vec![0.0; one];
    for t in (0..time).rev() {
        let (dy, w) = match t + 1 == time {
            true => (dy.clone(), output.0),
            false => (dh_gates[(t + 1) * 3 * one..][..3 * one].to_vec(), state.0),
        };
        let k = dy.len() / shape.batch;
        for at in 0..one {
            let (row, unit) = (at / hidden, at % hidden);
            let dh = carry[at] + shared_out::<8>(k, |t| dy[row * k + t], |t| w[t * hidden + unit]);
            let Gates { reset, update, fresh, from_h } = gates[t * one + at];
            let dfresh = dh * (1.0 - update) * (-fresh).mul_add(fresh, 1.0);
            let dupdate = dh * (states[t * one + at] - fresh) * (update * (1.0 - update));
            let dreset = dfresh * from_h * (reset * (1.0 - reset));
            let to = t * 3 * one + row * 3 * hidden + unit;
            for (gate, (x, h)) in
                [(dreset, dreset), (dupdate, dupdate), (dfresh, dfresh * reset)].into_iter().enumerate()
            {
                dx_gates[to + gate * hidden] = x;
                dh_gates[to + gate * hidden] = h;
            }
            carry[at] = dh * update;
        }
    }
    let of_input = Terms::new(dx_gates, batch.inputs.clone(), [3 * hidden, hidden]);
    let of_state = Terms::new(dh_gates, states[..time * one].to_vec(), [3 * hidden, hidden]);
    (loss, vec![of_input, of_state, of_output])
}

fn forward(from_inputs: &[f32], h: &[f32], (w, b): (&[f32], &[f32]), hidden: usize, at: usize) -> Gates {
    let (row, unit) = (at / hidden, at % hidden);
    let h = &h[row * hidden..];
    let from_x = |gate: usize| from_inputs[row * 3 * hidden + gate * hidden + unit];
    let from_h = |gate: usize| {
        let w = &w[(gate * hidden + unit) * hidden..];
        shared_out::<4>(hidden, |t| h[t], |t| w[t]) + b[gate * hidden + unit]
    };
    let (reset, update) = (sigmoid(from_x(0) + from_h(0)), sigmoid(from_x(1) + from_h(1)));
    let from_h = from_h(2);
    Gates { reset, update, fresh: tangent(reset.mul_add(from_h, from_x(2))), from_h }
}
