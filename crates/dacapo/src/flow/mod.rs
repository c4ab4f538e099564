//! Control flow on the device: `if`, `while` and `switch` inside a recording.
//!
//! Rust's own `if` and `for` run once, while recording. What is here runs in every replay, without the host: a
//! [`Condition`] over numbers in device memory decides, and what it decides about is recorded in a closure of its own.
//!
//! ```
//! # fn main() -> dacapo::Result<()> {
//! use dacapo::flow::{above, up_to};
//! use dacapo::{Slot, baked, copy};
//! # let device = dacapo::Device::software()?;
//! # let stream = device.stream()?;
//! dacapo::kernels! {
//!     unsafe struct Kernels(include_str!("../../kernels/saxpy.ptx")) {
//!         /// sum += a * x, for one value.
//!         fn add(a: f32, x: &f32, sum: &mut f32, n: u32 = 1) { entry: "saxpy"; grid: linear(1, 1); }
//!     }
//! }
//! let k = Kernels::load(&device)?;
//! let (one, mut left, mut used) = (device.scalar(1.0)?, device.scalar(10.0)?, device.scalar(0)?);
//! let enough = Slot::new(4.0);
//! let mut graph = device.record(|r| {
//!     let rounds = r.repeat(up_to(baked(500)), |r| {
//!         r.run(k.add(baked(-1.0), &one, &mut left))?;
//!         Ok(above(&left, &enough)) // whether there is another round
//!     })?;
//!     r.run(copy(rounds.count().as_slice(), used.as_mut_slice()))
//! })?;
//! graph.launch(&stream)?; // one launch, however many rounds
//! assert_eq!((left.get(&stream)?, used.get(&stream)?), (4.0, 6));
//! enough.set(1.0); // a slot: the next launch compares with it
//! graph.launch(&stream)?;
//! assert_eq!((left.get(&stream)?, used.get(&stream)?), (1.0, 3));
//! # Ok(()) }
//! ```
//!
//! | | runs |
//! |---|---|
//! | [`Recorder::repeat`](crate::Recorder::repeat) | a body, and again as long as the condition that it returns holds |
//! | [`Recorder::repeat_while`](crate::Recorder::repeat_while) | a body as long as a condition holds, which may be never |
//! | [`Recorder::repeat_times`](crate::Recorder::repeat_times) | a body so many times, as a number on the device or a slot says |
//! | [`Recorder::when`](crate::Recorder::when), [`otherwise`](When::otherwise) | a body if a condition holds; another if it does not |
//! | [`Recorder::switch`](crate::Recorder::switch) | the body of a number |
//! | [`Recorder::leave_if`](crate::Recorder::leave_if) | nothing more of this loop, if a condition holds |
//!
//! # Bodies
//!
//! A body is an op like any other: everything that can be recorded can be recorded in it, also more control flow. Its temps
//! are its own: they cannot leave it, and are undefined at the begin of each round. What a body writes to a temp from
//! outside counts as written behind it only if the body is certain to have run.
//!
//! # Eager runs
//!
//! [`Stream::run`](crate::Stream::run) does the same with the same results: the host waits for each condition and reads it.
//! So such a run waits for the device, and what other threads do with the same memory may come between two rounds.

mod condition;
mod decide;
mod number;
mod operand;
mod record;
mod told;

pub use condition::{Condition, above, at_least, at_most, below, differs, equal, nonzero, zero};
pub use number::Number;
pub use operand::Operand;
pub use record::{Bound, Round, Rounds, When, unbounded, up_to};
