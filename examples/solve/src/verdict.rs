//! What a solved problem must have shown for the program to end well.
//!
//! In f32 the residual that the rounds carry and the true one drift apart, and the solution has rounding errors of its own.
//! How far is known: each round adds errors of about ε ‖A‖ ‖x‖ to what is left, of either sign, so their sum grows with the
//! square root of the rounds (A. Greenbaum, Estimating the attainable accuracy of recursively computed residual methods;
//! 1997). The limits here allow for that.

use crate::problem::Problem;
use crate::reference;
use crate::ways::{Outcome, Stop};

/// What one operation in f32 is rounded by, at most.
const EPSILON: f64 = f32::EPSILON as f64 / 2.0;
/// The largest eigenvalue of A is below this.
const A_NORM: f64 = 8.0;

/// One promise, and whether it held.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// The promise, with what was found.
    pub what: String,
    /// Whether it held.
    pub held: bool,
}

/// Whether this is what plain Rust gives, to the last bit: rounds, residual and solution.
pub fn same(found: &Outcome, reference: &Outcome) -> Check {
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
    let residuals = |outcome: &Outcome| bits(&[outcome.first, outcome.last]);
    let what = if found.rounds != reference.rounds {
        format!("{} rounds here, {} there", found.rounds, reference.rounds)
    } else if residuals(found) != residuals(reference) {
        format!("the residual is {:e} here and {:e} there", found.last, reference.last)
    } else if bits(&found.x) != bits(&reference.x) {
        "the solutions differ".to_string()
    } else {
        return Check { what: "equals plain Rust, bit for bit".to_string(), held: true };
    };
    Check { what: format!("equals plain Rust: {what}"), held: false }
}

/// Whether the loop ended because it had solved the problem.
pub fn reached(outcome: &Outcome, stop: Stop) -> Check {
    let (residual, rounds) = (outcome.residual(), outcome.rounds);
    let what =
        format!("the residual fell to {residual:.2e} of the start's in {rounds} rounds; asked: {:.0e}", stop.tolerance);
    Check { what, held: outcome.reached }
}

/// Whether the residual of the solution, computed anew in f64, is what the rounds say, but for rounding.
pub fn residual(problem: &Problem, outcome: &Outcome) -> Check {
    let (found, told) = (problem.residual(&outcome.x), f64::from(outcome.residual()));
    let norm = |values: &[f32]| values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    let size = norm(&outcome.x) / norm(&problem.b).max(f64::MIN_POSITIVE);
    let most = told + EPSILON * A_NORM * size * (outcome.rounds as f64 + 1.0).sqrt();
    Check {
        what: format!("computed anew in f64 it is {found:.2e}; with rounding, at most {most:.2e}"),
        held: found <= most,
    }
}

/// Whether the distance from the exact solution falls with the square of the step: held against half as many points a row,
/// solved in plain Rust. None where no exact solution is known.
pub fn error(problem: &Problem, coarse: &Problem, outcome: &Outcome, stop: Stop) -> Option<Check> {
    let solved = reference::solve(coarse, stop);
    let (fine_error, coarse_error) = (problem.error(&outcome.x)?, coarse.error(&solved.x)?);
    let largest = problem.exact.iter().flatten().fold(0.0_f64, |most, u| most.max(u.abs()));
    let steps = (coarse.side as f64 + 1.0) / (problem.side as f64 + 1.0);
    // A tenth, because the next power of the step has its part too.
    let falls = 1.1 * coarse_error * steps * steps;
    let rounding = 4.0 * EPSILON * (outcome.rounds as f64 + 1.0).sqrt();
    let most = falls + (rounding + f64::from(stop.tolerance)) * largest;
    let sides = (coarse.side, problem.side);
    Some(Check {
        what: format!(
            "the error falls with the square of the step: {coarse_error:.2e} at {}, {fine_error:.2e} at {}; at most {most:.2e}",
            sides.0, sides.1
        ),
        held: fine_error <= most,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: Stop = Stop { tolerance: 1e-5, at_most: 1000 };

    fn solved(problem: &Problem) -> Outcome {
        reference::solve(problem, STOP)
    }

    #[test]
    fn one_bit_more_or_less_is_a_difference() {
        let right = solved(&Problem::smooth(8));
        assert!(same(&right, &right.clone()).held);
        let next = |value: f32| f32::from_bits(value.to_bits() + 1);
        let (mut residual, mut solution, mut longer) = (right.clone(), right.clone(), right.clone());
        residual.last = next(residual.last);
        solution.x[5] = next(solution.x[5]);
        longer.rounds += 1;
        for wrong in [residual, solution, longer] {
            assert!(!same(&wrong, &right).held);
        }
    }

    #[test]
    fn a_loop_that_gave_up_has_not_reached_it() {
        let problem = Problem::random(16, 1);
        assert!(reached(&solved(&problem), STOP).held);
        let stop = Stop { at_most: 5, ..STOP };
        assert!(!reached(&reference::solve(&problem, stop), stop).held);
    }

    #[test]
    fn rounding_is_allowed_for_and_a_wrong_solution_is_not() {
        for problem in [Problem::smooth(16), Problem::random(16, 1), Problem::smooth(63), Problem::random(64, 2)] {
            let mut outcome = solved(&problem);
            assert!(residual(&problem, &outcome).held, "{:?}", residual(&problem, &outcome));
            outcome.x[20] += 1e-3 * outcome.x.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            assert!(!residual(&problem, &outcome).held);
            outcome.x[20] = f32::NAN;
            assert!(!residual(&problem, &outcome).held);
        }
    }

    #[test]
    fn an_error_that_falls_slower_is_seen() {
        let (fine, coarse) = (Problem::smooth(32), Problem::smooth(16));
        let mut outcome = solved(&fine);
        let held = |outcome: &Outcome| error(&fine, &coarse, outcome, STOP).map(|check| check.held);
        assert_eq!(held(&outcome), Some(true));
        // Half as right as it should be: with the step, not with its square.
        outcome.x.iter_mut().zip(fine.exact.iter().flatten()).for_each(|(x, &u)| *x += *x - u as f32);
        assert_eq!(held(&outcome), Some(false));
        outcome.x[0] = f32::NAN;
        assert_eq!(held(&outcome), Some(false));
        assert_eq!(error(&Problem::random(32, 1), &coarse, &outcome, STOP), None);
    }
}
