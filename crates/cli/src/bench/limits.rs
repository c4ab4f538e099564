//! What the library may cost over raw driver calls, measurement by measurement; here those of `dacapo bench`.
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

/// The name of a measurement, and its limit if it has one.
pub type Named = (&'static str, Option<Limit>);

const fn ratio(name: &'static str, most: f64) -> Named {
    (name, Some(Limit::Ratio(most)))
}

const fn over(name: &'static str, most: f64) -> Named {
    (name, Some(Limit::MicrosecondsOver(most)))
}

/// Every measurement of `dacapo bench`.
pub const LAUNCHES: &[Named] = &[
    over("chain-1/host-launch", 0.2),
    over("chain-10/host-launch", 0.2),
    over("chain-100/host-launch", 0.2),
    over("chain-1000/host-launch", 0.2),
    // A launch of one kernel is bound by the host: what the library adds there is an amount, not a fraction.
    over("chain-1/back-to-back", 0.2),
    ratio("chain-10/back-to-back", 1.02),
    ratio("chain-100/back-to-back", 1.02),
    ratio("chain-1000/back-to-back", 1.02),
    ratio("chain-1/launch-and-wait", 1.05),
    ratio("chain-10/launch-and-wait", 1.05),
    ratio("chain-100/launch-and-wait", 1.05),
    ratio("chain-1000/launch-and-wait", 1.05),
    ratio("chain-1/record", 1.3),
    ratio("chain-10/record", 1.3),
    ratio("chain-100/record", 1.3),
    ratio("chain-1000/record", 1.3),
    ratio("edges-1-block/back-to-back", 0.86),
    ratio("edges-132-blocks/back-to-back", 0.8),
    // These compare two ways of the library.
    ("if-1/taken", None),
    ("if-1/not-taken", None),
    ("if-2/taken", None),
    ("if-2/not-taken", None),
    ("if-3/taken", None),
    ("if-3/not-taken", None),
    ("if-1-of-132-blocks/taken", None),
    ("if-1-of-132-blocks/not-taken", None),
    ("if-3-of-132-blocks/taken", None),
    ("if-3-of-132-blocks/not-taken", None),
    ("if-1-of-1024-blocks/taken", None),
    ("if-1-of-1024-blocks/not-taken", None),
    ("if-3-of-1024-blocks/taken", None),
    ("if-3-of-1024-blocks/not-taken", None),
    over("slot/host-launch", 0.3),
    ratio("fork-join/back-to-back", 1.05),
    ratio("fork-join/launch-and-wait", 1.05),
    ratio("overlap/step", 1.05),
];

/// What is measured when kernels have been run on many streams.
pub const MANY_STREAMS: &[Named] = &[("edges-1-block/many-streams", None), ("edges-132-blocks/many-streams", None)];

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
        assert!(LAUNCHES.iter().filter_map(|(_, limit)| *limit).all(|limit| limit.holds(2.0, 1.0)));
    }
}
