//! The order of recorded nodes.

use crate::plan::{self, Order, Shape};
use crate::record::Node;

/// The order that the data of some nodes demands.
pub(crate) fn order_of(nodes: &[Node], shape: Shape) -> Order {
    let mut touches = Vec::with_capacity(nodes.len() * 3);
    let mut ends = Vec::with_capacity(nodes.len());
    for node in nodes {
        touches.extend(node.access.iter().map(|access| plan::TouchedBytes {
            memory: access.place.allocation.number(),
            start: access.place.start as u64,
            end: (access.place.start + access.place.bytes) as u64,
            write: access.mode.writes(),
        }));
        ends.push(touches.len());
    }
    let ops = (0..nodes.len()).map(|op| &touches[if op == 0 { 0 } else { ends[op - 1] }..ends[op]]);
    plan::order(ops, shape)
}
