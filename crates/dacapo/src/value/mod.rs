//! By-value arguments: what changes between replays, and what never does.
//!
//! - A [`Slot`] is a number that may be set at any time, from any thread; a launch reads each slot once.
//! - [`baked`] is a number that is the same in every replay, and says so in the source.
//! - A plain number is neither and does not compile: it would be frozen without a word.

mod reading;
mod slot;

pub use reading::{AnySlot, Snapshot};
pub(crate) use reading::{Readings, Told};
pub use slot::{Baked, Slot, Val, Value, baked};
