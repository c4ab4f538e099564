//! A few ops, ordered by looking at each pair: for so few that is faster than keeping books.
//!
//! The same promise as the general way, and a full reduction: an edge that any path implies is left out.

use super::{Order, TouchedBytes, What};

/// So few that a set of them is a word, and that no join could pay.
pub(super) const FEW: usize = 16;

/// Orders at most [`FEW`] ops.
pub(super) fn order(ops: &[&[TouchedBytes]]) -> Order {
    debug_assert!(ops.len() <= FEW);
    let mut order = Order { steps: Vec::with_capacity(ops.len()), after: Vec::with_capacity(ops.len()) };
    // All that come before each op, by any path, as bits.
    let mut before = [0u32; FEW];
    for (number, op) in ops.iter().enumerate() {
        let mut reached = 0u32;
        let mut after = 0u32;
        // From the nearest on: what a nearer one implies needs no edge.
        for earlier in (0..number).rev() {
            if reached & 1 << earlier == 0 && conflict(ops[earlier], op) {
                reached |= before[earlier] | 1 << earlier;
                after |= 1 << earlier;
            }
        }
        before[number] = reached;
        let (mut list, mut count) = ([0u32; FEW], 0);
        for earlier in (0..number).filter(|earlier| after & 1 << earlier != 0) {
            list[count] = earlier as u32;
            count += 1;
        }
        order.push(What::Op(number as u32), &list[..count]);
    }
    order
}

/// Whether two ops have a byte in common that one of them writes.
fn conflict(first: &[TouchedBytes], second: &[TouchedBytes]) -> bool {
    first.iter().any(|a| {
        second.iter().any(|b| a.memory == b.memory && (a.write || b.write) && a.start.max(b.start) < a.end.min(b.end))
    })
}
