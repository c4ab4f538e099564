//! Inputs of a bucketed function: rows, and what stands in the rows that a request does not fill.

use std::fmt;
use std::panic::Location;

use crate::device::Device;
use crate::element::Pod;
use crate::error::{Error, ErrorKind, Result};
use crate::held::Purpose;
use crate::memory::{Buffer, Slice};
use crate::op::{copy, fill};
use crate::record::Recorder;
use crate::value::baked;

/// What fills the rows of a bucket that a request does not use. There is no default: the right choice depends on what
/// the recording does with a row.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Slice, copy, shapes::{Bucketed, Buckets, Pad, rows}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut last = Bucketed::new(&device, Buckets::new([4])?, rows(1, Pad::Value(-1)), |r, n, x: &Slice<i32>| {
///     let mut y = r.output_scalar()?;
///     r.run(copy(&x[n - 1..], y.as_mut_slice()))?; // the last row of the bucket
///     Ok(y)
/// })?;
/// let x = device.buffer(&[1, 2, 3])?;
/// assert_eq!(last.call(&stream, 3, &x)?.get(&stream)?, -1); // is padding for three rows of four
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pad<T> {
    /// All bytes zero.
    Zero,
    /// This value everywhere: an index that is masked out, minus infinity before a maximum.
    Value(T),
    /// The last real row again, for work that needs realistic values.
    RepeatLast,
    /// Whatever is there: zeros at first, later the rows of earlier requests. The cheapest, and right if rows do not
    /// depend on each other and an old row does no harm.
    Keep,
}

/// An input of a bucketed function: how many elements a row has, and how unused rows are padded. [`rows`] makes one.
///
/// ```
/// use dacapo::shapes::{Pad, Rows, rows};
/// let tokens: Rows<u32> = rows(1, Pad::Value(u32::MAX)); // one id a row; padding is masked out
/// let images: Rows<f32> = rows(28 * 28, Pad::Zero);
/// assert_eq!(format!("{images:?}"), "Rows<f32>[784, Zero]");
/// ```
pub struct Rows<T: Pod> {
    len: usize,
    pad: Pad<T>,
}

/// Declares an input with rows of `len` elements.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Slice, copy, shapes::{Bucketed, Buckets, Pad, rows}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut first = Bucketed::new(&device, Buckets::new([2, 4])?, rows(2, Pad::Zero), |r, n, x: &Slice<u32>| {
///     let mut y = r.output(n * 2)?;
///     r.run(copy(x, &mut y))?;
///     Ok(y)
/// })?;
/// let x = device.buffer(&[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(stream.read(first.call(&stream, 3, &x)?)?, [1, 2, 3, 4, 5, 6]); // three rows of two
/// # Ok(()) }
/// ```
pub fn rows<T: Pod>(len: usize, pad: Pad<T>) -> Rows<T> {
    Rows { len, pad }
}

impl<T: Pod> fmt::Debug for Rows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rows<{}>[{}, {:?}]", std::any::type_name::<T>(), self.len, self.pad)
    }
}

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// The inputs of a bucketed function: [`Rows`], or a tuple of up to four. Sealed.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Slice, copy, shapes::{Bucketed, Buckets, Pad, rows}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let inputs = (rows(1, Pad::Zero), rows(2, Pad::Zero));
/// let mut pick = Bucketed::new(&device, Buckets::new([2])?, inputs, |r, n, (_, b): (&Slice<u32>, &Slice<f32>)| {
///     let mut y = r.output(n * 2)?;
///     r.run(copy(b, &mut y))?;
///     Ok(y)
/// })?;
/// let (a, b) = (device.buffer(&[1])?, device.buffer(&[2.0, 3.0])?);
/// assert_eq!(stream.read(pick.call(&stream, 1, (&a, &b))?)?, [2.0, 3.0]);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not declare inputs of a bucketed function",
    note = "declare each with its row length and padding: `rows(3, Pad::Zero)`, or a tuple of up to four, `()` for none"
)]
pub trait Inputs: Sealed {
    /// The memory of a request, and of a recording.
    type At<'a>: Copy;
    /// Fixed memory that graphs read.
    #[doc(hidden)]
    type Fixed;
    #[doc(hidden)]
    fn make(&self, device: &Device, rows: usize) -> Result<Self::Fixed>;
    #[doc(hidden)]
    fn bytes(fixed: &Self::Fixed) -> usize;
    #[doc(hidden)]
    fn first<'a>(&self, fixed: &'a Self::Fixed, rows: usize) -> Self::At<'a>;
    #[doc(hidden)]
    fn check(&self, given: Self::At<'_>, rows: usize) -> Result<()>;
    #[doc(hidden)]
    fn enter(
        &self,
        recorder: &mut Recorder<'_>,
        fixed: &mut Self::Fixed,
        given: Self::At<'_>,
        span: Span,
    ) -> Result<()>;
}

