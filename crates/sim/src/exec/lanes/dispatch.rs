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
                rows::load_word::<$set>(r, from, mask)
            }

            $(#[$attribute])*
            pub(super) fn load(r: &mut Regs<'_>, from: &LoadFrom<'_>, mask: u32) -> Loaded {
                rows::load::<$set>(r, from, mask)
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

#[cfg(test)]
mod tests {
    use super::super::super::op::{
        Carry, CompareAs, CompareOp, ConvertOp, Float, FloatOp, Int, IntOp, MoveOp, Num, Round, Test, Window,
    };
    use super::*;

    const ROUNDS: [Round; 4] = [Round::Nearest, Round::Down, Round::Up, Round::Zero];

    fn integers() -> Vec<Op> {
        use Int::*;
        let carry = |reads, writes| Carry { reads, writes };
        let mut codes = vec![
            Add, Sub, Mul, MulHiS, MulHiU, Mad, MadHiS, MadHiU, AddSat, SubSat, DivS, DivU, RemS, RemU, MinS, MinU,
            MaxS, MaxU, And, Or, Xor, Not, Cnot, Shl, ShrU, ShrS, Neg, Abs, Popc, Clz, FindU, FindS, FindShiftU,
            FindShiftS, Brev, SadS, SadU, BfeU, BfeS, Bfi,
        ];
        let op = |code, wide| Op::Int(IntOp { code, wide, d: 6, a: 0, b: 1, c: 2, e: 3 });
        let mut ops: Vec<Op> = codes.iter().map(|code| op(*code, true)).collect();
        codes.extend([MulWideS, MulWideU, MadWideS, MadWideU, ShfLeftWrap, ShfLeftClamp, ShfRightWrap, ShfRightClamp]);
        codes.extend([Lop3, Sext16]);
        for carry in [carry(false, true), carry(true, false), carry(true, true)] {
            codes.extend([AddCarry(carry), SubCarry(carry), MadLoCarry(carry), MadHiUCarry(carry), MadHiSCarry(carry)]);
        }
        ops.extend(codes.into_iter().map(|code| op(code, false)));
        ops
    }

    fn floats() -> Vec<Op> {
        use Float::*;
        let both = [Add, Sub, Mul, Fma, Div, Rcp, Sqrt, Min, Max, Neg, Abs];
        let narrow = [
            MinNan,
            MaxNan,
            CopySign,
            DivApprox,
            DivFull,
            RcpApprox,
            SqrtApprox,
            RsqrtApprox,
            Ex2,
            Lg2,
            Sin,
            Cos,
            Tanh,
        ];
        let mut ops = Vec::new();
        for round in ROUNDS {
            let op =
                |code, double, ftz, sat| Op::Float(FloatOp { code, double, round, ftz, sat, d: 6, a: 0, b: 1, c: 2 });
            ops.extend(both.iter().map(|code| op(*code, true, false, false)));
            for (ftz, sat) in [(false, false), (true, false), (false, true), (true, true)] {
                ops.extend(both.iter().chain(&narrow).map(|code| op(*code, false, ftz, sat)));
            }
        }
        ops
    }

    fn comparisons() -> Vec<Op> {
        use CompareAs::*;
        use Test::*;
        let tests = [Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan];
        let all = [U32, S32, U64, S64, F32, F32Ftz, F64];
        let op = |kind, test| Op::Compare(CompareOp { kind, test, d: 3, a: 0, b: 1 });
        all.into_iter().flat_map(|kind| tests.map(|test| op(kind, test))).collect()
    }

    fn conversions() -> Vec<Op> {
        use Num::*;
        let all = [U8, U16, U32, U64, S8, S16, S32, S64, F16, Bf16, F32, F64];
        let wide = |num| matches!(num, U64 | S64 | F64);
        let mut ops = Vec::new();
        for (to, from) in all.into_iter().flat_map(|to| all.map(|from| (to, from))) {
            for round in ROUNDS {
                for (sat, integral) in [(false, false), (true, false), (false, true)] {
                    if integral && to != from {
                        continue;
                    }
                    let (d_short, flags) = (matches!(to, U8 | U16 | S8 | S16 | F16 | Bf16), (false, false, false));
                    let (ftz, relu, finite) = flags;
                    let (d_wide, a_wide) = (wide(to), wide(from));
                    #[rustfmt::skip]
                    ops.push(Op::Convert(ConvertOp {
                        to, from, round, integral, ftz, sat, relu, finite, d_short, d_wide, a_wide, d: 6, a: 0,
                    }));
                }
            }
        }
        ops
    }

    fn moves() -> Vec<Op> {
        let (d, a, b, p) = (6, 0, 1, 1);
        let mut all = vec![
            MoveOp::Mov32 { d, a },
            MoveOp::Mov64 { d, a },
            MoveOp::MovP { d: 3, a },
            MoveOp::ConstP { d: 3, value: true },
            MoveOp::NotP { d: 3, a },
            MoveOp::AndP { d: 3, a, b },
            MoveOp::OrP { d: 3, a, b },
            MoveOp::XorP { d: 3, a, b },
            MoveOp::Sel32 { d, a, b, p },
            MoveOp::Sel64 { d, a, b, p },
            MoveOp::Pack64 { d, lo: a, hi: b },
            MoveOp::Pack32 { d, lo: a, hi: b },
            MoveOp::Unpack64 { lo: 5, hi: d, a },
            MoveOp::Unpack32 { lo: 5, hi: d, a },
        ];
        let windows = [Window::Global, Window::Shared, Window::Local, Window::Param];
        all.extend(windows.map(|window| MoveOp::IsSpace { d: 3, a, window }));
        all.into_iter().map(Op::Move).collect()
    }

    /// What a lane gets does not depend on which others run, and a lane that does not run keeps what it has: also where half
    /// a warp has a way of its own.
    #[test]
    fn a_mask_chooses_lanes_and_nothing_else() {
        let all = [integers(), floats(), comparisons(), conversions(), moves()].concat();
        let mut state = 5;
        for turn in 0..12 {
            let given = columns(turn, &mut state);
            for op in &all {
                let run = |mask: u32| {
                    let (mut r32, mut r64, mut p) = given;
                    let mut regs = Regs { r32: &mut r32, r64: &mut r64, p: &mut p };
                    Isa::at_most(InstructionSet::Avx512).step(steps::step(op), &mut regs, op, mask);
                    (r32, r64, p)
                };
                let whole = run(u32::MAX);
                for mask in [0xffff, 0x01ff, 0xffff_0000, 0x5a5a_3c3c, 0x8000_0001] {
                    let got = run(mask);
                    let of = |lane: usize| if mask >> lane & 1 == 1 { &whole } else { &given };
                    for lane in 0..32 {
                        let same32 = (0..8).all(|column| got.0[column][lane] == of(lane).0[column][lane]);
                        let same64 = (0..8).all(|column| got.1[column][lane] == of(lane).1[column][lane]);
                        let same_p = (0..4).all(|p| (got.2[p] ^ of(lane).2[p]) >> lane & 1 == 0);
                        assert!(same32 && same64 && same_p, "{op:?}: lane {lane} with mask {mask:#x}");
                    }
                }
            }
        }
    }

    /// Bits that are odd for some instruction.
    const ODD: [u64; 16] = [
        0,
        1,
        31,
        32,
        63,
        64,
        0x8000_0000_8000_0000,
        0x7fff_ffff_7fff_ffff,
        0xffff_ffff_ffff_ffff,
        0x0000_0001_0080_0000,
        0x7f80_0000_7f80_0000,
        0xff80_0001_ffc0_1234,
        0x7ff0_0000_0000_0000,
        0x7ff0_0000_0000_0001,
        0x3f80_0000_3f80_0000,
        0x3ff0_0000_0000_0001,
    ];

    /// Columns of odd and of random numbers.
    fn columns(turn: u64, state: &mut u64) -> ([[u32; 32]; 8], [[u64; 32]; 8], [u32; 4]) {
        let mut next = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *state >> 16 ^ *state << 40
        };
        let mut number = || match next() % 4 {
            0 => ODD[next() as usize % ODD.len()],
            1 => 0x3f00_0000_3f00_0000 ^ next() >> 9,
            _ if turn.is_multiple_of(2) => next() % 70,
            _ => next(),
        };
        let wide: [[u64; 32]; 8] = std::array::from_fn(|_| std::array::from_fn(|_| number()));
        let narrow = std::array::from_fn(|_| std::array::from_fn(|_| number() as u32));
        (narrow, wide, std::array::from_fn(|_| number() as u32))
    }

    /// The processor must not show in results: every version of every instruction gives the same bits, in the lanes that
    /// run and in those that do not; and the function of its own gives what the family gives.
    #[test]
    fn all_versions_agree() {
        let all = [integers(), floats(), comparisons(), conversions(), moves()].concat();
        let mut state = 1;
        for turn in 0..24 {
            let given = columns(turn, &mut state);
            let mask = [u32::MAX, 0x0000_ffff, 0x8000_0001, 0x5a5a_3c3c][turn as usize % 4];
            for op in &all {
                let run = |set: InstructionSet, step: Step| {
                    let (mut r32, mut r64, mut p) = given;
                    let mut regs = Regs { r32: &mut r32, r64: &mut r64, p: &mut p };
                    let zeros = Isa::at_most(set).step(step, &mut regs, op, mask);
                    (r32, r64, p, zeros)
                };
                let want = run(InstructionSet::Baseline, 0);
                for set in InstructionSet::ALL {
                    assert!(run(set, 0) == want, "{op:?} differs with {set} on turn {turn}");
                    assert!(run(set, steps::step(op)) == want, "{op:?} differs alone with {set} on turn {turn}");
                }
            }
        }
    }
}
