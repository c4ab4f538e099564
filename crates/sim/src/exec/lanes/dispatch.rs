//! The same lane code compiled three times: for any processor, for one with AVX2 and FMA, and for one with AVX-512;
//! chosen at run time.
//!
//! The families are `#[inline(always)]` functions; each is instantiated here inside a function with the wider
//! instruction set enabled, which makes the compiler use it for the whole body. All three give the same bits.

use super::super::op::{Op, Value};
use super::rows::{LoadFrom, Loaded, StoreTo};
use super::steps::{self, COUNT, Listed, Step, table_of_steps};
use super::{Regs, compare, convert, float32, float64, int32, int64, moves, rows};

/// What the vector code of the interpreter may use of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstructionSet {
    /// What every processor of the architecture has.
    Baseline,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512: F, BW, VL and DQ; and all before it.
    Avx512,
}

impl InstructionSet {
    /// All of them, the narrowest first.
    pub const ALL: [InstructionSet; 3] = [InstructionSet::Baseline, InstructionSet::Avx2, InstructionSet::Avx512];

    /// The widest that this processor has.
    ///
    /// ```
    /// use dacapo_sim::InstructionSet;
    ///
    /// assert!(InstructionSet::widest() >= InstructionSet::Baseline);
    /// ```
    pub fn widest() -> InstructionSet {
        #[cfg(target_arch = "x86_64")]
        {
            use std::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                let wider = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
                return if wider { InstructionSet::Avx512 } else { InstructionSet::Avx2 };
            }
        }
        InstructionSet::Baseline
    }
}

impl std::str::FromStr for InstructionSet {
    type Err = String;

    fn from_str(word: &str) -> Result<InstructionSet, String> {
        let found = InstructionSet::ALL.into_iter().find(|set| set.to_string() == word);
        found.ok_or_else(|| format!("`{word}` is none of baseline, avx2, avx512"))
    }
}

impl std::fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            InstructionSet::Baseline => "baseline",
            InstructionSet::Avx2 => "avx2",
            InstructionSet::Avx512 => "avx512",
        })
    }
}

