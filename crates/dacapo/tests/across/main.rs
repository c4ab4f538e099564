//! Copies between devices: every way to run them, what is dropped meanwhile, what is refused, and a device that breaks.
//!
//! All of it on software devices of one machine with every detector on, of which some can be peers and some cannot.

mod drops;
mod kit;
mod lost;
mod refused;
mod ways;
