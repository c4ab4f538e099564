//! What the library may cost over raw driver calls, measurement by measurement.
//!
//! A limit is about medians. It is judged on a GPU only, and only over enough blocks to be worth a claim.

use serde::Serialize;

/// The fewest blocks from which a claim may be made.
pub const BLOCKS_MIN: u32 = 21;

/// What may be asked of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The library's median is at most this many times the raw one.
    Ratio(f64),
    /// The library's median is at most this many microseconds over the raw one.
    MicrosecondsOver(f64),
}

/// The limit of each measurement that has one.
pub const LIMITS: &[(&str, Limit)] = &[
    ("chain-1/host-launch", Limit::MicrosecondsOver(0.2)),
    ("chain-10/host-launch", Limit::MicrosecondsOver(0.2)),
    ("chain-100/host-launch", Limit::MicrosecondsOver(0.2)),
    ("chain-1000/host-launch", Limit::MicrosecondsOver(0.2)),
    // A launch of one kernel is bound by the host: what the library adds there is an amount, not a fraction.
    ("chain-1/back-to-back", Limit::MicrosecondsOver(0.2)),
    ("chain-10/back-to-back", Limit::Ratio(1.02)),
    ("chain-100/back-to-back", Limit::Ratio(1.02)),
    ("chain-1000/back-to-back", Limit::Ratio(1.02)),
    ("chain-1/launch-and-wait", Limit::Ratio(1.05)),
    ("chain-10/launch-and-wait", Limit::Ratio(1.05)),
    ("chain-100/launch-and-wait", Limit::Ratio(1.05)),
    ("chain-1000/launch-and-wait", Limit::Ratio(1.05)),
    ("chain-1/record", Limit::Ratio(1.3)),
    ("chain-10/record", Limit::Ratio(1.3)),
    ("chain-100/record", Limit::Ratio(1.3)),
    ("chain-1000/record", Limit::Ratio(1.3)),
    ("slot/host-launch", Limit::MicrosecondsOver(0.3)),
    ("fork-join/back-to-back", Limit::Ratio(1.05)),
    ("fork-join/launch-and-wait", Limit::Ratio(1.05)),
    ("overlap/step", Limit::Ratio(1.05)),
    ("train-gru/device", Limit::Ratio(1.02)),
    ("train-gru/host-launch", Limit::MicrosecondsOver(0.2)),
    ("train-mlp/device", Limit::Ratio(1.02)),
    ("train-mlp/host-launch", Limit::MicrosecondsOver(0.2)),
];

/// Measurements that have no limit: they compare the library with itself, or are about bytes.
pub const WITHOUT: &[&str] = &["decode/batch-1", "decode/batch-8", "buckets/memory"];

/// The name of every measurement.
pub fn names() -> impl Iterator<Item = &'static str> {
    LIMITS.iter().map(|(name, _)| *name).chain(WITHOUT.iter().copied())
}

/// The limit of the measurement of this name.
pub fn of(name: &str) -> Option<Limit> {
    LIMITS.iter().find(|(of, _)| *of == name).map(|(_, limit)| *limit)
}

impl Limit {
    /// Whether medians of `raw` and `library` microseconds are within it.
    pub fn holds(self, raw: f64, library: f64) -> bool {
        match self {
            Limit::Ratio(most) => library <= raw * most,
            Limit::MicrosecondsOver(most) => library - raw <= most,
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Limit::Ratio(most) => write!(f, "<= {most:.2} x"),
            Limit::MicrosecondsOver(most) => write!(f, "<= +{most:.1} us"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_holds_up_to_its_number() {
        assert!(Limit::Ratio(1.5).holds(2.0, 3.0) && !Limit::Ratio(1.5).holds(2.0, 3.1));
        assert!(Limit::MicrosecondsOver(0.5).holds(2.0, 2.5) && !Limit::MicrosecondsOver(0.5).holds(2.0, 2.6));
    }

    #[test]
    fn a_median_that_is_not_a_number_is_not_within_a_limit() {
        assert!(!Limit::Ratio(1.5).holds(1.0, f64::NAN) && !Limit::MicrosecondsOver(1.0).holds(f64::NAN, 1.0));
    }

    #[test]
    fn a_library_that_is_faster_is_within_every_limit() {
        assert!(LIMITS.iter().all(|(_, limit)| limit.holds(2.0, 1.0)));
    }
}
