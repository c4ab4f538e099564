//! Graphs to look at: what the pages show that `cargo xtask pages` opens in a browser.
//!
//! Small ones are recorded on a software device, as a user would; those whose size or texts matter are made by hand, and
//! random ones of a seed. One is of a test that fails, and some are of what nobody makes.

mod by_hand;
mod everything;
mod failing;
mod nonsense;
mod random;
mod recorded;

pub use by_hand::{ODD_TEXTS, decoder, odd_texts};
pub use everything::everything;
pub use failing::{FAILING, fails};
pub use nonsense::{empty, endless, shapes};
pub use random::random;
pub use recorded::{compared, layers, loop_with_a_branch, saxpy, timed};
