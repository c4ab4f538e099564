//! Programmatic edges: a part of what `cargo xtask edges --full` checks.

use dacapo_suite::edges::{Checker, Draws};

/// Graphs of these numbers, with every choice: how many choices there were, or the first that is wrong.
fn checked(draws: Draws, numbers: impl Iterator<Item = u64>) -> (u64, usize) {
    let (mut choices, mut edges) = (0, 0);
    let checker = Checker::new(1).unwrap();
    for number in numbers {
        match checker.check(&draws.graph(number), number).unwrap() {
            Ok(done) => (choices, edges) = (choices + done.choices, edges + done.edges),
            Err(wrong) => panic!("graph {number}: {wrong}"),
        }
    }
    assert_eq!(checker.device().findings(), [""; 0]);
    (choices, edges)
}

#[test]
fn small_graphs_give_the_same_whatever_edges_are_chosen() {
    let all = Draws::all(4);
    let (choices, edges) = checked(all, (0..all.count().unwrap()).step_by(509));
    assert!(choices > 500 && edges > 150, "{choices} choices for {edges} edges");
}

#[test]
fn larger_ones_with_kernels_that_are_off_or_signal_by_themselves_do_too() {
    let (choices, edges) = checked(Draws::random(), 0..8);
    assert!(choices > 200 && edges > 10, "{choices} choices for {edges} edges");
}
