//! What a cache has done so far.

use std::fmt;

/// What a [`GraphCache`](crate::shapes::GraphCache) has done so far.
///
/// `hits + missed + eager + failed` is the number of requests, and `recorded - evicted` the number of graphs in it.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut cache = dacapo::shapes::GraphCache::new(&device);
/// for len in [2, 3, 2] {
///     cache.run(&stream, &len, |r| {
///         let mut y = r.output::<u32>(len)?;
///         r.run(dacapo::fill(&mut y, dacapo::baked(1)))
///     })?;
/// }
/// let counters: dacapo::shapes::CacheCounters = cache.counters();
/// assert_eq!((counters.hits, counters.missed, counters.alive()), (1, 2, 2));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounters {
    /// Requests that found their graph.
    pub hits: u64,
    /// Requests that had to record one.
    pub missed: u64,
    /// Requests that ran without a graph: larger than the largest bucket, or with a graph that alone exceeds the cap.
    pub eager: u64,
    /// Requests whose recording failed.
    pub failed: u64,
    /// Of all requests, those that were smaller than their bucket.
    pub padded: u64,
    /// Graphs that were recorded: for a request, or by `prepare`.
    pub recorded: u64,
    /// Graphs that were dropped, to make room or on request.
    pub evicted: u64,
}

impl CacheCounters {
    /// How many requests there were.
    pub fn requests(&self) -> u64 {
        [self.missed, self.eager, self.failed].iter().fold(self.hits, |sum, more| sum.saturating_add(*more))
    }

    /// How many graphs are in the cache.
    pub fn alive(&self) -> u64 {
        self.recorded.saturating_sub(self.evicted)
    }
}

impl fmt::Display for CacheCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CacheCounters { hits, missed, eager, failed, padded, recorded, evicted } = self;
        write!(f, "{} requests: {hits} hit, {missed} missed, {eager} eager, {failed} failed; ", self.requests())?;
        write!(f, "{padded} padded; {recorded} graphs recorded, {evicted} evicted, {} alive", self.alive())
    }
}
