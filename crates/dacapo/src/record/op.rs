//! Ops: described, not yet executed, pieces of GPU work.
//!
//! An op is a function of a [`Recorder`], and nothing else. Every closure `|r| ..` is one; every kernel method, copy and
//! fill returns one.

use std::panic::Location;

use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Grid;
use crate::record::Recorder;

/// A piece of GPU work, described but not yet run: a function of a [`Recorder`].
///
/// [`Stream::run`](crate::Stream::run) runs it now, [`Device::record`](crate::Device::record) makes a graph of it.
/// Kernel methods, [`copy`](crate::copy) and [`fill`](crate::fill) return ops, and every closure `|r| ..` is one.
///
/// [`then`](Op::then) and [`zip`](Op::zip) differ in their result only: neither adds an order that the data does not
/// need.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Op, baked, copy, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (mut x, mut y) = (device.zeros::<u32>(2)?, device.zeros::<u32>(2)?);
/// stream.run(fill(&mut x, baked(3)).then(fill(&mut y, baked(4))).label("init"))?; // now
/// let mut graph = device.record(copy(&x, &mut y).label("step"))?; // or many times
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&y)?, [3, 3]);
/// # Ok(()) }
/// ```
#[must_use = "an operation does nothing until it is run or recorded"]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operation",
    note = "an operation is `FnOnce(&mut Recorder<'_>) -> dacapo::Result<T>`"
)]
pub trait Op: Sized + for<'a, 'r> FnOnce(&'a mut Recorder<'r>) -> Result<<Self as Op>::Out> {
    /// Its result. (`Output` is taken by `FnOnce`.)
    type Out;

    /// Both ops, in this order, with the result of the second.
    fn then<B: Op>(self, next: B) -> impl Op<Out = B::Out> {
        whole(move |r| {
            self(r)?;
            next(r)
        })
    }

    /// Both ops, in this order, with both results.
    fn zip<B: Op>(self, other: B) -> impl Op<Out = (Self::Out, B::Out)> {
        whole(move |r| Ok((self(r)?, other(r)?)))
    }

    /// The same op with its result mapped.
    fn map<U>(self, f: impl FnOnce(Self::Out) -> U) -> impl Op<Out = U> {
        whole(move |r| Ok(f(self(r)?)))
    }

    /// This op, then the one that `f` makes from its result.
    fn and_then<B: Op>(self, f: impl FnOnce(Self::Out) -> B) -> impl Op<Out = B::Out> {
        whole(move |r| {
            let out = self(r)?;
            f(out)(r)
        })
    }

    /// Names it in errors and reports. Labels nest as `outer/inner`.
    fn label(self, label: impl Into<String>) -> impl Op<Out = Self::Out> {
        let label = label.into();
        whole(move |r| {
            r.push_label(&label);
            let out = self(r)?;
            r.pop_label();
            Ok(out)
        })
    }

    /// Overrides the geometry of the one kernel inside. An error unless the kernel was declared with `default_grid`.
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

/// Makes an op from a closure when its parameter's type cannot be inferred: before `.then`, `.label` and the like.
///
/// It is recorded whole or not at all.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Op, baked, fill, op::from_fn};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let ones = from_fn(|r| {
///     let mut y = r.output::<f32>(2)?;
///     r.run(fill(&mut y, baked(1.0)))?;
///     Ok(y)
/// });
/// let y = stream.run(ones.label("ones"))?;
/// assert_eq!(stream.read(&y)?, [1.0, 1.0]);
/// # Ok(()) }
/// ```
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

/// A boxed op, for a list or a choice of different ops: `Box::new(op)` is one.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, copy, fill, op::BoxOp};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut y) = (device.buffer(&[1u32, 2])?, device.zeros::<u32>(2)?);
/// let clear = true;
/// let op: BoxOp = if clear { Box::new(fill(&mut y, baked(9))) } else { Box::new(copy(&x, &mut y)) };
/// stream.run(op)?;
/// assert_eq!(stream.read(&y)?, [9, 9]);
/// # Ok(()) }
/// ```
pub type BoxOp<'a, T = ()> = Box<dyn for<'x, 'r> FnOnce(&'x mut Recorder<'r>) -> Result<T> + 'a>;