/// So many real rows in a bucket of so many, for a call on this line.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Span {
    pub(crate) rows: usize,
    pub(crate) bucket: usize,
    pub(crate) at: &'static Location<'static>,
}

impl<T: Pod> Sealed for Rows<T> {}

impl<T: Pod> Inputs for Rows<T> {
    type At<'a> = &'a Slice<T>;
    type Fixed = Buffer<T>;

    fn make(&self, device: &Device, rows: usize) -> Result<Buffer<T>> {
        if self.len == 0 {
            return Err(Error::new(ErrorKind::BadBuckets { why: "a row of an input has no elements" }));
        }
        // More elements than can be counted are more bytes than any device has.
        device.allocate_elements(rows.saturating_mul(self.len), true, Purpose::Buffers)
    }

    fn bytes(fixed: &Buffer<T>) -> usize {
        fixed.len() * size_of::<T>()
    }

    fn first<'a>(&self, fixed: &'a Buffer<T>, rows: usize) -> &'a Slice<T> {
        &fixed[..rows * self.len]
    }

    fn check(&self, given: &Slice<T>, rows: usize) -> Result<()> {
        match rows.checked_mul(self.len) == Some(given.len()) {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::NotRows { len: given.len(), rows, row: self.len })),
        }
    }

    fn enter(&self, recorder: &mut Recorder<'_>, fixed: &mut Buffer<T>, given: &Slice<T>, span: Span) -> Result<()> {
        recorder.at(span.at, |recorder| {
            let (real, rest) = fixed[..span.bucket * self.len].split_at_mut(span.rows * self.len);
            recorder.run(copy(given, real))?;
            match self.pad {
                _ if rest.is_empty() => Ok(()),
                Pad::Zero => recorder.run(fill(rest, baked(T::zeroed()))),
                Pad::Value(value) => recorder.run(fill(rest, baked(value))),
                Pad::RepeatLast => self.repeat_last(recorder, given, rest),
                Pad::Keep => Ok(()),
            }
        })
    }
}

impl<T: Pod> Rows<T> {
    /// Fills `rest` with the last row of `given`: once from there, then what is there doubles.
    fn repeat_last(&self, recorder: &mut Recorder<'_>, given: &Slice<T>, rest: &mut Slice<T>) -> Result<()> {
        recorder.run(copy(&given[given.len() - self.len..], &mut rest[..self.len]))?;
        let mut done = self.len;
        while done < rest.len() {
            let (there, next) = rest.split_at_mut(done);
            let more = done.min(next.len());
            recorder.run(copy(&there[..more], &mut next[..more]))?;
            done += more;
        }
        Ok(())
    }
}

macro_rules! inputs {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Inputs),*> Sealed for ($($name,)*) {}

        #[allow(unused_variables, clippy::unused_unit, reason = "the tuple of nothing")]
        impl<$($name: Inputs),*> Inputs for ($($name,)*) {
            type At<'a> = ($($name::At<'a>,)*);
            type Fixed = ($($name::Fixed,)*);

            fn make(&self, device: &Device, rows: usize) -> Result<Self::Fixed> {
                Ok(($(self.$index.make(device, rows)?,)*))
            }

            fn bytes(fixed: &Self::Fixed) -> usize {
                0 $(+ $name::bytes(&fixed.$index))*
            }

            fn first<'a>(&self, fixed: &'a Self::Fixed, rows: usize) -> Self::At<'a> {
                ($(self.$index.first(&fixed.$index, rows),)*)
            }

            fn check(&self, given: Self::At<'_>, rows: usize) -> Result<()> {
                $(self.$index.check(given.$index, rows)?;)*
                Ok(())
            }

            fn enter(
                &self,
                recorder: &mut Recorder<'_>,
                fixed: &mut Self::Fixed,
                given: Self::At<'_>,
                span: Span,
            ) -> Result<()> {
                $(self.$index.enter(recorder, &mut fixed.$index, given.$index, span)?;)*
                Ok(())
            }
        }
    };
}
inputs!();
inputs!(A 0);
inputs!(A 0, B 1);
inputs!(A 0, B 1, C 2);
inputs!(A 0, B 1, C 2, D 3);
