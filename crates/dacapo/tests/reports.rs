//! What a report says of a graph is what the driver was asked for, and a recording that was only inspected says the same.
//!
//! - [`places`]: where temps lie.

#![cfg(feature = "software")]

#[path = "reports/kit.rs"]
mod kit;
#[path = "reports/places.rs"]
mod places;
