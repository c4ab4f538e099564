//! Outputs of a bucketed function: what a request sees of them.

use crate::element::Pod;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Buffer, Scalar, Slice};

/// The outputs of a bucketed function: buffers of rows, of which a request sees its own; scalars, which it sees whole;
/// or a tuple of up to four.
///
/// A buffer has as many rows as the bucket, so its length says how long a row is. A scalar that is computed from all
/// rows includes the padded ones: choose the padding for it.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::shapes::Outputs;
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let y = device.buffer(&[1u32, 2, 3, 4, 5, 6, 7, 8])?; // a bucket of four rows of two
/// let seen = y.first(3, 4); // what a request for three rows gets
/// assert_eq!(stream.read(seen)?, [1, 2, 3, 4, 5, 6]);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an output of a bucketed function",
    note = "return a `Buffer<T>` of rows, a `Scalar<T>`, or a tuple of up to four, `()` for none"
)]
pub trait Outputs {
    /// What a request sees.
    type At<'a>
    where
        Self: 'a;

    /// Checks that each buffer is `rows` rows of equal length.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotRows`].
    fn check(&self, rows: usize) -> Result<()>;

    /// The first `rows` of `of` rows.
    fn first(&self, rows: usize, of: usize) -> Self::At<'_>;
}

impl<T: Pod> Outputs for Buffer<T> {
    type At<'a> = &'a Slice<T>;

    fn check(&self, rows: usize) -> Result<()> {
        match rows > 0 && self.len().is_multiple_of(rows) {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::NotRows { len: self.len(), rows, row: self.len() / rows.max(1) })),
        }
    }

    fn first(&self, rows: usize, of: usize) -> &Slice<T> {
        &self[..self.len() / of * rows]
    }
}

impl<T: Pod> Outputs for Scalar<T> {
    type At<'a> = &'a Scalar<T>;

    fn check(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn first(&self, _: usize, _: usize) -> &Scalar<T> {
        self
    }
}

macro_rules! outputs {
    ($($name:ident $index:tt),*) => {
        #[allow(unused_variables, clippy::unused_unit, reason = "the tuple of nothing")]
        impl<$($name: Outputs),*> Outputs for ($($name,)*) {
            type At<'a> = ($($name::At<'a>,)*) where Self: 'a;

            fn check(&self, rows: usize) -> Result<()> {
                $(self.$index.check(rows)?;)*
                Ok(())
            }

            fn first(&self, rows: usize, of: usize) -> Self::At<'_> {
                ($(self.$index.first(rows, of),)*)
            }
        }
    };
}
outputs!();
outputs!(A 0);
outputs!(A 0, B 1);
outputs!(A 0, B 1, C 2);
outputs!(A 0, B 1, C 2, D 3);
