//! How many edges and joins a plan has: the shapes that programs have, and those made to be slow.

use super::*;

#[test]
fn a_line_is_each_after_the_one_before_whatever_they_touch() {
    let touches = [read(1, 0, 4)];
    let line = order([&touches[..], &[], &touches[..]].into_iter(), Shape::Line);
    assert_eq!(line.op_edges(), [(0, 1), (1, 2)]);
    assert_eq!(joins(&line), 0);
}

#[test]
fn nothing_recorded_is_nothing_planned() {
    assert_eq!(by_data(&[]), Order::default());
    assert_eq!(order([].into_iter(), Shape::Line), Order::default());
}

#[test]
fn an_empty_range_is_no_access() {
    let ops = [vec![write(1, 0, 8)], vec![write(1, 4, 4)], vec![read(1, 9, 3)], vec![read(1, 7, 8)]];
    assert_eq!(by_data(&ops).op_edges(), [(0, 3)]);
    let backwards = [vec![write(1, 9, 3)], vec![write(1, 9, 3)]];
    assert_eq!(by_data(&backwards).op_edges(), []);
}

#[test]
fn the_last_byte_of_the_address_space_is_a_byte() {
    let ops = [vec![write(1, u64::MAX - 1, u64::MAX)], vec![read(1, 0, u64::MAX)]];
    assert_eq!(by_data(&ops).op_edges(), [(0, 1)]);
}

#[test]
fn an_op_does_not_wait_for_itself() {
    let in_place = vec![read(1, 0, 8), write(1, 0, 8), read(1, 2, 4), write(1, 6, 8)];
    let ops = [in_place.clone(), in_place.clone(), in_place];
    assert_eq!(by_data(&ops).op_edges(), [(0, 1), (1, 2)]);
}

#[test]
fn halves_of_one_buffer_run_side_by_side() {
    let ops = [vec![write(1, 0, 8)], vec![write(1, 8, 16)], vec![read(1, 0, 8)], vec![read(1, 8, 16)]];
    assert_eq!(by_data(&ops).op_edges(), [(0, 2), (1, 3)]);
}

//   a ──► b ──► c        a ──► c is implied and left out
#[test]
fn an_edge_that_a_path_of_two_implies_is_left_out() {
    let ops =
        [vec![write(1, 0, 4), write(2, 0, 4)], vec![read(1, 0, 4), write(3, 0, 4)], vec![read(2, 0, 4), read(3, 0, 4)]];
    assert_eq!(by_data(&ops).op_edges(), [(0, 1), (1, 2)]);
}

//   a writer, eight readers, a writer of each eighth: 64 pairs are cheaper than a join, 81 are not
/// Steps forward in a line and back again, each step back reads what its step forward kept: all of it is one line.
#[test]
fn an_edge_that_a_long_path_implies_is_left_out_where_there_are_few_lines() {
    let steps = 100;
    let forward = (0..steps).map(|t| vec![read(0, t, t + 1), write(0, t + 1, t + 2), write(1, t, t + 1)]);
    let back = (0..steps).rev().map(|t| vec![read(1, t, t + 1), read(2, t + 1, t + 2), write(2, t, t + 1)]);
    // Beside it: something that the first and the last of the line meet.
    let mut ops = vec![vec![write(0, 0, 1), write(3, 0, 1)], vec![read(3, 0, 1), write(4, 0, 1)]];
    ops.extend(forward);
    ops.extend(back);
    ops.push(vec![write(0, 0, 200), write(1, 0, 200), write(2, 0, 200), write(4, 0, 1)]);
    let order = by_data(&ops);
    let last = ops.len() - 1;
    assert_eq!(order.op_edges().len(), last + 1, "{:?}", order.op_edges());
    assert_eq!(order.after(last), [1, last as u32 - 1]);
}

