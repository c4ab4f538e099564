//! What a report says of a graph is what the driver was asked for, and a recording that was only inspected says the same.
//!
//! - [`calls`]: which calls add a node, and which change it.
//! - [`declarations`]: kernels as they were declared.
//! - [`places`]: where temps lie.

#![cfg(feature = "software")]

#[path = "reports/calls.rs"]
mod calls;
#[path = "reports/declarations.rs"]
mod declarations;
#[path = "reports/kit.rs"]
mod kit;
#[path = "reports/places.rs"]
mod places;
