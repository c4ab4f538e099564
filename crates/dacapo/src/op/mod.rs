//! Ops: described, not yet executed, pieces of GPU work.
//!
//! An op is a function of a [`Recorder`](crate::Recorder), and nothing else. Every closure `|r| ..` is one; every kernel
//! method, copy and fill returns one.

mod foreign;
mod transfer;

pub use foreign::foreign;
#[cfg(feature = "cudarc")]
pub(crate) use foreign::foreign_at;
pub(crate) use transfer::copy_bytes;
pub use transfer::{copy, download, fill, upload};

use std::panic::Location;

use crate::Recorder;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Grid;

/// A described operation: a function of a [`Recorder`].
///
/// `then` and `zip` differ in their result only: neither adds an order that the data does not demand.
#[must_use = "an operation does nothing until it is run or recorded"]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operation",
    note = "an operation is `FnOnce(&mut Recorder<'_>) -> dacapo::Result<T>`"
)]
pub trait Op: Sized + for<'a, 'r> FnOnce(&'a mut Recorder<'r>) -> Result<<Self as Op>::Out> {
    /// What it gives. (Not `Output`, which is `FnOnce`'s.)
    type Out;

    /// Both, in this order; the second's result.
    fn then<B: Op>(self, next: B) -> impl Op<Out = B::Out> {
        move |r| {
            r.run(self)?;
            r.run(next)
        }
    }

    /// Both; both results.
    fn zip<B: Op>(self, other: B) -> impl Op<Out = (Self::Out, B::Out)> {
        move |r| Ok((r.run(self)?, r.run(other)?))
    }

    /// The same with another result.
    fn map<U>(self, f: impl FnOnce(Self::Out) -> U) -> impl Op<Out = U> {
        move |r| Ok(f(r.run(self)?))
    }

    /// Then the op that `f` makes of the result.
    fn and_then<B: Op>(self, f: impl FnOnce(Self::Out) -> B) -> impl Op<Out = B::Out> {
        move |r| {
            let out = r.run(self)?;
            r.run(f(out))
        }
    }

    /// A name in errors, reports and dumps; nests as `outer/inner`.
    fn label(self, label: impl Into<String>) -> impl Op<Out = Self::Out> {
        let label = label.into();
        move |r| {
            r.push_label(&label);
            let outcome = r.run(self);
            r.pop_label();
            outcome
        }
    }

    /// Another geometry for the one kernel inside; an error unless it was declared with `default_grid`.
    ///
    /// Exactly one kernel of [`kernels!`](crate::kernels) must be inside; copies, fills and raw kernels do not count.
    #[track_caller]
    fn with_grid(self, grid: Grid) -> impl Op<Out = Self::Out> {
        let at = Location::caller();
        move |r| {
            let (before, first) = (r.set_grid(Some(grid)), r.len());
            let outcome = r.run(self);
            let unused = r.set_grid(before).is_some();
            match outcome {
                Ok(_) if unused || r.kernels_since(first) != 1 => {
                    Err(r.blame(Error::new(ErrorKind::GridUnused), "with_grid", at))
                }
                outcome => outcome,
            }
        }
    }
}

impl<F, T> Op for F
where
    F: for<'a, 'r> FnOnce(&'a mut Recorder<'r>) -> Result<T>,
{
    type Out = T;
}

/// A closure as an op, where its parameter's type cannot be inferred otherwise: before `.then`, `.label` and the like.
pub fn op<T, F>(f: F) -> F
where
    F: for<'a, 'r> FnOnce(&'a mut Recorder<'r>) -> Result<T>,
{
    f
}

/// An op on the heap: closures are ops, so nothing more is needed.
pub type BoxOp<'a, T = ()> = Box<dyn for<'x, 'r> FnOnce(&'x mut Recorder<'r>) -> Result<T> + 'a>;
