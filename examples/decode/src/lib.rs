//! A small transformer's decode step on Dacapo: what `main.rs` shows and `dacapo-bench` measures.
//!
//! Where to start: [`model`] is the step as one operation and the device memory that it moves on; [`engine`] runs it eagerly
//! or as replays of a graph for each batch size; [`traffic`] has requests that come and go; [`show`] puts all of it together
//! with its checks. [`mod@reference`] is the same transformer in plain Rust.
//!
//! Whole texts: [`ending`] is the loop around a step as one operation, [`ways`] are the ways to run it, [`until_end`] shows and
//! checks them.
//!
//! Several ranks: [`split`] is which part of the layers each has, [`ranks`] runs and compares them, [`mod@apart`] says how far
//! from one device they may be.
//!
//! Models as people have them on disk: [`checkpoint`].

pub mod apart;
pub mod calls;
pub mod checkpoint;
pub mod decoded;
pub mod end_token;
pub mod ending;
pub mod engine;
pub mod gpt2;
pub mod kernels;
pub mod model;
pub mod random;
pub mod ranks;
pub mod reference;
pub mod shape;
pub mod show;
pub mod split;
pub mod steady;
pub mod traffic;
pub mod until_end;
pub mod verdict;
pub mod ways;
pub mod weights;

pub use ending::{Ending, Until};
pub use engine::{Engine, How};
pub use model::{Model, NOBODY, Sampling, State};
pub use ranks::Ranks;
pub use reference::Reference;
pub use shape::Shape;
pub use split::Split;
pub use ways::{Task, Way, Writer};
pub use weights::Weights;
