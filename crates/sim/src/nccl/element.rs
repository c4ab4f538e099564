//! What collectives move, and how they fold it: the data types and reductions of NCCL.
//!
//! - Ranks are folded in their order, beginning with rank 0, and each step is rounded to the type: the result is the same
//!   whichever rank comes first.
//! - Whole numbers wrap. A mean of floats is the sum of contributions that were each multiplied by 1/n before, as NCCL
//!   does it; a mean of whole numbers is their sum divided by n.
//! - Of a NaN and a number, `min` and `max` give the number.

#![allow(non_upper_case_globals, reason = "the header's own names")]

use dacapo_nccl::types::*;

use crate::exec::{short_from_f64, short_to_f64};

/// A data type of NCCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element(u8);

/// A reduction of NCCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Sum,
    Prod,
    Max,
    Min,
    Avg,
}

const NAMES: [&str; 10] =
    ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "bfloat16"];
const SIZES: [u64; 10] = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2];

impl Element {
    pub(crate) fn of(number: ncclDataType) -> Option<Element> {
        u8::try_from(number).ok().filter(|number| usize::from(*number) < NAMES.len()).map(Element)
    }

    pub(crate) fn number(self) -> u8 {
        self.0
    }

    /// Bytes of one.
    pub(crate) fn size(self) -> u64 {
        SIZES[usize::from(self.0)]
    }

    pub(crate) fn name(self) -> &'static str {
        NAMES[usize::from(self.0)]
    }

    /// Folds the same number of elements of each rank, rank 0 first.
    pub(crate) fn fold(self, reduction: Reduction, ranks: &[&[u8]]) -> Vec<u8> {
        match ncclDataType::from(self.0) {
            ncclInt8 => fold::<i8, 1>(reduction, ranks),
            ncclUint8 => fold::<u8, 1>(reduction, ranks),
            ncclInt32 => fold::<i32, 4>(reduction, ranks),
            ncclUint32 => fold::<u32, 4>(reduction, ranks),
            ncclInt64 => fold::<i64, 8>(reduction, ranks),
            ncclUint64 => fold::<u64, 8>(reduction, ranks),
            ncclFloat16 => fold::<Half, 2>(reduction, ranks),
            ncclFloat32 => fold::<f32, 4>(reduction, ranks),
            ncclFloat64 => fold::<f64, 8>(reduction, ranks),
            _ => fold::<Brain, 2>(reduction, ranks),
        }
    }
}

impl Reduction {
    pub(crate) fn of(number: ncclRedOp) -> Option<Reduction> {
        match number {
            ncclSum => Some(Reduction::Sum),
            ncclProd => Some(Reduction::Prod),
            ncclMax => Some(Reduction::Max),
            ncclMin => Some(Reduction::Min),
            ncclAvg => Some(Reduction::Avg),
            _ => None,
        }
    }

    pub(crate) fn number(self) -> ncclRedOp {
        match self {
            Reduction::Sum => ncclSum,
            Reduction::Prod => ncclProd,
            Reduction::Max => ncclMax,
            Reduction::Min => ncclMin,
            Reduction::Avg => ncclAvg,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Prod => "product",
            Reduction::Max => "max",
            Reduction::Min => "min",
            Reduction::Avg => "average",
        }
    }
}

/// An element as a number of `N` bytes.
trait Number<const N: usize>: Copy {
    fn read(bytes: [u8; N]) -> Self;
    fn write(self) -> [u8; N];
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn least(self, other: Self) -> Self;
    fn most(self, other: Self) -> Self;
    /// One contribution to a mean of `n`.
    fn before_mean(self, n: usize) -> Self;
    /// The sum of such contributions as the mean.
    fn as_mean(self, n: usize) -> Self;
}

fn fold<T: Number<N>, const N: usize>(reduction: Reduction, ranks: &[&[u8]]) -> Vec<u8> {
    let Some((first, rest)) = ranks.split_first() else { return Vec::new() };
    let n = ranks.len();
    let read = |bytes: &[u8]| -> Vec<T> {
        let (words, _) = bytes.as_chunks::<N>();
        let given = words.iter().map(|word| T::read(*word));
        match reduction {
            Reduction::Avg => given.map(|x| x.before_mean(n)).collect(),
            _ => given.collect(),
        }
    };
    let mut sum = read(first);
    for rank in rest {
        for (into, x) in sum.iter_mut().zip(read(rank)) {
            *into = match reduction {
                Reduction::Sum | Reduction::Avg => into.plus(x),
                Reduction::Prod => into.times(x),
                Reduction::Max => into.most(x),
                Reduction::Min => into.least(x),
            };
        }
    }
    let whole = |x: T| if reduction == Reduction::Avg { x.as_mean(n) } else { x };
    sum.into_iter().flat_map(|x| whole(x).write()).collect()
}

macro_rules! whole_numbers {
    ($($ty:ty, $bytes:literal;)*) => { $(
        impl Number<$bytes> for $ty {
            fn read(bytes: [u8; $bytes]) -> Self { <$ty>::from_le_bytes(bytes) }
            fn write(self) -> [u8; $bytes] { self.to_le_bytes() }
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn least(self, other: Self) -> Self { self.min(other) }
            fn most(self, other: Self) -> Self { self.max(other) }
            fn before_mean(self, _: usize) -> Self { self }
            fn as_mean(self, n: usize) -> Self { (i128::from(self) / n as i128) as $ty }
        }
    )* };
}

whole_numbers! { i8, 1; u8, 1; i32, 4; u32, 4; i64, 8; u64, 8; }

macro_rules! floats {
    ($($ty:ty, $bytes:literal;)*) => { $(
        impl Number<$bytes> for $ty {
            fn read(bytes: [u8; $bytes]) -> Self { <$ty>::from_le_bytes(bytes) }
            fn write(self) -> [u8; $bytes] { self.to_le_bytes() }
            fn plus(self, other: Self) -> Self { self + other }
            fn times(self, other: Self) -> Self { self * other }
            fn least(self, other: Self) -> Self { self.min(other) }
            fn most(self, other: Self) -> Self { self.max(other) }
            fn before_mean(self, n: usize) -> Self { self * (1.0 / n as $ty) }
            fn as_mean(self, _: usize) -> Self { self }
        }
    )* };
}

floats! { f32, 4; f64, 8; }

/// 16 bits of a float. Computed in f64 and rounded: that is rounded once, because f64 has more than twice the digits.
#[derive(Clone, Copy)]
struct Short<const BRAIN: bool>(u16);

type Half = Short<false>;
type Brain = Short<true>;

impl<const BRAIN: bool> Short<BRAIN> {
    fn wide(self) -> f64 {
        short_to_f64(self.0, BRAIN)
    }

    fn of(x: f64) -> Self {
        Short(short_from_f64(x, BRAIN))
    }
}

impl<const BRAIN: bool> Number<2> for Short<BRAIN> {
    fn read(bytes: [u8; 2]) -> Self {
        Short(u16::from_le_bytes(bytes))
    }
    fn write(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }
    fn plus(self, other: Self) -> Self {
        Self::of(self.wide() + other.wide())
    }
    fn times(self, other: Self) -> Self {
        Self::of(self.wide() * other.wide())
    }
    fn least(self, other: Self) -> Self {
        Self::of(self.wide().min(other.wide()))
    }
    fn most(self, other: Self) -> Self {
        Self::of(self.wide().max(other.wide()))
    }
    fn before_mean(self, n: usize) -> Self {
        self.times(Self::of(1.0 / n as f64))
    }
    fn as_mean(self, _: usize) -> Self {
        self
    }
}
