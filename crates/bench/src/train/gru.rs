//! The GRU's step by hand.
//!
//! ```text
//! inputs -> cell 1 .. cell T -> loss -> cell T .. cell 1 -> inputs' weights -> adam
//!                                  \                     \-> states' weights -/
//!                                   \-> output's weights --------------------/
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
    let (time, hidden, batch) = (shape.time, shape.hidden, shape.batch);
    let (one, h, b) = (batch * hidden, hidden as u64, batch as u64);
    let floats = |n: usize| raw.floats(&vec![0.0; n]);
    let (from_inputs, gates, states) = (floats(time * 3 * one)?, floats(time * 4 * one)?, floats((time + 1) * one)?);
    let (dy, dx_gates, dh_gates) = (floats(one)?, floats(time * 3 * one)?, floats(time * 3 * one)?);
    let carries = [floats(one)?, floats(one)?];
    // Where weights and biases of the three layers begin.
    let (w_in, b_in) = (0, 3 * hidden * hidden);
    let (w_h, b_h) = (b_in + 3 * hidden, 2 * b_in + 3 * hidden);
    let (w_out, b_out) = (b_h + 3 * hidden, b_h + 3 * hidden + hidden * hidden);
    let of = |at: usize| float(&memory.parameters, at);
    let gradient = |at: usize| float(&memory.gradient, at);
    let cells = [(hidden / 8) as u32, batch.div_ceil(8) as u32, 1];

    let mut nodes = Vec::new();
    let rows = time * batch;
    let words = [memory.inputs.address(), of(w_in), of(b_in), from_inputs.address(), rows as u64, 3 * h, h];
    nodes.push(product(functions.linear, [rows, 3 * hidden, 1], &words, &[]));
    for t in 0..time {
        let words = vec![
            float(&from_inputs, t * 3 * one),
            float(&states, t * one),
            of(w_h),
            of(b_h),
            float(&states, (t + 1) * one),
            float(&gates, t * 4 * one),
            b,
            h,
        ];
        nodes.push(KernelNode { function: functions.gru_forward, blocks: cells, threads: 256, words, after: vec![t] });
    }
    let last = float(&states, time * one);
    let Adam { beta1, beta2, .. } = Adam::default();
    let words = [
        last,
        of(w_out),
        of(b_out),
        memory.targets.address(),
        dy.address(),
        memory.parts.address(),
        memory.powers.address(),
        number(beta1),
        number(beta2),
        b,
        h,
        h,
    ];
    let loss = time + 1;
    nodes.push(product(functions.linear_loss, [batch, hidden, 1], &words, &[time]));
    let words = [dy.address(), last, gradient(w_out), h, h, b];
    nodes.push(product(functions.weight_gradient, [hidden, hidden, 1], &words, &[loss]));
    for (i, t) in (0..time).rev().enumerate() {
        let (from, w, carry, k) = match i {
            0 => (dy.address(), of(w_out), states.address(), h),
            _ => (float(&dh_gates, (t + 1) * 3 * one), of(w_h), carries[i % 2].address(), 3 * h),
        };
        let words = vec![
            from,
            w,
            carry,
            float(&gates, t * 4 * one),
            float(&states, t * one),
            float(&dx_gates, t * 3 * one),
            float(&dh_gates, t * 3 * one),
            carries[(i + 1) % 2].address(),
            b,
            h,
            k,
        ];
        let after = if i == 0 { loss } else { loss + 1 + i };
        nodes.push(KernelNode {
            function: functions.gru_backward,
            blocks: cells,
            threads: 256,
            words,
            after: vec![after],
        });
    }
    let back = nodes.len() - 1;
    let sizes = [3 * hidden, hidden, 1];
    let words = [dx_gates.address(), memory.inputs.address(), gradient(w_in), 3 * h, h, rows as u64];
    nodes.push(product(functions.weight_gradient, sizes, &words, &[back]));
    let words = [dh_gates.address(), states.address(), gradient(w_h), 3 * h, h, rows as u64];
    nodes.push(product(functions.weight_gradient, sizes, &words, &[back]));
    nodes.push(adam(functions.adam, memory, shape, &[loss + 1, back + 1, back + 2]));
    let [carry, carried] = carries;
    Ok((vec![from_inputs, gates, states, dy, dx_gates, dh_gates, carry, carried], nodes))
}
