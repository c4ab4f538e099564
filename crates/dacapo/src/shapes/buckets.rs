//! The sizes that graphs are recorded for.

use crate::error::{Error, ErrorKind, Result};

/// The sizes that graphs are recorded for. A request is rounded up to the next size.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// let buckets = dacapo::shapes::Buckets::new([8, 1, 2, 4, 4])?;
/// assert_eq!(buckets.bucket_for(3), Some(4));
/// assert_eq!(buckets.bucket_for(9), None);
/// assert_eq!(buckets.iter().collect::<Vec<_>>(), [8, 4, 2, 1]); // largest first
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets(Vec<usize>);

impl Buckets {
    /// These sizes, in any order. Duplicates are removed.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::BadBuckets`]: there is none, or one is 0.
    pub fn new(sizes: impl IntoIterator<Item = usize>) -> Result<Buckets> {
        let mut sizes: Vec<usize> = sizes.into_iter().collect();
        sizes.sort_unstable();
        sizes.dedup();
        match sizes.first() {
            None => Err(Error::new(ErrorKind::BadBuckets { why: "there is no bucket" })),
            Some(0) => Err(Error::new(ErrorKind::BadBuckets { why: "a bucket of size 0 holds nothing" })),
            Some(_) => Ok(Buckets(sizes)),
        }
    }

    /// The powers of two up to `largest`, and `largest` itself.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::BadBuckets`]: `largest` is 0.
    pub fn powers_of_two(largest: usize) -> Result<Buckets> {
        let powers = (0..usize::BITS).map(|bit| 1usize << bit).take_while(|&power| power < largest);
        Buckets::new(powers.chain([largest]))
    }

    /// The smallest bucket that holds `n`; none if `n` is over the largest.
    pub fn bucket_for(&self, n: usize) -> Option<usize> {
        self.0.get(self.0.partition_point(|&size| size < n)).copied()
    }

    /// The largest.
    pub fn largest(&self) -> usize {
        *self.0.last().expect("there is at least one")
    }

    /// How many there are; at least one.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The sizes, the largest first: the order in which to record them, so that the shared memory is sized once.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().rev().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_gets_the_smallest_bucket_that_holds_it() {
        let buckets = Buckets::new([7, 3, 20, 3]).unwrap();
        for n in 0..=25 {
            let want = [3, 7, 20].into_iter().find(|&size| size >= n);
            assert_eq!(buckets.bucket_for(n), want, "{n}");
        }
        assert_eq!((buckets.len(), buckets.largest()), (3, 20));
    }

    #[test]
    fn no_bucket_and_an_empty_bucket_are_refused() {
        for sizes in [vec![], vec![0], vec![4, 0]] {
            assert!(matches!(Buckets::new(sizes).unwrap_err().kind(), ErrorKind::BadBuckets { .. }));
        }
        assert!(Buckets::powers_of_two(0).is_err());
    }

    #[test]
    fn powers_of_two_end_with_the_largest() {
        let sizes = |largest| Buckets::powers_of_two(largest).unwrap().iter().collect::<Vec<_>>();
        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(8), [8, 4, 2, 1]);
        assert_eq!(sizes(9), [9, 8, 4, 2, 1]);
        assert_eq!(sizes(usize::MAX).len(), 65);
    }
}
