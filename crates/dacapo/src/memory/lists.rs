//! Slices and tuples of slices: what foreign work and graphs over other memory are given.

use std::fmt;
use std::marker::PhantomData;

use crate::element::Pod;
use crate::error::Result;
use crate::memory::{Access, Allocation, Extent, Slice, numbers};

/// A device address and a length, for another library's call.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::raw::{RawSlice, foreign};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let x = device.buffer(&[1u8, 2, 3])?;
/// // SAFETY: nothing is enqueued.
/// let look = unsafe { foreign(&x[1..], (), |_, x: RawSlice<u8>, ()| {
///     assert!(x.ptr != 0 && x.len == 2); // goes to a C call as pointer and length
///     Ok(())
/// }) };
/// stream.run(look)?;
/// # Ok(()) }
/// ```
pub struct RawSlice<T> {
    /// The device address of the first element.
    pub ptr: u64,
    /// How many elements there are.
    pub len: usize,
    _elements: PhantomData<fn() -> T>,
}

impl<T> Clone for RawSlice<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for RawSlice<T> {}

impl<T> fmt::Debug for RawSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawSlice({:#x}, {})", self.ptr, self.len)
    }
}

fn raw<T>(places: &mut dyn Iterator<Item = (u64, usize)>) -> RawSlice<T> {
    let (ptr, bytes) = places.next().expect("as many places as slices");
    RawSlice { ptr, len: bytes / size_of::<T>(), _elements: PhantomData }
}

/// Makes stand-ins: given a length in bytes, the address of a fresh one.
type NewStandIn<'a> = &'a mut dyn FnMut(usize) -> Result<usize>;

/// What only this file can implement. `unsafe` work relies on each of these traits' methods to tell of the same memory.
mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`Reads` and `Writes` are implemented by dacapo only",
        note = "use slices or tuples of up to four of them: `(&x[..], &y[..])`"
    )]
    pub trait Sealed {}
}
use sealed::Sealed;

impl<T: Pod> Sealed for &Slice<T> {}
impl<T: Pod> Sealed for &mut Slice<T> {}

/// Memory that is read: a slice, or a tuple of up to four. `At<'a>` is the same shape at another lifetime.
///
/// What [`record_into`](crate::graph::GraphBuilder::record_into) and [`foreign`](crate::raw::foreign) take as inputs.
/// Sealed.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::copy;
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (a, b) = (device.buffer(&[1u32])?, device.buffer(&[2u32])?);
/// let mut out = device.zeros::<u32>(2)?;
/// let mut join = device.graph().record_into((&a[..], &b[..]), &mut out[..], |r, (a, b), out| {
///     let (first, second) = out.split_at_mut(1);
///     r.run(copy(a, first))?;
///     r.run(copy(b, second))
/// })?;
/// join.launch(&stream, (&b, &a), &mut out)?; // any memory of these lengths
/// assert_eq!(stream.read(&out)?, [2, 1]);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory that is read",
    note = "it is a `&Slice<T>` or a tuple of up to four: `&x[..]`, `(&x[..], &y[..])`, `()`"
)]
pub trait Reads: Sealed {
    /// The same shape at another lifetime.
    type At<'a>;
    /// Addresses and lengths.
    type Raw;
    #[doc(hidden)]
    fn raw(places: &mut dyn Iterator<Item = (u64, usize)>) -> Self::Raw;
    #[doc(hidden)]
    fn at(&self) -> Self::At<'_>;
    #[doc(hidden)]
    fn access(&self, into: &mut Vec<Access>) {
        Self::access_at(&self.at(), into);
    }
    /// # Safety
    ///
    /// - Every address that `new` gives is an allocation that is held for `'a`.
    #[doc(hidden)]
    unsafe fn stand_in<'a>(at: &Self::At<'_>, new: NewStandIn<'_>) -> Result<Self::At<'a>>;
    #[doc(hidden)]
    fn access_at(at: &Self::At<'_>, into: &mut Vec<Access>);
}

/// Memory that is written: a mutable slice, or a tuple of up to four.
///
/// What [`record_into`](crate::graph::GraphBuilder::record_into) and [`foreign`](crate::raw::foreign) take as outputs.
/// Sealed.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::copy;
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (x, mut low, mut high) = (device.buffer(&[1u32, 2])?, device.zeros(1)?, device.zeros(1)?);
/// let mut split = device.graph().record_into(&x[..], (&mut low[..], &mut high[..]), |r, x, (low, high)| {
///     r.run(copy(&x[..1], low))?;
///     r.run(copy(&x[1..], high))
/// })?;
/// split.launch(&stream, &x, (&mut low, &mut high))?;
/// assert_eq!((stream.read(&low)?, stream.read(&high)?), (vec![1], vec![2]));
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory that is written",
    note = "it is a `&mut Slice<T>` or a tuple of up to four: `&mut x[..]`, `(&mut x[..], &mut y[..])`, `()`"
)]
pub trait Writes: Sealed {
    /// The same shape at another lifetime.
    type At<'a>;
    /// Addresses and lengths.
    type Raw;
    #[doc(hidden)]
    fn raw(places: &mut dyn Iterator<Item = (u64, usize)>) -> Self::Raw;
    #[doc(hidden)]
    fn at(&mut self) -> Self::At<'_>;
    #[doc(hidden)]
    fn access(&mut self, into: &mut Vec<Access>) {
        Self::access_at(&mut self.at(), into);
    }
    /// # Safety
    ///
    /// - Every address that `new` gives is an allocation of its own that is held for `'a`.
    #[doc(hidden)]
    unsafe fn stand_in<'a>(at: &Self::At<'_>, new: NewStandIn<'_>) -> Result<Self::At<'a>>;
    #[doc(hidden)]
    fn access_at(at: &mut Self::At<'_>, into: &mut Vec<Access>);
}

impl<T: Pod> Reads for &Slice<T> {
    type At<'a> = &'a Slice<T>;
    type Raw = RawSlice<T>;

