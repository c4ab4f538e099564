//! What reports promise, on reports made by hand.

mod compare;
mod fixtures;
#[cfg(feature = "json")]
mod format;
#[cfg(feature = "json")]
mod roundtrip;
mod svg;
