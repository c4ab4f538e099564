//! What can be reduced, and how.

use std::any::TypeId;
use std::fmt;

use dacapo_nccl::types::*;
use half::{bf16, f16};

use crate::element::Pod;

mod sealed {
    pub trait Sealed {}
}

/// Elements that collectives can add and compare. What is only moved may be any [`Pod`].
///
/// ```
/// use dacapo::collective::{Communicator, Number, Reduce};
/// use dacapo::{Buffer, Result, Stream};
///
/// fn mean<T: Number>(comm: &Communicator, stream: &Stream, x: &mut Buffer<T>) -> Result<Vec<T>> {
///     stream.run(comm.all_reduce_in_place(x, Reduce::Average))?;
///     stream.read(x)
/// }
/// # fn main() -> Result<()> {
/// let device = dacapo::Device::software()?;
/// let mut x = device.buffer(&[1.5f64, 2.0])?;
/// assert_eq!(mean(&Communicator::alone(&device)?, &device.stream()?, &mut x)?, [1.5, 2.0]);
/// # Ok(()) }
/// ```
pub trait Number: Pod + sealed::Sealed {
    #[doc(hidden)]
    const TYPE: ncclDataType;
    #[doc(hidden)]
    const NAME: &'static str;
}

macro_rules! numbers {
    ($($ty:ty = $number:ident;)*) => { $(
        impl sealed::Sealed for $ty {}
        impl Number for $ty {
            const TYPE: ncclDataType = $number;
            const NAME: &'static str = stringify!($ty);
        }
    )*
        const NUMBERS: &[(fn() -> TypeId, ncclDataType, &str)] = &[$((TypeId::of::<$ty>, $number, stringify!($ty)),)*];
    };
}

numbers! {
    i8 = ncclInt8;
    u8 = ncclUint8;
    i32 = ncclInt32;
    u32 = ncclUint32;
    i64 = ncclInt64;
    u64 = ncclUint64;
    f16 = ncclFloat16;
    f32 = ncclFloat32;
    f64 = ncclFloat64;
    bf16 = ncclBfloat16;
}

/// How NCCL is told of elements that are only moved.
pub(super) struct Moved {
    pub(super) datatype: ncclDataType,
    /// How many of NCCL's elements one of ours is.
    pub(super) unit: usize,
    pub(super) name: &'static str,
}

impl Moved {
    /// What NCCL has a type for is told as that, so that ranks which differ in it are found in eager ops, too; all else as bytes.
    pub(super) fn of<T: Pod>() -> Moved {
        let known = NUMBERS.iter().find(|(id, ..)| id() == TypeId::of::<T>());
        match known {
            // `OWN` is nobody else's.
            Some((_, datatype, name)) if *datatype != OWN => Moved { datatype: *datatype, unit: 1, name },
            Some((.., name)) => Moved { datatype: ncclUint8, unit: 1, name },
            None => Moved { datatype: ncclUint8, unit: size_of::<T>(), name: std::any::type_name::<T>() },
        }
    }
}

/// What the library itself moves between ranks is of this type, and nothing of a user's that is only moved: so a collective of his
/// that meets one of the library's is another call.
pub(super) const OWN: ncclDataType = ncclInt8;

/// How the elements of the ranks become one.
///
/// ```
/// use dacapo::collective::Reduce;
/// assert_eq!(Reduce::Average.to_string(), "average");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduce {
    /// Their sum.
    Sum,
    /// Their product.
    Product,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Their sum, divided by the number of ranks. Of integers the quotient is rounded to zero.
    Average,
}

impl Reduce {
    pub(super) fn raw(self) -> ncclRedOp {
        match self {
            Reduce::Sum => ncclSum,
            Reduce::Product => ncclProd,
            Reduce::Min => ncclMin,
            Reduce::Max => ncclMax,
            Reduce::Average => ncclAvg,
        }
    }
}

impl fmt::Display for Reduce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reduce::Sum => "sum",
            Reduce::Product => "product",
            Reduce::Min => "min",
            Reduce::Max => "max",
            Reduce::Average => "average",
        })
    }
}
