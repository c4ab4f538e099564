//! The plan against the definition that one writes down in a minute and that is too slow to use: every pair is compared.

use super::*;
use proptest::prelude::*;

fn conflict(a: &[TouchedBytes], b: &[TouchedBytes]) -> bool {
    let meet = |a: &TouchedBytes, b: &TouchedBytes| {
        a.memory == b.memory && (a.write || b.write) && a.start.max(b.start) < a.end.min(b.end)
    };
    a.iter().any(|a| b.iter().any(|b| meet(a, b)))
}

/// `reach[b][a]`: a path leads from a to b. `before(b)` are the direct ones, all smaller than b.
fn closure(count: usize, before: impl Fn(usize) -> Vec<usize>) -> Vec<Vec<bool>> {
    let mut reach = vec![vec![false; count]; count];
    for b in 0..count {
        for a in before(b) {
            let (earlier, later) = reach.split_at_mut(b);
            later[0][a] = true;
            later[0].iter_mut().zip(&earlier[a]).for_each(|(to, from)| *to |= from);
        }
    }
    reach
}

/// Checks all of the promises but the speed.
fn check(ops: &[Vec<TouchedBytes>]) {
    check_order(ops, &by_data(ops));
    // A few ops go their own way: the general one must hold for them too.
    check_order(ops, &crate_by_data(ops.iter().map(Vec::as_slice)));
}

fn check_order(ops: &[Vec<TouchedBytes>], order: &Order) {
    let steps = order.steps();
    let recorded: Vec<u32> =
        steps.iter().filter_map(|s| if let What::Op(op) = s.what { Some(op) } else { None }).collect();
    assert_eq!(recorded, (0..ops.len() as u32).collect::<Vec<_>>(), "each op once, as recorded");
    for step in 0..steps.len() {
        let after = order.after(step);
        assert!(after.windows(2).all(|pair| pair[0] < pair[1]), "ascending, none twice: {after:?}");
        assert!(after.iter().all(|one| (*one as usize) < step), "earlier ones: {after:?}");
    }
    let step_of: Vec<usize> = (0..steps.len()).filter(|s| steps[*s].what != What::Join).collect();
    let ours = closure(steps.len(), |step| order.after(step).iter().map(|one| *one as usize).collect());
    let naive = closure(ops.len(), |b| (0..b).filter(|a| conflict(&ops[*a], &ops[b])).collect());
    for b in 0..ops.len() {
        for a in 0..b {
            let (got, wanted) = (ours[step_of[b]][step_of[a]], naive[b][a]);
            assert_eq!(got, wanted, "a path from op {a} to op {b}");
        }
    }
    let contracted = order.op_edges();
    assert!(contracted.windows(2).all(|pair| pair[0] < pair[1]), "sorted, none twice");
    let by_edges =
        closure(ops.len(), |b| contracted.iter().filter(|(_, to)| *to == b).map(|(from, _)| *from).collect());
    assert_eq!(by_edges, naive, "joins replaced by edges order the same ops");
    assert!(contracted.iter().all(|(a, b)| conflict(&ops[*a], &ops[*b])), "each edge between ops is a conflict");
}

fn touch(memories: u32, bytes: u64, writes: f64) -> impl Strategy<Value = TouchedBytes> {
    let range = prop_oneof![
        2 => Just((0, bytes)),
        3 => (0..bytes, 0..bytes).prop_map(|(a, b)| (a.min(b), a.max(b))),
        // Pieces of equal size, as loops make them.
        3 => (0..bytes / 4).prop_map(|piece| (4 * piece, 4 * piece + 4)),
    ];
    // Numbers far apart: nothing may depend on their being small.
    (0..memories, range, proptest::bool::weighted(writes)).prop_map(|(memory, (start, end), write)| TouchedBytes {
        memory: memory.wrapping_mul(0x3001_0001),
        start,
        end,
        write,
    })
}

fn ops(memories: u32, bytes: u64, writes: f64, count: usize) -> impl Strategy<Value = Vec<Vec<TouchedBytes>>> {
    proptest::collection::vec(proptest::collection::vec(touch(memories, bytes, writes), 0..4), 0..count)
}

/// Phases in which all read or all write: where joins come from.
fn phases() -> impl Strategy<Value = Vec<Vec<TouchedBytes>>> {
    let phase = (any::<bool>(), proptest::collection::vec(touch(2, 64, 0.0), 1..40));
    proptest::collection::vec(phase, 1..6).prop_map(|phases| {
        let one = |write| move |touch: TouchedBytes| vec![TouchedBytes { write, ..touch }];
        phases.into_iter().flat_map(|(write, touches)| touches.into_iter().map(one(write))).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_ops_are_ordered_exactly_when_conflicts_lead_from_one_to_the_other(ops in ops(3, 32, 0.4, 40)) {
        check(&ops);
    }

    #[test]
    fn the_same_holds_where_many_pieces_are_read_and_few_written(ops in ops(1, 128, 0.15, 90)) {
        check(&ops);
    }

    #[test]
    fn the_same_holds_where_many_meet_many(ops in phases()) {
        check(&ops);
    }

    #[test]
    fn the_same_holds_for_many_memories(ops in ops(40, 8, 0.5, 60)) {
        check(&ops);
    }
}

#[test]
fn the_check_sees_joins() {
    // Sixteen writers of pieces, sixteen readers of all, sixteen writers of pieces.
    let pieces = || (0..16).map(|i| vec![write(7, 4 * i, 4 * i + 4)]);
    let ops: Vec<_> = pieces().chain((0..16).map(|_| vec![read(7, 0, 64)])).chain(pieces()).collect();
    assert_eq!(joins(&by_data(&ops)), 2);
    check(&ops);
}
