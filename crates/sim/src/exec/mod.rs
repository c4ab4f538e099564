//! Runs PTX kernels: decoded once, 32 lanes at a time, one thread (or several, see `apart`), the same result every time.
//!
//! Where to start reading: [`Program`] decodes a module, [`Image`] gives its variables addresses, [`Launch`] says what
//! to run, and a [`Grid`] runs it in pieces of any size. `op` lists what a decoded instruction can be; `decode` makes
//! those of PTX; `warp` and `block` decide who runs next; `lanes` holds the arithmetic, `access` the memory accesses.
//!
//! **Invariant:** a kernel that the interpreter does not understand ends in [`Outcome::Unsupported`], never in a
//! wrong result. **Invariant:** nothing here reads a clock but the one it is handed, and nothing panics on what a
//! kernel does.

mod access;
mod apart;
mod atomic;
mod block;
mod copy;
mod decode;
mod float;
mod flow;
mod global_race;
mod grid;
mod heap;
mod image;
mod lanes;
mod launch;
mod local;
mod machine;
mod matrix;
mod op;
mod pressure;
mod printf;
mod program;
mod race;
mod report;
mod shuffle;
mod texture;
mod undeclared;
mod warp;
mod window;

pub(crate) use float::half::{nearest as short_from_f64, to_f64 as short_to_f64};
pub use grid::Grid;
pub use image::Image;
pub use lanes::dispatch::InstructionSet;
pub(crate) use launch::CORES_FROM;
pub use launch::{Clock, ExecOptions, Fault, Launch, Outcome};
pub use program::{KernelId, KernelInfo, ParamInfo, Program};
pub(crate) use report::placed_in;

/// The address of function number `index` of a module.
fn function_address(index: u32) -> u64 {
    window::CODE + u64::from(index) * 128 + 128
}
