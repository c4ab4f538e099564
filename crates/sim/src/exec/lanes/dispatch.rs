//! The same lane code compiled twice: for any processor, and for one with AVX2 and FMA; chosen once at run time.
//!
//! The families are `#[inline(always)]` functions; each is instantiated here inside a function with the wider
//! instruction set enabled, which makes the compiler use it for the whole body.

use super::super::op::{CompareOp, ConvertOp, FloatOp, IntOp, MoveOp};
use super::rows::{LoadFrom, StoreTo, Unwritten};
use super::{Regs, compare, convert, float32, float64, int32, int64, moves, rows};

/// Which version to run. Made only by [`Isa::detect`].
#[derive(Clone, Copy)]
pub(crate) struct Isa {
    /// The processor has AVX2 and FMA.
    fast: bool,
}

impl Isa {
    /// Asks the processor.
    pub(crate) fn detect() -> Isa {
        #[cfg(target_arch = "x86_64")]
        let fast = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
        #[cfg(not(target_arch = "x86_64"))]
        let fast = false;
        Isa { fast }
    }

    /// The version for any processor.
    #[cfg(test)]
    pub(crate) fn baseline() -> Isa {
        Isa { fast: false }
    }
}

macro_rules! families {
    ($($name:ident($regs:ty, $op:ident: $ty:ty) -> $ret:ty { fast: $fast:expr, any: $any:expr })*) => {
        impl Isa {
            $(
                #[doc = concat!("Runs one instruction of the family `", stringify!($name), "`.")]
                #[inline(always)]
                pub(crate) fn $name(self, r: $regs, $op: $ty, mask: u32) -> $ret {
                    #[cfg(target_arch = "x86_64")]
                    if self.fast {
                        // SAFETY: `fast` is set only by `detect`, which asked the processor for AVX2 and FMA.
                        return unsafe { wide::$name(r, $op, mask) };
                    }
                    any::$name(r, $op, mask)
                }
            )*
        }

        #[cfg(target_arch = "x86_64")]
        mod wide {
            use super::*;
            $(
                #[target_feature(enable = "avx2,fma")]
                #[inline(never)]
                pub(super) fn $name(r: $regs, $op: $ty, mask: u32) -> $ret {
                    $fast(r, $op, mask)
                }
            )*
        }

        mod any {
            use super::*;
            $(
                #[inline(never)]
                pub(super) fn $name(r: $regs, $op: $ty, mask: u32) -> $ret {
                    $any(r, $op, mask)
                }
            )*
        }
    };
}

families! {
    int32(&mut Regs<'_>, op: &IntOp) -> u32 { fast: int32::run, any: int32::run }
    int64(&mut Regs<'_>, op: &IntOp) -> u32 { fast: int64::run, any: int64::run }
    float32(&mut Regs<'_>, op: &FloatOp) -> () { fast: float32::run::<true>, any: float32::run::<false> }
    float64(&mut Regs<'_>, op: &FloatOp) -> () { fast: float64::run, any: float64::run }
    compare(&mut Regs<'_>, op: &CompareOp) -> () { fast: compare::run, any: compare::run }
    convert(&mut Regs<'_>, op: &ConvertOp) -> () { fast: convert::run, any: convert::run }
    moves(&mut Regs<'_>, op: &MoveOp) -> () { fast: moves::run, any: moves::run }
    load(&mut Regs<'_>, from: &LoadFrom<'_>) -> Option<Unwritten> { fast: rows::load, any: rows::load }
    store(&Regs<'_>, to: &mut StoreTo<'_>) -> bool { fast: rows::store, any: rows::store }
}