/// Runs one record of lane code; gives the lanes that divided by zero.
///
/// # Safety
///
/// - The processor has what the function was compiled for.
type Run = unsafe fn(&mut Regs<'_>, &Op, u32) -> u32;

/// Which version to run. Made only by [`Isa::at_most`].
#[derive(Clone, Copy)]
pub(crate) struct Isa {
    set: InstructionSet,
    /// By [`Step`]; as many as a step can name, so that none is outside.
    steps: &'static [Run; 256],
}

impl Isa {
    /// The widest that the processor has, up to `limit`.
    pub(crate) fn at_most(limit: InstructionSet) -> Isa {
        let set = InstructionSet::widest().min(limit);
        let steps = match set {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => &avx512::STEPS,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => &avx2::STEPS,
            _ => &baseline::STEPS,
        };
        Isa { set, steps }
    }

    /// Runs a record whose step is `step`; gives the lanes that divided by zero.
    #[inline(always)]
    pub(crate) fn step(self, step: Step, r: &mut Regs<'_>, op: &Op, mask: u32) -> u32 {
        // SAFETY: `at_most` has asked the processor for what the functions of the table need.
        unsafe { self.steps[step as usize](r, op, mask) }
    }
}

/// One record of lane code, by whichever family it belongs to.
#[inline(always)]
fn any<const SET: u8>(r: &mut Regs<'_>, op: &Op, mask: u32) -> u32 {
    match op {
        Op::Int(op) if op.wide => return int64::run(r, op, mask),
        Op::Int(op) => return int32::run(r, op, mask),
        Op::Float(op) if op.double => float64::run(r, op, mask),
        Op::Float(op) => float32::run::<SET>(r, op, mask),
        Op::Compare(op) => compare::run(r, op, mask),
        Op::Convert(op) => convert::run(r, op, mask),
        Op::Move(op) => moves::run(r, op, mask),
        other => unreachable!("{other:?} has no step"),
    }
    0
}

/// Numbers of the sets, for code that is compiled for each of them.
pub(crate) const BASELINE: u8 = InstructionSet::Baseline as u8;
pub(crate) const AVX2: u8 = InstructionSet::Avx2 as u8;
pub(crate) const AVX512: u8 = InstructionSet::Avx512 as u8;

/// Everything here, compiled for one set.
macro_rules! version {
    ($(#[$attribute:meta])* $module:ident, $set:ident) => {
        mod $module {
            use super::*;

            pub(super) static STEPS: [Run; 256] = {
                let (mut table, listed): ([Run; 256], [Run; COUNT]) = ([any; 256], table_of_steps!(any, listed));
                let mut step = 0;
                while step < COUNT {
                    table[step] = listed[step];
                    step += 1;
                }
                table
            };

            $(#[$attribute])*
            fn any(r: &mut Regs<'_>, op: &Op, mask: u32) -> u32 {
                super::any::<$set>(r, op, mask)
            }

            $(#[$attribute])*
            fn listed<L: Listed>(r: &mut Regs<'_>, op: &Op, mask: u32) -> u32 {
                L::run::<$set>(r, op, mask);
                0
            }

            $(#[$attribute])*
            pub(super) fn splat(r: &mut Regs<'_>, value: (Value, u64), mask: u32) {
                rows::splat(r, value, mask)
            }

            $(#[$attribute])*
            pub(super) fn load_word(r: &mut Regs<'_>, from: &LoadFrom<'_>, mask: u32) -> Loaded {
                rows::load_word(r, from, mask)
            }

            $(#[$attribute])*
            pub(super) fn load(r: &mut Regs<'_>, from: &LoadFrom<'_>, mask: u32) -> Loaded {
                rows::load(r, from, mask)
            }

            $(#[$attribute])*
            pub(super) fn store_word(r: &Regs<'_>, to: &mut StoreTo<'_>, mask: u32) -> bool {
                rows::store_word(r, to, mask)
            }

            $(#[$attribute])*
            pub(super) fn store(r: &Regs<'_>, to: &mut StoreTo<'_>, mask: u32) -> bool {
                rows::store(r, to, mask)
            }
        }
    };
}

version!(baseline, BASELINE);
#[cfg(target_arch = "x86_64")]
version!(
    #[target_feature(enable = "avx2,fma")]
    avx2,
    AVX2
);
#[cfg(target_arch = "x86_64")]
version!(
    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq")]
    avx512,
    AVX512
);

/// A method of [`Isa`] that calls the version for its set.
macro_rules! chosen {
    ($($(#[$doc:meta])* $name:ident($regs:ty, $with:ident: $ty:ty) -> $ret:ty;)*) => {
        impl Isa {
            $(
                $(#[$doc])*
                #[inline(always)]
                pub(crate) fn $name(self, r: $regs, $with: $ty, mask: u32) -> $ret {
                    match self.set {
                        #[cfg(target_arch = "x86_64")]
                        // SAFETY: only `at_most` sets this, which asked the processor for it.
                        InstructionSet::Avx512 => unsafe { avx512::$name(r, $with, mask) },
                        #[cfg(target_arch = "x86_64")]
                        // SAFETY: only `at_most` sets this, which asked the processor for it.
                        InstructionSet::Avx2 => unsafe { avx2::$name(r, $with, mask) },
                        _ => baseline::$name(r, $with, mask),
                    }
                }
            )*
        }
    };
}

chosen! {
    /// [`rows::splat`].
    splat(&mut Regs<'_>, value: (Value, u64)) -> ();
    /// [`rows::load_word`].
    load_word(&mut Regs<'_>, from: &LoadFrom<'_>) -> Loaded;
    /// [`rows::load`].
    load(&mut Regs<'_>, from: &LoadFrom<'_>) -> Loaded;
    /// [`rows::store_word`].
    store_word(&Regs<'_>, to: &mut StoreTo<'_>) -> bool;
    /// [`rows::store`].
    store(&Regs<'_>, to: &mut StoreTo<'_>) -> bool;
}
