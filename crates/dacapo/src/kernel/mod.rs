//! Kernels: typed methods for a module's entry points, their geometry, and how they are loaded.
//!
//! - [`kernels!`](crate::kernels) turns declarations into methods that return ops.
//! - What a declaration says is checked: entry points and parameter sizes against the module when it is loaded, what it
//!   says of memory against the kernels' text then too, conditions and geometry when an op is recorded and again
//!   whenever a slot or a rebound slice changes them.
//! - [`RawKernel`] is the unchecked door beside it, `unsafe` to open.

mod args;
mod check;
mod declare;
mod geometry;
mod load;
mod opt_in;
mod own;
mod raw;
mod text;

pub(crate) use args::Prepared;
pub use args::{Args, ElementArg, SliceArg, ToArg};
pub use check::{Checked, CheckedKernel, CheckedParam, FalseDeclaration, Found, Warning, WarningKind, check_text};
pub use declare::{
    Class, Declared, KernelDecl, Param, ParamKind, Plain, PointerMode, aside, derive, describe, kernel_op, position,
    requires_failed, said, unchecked,
};
pub(crate) use geometry::check_grid;
pub use geometry::{Grid, grid};
pub use load::LoadedModule;
pub(crate) use load::{Function, ModuleSource};
pub(crate) use own::OwnKernels;
pub use raw::{RawArg, RawKernel};
