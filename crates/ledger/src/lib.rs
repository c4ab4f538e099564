//! Who waits for whom: the order of GPU work across streams, graphs and drops.
#![forbid(unsafe_code)]

mod drops;
mod lane;
mod ledger;
mod queues;
mod records;
mod rule;
mod slots;
mod sync;

pub use drops::Drops;
pub use lane::{Lane, LaneKind, Use};
pub use ledger::Ledger;
pub use queues::{Access, Queues, Touch};
pub use rule::Rule;
#[cfg(all(feature = "baton", not(loom)))]
#[doc(hidden)]
pub use sync::when_locked;

/// A piece of memory in a ledger. Its number is given out again after it was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(u32);

/// A set of memory in a ledger. Its number is given out again after it was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetId(u32);
