//! Training steps of two small networks, each in one graph: a GRU over a sequence, and a feed-forward network.
//!
//! - [`Network`] holds a network on a device, and gives its training step as one operation: forward, loss, backward, Adam.
//! - [`Reference`] is the same step in plain Rust, the same to the last bit.
//! - [`Training`] runs both, launch by launch and as replays, and [`verdict`] compares them.
//! - [`Ranks`] runs it on several devices at once, each with its part of every batch.
//! - [`data`] makes parameters and batches by a formula that another program can repeat.
//!
//! ```
//! use dacapo::{Device, Slot};
//! use dacapo_example_train::{Adam, Kernels, Model, Network, Shape, data};
//!
//! # fn main() -> dacapo::Result<()> {
//! let device = Device::software()?;
//! let (kernels, stream, rate) = (Kernels::load(&device)?, device.stream()?, Slot::new(1e-3));
//! let shape = Shape { model: Model::Gru, hidden: 8, batch: 4, time: 2, layers: 1 };
//! let mut network = Network::new(&device, shape, Adam::default(), &data::parameters(shape, 1))?;
//! let mut graph = device.record(network.step(&kernels, &rate))?;
//! network.feed(&stream, &data::lesson(shape, 1, 0))?;
//! let loss = graph.launch_sync(&stream)?.get(&stream)?;
//! assert!(loss > 0.0);
//! # Ok(()) }
//! ```

pub mod data;
mod gru;
pub mod kernels;
mod mlp;
mod network;
mod ranks;
pub mod reference;
pub mod shape;
mod training;
pub mod verdict;

pub use kernels::Kernels;
pub use network::Network;
pub use ranks::{Mode, Ranks, RanksOutcome, RanksRuns, Whereabouts};
pub use reference::Reference;
pub use shape::{Adam, Model, Shape};
pub use training::{Outcome, Training};
