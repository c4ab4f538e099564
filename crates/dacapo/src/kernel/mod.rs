//! Kernels: modules and their entry points, what is declared of them, arguments and geometry.
//!
//! - What a declaration says is checked: entry points and parameter sizes against the module when it is loaded, what it
//!   says of memory against the kernels' text then too, conditions and geometry when an op is recorded and again
//!   whenever a slot or a rebound slice changes them.

mod args;
mod check;
mod declare;
mod geometry;
mod load;
mod opt_in;
mod parameter;
mod text;

pub use args::{Args, ElementArg, SliceArg, ToArg};
pub(crate) use args::{PointerRoom, Prepared, sealed};
pub use check::{Checked, CheckedKernel, CheckedParam, Found, Warning, WarningKind, check_text};
pub use declare::{
    Class, Declared, KernelDecl, Param, ParamKind, Plain, PointerMode, aside, derive, describe, position,
    requires_failed, said, tell,
};
pub(crate) use geometry::check_grid;
pub use geometry::{Grid, grid};
pub use load::LoadedModule;
pub(crate) use load::{Function, ModuleSource};
pub use parameter::{ByValue, Derived, Given, One, Out, Read, Write};
