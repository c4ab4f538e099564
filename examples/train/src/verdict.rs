//! What a training must have shown for the program to end well.

use crate::training::Outcome;

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

fn same(what: &str, left: &Outcome, right: &Outcome) -> Check {
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
    let step = bits(&left.losses).iter().zip(&bits(&right.losses)).position(|(left, right)| left != right);
    let found = match step {
        Some(step) => format!("the loss of step {step} is {} here and {} there", left.losses[step], right.losses[step]),
        None if left.losses.len() != right.losses.len() => "the numbers of steps differ".to_string(),
        None if bits(&left.parameters) != bits(&right.parameters) => {
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
