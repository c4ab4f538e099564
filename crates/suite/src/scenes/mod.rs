//! Graphs to look at: what the pages show that `cargo xtask pages` opens in a browser.
//!
//! Small ones are recorded on a software device, as a user would; those whose size or texts matter are made by hand.

mod by_hand;
mod nonsense;
mod recorded;

pub use by_hand::{ODD_TEXTS, decoder, odd_texts};
pub use nonsense::{empty, endless, shapes};
pub use recorded::{compared, layers, loop_with_a_branch, saxpy, timed};
