//! A served model: requests of 1 to 64 rows from several threads, answered by graphs, each answer awaited, while the weights
//! are swapped.
//!
//! - [`model`]: sixteen layers, recorded once for each bucket of rows.
//! - [`server`]: a stream and a set of graphs for each thread; questions are enqueued, answers are futures.
//! - [`clients`]: the threads that ask, wait and check.
//! - [`waiting`]: the few lines that await without a runtime.

pub mod clients;
pub mod model;
pub mod server;
pub mod waiting;
