//! What a training must have shown for the program to end well.

use crate::data;
use crate::ranks::{RanksOutcome, RanksRuns};
use crate::reference::Apart;
use crate::training::{Outcome, Training};

/// One promise, and whether it held.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// The promise, with what was found.
    pub what: String,
    /// Whether it held.
    pub held: bool,
}

/// Whether the three trainings agree to the last bit, whether anything was learnt, and whether the software device, where it
/// is one, found a mistake.
pub fn checks(eager: &Outcome, replayed: &Outcome, reference: &Outcome, findings: &[String]) -> Vec<Check> {
    let mut checks = vec![
        same("the replayed run equals the eager run", replayed, eager),
        same("the replayed run equals plain Rust", replayed, reference),
        fell(&replayed.losses),
    ];
    checks.extend(findings.iter().map(|finding| Check { what: finding.clone(), held: false }));
    checks
}

/// How far two whole trainings may be apart: the length of the difference of their parameters over the length of the way that
/// training moved them. Not derived: `reference/apart.rs` says why. At the default sizes it was 3e-7 at most.
const WHOLE_MAX: f64 = 1e-4;

/// What a training on so many ranks must have shown.
pub fn ranks_checks(training: &Training, ranks: usize, runs: &RanksRuns) -> Vec<Check> {
    let RanksRuns { eager, replayed, again, other_seed, plain, .. } = runs;
    let all: Vec<&RanksOutcome> = [eager, replayed, again].into_iter().chain(other_seed).collect();
    let mut checks = vec![match all.iter().find_map(|run| run.differs) {
        None => {
            Check { what: format!("the same parameters on {ranks} ranks after every step, bit for bit"), held: true }
        }
        Some(step) => Check { what: format!("after step {step} the ranks have different parameters"), held: false },
    }];
    checks.extend(replayed.apart.map(within));
    checks.push(match ranks {
        1 => same("one rank equals the run without ranks", &replayed.outcome, plain),
        _ => near(training, &replayed.outcome, plain),
    });
    checks.push(same("a second run equals the first", &again.outcome, &replayed.outcome));
    checks.extend(other_seed.as_ref().map(|run| same("another seed changes nothing", &run.outcome, &replayed.outcome)));
    checks.push(same("the replayed run equals the eager run", &replayed.outcome, &eager.outcome));
    checks.push(fell(&replayed.outcome.losses));
    let findings: Vec<&String> = all.iter().flat_map(|run| &run.findings).collect();
    if other_seed.is_some() && findings.is_empty() {
        checks.push(Check { what: "0 findings".to_string(), held: true });
    }
    checks.extend(findings.into_iter().map(|finding| Check { what: finding.clone(), held: false }));
    checks
}

/// Each step against the bound that comes from the order of sums.
fn within(apart: Apart) -> Check {
    let Apart { gradient_max, difference, of_bound } = apart;
    Check {
        what: format!(
            "each step is one rank's with the whole batch, but for the order of sums: gradients within {gradient_max:.1e}, \
             parameters within {difference:.1e}, which is {of_bound:.3} of what that allows"
        ),
        held: of_bound <= 1.0,
    }
}

/// The whole trainings.
fn near(training: &Training, ranks: &Outcome, plain: &Outcome) -> Check {
    let start = data::parameters(training.shape, training.seed);
    let distance = |a: &[f32], b: &[f32]| {
        a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
    };
    let apart = distance(&ranks.parameters, &plain.parameters) / distance(&plain.parameters, &start);
    let each = ranks.parameters.iter().zip(&plain.parameters).map(|(a, b)| (a - b).abs());
    Check {
        what: format!(
            "the whole training ends {apart:.1e} of its way from one rank's (at most {WHOLE_MAX:.0e}), a parameter at most {:.1e}",
            each.fold(0.0, f32::max)
        ),
        held: apart <= WHOLE_MAX,
    }
}

/// Whether all bits are the same.
pub(crate) fn is_same(left: &[f32], right: &[f32]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.to_bits() == right.to_bits())
}

fn same(what: &str, left: &Outcome, right: &Outcome) -> Check {
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
    let step = bits(&left.losses).iter().zip(&bits(&right.losses)).position(|(left, right)| left != right);
    let found = match step {
        Some(step) => format!("the loss of step {step} is {} here and {} there", left.losses[step], right.losses[step]),
        None if left.losses.len() != right.losses.len() => "the numbers of steps differ".to_string(),
        None if !is_same(&left.parameters, &right.parameters) => {
            "the parameters after the last step differ".to_string()
        }
        None => return Check { what: format!("{what}, bit for bit"), held: true },
    };
    Check { what: format!("{what}: {found}"), held: false }
}

/// The mean of the last tenth of the losses is below nine tenths of the mean of the first tenth.
fn fell(losses: &[f32]) -> Check {
    let part = losses.len().div_ceil(10);
    let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len() as f32;
    let (first, last) = (mean(&losses[..part]), mean(&losses[losses.len() - part..]));
    Check { what: format!("the loss fell from {first:.4} to {last:.4}"), held: last < 0.9 * first }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn outcome(losses: &[f32], parameters: &[f32]) -> Outcome {
        Outcome { losses: losses.to_vec(), parameters: parameters.to_vec(), elapsed: Duration::ZERO }
    }

    fn held(replayed: &Outcome) -> Vec<bool> {
        let right = outcome(&[2.0, 1.0], &[0.0]);
        checks(&right, replayed, &right, &[]).iter().map(|check| check.held).collect()
    }

    #[test]
    fn one_bit_more_or_less_is_a_difference() {
        assert_eq!(held(&outcome(&[2.0, 1.0], &[0.0])), [true, true, true]);
        assert_eq!(held(&outcome(&[2.0, f32::from_bits(1.0_f32.to_bits() + 1)], &[0.0])), [false, false, true]);
        assert_eq!(held(&outcome(&[2.0, 1.0], &[-0.0])), [false, false, true]);
        assert_eq!(held(&outcome(&[2.0, 1.0, 1.0], &[0.0])), [false, false, true]);
    }

    #[test]
    fn what_the_software_device_found_is_a_failure() {
        let right = outcome(&[2.0, 1.0], &[0.0]);
        let checks = checks(&right, &right, &right, &["read out of bounds".to_string()]);
        assert_eq!(checks.last().map(|check| (check.held, check.what.as_str())), Some((false, "read out of bounds")));
    }

    #[test]
    fn a_loss_that_does_not_fall_is_no_training() {
        assert_eq!(held(&outcome(&[1.0, 1.0], &[0.0])), [false, false, false]);
        assert_eq!(held(&outcome(&[f32::NAN, f32::NAN], &[0.0])), [false, false, false]);
        assert!(!fell(&[]).held);
    }
}