    fn raw(places: &mut dyn Iterator<Item = (u64, usize)>) -> RawSlice<T> {
        raw(places)
    }

    fn at(&self) -> &Slice<T> {
        self
    }

    unsafe fn stand_in<'a>(at: &&Slice<T>, new: NewStandIn<'_>) -> Result<&'a Slice<T>> {
        let address = new(at.len() * size_of::<T>())?;
        // SAFETY: the allocation at this address is as long as this slice, and held for `'a`: the caller's promise.
        Ok(unsafe { Slice::from_address(address, at.len()) })
    }

    fn access_at(at: &&Slice<T>, into: &mut Vec<Access>) {
        into.push(Access::read("input", at));
    }
}

impl<T: Pod> Writes for &mut Slice<T> {
    type At<'a> = &'a mut Slice<T>;
    type Raw = RawSlice<T>;

    fn raw(places: &mut dyn Iterator<Item = (u64, usize)>) -> RawSlice<T> {
        raw(places)
    }

    fn at(&mut self) -> &mut Slice<T> {
        self
    }

    unsafe fn stand_in<'a>(at: &&mut Slice<T>, new: NewStandIn<'_>) -> Result<&'a mut Slice<T>> {
        let address = new(at.len() * size_of::<T>())?;
        // SAFETY: as for reads, and the allocation is this slice's own.
        Ok(unsafe { Slice::from_address_mut(address, at.len()) })
    }

    fn access_at(at: &mut &mut Slice<T>, into: &mut Vec<Access>) {
        into.push(Access::write("output", at));
    }
}

macro_rules! tuples {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Sealed),*> Sealed for ($($name,)*) {}

        #[allow(unused_variables, unused_unsafe, clippy::unused_unit, reason = "the tuple of nothing")]
        impl<$($name: Reads),*> Reads for ($($name,)*) {
            type At<'a> = ($($name::At<'a>,)*);
            type Raw = ($($name::Raw,)*);

            fn raw(places: &mut dyn Iterator<Item = (u64, usize)>) -> Self::Raw {
                ($($name::raw(places),)*)
            }

            fn at(&self) -> Self::At<'_> {
                ($(self.$index.at(),)*)
            }

            unsafe fn stand_in<'a>(at: &Self::At<'_>, new: NewStandIn<'_>) -> Result<Self::At<'a>> {
                // SAFETY: the caller's promise, for each of them.
                Ok(unsafe { ($($name::stand_in(&at.$index, new)?,)*) })
            }

            fn access_at(at: &Self::At<'_>, into: &mut Vec<Access>) {
                $($name::access_at(&at.$index, into);)*
            }
        }

        #[allow(unused_variables, unused_unsafe, clippy::unused_unit, reason = "the tuple of nothing")]
        impl<$($name: Writes),*> Writes for ($($name,)*) {
            type At<'a> = ($($name::At<'a>,)*);
            type Raw = ($($name::Raw,)*);

            fn raw(places: &mut dyn Iterator<Item = (u64, usize)>) -> Self::Raw {
                ($($name::raw(places),)*)
            }

            fn at(&mut self) -> Self::At<'_> {
                ($(self.$index.at(),)*)
            }

            unsafe fn stand_in<'a>(at: &Self::At<'_>, new: NewStandIn<'_>) -> Result<Self::At<'a>> {
                // SAFETY: the caller's promise, for each of them.
                Ok(unsafe { ($($name::stand_in(&at.$index, new)?,)*) })
            }

            fn access_at(at: &mut Self::At<'_>, into: &mut Vec<Access>) {
                $($name::access_at(&mut at.$index, into);)*
            }
        }
    };
}
tuples!();
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);

/// Address and length in bytes of each place.
pub(crate) fn raw_places<'a>(places: impl Iterator<Item = &'a Extent>) -> Vec<(u64, usize)> {
    places.map(|place| (place.address(), place.bytes)).collect()
}

/// The address by which a stand-in is named.
pub(crate) fn stand_in_address(allocation: &Allocation) -> usize {
    (u64::from(allocation.number()) << numbers::OFFSET_BITS) as usize
}
