//! Puts one temp after another into the first gap that is large enough.

use super::reach::Reach;
use super::{Layout, TempUse, rounded};

/// Places `order`, indices of temps, one after another.
pub(super) fn place(reach: &Reach, temps: &[TempUse<'_>], order: &[usize], layout: &mut Layout) {
    let mut taken: Vec<(u64, u64)> = Vec::new();
    for (count, &temp) in order.iter().enumerate() {
        taken.clear();
        for &other in &order[..count] {
            if !is_before(reach, &temps[temp], &temps[other]) && !is_before(reach, &temps[other], &temps[temp]) {
                let start = layout.offsets[other];
                taken.push((start, start + rounded(temps[other].bytes)));
            }
        }
        taken.sort_unstable();
        let bytes = rounded(temps[temp].bytes);
        let mut offset = 0;
        for (start, end) in &taken {
            if *start >= offset + bytes {
                break;
            }
            offset = offset.max(*end);
        }
        layout.offsets[temp] = offset;
        layout.bytes = layout.bytes.max(offset + bytes);
    }
}

/// Whether all of `a` has ended when any of `b` begins.
fn is_before(reach: &Reach, a: &TempUse<'_>, b: &TempUse<'_>) -> bool {
    // Cheap, and often the answer: ops are in a topological order.
    a.ops.last() < b.ops.first() && a.ops.iter().all(|a| b.ops.iter().all(|b| reach.is_before(*a, *b)))
}
