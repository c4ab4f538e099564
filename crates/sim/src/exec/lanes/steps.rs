//! The instructions that kernels are made of, each as a function of its own.
//!
//! A family of lane code looks at its record to know what to do. For what is listed here that was asked once, when the
//! kernel was decoded: the record's [`Step`] is the place of its own function, and running the record is one call
//! through a table. All else is [`ANY`], which asks again each time. What is listed changes how fast a record is run, and
//! nothing else: a test holds every one of them against its family.

use super::super::op::{CompareAs, CompareOp, ConvertOp, Float, FloatOp, Int, IntOp, MoveOp, Num, Op, Round, Test};
use super::{Regs, convert, float32, float64, lanes_where, moves};

/// Which function of the table runs a record.
pub(crate) type Step = u8;

/// The step of what is no lane code; all of lane code lies below.
pub(crate) const LANES_END: Step = Step::MAX;

/// A step of the list, as code that is compiled for an instruction set.
pub(crate) trait Listed {
    fn run<const SET: u8>(r: &mut Regs<'_>, op: &Op, mask: u32);
}

macro_rules! listed {
    (|$r:ident, $mask:ident, $set:ident| $($name:ident: $pattern:pat => $body:expr;)*) => {
        /// The steps by name.
        #[derive(Clone, Copy)]
        enum Name { Any, $($name),* }

        $(
            pub(crate) struct $name;
            impl Listed for $name {
                #[inline(always)]
                fn run<const $set: u8>($r: &mut Regs<'_>, op: &Op, $mask: u32) {
                    match op {
                        $pattern => $body,
                        other => unreachable!("{other:?} has another step"),
                    }
                }
            }
        )*

        /// How many steps there are, with the one for all that is not listed.
        pub(crate) const COUNT: usize = 1 + [$(Name::$name),*].len();

        /// The step of a record.
        pub(crate) fn step(op: &Op) -> Step {
            let name = match op {
                $(#[allow(unused_variables, reason = "only the pattern counts here")] $pattern => Name::$name,)*
                Op::Int(_) | Op::Float(_) | Op::Compare(_) | Op::Convert(_) | Op::Move(_) => Name::Any,
                _ => return LANES_END,
            };
            name as Step
        }

        /// A table of functions: `$any`, then `$listed` for each of the list.
        macro_rules! table_of_steps {
            ($any:expr, $listed:ident) => {
                [$any, $($listed::<steps::$name>),*]
            };
        }
        pub(crate) use table_of_steps;
    };
}

/// The fields of an f32 instruction that rounds to nearest and does nothing beside.
macro_rules! plain {
    ($code:ident) => {
        FloatOp { code: Float::$code, double: false, round: Round::Nearest, ftz: false, sat: false, .. }
    };
}
listed! { |r, mask, SET|
    Add: Op::Int(op @ IntOp { code: Int::Add, wide: false, .. }) => r.map2(op.d, op.a, op.b, mask, u32::wrapping_add);
    Sub: Op::Int(op @ IntOp { code: Int::Sub, wide: false, .. }) => r.map2(op.d, op.a, op.b, mask, u32::wrapping_sub);
    Mul: Op::Int(op @ IntOp { code: Int::Mul, wide: false, .. }) => r.map2(op.d, op.a, op.b, mask, u32::wrapping_mul);
    Mad: Op::Int(op @ IntOp { code: Int::Mad, wide: false, .. }) => {
        r.map3(op.d, op.a, op.b, op.c, mask, |x, y, z| x.wrapping_mul(y).wrapping_add(z))
    };
    MulHiU: Op::Int(op @ IntOp { code: Int::MulHiU, wide: false, .. }) => {
        r.map2(op.d, op.a, op.b, mask, |x, y| ((u64::from(x) * u64::from(y)) >> 32) as u32)
    };
    MulHiS: Op::Int(op @ IntOp { code: Int::MulHiS, wide: false, .. }) => {
        r.map2(op.d, op.a, op.b, mask, |x, y| ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as u32)
    };
    And: Op::Int(op @ IntOp { code: Int::And, wide: false, .. }) => r.map2(op.d, op.a, op.b, mask, |x, y| x & y);
    Or: Op::Int(op @ IntOp { code: Int::Or, wide: false, .. }) => r.map2(op.d, op.a, op.b, mask, |x, y| x | y);
    Xor: Op::Int(op @ IntOp { code: Int::Xor, wide: false, .. }) => r.map2(op.d, op.a, op.b, mask, |x, y| x ^ y);
    Shl: Op::Int(op @ IntOp { code: Int::Shl, wide: false, .. }) => {
        r.map2(op.d, op.a, op.b, mask, |x, by| if by > 31 { 0 } else { x << (by & 31) })
    };
    ShrU: Op::Int(op @ IntOp { code: Int::ShrU, wide: false, .. }) => {
        r.map2(op.d, op.a, op.b, mask, |x, by| if by > 31 { 0 } else { x >> (by & 31) })
    };
    ShrS: Op::Int(op @ IntOp { code: Int::ShrS, wide: false, .. }) => {
        r.map2(op.d, op.a, op.b, mask, |x, by| ((x as i32) >> by.min(31)) as u32)
    };
    MulWideS: Op::Int(op @ IntOp { code: Int::MulWideS, .. }) => {
        r.widen2(op.d, op.a, op.b, mask, |x, y| i64::from(x as i32).wrapping_mul(i64::from(y as i32)) as u64)
    };
    MulWideU: Op::Int(op @ IntOp { code: Int::MulWideU, .. }) => {
        r.widen2(op.d, op.a, op.b, mask, |x, y| u64::from(x).wrapping_mul(u64::from(y)))
    };
    AddWide: Op::Int(op @ IntOp { code: Int::Add, wide: true, .. }) => {
        r.wide2(op.d, op.a, op.b, mask, u64::wrapping_add)
    };
    MadWide: Op::Int(op @ IntOp { code: Int::Mad, wide: true, .. }) => {
        r.wide3(op.d, op.a, op.b, op.c, mask, |x, y, z| x.wrapping_mul(y).wrapping_add(z))
    };
    SubWide: Op::Int(op @ IntOp { code: Int::Sub, wide: true, .. }) => {
        r.wide2(op.d, op.a, op.b, mask, u64::wrapping_sub)
    };
    ShlWide: Op::Int(op @ IntOp { code: Int::Shl, wide: true, .. }) => {
        r.wide_by(op.d, op.a, op.b, mask, |x, by| if by > 63 { 0 } else { x << (by & 63) })
    };
    AddF32: Op::Float(op @ plain!(Add)) => float32::two::<false>(r, op, mask, |x, y| x + y);
    SubF32: Op::Float(op @ plain!(Sub)) => float32::two::<false>(r, op, mask, |x, y| x - y);
    MulF32: Op::Float(op @ plain!(Mul)) => float32::two::<false>(r, op, mask, |x, y| x * y);
    FmaF32: Op::Float(op @ plain!(Fma)) => float32::three::<false>(r, op, mask, float32::fma::<SET>);
    MinF32: Op::Float(op @ plain!(Min)) => r.map2(op.d, op.a, op.b, mask, float32::least);
    MaxF32: Op::Float(op @ plain!(Max)) => r.map2(op.d, op.a, op.b, mask, float32::greatest);
    NegF32: Op::Float(op @ plain!(Neg)) => r.map1(op.d, op.a, mask, float32::negated);
    FmaDownF32: Op::Float(op @ FloatOp { code: Float::Fma, double: false, round: Round::Down, ftz: false, sat: false, .. }) => {
        float32::fma_down::<SET>(r, op, mask)
    };
    Ex2F32: Op::Float(op @ FloatOp { code: Float::Ex2, double: false, ftz: true, sat: false, .. }) => {
        float32::ex2::<true>(r, op, mask)
    };
    FmaF64: Op::Float(op @ FloatOp { code: Float::Fma, double: true, round: Round::Nearest, .. }) => {
        float64::fma(r, op, mask)
    };
    EqS32: Op::Compare(op @ CompareOp { kind: CompareAs::S32 | CompareAs::U32, test: Test::Eq, .. }) => {
        words(r, op, mask, |x, y| x == y)
    };
    NeS32: Op::Compare(op @ CompareOp { kind: CompareAs::S32 | CompareAs::U32, test: Test::Ne, .. }) => {
        words(r, op, mask, |x, y| x != y)
    };
    LtS32: Op::Compare(op @ CompareOp { kind: CompareAs::S32, test: Test::Lt, .. }) => {
        words(r, op, mask, |x, y| (x as i32) < (y as i32))
    };
    GeS32: Op::Compare(op @ CompareOp { kind: CompareAs::S32, test: Test::Ge, .. }) => {
        words(r, op, mask, |x, y| (x as i32) >= (y as i32))
    };
    GtS32: Op::Compare(op @ CompareOp { kind: CompareAs::S32, test: Test::Gt, .. }) => {
        words(r, op, mask, |x, y| (x as i32) > (y as i32))
    };
    LtU32: Op::Compare(op @ CompareOp { kind: CompareAs::U32, test: Test::Lt, .. }) => {
        words(r, op, mask, |x, y| x < y)
    };
    GeU32: Op::Compare(op @ CompareOp { kind: CompareAs::U32, test: Test::Ge, .. }) => {
        words(r, op, mask, |x, y| x >= y)
    };
    WidenS: Op::Convert(op @ ConvertOp { to: Num::S64, from: Num::S32, sat: false, ftz: false, a_wide: false, .. }) => {
        r.widen1(op.d, op.a, mask, |x| x as i32 as i64 as u64)
    };
    SatF32: Op::Convert(
        op @ ConvertOp { to: Num::F32, from: Num::F32, sat: true, ftz: false, integral: false, .. }
    ) => r.map1(op.d, op.a, mask, convert::saturated);
    Mov32: Op::Move(MoveOp::Mov32 { d, a }) => r.map1(*d, *a, mask, |x| x);
    Mov64: Op::Move(MoveOp::Mov64 { d, a }) => r.wide1(*d, *a, mask, |x| x);
    NotP: Op::Move(MoveOp::NotP { d, a }) => r.put_p(*d, !r.p[*a as usize], mask);
    AndP: Op::Move(MoveOp::AndP { d, a, b }) => {
        let both = r.p[*a as usize] & r.p[*b as usize];
        r.put_p(*d, both, mask)
    };
    OrP: Op::Move(MoveOp::OrP { d, a, b }) => {
        let either = r.p[*a as usize] | r.p[*b as usize];
        r.put_p(*d, either, mask)
    };
    Sel32: Op::Move(MoveOp::Sel32 { d, a, b, p }) => moves::select32(r, [*d, *a, *b], *p, mask);
    EqF32: Op::Compare(op @ CompareOp { kind: CompareAs::F32, test: Test::Eq, .. }) => {
        words(r, op, mask, |x, y| f32::from_bits(x) == f32::from_bits(y))
    };
    LtF32: Op::Compare(op @ CompareOp { kind: CompareAs::F32, test: Test::Lt, .. }) => {
        words(r, op, mask, |x, y| f32::from_bits(x) < f32::from_bits(y))
    };
}

#[inline(always)]
fn words(r: &mut Regs<'_>, op: &CompareOp, mask: u32, test: impl Fn(u32, u32) -> bool) {
    let (x, y) = (&r.r32[op.a as usize], &r.r32[op.b as usize]);
    let value = lanes_where(|lane| test(x[lane], y[lane]));
    r.put_p(op.d, value, mask);
}
