//! Layouts against the definition: each pair of temps, by a search through the edges.

use super::*;
use crate::plan::layout::{ALIGNMENT, Layout, TempUse, layout};
use proptest::prelude::*;

/// For each op, the ops before it by any path.
fn before(order: &Order) -> Vec<Vec<bool>> {
    let edges = order.op_edges();
    let ops = order.steps().iter().filter(|step| step.what != What::Join).count();
    (0..ops)
        .map(|of| {
            let mut seen = vec![false; ops];
            let mut open = vec![of];
            while let Some(op) = open.pop() {
                for (from, _) in
                    edges.iter().filter(|(from, to)| *to == op && !seen[*from]).copied().collect::<Vec<_>>()
                {
                    seen[from] = true;
                    open.push(from);
                }
            }
            seen
        })
        .collect()
}

fn check(order: &Order, temps: &[TempUse<'_>], layout: &Layout) {
    let before = before(order);
    let all_before =
        |a: &TempUse<'_>, b: &TempUse<'_>| a.ops.iter().all(|a| b.ops.iter().all(|b| before[*b as usize][*a as usize]));
    assert_eq!(layout.offsets.len(), temps.len());
    let mut most = 0;
    for (i, temp) in temps.iter().enumerate() {
        let start = layout.offsets[i];
        assert_eq!(start % ALIGNMENT, 0, "aligned");
        if temp.bytes == 0 || temp.ops.is_empty() {
            assert_eq!(start, 0, "takes no room");
            continue;
        }
        most = most.max(start + temp.bytes);
        for (j, other) in temps[..i].iter().enumerate().filter(|(_, other)| other.bytes > 0 && !other.ops.is_empty()) {
            let (from, to) = (start.max(layout.offsets[j]), (start + temp.bytes).min(layout.offsets[j] + other.bytes));
            let apart = all_before(temp, other) || all_before(other, temp);
            assert!(from >= to || apart, "temps {j} and {i} may be alive at the same time, and share {from}..{to}");
        }
    }
    assert_eq!(layout.bytes, most.next_multiple_of(ALIGNMENT), "as much as is needed, and no more");
}

/// Ops that touch temps: each op's temps are its touches.
fn traces() -> impl Strategy<Value = (Vec<Vec<Touch>>, Vec<u64>, bool)> {
    let op = proptest::collection::vec((0..12u32, any::<bool>()), 0..4);
    (proptest::collection::vec(op, 0..30), proptest::collection::vec(0..3000u64, 12), any::<bool>()).prop_map(
        |(ops, bytes, line)| {
            let touch = |(memory, write)| Touch { memory, start: 0, end: 64, write };
            (ops.into_iter().map(|op| op.into_iter().map(touch).collect()).collect(), bytes, line)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_may_be_alive_at_the_same_time_does_not_share((ops, bytes, line) in traces()) {
        let order = order(ops.iter().map(Vec::as_slice), if line { Shape::Line } else { Shape::Data });
        let uses: Vec<Vec<u32>> = (0..12)
            .map(|temp| (0..ops.len() as u32).filter(|op| ops[*op as usize].iter().any(|t| t.memory == temp)).collect())
            .collect();
        let temps: Vec<TempUse<'_>> =
            uses.iter().zip(&bytes).map(|(ops, bytes)| TempUse { bytes: *bytes, ops }).collect();
        check(&order, &temps, &layout(&order, &temps));
    }
}
