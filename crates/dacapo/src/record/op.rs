//! Ops: described, not yet executed, pieces of GPU work.
//!
//! An op is a function of a [`Recorder`], and nothing else. Every closure `|r| ..` is one; every kernel method, copy and
//! fill returns one.

use std::panic::Location;

use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Grid;
use crate::record::Recorder;

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
        whole(move |r| {
            self(r)?;
            next(r)
        })
    }

    /// Both; both results.
    fn zip<B: Op>(self, other: B) -> impl Op<Out = (Self::Out, B::Out)> {
        whole(move |r| Ok((self(r)?, other(r)?)))
    }

    /// The same with another result.
    fn map<U>(self, f: impl FnOnce(Self::Out) -> U) -> impl Op<Out = U> {
        whole(move |r| Ok(f(self(r)?)))
    }

    /// Then the op that `f` makes of the result.
    fn and_then<B: Op>(self, f: impl FnOnce(Self::Out) -> B) -> impl Op<Out = B::Out> {
        whole(move |r| {
            let out = self(r)?;
            f(out)(r)
        })
    }

    /// A name in errors, reports and dumps; nests as `outer/inner`.
    fn label(self, label: impl Into<String>) -> impl Op<Out = Self::Out> {
        let label = label.into();
        whole(move |r| {
            r.push_label(&label);
            let out = self(r)?;
            r.pop_label();
            Ok(out)
        })
    }

    /// Another geometry for the one kernel inside; an error unless it was declared with `default_grid`.
    ///
    /// Exactly one kernel of [`kernels!`](crate::kernels) must be inside; copies, fills and raw kernels do not count.
    #[track_caller]
    fn with_grid(self, grid: Grid) -> impl Op<Out = Self::Out> {
        let at = Location::caller();
        whole(move |r| {
            let (before, first) = (r.set_grid(Some(grid)), r.len());
            let out = self(r)?;
            let unused = r.set_grid(before).is_some();
            if unused || r.kernels_since(first) != 1 {
                return Err(r.blame(Error::new(ErrorKind::GridUnused), "with_grid", at));
            }
            Ok(out)
        })
    }
}

impl<F, T> Op for F
where
    F: for<'a, 'r> FnOnce(&'a mut Recorder<'r>) -> Result<T>,
{
    type Out = T;
}

/// A closure as an op, where its parameter's type cannot be inferred otherwise: before `.then`, `.label` and the like.
///
/// It is recorded whole or not at all, also where it is called as the function that it is.
pub fn from_fn<T, F>(f: F) -> impl Op<Out = T>
where
    F: for<'a, 'r> FnOnce(&'a mut Recorder<'r>) -> Result<T>,
{
    whole(f)
}

/// An op that is recorded whole or not at all, whoever calls it. Nothing makes a caller go through [`Recorder::run`], and
/// a panic may be caught around the call: a label, a geometry or a first half that stayed would be the next op's.
pub(crate) fn whole<T, F>(f: F) -> impl Op<Out = T>
where
    F: for<'a, 'r> FnOnce(&'a mut Recorder<'r>) -> Result<T>,
{
    move |r: &mut Recorder<'_>| r.run(f)
}

/// An op on the heap: closures are ops, so nothing more is needed.
pub type BoxOp<'a, T = ()> = Box<dyn for<'x, 'r> FnOnce(&'x mut Recorder<'r>) -> Result<T> + 'a>;
