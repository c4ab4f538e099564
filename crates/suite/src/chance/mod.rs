//! Random safe programs over the library, held against a model on the host.
//!
//! - [`draw`] makes a [`Program`] of a seed: plain data, always valid Rust.
//! - [`Model`] runs it on the host: what each step must give, or be refused with.
//! - [`play`] runs it on a fresh software device with every detector on, and holds the two together.
//! - [`shrink`] makes a program that fails shorter; [`print`] makes a Rust test of it.
//! - [`many`] does all of it for many seeds.

mod body;
mod body_flow;
mod crowd;
mod dice;
mod draw;
mod draw_body;
mod draw_flow;
mod judge;
pub mod kernels;
mod model;
mod numbers;
mod print;
mod print_body;
mod print_flow;
mod program;
mod run;
mod shrink;
mod tally;
mod things;

pub use crowd::{Crowd, Found, many, one};
pub(crate) use dice::Dice;
pub use draw::{Drawn, draw};
pub use judge::{Ended, Failure, Played, play};
pub use model::{Expect, Model};
pub use print::{PRELUDE, print};
pub use program::{Program, Step, Strike};
pub use shrink::{shrink, valid};
pub use tally::Tally;