#[test]
fn a_join_stands_where_more_than_eight_meet_more_than_eight() {
    for (side, expected) in [(8, 0), (9, 1)] {
        let mut ops = vec![vec![write(1, 0, 8 * side)]];
        ops.extend((0..side).map(|_| vec![read(1, 0, 8 * side)]));
        ops.extend((0..side).map(|i| vec![write(1, 8 * i, 8 * i + 8)]));
        assert_eq!(joins(&by_data(&ops)), expected, "{side} x {side}");
    }
}

#[test]
fn many_before_one_and_one_before_many_need_no_join() {
    let mut ops: Vec<_> = (0..100).map(|i| vec![write(1, i, i + 1)]).collect();
    ops.push(vec![read(1, 0, 100), write(2, 0, 100)]);
    ops.extend((0..100).map(|i| vec![read(2, i, i + 1)]));
    ops.push(vec![write(2, 0, 100)]);
    let order = by_data(&ops);
    assert_eq!(joins(&order), 0);
    assert_eq!(edges(&order), 300);
}

/// Recordings of `n` ops in which a plan that compares pairs has about n² edges.
pub(super) fn slow_ones(n: u64) -> Vec<(&'static str, Vec<Vec<TouchedBytes>>)> {
    let half = n / 2;
    let whole_then_pieces =
        (0..half).map(|_| vec![read(1, 0, half)]).chain((0..half).map(|i| vec![write(1, i, i + 1)])).collect();
    let pieces_then_whole =
        (0..half).map(|i| vec![write(1, i, i + 1)]).chain((0..half).map(|_| vec![read(1, 0, half)])).collect();
    let turns = (0..half).flat_map(|i| [vec![write(1, i, i + 1)], vec![read(1, 0, half)]]).collect();
    // Each reads half of the buffer, each time one further; then the same with writes.
    let sliding = (0..n)
        .map(|i| vec![TouchedBytes { memory: 1, start: i % half, end: i % half + half, write: i >= half }])
        .collect();
    // Every other cell is written; all are read; the cells between are written.
    let strided = (0..half / 2)
        .map(|i| vec![write(1, 2 * i, 2 * i + 1)])
        .chain((0..half).map(|i| vec![read(1, i % 2, half)]))
        .chain((0..half / 2).map(|i| vec![write(1, 2 * i + 1, 2 * i + 2)]))
        .collect();
    // Readers of ever shorter ends, so that each cell has its own set of them; written from the most read one on.
    let nested =
        (0..half).map(|i| vec![read(1, i, half)]).chain((0..half).rev().map(|i| vec![write(1, i, i + 1)])).collect();
    // Any range, by a plain generator.
    let mut state = 1u64;
    let mut draw = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let random = (0..n)
        .map(|i| {
            let (a, b) = (draw(n), draw(n));
            vec![TouchedBytes { memory: 1, start: a.min(b), end: a.max(b) + 1, write: i % 16 == 0 }]
        })
        .collect();
    let mut piece = 0;
    let mixed = (0..n)
        .map(|i| {
            piece = (piece + 7919) % n;
            let write = (i / 100) % 2 == 0;
            if write {
                vec![TouchedBytes { memory: 1, start: piece, end: piece + 1, write }]
            } else {
                vec![read(1, 0, n)]
            }
        })
        .collect();
    vec![
        ("read whole, then written in pieces", whole_then_pieces),
        ("written in pieces, then read whole", pieces_then_whole),
        ("a piece, the whole, a piece, the whole", turns),
        ("a sliding half", sliding),
        ("strided halves", strided),
        ("nested ends", nested),
        ("any range", random),
        ("a hundred pieces, a hundred times the whole", mixed),
    ]
}

#[test]
fn recordings_made_to_be_slow_have_near_linear_plans() {
    for n in [2_000, 16_000] {
        for (name, ops) in slow_ones(n) {
            let order = by_data(&ops);
            let (edges, joins) = (edges(&order) as f64 / n as f64, joins(&order) as f64 / n as f64);
            // Pairs would be n / 4 edges an op: 500, then 4,000.
            assert!(edges < 4.0 * (n as f64).log2(), "{name}: {edges:.1} edges an op of {n}");
            assert!(joins < 1.0, "{name}: {joins:.1} joins an op of {n}");
        }
    }
}
