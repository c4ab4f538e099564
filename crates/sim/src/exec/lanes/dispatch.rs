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
    load_word(&mut Regs<'_>, from: &LoadFrom<'_>) -> Option<Unwritten> { fast: rows::load_word, any: rows::load_word }
    store_word(&Regs<'_>, to: &mut StoreTo<'_>) -> bool { fast: rows::store_word, any: rows::store_word }
    load(&mut Regs<'_>, from: &LoadFrom<'_>) -> Option<Unwritten> { fast: rows::load, any: rows::load }
    store(&Regs<'_>, to: &mut StoreTo<'_>) -> bool { fast: rows::store, any: rows::store }
}

#[cfg(test)]
mod tests {
    use super::super::super::op::{Float, Round};
    use super::*;

    /// The processor must not show in results: both versions give the same bits.
    #[test]
    fn both_versions_agree() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 16
        };
        let codes = [
            Float::Add,
            Float::Sub,
            Float::Mul,
            Float::Fma,
            Float::Div,
            Float::Rcp,
            Float::Sqrt,
            Float::Min,
            Float::Max,
            Float::RcpApprox,
            Float::RsqrtApprox,
            Float::Ex2,
            Float::Lg2,
            Float::Sin,
            Float::Cos,
            Float::Tanh,
        ];
        for turn in 0..200 {
            let mut column = || {
                std::array::from_fn(|_| if turn % 2 == 0 { next() as u32 } else { 0x3f00_0000 ^ next() as u32 >> 9 })
            };
            let columns = [column(), column(), column(), [0; 32]];
            let wide = columns.map(|c| c.map(|x| u64::from(x).wrapping_mul(0x1_0000_0001)));
            for code in codes {
                for round in [Round::Nearest, Round::Down, Round::Up, Round::Zero] {
                    for (double, ftz) in [(false, false), (false, true), (true, false)] {
                        let op = FloatOp { code, double, round, ftz, sat: false, d: 3, a: 0, b: 1, c: 2 };
                        let run = |isa: Isa| {
                            let (mut r32, mut r64, mut p) = (columns, wide, [0; 1]);
                            let mut regs = Regs { r32: &mut r32, r64: &mut r64, p: &mut p };
                            if double {
                                isa.float64(&mut regs, &op, u32::MAX);
                            } else {
                                isa.float32(&mut regs, &op, u32::MAX);
                            }
                            (r32[3], r64[3])
                        };
                        assert_eq!(run(Isa::detect()), run(Isa::baseline()), "{op:?}");
                    }
                }
            }
        }
    }
}
