//! A stranger's nonsense, shown as pages: whatever the fields say, nothing panics, takes long, or becomes markup.
//!
//! The fields of reports, profiles and pages are public, and files come from anywhere.
#![cfg(all(feature = "software", feature = "json"))]

mod kept;
mod kit;
mod nonsense;
mod programs;
mod read;
mod shapes;
mod texts;
