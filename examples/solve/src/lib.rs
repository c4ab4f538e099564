//! Conjugate gradients on a Poisson problem, with every number of the loop in device memory.
//!
//! - [`Problem`]: what is solved, and how right a solution is: its true residual in f64, its distance from the exact one.
//! - [`Solver`]: the system on a device. [`start`](Solver::start) and [`round`](Solver::round) record what they do, so that
//!   the loop around a round can be written in more than one way.
//! - [`ways`]: these ways, [`eager`](ways::eager), [`rounds`](ways::rounds) and [`launch`](ways::launch).
//! - [`mod@reference`]: the same rounds in plain Rust, the same to the last bit.
//! - [`verdict`]: what must have been shown for the program to end well.
//!
//! ```
//! use dacapo::Device;
//! use dacapo_example_solve::{Problem, Solver, Stop, ways};
//!
//! # fn main() -> dacapo::Result<()> {
//! let device = Device::software()?;
//! let (problem, stop) = (Problem::smooth(15), Stop { tolerance: 1e-5, at_most: 100 });
//! let mut solver = Solver::new(&device, &problem)?;
//! let outcome = ways::rounds(&mut solver, stop, || ())?;
//! assert!(outcome.reached && problem.error(&outcome.x).is_some_and(|error| error < 1e-3));
//! # Ok(()) }
//! ```

pub mod kernels;
pub mod problem;
pub mod reference;
pub mod solver;
pub mod verdict;
pub mod ways;

pub use kernels::Kernels;
pub use problem::Problem;
pub use solver::Solver;
pub use ways::{Outcome, Stop};
