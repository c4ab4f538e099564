//! Holds results against a recording.

use super::limit::{Approx, Bound};
use super::recording::{SingleAnswer, StaleSingle, keep};
use super::{Rule, Single};

/// The largest errors of an approximation, as parts of what the manual allows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Of the recorded results.
    pub gpu: f64,
    /// Of ours.
    pub ours: f64,
    /// How many results have the recorded bits.
    pub same_bits: usize,
    /// How many inputs there are.
    pub inputs: usize,
    /// For how many of them the manual promises something.
    pub bounded: usize,
}

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Judged {
    /// Every bit as recorded.
    Exact,
    /// Both within the manual's bounds.
    Within(Errors),
    /// Not as recorded, and known.
    Apart {
        /// Results that differ.
        differ: usize,
    },
    /// What is wrong.
    Failed(String),
}

/// Compares our results with what was recorded.
pub fn judge(single: &Single, ours: &[u64], recorded: &SingleAnswer) -> Judged {
    match single.rule {
        Rule::Exact => exact(single, ours, recorded),
        Rule::Apart(_) => match recorded.results(single) {
            Ok(results) => Judged::Apart { differ: ours.iter().zip(&results).filter(|(a, b)| a != b).count() },
            Err(stale) => Judged::Failed(stale.to_string()),
        },
        Rule::Approx(approx) => match recorded.results(single) {
            Ok(results) if results.len() == ours.len() => within(single, &approx, ours, &results),
            Ok(_) => Judged::Failed(StaleSingle::Garbled.to_string()),
            Err(stale) => Judged::Failed(stale.to_string()),
        },
    }
}

fn exact(single: &Single, ours: &[u64], recorded: &SingleAnswer) -> Judged {
    let kept = keep(single, ours);
    if kept.inputs != recorded.inputs {
        return Judged::Failed(StaleSingle::Inputs.to_string());
    }
    if kept == *recorded {
        return Judged::Exact;
    }
    let show = |at: usize, want: Option<u64>| {
        let [a, b, c] = single.inputs[at];
        let want = want.map_or(String::new(), |want| format!(", recorded {want:#x}"));
        format!("{a:#x}, {b:#x}, {c:#x} give {:#x}{want}", ours[at])
    };
    if let Ok(results) = recorded.results(single) {
        let differ: Vec<usize> = (0..results.len()).filter(|&at| ours.get(at) != Some(&results[at])).collect();
        if let Some(&at) = differ.first() {
            let some: Vec<String> = differ.iter().take(8).map(|&at| show(at, Some(results[at]))).collect();
            return Judged::Failed(format!("{} differ from input {at} on: {}", differ.len(), some.join("; ")));
        }
    }
    let chunk = kept.digests.iter().zip(&recorded.digests).position(|(a, b)| a != b);
    match chunk {
        Some(chunk) => Judged::Failed(format!("among the 256 from {}: {}, ..", 256 * chunk, show(256 * chunk, None))),
        None => Judged::Failed(StaleSingle::Garbled.to_string()),
    }
}

fn within(single: &Single, approx: &Approx, ours: &[u64], recorded: &[u64]) -> Judged {
    let mut errors = Errors { inputs: ours.len(), ..Errors::default() };
    for (at, (&mine, &theirs)) in ours.iter().zip(recorded).enumerate() {
        let [a, b, _] = single.inputs[at];
        errors.same_bits += usize::from(mine == theirs);
        let lanes = if approx.pair { &[0u32, 16][..] } else { &[0u32][..] };
        let mut bounded = true;
        for &up in lanes {
            let part = |word: u64| if approx.pair { word >> up & 0xffff } else { word };
            let value = |word: u64| approx.format.value(part(word));
            let flushed = |x: f64| match approx.ftz && x.abs() < approx.format.least() {
                true => 0f64.copysign(x),
                false => x,
            };
            // The seeds of f64 look at the upper 32 bits.
            let seen = |word: u64| if approx.upper { word & 0xffff_ffff_0000_0000 } else { word };
            let (x, y) = (flushed(value(seen(a))), flushed(value(b)));
            let wrong = |who: &str, got: f64, why: &str| {
                let truth = (approx.truth)(x, y);
                Judged::Failed(format!("{who}: of {x:e}, {y:e} is {got:e}, the true value {truth:e}: {why}"))
            };
            let bound = (approx.bound)(x, y);
            match (error(approx, bound, x, y, value(theirs)), error(approx, bound, x, y, value(mine))) {
                (Some(gpu), Some(own)) => {
                    if gpu > 1.0 {
                        return wrong("the GPU", value(theirs), "beyond the manual's bound");
                    }
                    if own > 1.0 {
                        return wrong("here", value(mine), "beyond the manual's bound");
                    }
                    errors.gpu = errors.gpu.max(gpu);
                    errors.ours = errors.ours.max(own);
                }
                _ => bounded = false,
            }
            if !same_kind(value(mine), value(theirs)) && bound_is_for_kinds(bound) {
                return wrong("here", value(mine), &format!("recorded {:e}", value(theirs)));
            }
        }
        errors.bounded += usize::from(bounded);
    }
    Judged::Within(errors)
}

fn bound_is_for_kinds(bound: Bound) -> bool {
    bound != Bound::None
}

/// NaN where NaN, infinite where infinite, zeros of one sign.
fn same_kind(a: f64, b: f64) -> bool {
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    let zeros = a == 0.0 && b == 0.0 && a.is_sign_negative() != b.is_sign_negative();
    (a.is_infinite() == b.is_infinite()) && !zeros
}

/// The error of a result as a part of what is allowed; none where nothing is promised.
fn error(approx: &Approx, bound: Bound, x: f64, y: f64, got: f64) -> Option<f64> {
    let truth = (approx.truth)(x, y);
    let allowed = approx.allowed(bound, truth)?;
    if truth.is_nan() || got.is_nan() {
        return Some(if truth.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY });
    }
    let greatest = approx.format.greatest();
    if got.is_infinite() || truth.abs() > greatest {
        // Overflow: the largest number and infinity are both near enough to what lies beyond.
        let near = truth.abs() + allowed >= greatest && (got.is_infinite() || got.abs() + allowed >= greatest);
        return Some(if near && got.signum() == truth.signum() { 0.0 } else { f64::INFINITY });
    }
    if approx.ftz && got == 0.0 && truth.abs() - allowed < approx.format.least() {
        return Some(0.0);
    }
    Some((got - truth).abs() / allowed)
}
