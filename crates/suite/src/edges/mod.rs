//! Every legal choice of programmatic edges, on small graphs, with kernels that begin as early as they may.
//!
//! A graph is a list of kernels over a few buffers of two words, each of which it reads, writes, both, or leaves alone. The
//! library plans its edges, and says which of them may be programmatic, and signal. Every choice is recorded and launched on
//! a software device whose kernels are interleaved every few instructions; what it leaves must be what a host gets that runs
//! the kernels one after the other.
//!
//! - [`Draws::all`]: all graphs of up to four kernels over two buffers.
//! - [`Draws::random`]: graphs of six over three, some of whose kernels are switched off, signal by themselves, or read constants.

mod check;
mod draw;
pub mod shapes;

pub use check::{Checked, Checker, Wrong};
pub use draw::{Draws, Entry, Kernel, Small};
