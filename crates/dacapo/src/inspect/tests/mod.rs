//! What reports promise, on reports made by hand.

mod compare;
mod fixtures;
mod format;
mod roundtrip;
