//! A few graphs for many sizes: round a request up to a bucket, and replay that bucket's graph.
//!
//! [`Bucketed`] is what most programs use: it copies a request's rows into fixed inputs, pads the rest ([`Pad`]),
//! replays the graph of the bucket, and returns the outputs cut to the real rows. [`Buckets`] are the sizes, and
//! [`rows`] declares an input. Below it is [`GraphCache`]: graphs by key, in one pool, within limits on their number
//! and bytes; the least recently used is evicted first.

mod bucketed;
mod buckets;
mod cache;
mod counters;
mod inputs;
mod outputs;

pub use bucketed::Bucketed;
pub use buckets::Buckets;
pub use cache::GraphCache;
pub(crate) use cache::Ready;
pub use counters::CacheCounters;
pub use inputs::{Inputs, Pad, Rows, rows};
pub use outputs::Outputs;
