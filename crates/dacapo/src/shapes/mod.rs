//! Shapes: few graphs for many sizes.
//!
//! - [`Buckets`] are the sizes that graphs are recorded for; a request is rounded up to one of them.
//! - [`GraphCache`] holds graphs by key, all in one pool, never more than its caps allow; the least recently used goes.
//! - [`Bucketed`] is what most programs call: rows are copied into fixed inputs, the rest is padded as each input says
//!   ([`Pad`]), the bucket's graph is replayed, and the outputs come back sliced to the real rows.

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
