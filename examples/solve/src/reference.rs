//! The same rounds in plain Rust: the same operations as `kernels/solve.cu`, rounded the same way, in the same order.

use std::time::Instant;

use crate::kernels::{THREADS, blocks};
use crate::problem::Problem;
use crate::ways::{Outcome, Stop};

/// Solves a problem on the host.
pub fn solve(problem: &Problem, stop: Stop) -> Outcome {
    let started = Instant::now();
    let points = problem.b.len();
    let (mut x, mut r, mut p) = (vec![0.0_f32; points], problem.b.clone(), problem.b.clone());
    let first = dot(&r, &r);
    let limit = stop.tolerance * stop.tolerance * first;
    let (mut rounds, mut last) = (0, first);
    while last > limit && rounds < stop.at_most {
        let before = last;
        let q = apply(&p, problem.side);
        let alpha = ratio(before, dot(&p, &q));
        for i in 0..points {
            x[i] = alpha.mul_add(p[i], x[i]);
            r[i] = (-alpha).mul_add(q[i], r[i]);
        }
        last = dot(&r, &r);
        let beta = ratio(last, before);
        for i in 0..points {
            p[i] = beta.mul_add(p[i], r[i]);
        }
        rounds += 1;
    }
    Outcome { rounds, first, last, reached: last <= limit, x, elapsed: started.elapsed() }
}

/// A p: four times each point, less its neighbours.
pub fn apply(p: &[f32], side: usize) -> Vec<f32> {
    let at = |is_there: bool, i: usize| if is_there { p[i] } else { 0.0 };
    let point = |i: usize| {
        let (row, column) = (i / side, i % side);
        let across = at(column > 0, i.wrapping_sub(1)) + at(column + 1 < side, i + 1);
        let along = at(row > 0, i.wrapping_sub(side)) + at(row + 1 < side, i + side);
        4.0_f32.mul_add(p[i], -(across + along))
    };
    (0..p.len()).map(point).collect()
}

/// A dot product: threads' sums, then blocks' sums, then the sum of those by one block.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let blocks = blocks(a.len());
    let mut sums = vec![[0.0_f32; THREADS]; blocks];
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let sum = &mut sums[i / THREADS % blocks][i % THREADS];
        *sum = a.mul_add(*b, *sum);
    }
    let mut whole = [0.0_f32; THREADS];
    for (block, sums) in sums.iter_mut().enumerate() {
        whole[block % THREADS] += block_sum(sums);
    }
    block_sum(&mut whole)
}

/// The sum of a block's threads: each warp by halves, then the warps in order.
fn block_sum(sums: &mut [f32; THREADS]) -> f32 {
    let mut warps = sums.chunks_mut(32).map(|warp| {
        for half in [16, 8, 4, 2, 1] {
            for lane in 0..half {
                warp[lane] += warp[lane + half];
            }
        }
        warp[0]
    });
    let first = warps.next().unwrap_or(0.0);
    warps.fold(first, |sum, warp| sum + warp)
}

fn ratio(a: f32, b: f32) -> f32 {
    if b == 0.0 { 0.0 } else { a / b }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: Stop = Stop { tolerance: 1e-6, at_most: 1000 };

    fn system(side: usize, b: &[f32]) -> Problem {
        Problem { side, b: b.to_vec(), exact: None }
    }

    #[test]
    fn a_known_small_system_is_solved() {
        // By hand: 4 on the diagonal, -1 for neighbours in a square of four points; A (1, 2, 3, 4) = (-1, 3, 7, 11).
        assert_eq!(apply(&[1.0, 2.0, 3.0, 4.0], 2), [-1.0, 3.0, 7.0, 11.0]);
        let outcome = solve(&system(2, &[-1.0, 3.0, 7.0, 11.0]), STOP);
        assert!(outcome.reached && outcome.rounds <= 4, "{outcome:?}");
        for (found, exact) in outcome.x.iter().zip([1.0, 2.0, 3.0, 4.0]) {
            assert!((found - exact).abs() < 1e-5, "{outcome:?}");
        }
        let one = solve(&system(1, &[6.0]), STOP);
        assert_eq!((one.x.as_slice(), one.rounds, one.reached), (&[1.5][..], 1, true));
    }

    #[test]
    fn an_eigenvector_takes_one_round() {
        // sin(pi x) sin(pi y) is one of the stencil's, so the first step length is the right one. The error is the
        // stencil's: pi^2 / 12 h^2 of the solution.
        for side in [7, 15, 31] {
            let (problem, h) = (Problem::sine(side), 1.0 / (side as f64 + 1.0));
            let outcome = solve(&problem, Stop { tolerance: 1e-4, ..STOP });
            let expected = std::f64::consts::PI.powi(2) / 12.0 * h * h;
            let error = problem.error(&outcome.x).expect("it is known");
            assert_eq!(outcome.rounds, 1);
            assert!((error / expected - 1.0).abs() < 0.02, "{side}: {error} {expected}");
        }
    }

    #[test]
    fn the_error_falls_with_the_square_of_the_step() {
        let error = |side: usize| {
            let (problem, outcome) = (Problem::smooth(side), solve(&Problem::smooth(side), STOP));
            assert!(outcome.reached, "{side}: {:?}", outcome.rounds);
            problem.error(&outcome.x).expect("it is known")
        };
        // Each has half the step of the one before.
        let errors = [7, 15, 31, 63].map(error);
        for pair in errors.windows(2) {
            let factor = pair[0] / pair[1];
            assert!((3.8..4.2).contains(&factor), "{errors:?}");
        }
    }

    #[test]
    fn nothing_to_solve_is_solved() {
        let outcome = solve(&system(3, &[0.0; 9]), STOP);
        assert_eq!((outcome.rounds, outcome.reached, outcome.residual()), (0, true, 0.0));
    }

    #[test]
    fn rounds_that_are_not_enough_are_told() {
        let outcome = solve(&Problem::random(16, 1), Stop { at_most: 3, ..STOP });
        assert_eq!((outcome.rounds, outcome.reached), (3, false));
        assert!(outcome.residual() > STOP.tolerance);
    }

    #[test]
    fn a_dot_product_has_every_term_once() {
        // Whole numbers, so no order matters; the last size gives threads more than one point.
        for points in [1, 31, 128, 129, 4000, 140_000] {
            let ones = vec![1.0; points];
            assert_eq!(dot(&ones, &ones), points as f32);
        }
    }
}
