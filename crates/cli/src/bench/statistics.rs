//! What is said of a set of measured times: the median, and where most of them lie.
//!
//! - A quantile is interpolated between the two nearest values, so that it does not jump with the number of blocks.
//! - Nothing is thrown away: no value counts as an outlier.

use serde::Serialize;

/// The measured times of one contender, one for each block, in the order they were taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// One more block.
    pub fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// More blocks of the same contender.
    pub fn append(&mut self, mut more: Samples) {
        self.0.append(&mut more.0);
    }

    /// The value that half of the samples lie below.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The value that this fraction of the samples lies below; not a number when there are no samples.
    pub fn quantile(&self, fraction: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
        let place = fraction.clamp(0.0, 1.0) * last as f64;
        let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        below + (above - below) * place.fract()
    }

    /// The median with the tenth and the ninetieth percentile.
    pub fn spread(&self) -> Spread {
        Spread { p10: self.quantile(0.1), median: self.median(), p90: self.quantile(0.9) }
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Samples {
        Samples(values.into_iter().collect())
    }
}

/// Where the samples lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// A tenth of them lies below.
    pub p10: f64,
    /// Half of them lies below.
    pub median: f64,
    /// A tenth of them lies above.
    pub p90: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: impl IntoIterator<Item = i32>) -> Samples {
        values.into_iter().map(f64::from).collect()
    }

    #[test]
    fn the_median_does_not_depend_on_the_order() {
        assert_eq!(samples([5, 1, 9, 3, 7]).median(), 5.0);
        assert_eq!(samples([4, 1, 3, 2]).median(), 2.5);
    }

    #[test]
    fn twenty_one_blocks_have_their_third_and_nineteenth_value_as_spread() {
        let spread = samples((0..21).rev()).spread();
        assert_eq!(spread, Spread { p10: 2.0, median: 10.0, p90: 18.0 });
    }

    #[test]
    fn one_wild_value_moves_neither_median_nor_spread_of_many() {
        let spread = samples((0..20).chain([1_000_000])).spread();
        assert_eq!((spread.p10, spread.median, spread.p90), (2.0, 10.0, 18.0));
    }

    #[test]
    fn one_sample_is_its_own_spread_and_none_is_not_a_number() {
        assert_eq!(samples([3]).spread(), Spread { p10: 3.0, median: 3.0, p90: 3.0 });
        assert!(samples([]).median().is_nan());
    }
}
