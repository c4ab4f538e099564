//! The instructions that kernels are made of, each as a function of its own.
//!
//! A family of lane code looks at its record to know what to do. For what is listed here that was asked once, when the
//! kernel was decoded: the record's [`Step`] is the place of its own function, and running the record is one call
//! through a table. All else is [`ANY`], which asks again each time. What is listed changes how fast a record is run, and
//! nothing else: a test holds every one of them against its family.

use super::super::op::{
    Col, CompareAs, CompareOp, ConvertOp, Float, FloatOp, Int, IntOp, MoveOp, Num, Op, Round, Test,
};
use super::{Regs, convert, float32, float64, lanes_where, moves};

/// Which function of the table runs a record.
pub(crate) type Step = u8;

/// The step of what is no lane code; all of lane code lies below.
pub(crate) const LANES_END: Step = Step::MAX;

/// A step of the list, as code that is compiled for an instruction set.
pub(crate) trait Listed {
    fn run<const SET: u8>(r: &mut Regs<'_>, c: Cols, mask: u32);
}

/// The columns that a record of lane code names, taken out of it when the kernel was decoded; of a select, the last is its
/// predicate. What a record does not have is anything.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cols {
    pub(crate) d: Col,
    pub(crate) a: Col,
    pub(crate) b: Col,
    pub(crate) c: Col,
}

impl Cols {
    /// Those of a record.
    pub(crate) fn of(op: &Op) -> Cols {
        match op {
            Op::Int(op) => Cols { d: op.d, a: op.a, b: op.b, c: op.c },
            Op::Float(op) => op.cols(),
            Op::Compare(op) => Cols { d: op.d, a: op.a, b: op.b, c: 0 },
            Op::Convert(op) => Cols { d: op.d, a: op.a, b: 0, c: 0 },
            Op::Move(MoveOp::Mov32 { d, a } | MoveOp::Mov64 { d, a }) => Cols { d: *d, a: *a, b: 0, c: 0 },
            Op::Move(MoveOp::AndP { d, a, b } | MoveOp::OrP { d, a, b }) => Cols { d: *d, a: *a, b: *b, c: 0 },
            Op::Move(MoveOp::Sel32 { d, a, b, p }) => Cols { d: *d, a: *a, b: *b, c: *p },
            _ => Cols::default(),
        }
    }
}

impl FloatOp {
    #[inline(always)]
    pub(crate) fn cols(&self) -> Cols {
        Cols { d: self.d, a: self.a, b: self.b, c: self.c }
    }
}

macro_rules! listed {
    (|$r:ident, $c:ident, $mask:ident, $set:ident| $($name:ident: $pattern:pat => $body:expr;)*) => {
        /// The steps by name.
        #[derive(Clone, Copy)]
        enum Name { Any, $($name),* }

        $(
            pub(crate) struct $name;
            impl Listed for $name {
                #[inline(always)]
                fn run<const $set: u8>($r: &mut Regs<'_>, $c: Cols, $mask: u32) {
                    $body
                }
            }
        )*

        /// How many steps there are, with the one for all that is not listed.
        pub(crate) const COUNT: usize = 1 + [$(Name::$name),*].len();

        /// The step of a record.
        pub(crate) fn step(op: &Op) -> Step {
            let name = match op {
                $($pattern => Name::$name,)*
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
listed! { |r, c, mask, SET|
    Add: Op::Int(IntOp { code: Int::Add, wide: false, .. }) => r.map2(c.d, c.a, c.b, mask, u32::wrapping_add);
    Sub: Op::Int(IntOp { code: Int::Sub, wide: false, .. }) => r.map2(c.d, c.a, c.b, mask, u32::wrapping_sub);
    Mul: Op::Int(IntOp { code: Int::Mul, wide: false, .. }) => r.map2(c.d, c.a, c.b, mask, u32::wrapping_mul);
    Mad: Op::Int(IntOp { code: Int::Mad, wide: false, .. }) => {
        r.map3(c.d, c.a, c.b, c.c, mask, |x, y, z| x.wrapping_mul(y).wrapping_add(z))
    };
    MulHiU: Op::Int(IntOp { code: Int::MulHiU, wide: false, .. }) => {
        r.map2(c.d, c.a, c.b, mask, |x, y| ((u64::from(x) * u64::from(y)) >> 32) as u32)
    };
    And: Op::Int(IntOp { code: Int::And, wide: false, .. }) => r.map2(c.d, c.a, c.b, mask, |x, y| x & y);
    Or: Op::Int(IntOp { code: Int::Or, wide: false, .. }) => r.map2(c.d, c.a, c.b, mask, |x, y| x | y);
    Xor: Op::Int(IntOp { code: Int::Xor, wide: false, .. }) => r.map2(c.d, c.a, c.b, mask, |x, y| x ^ y);
    Shl: Op::Int(IntOp { code: Int::Shl, wide: false, .. }) => {
        r.map2(c.d, c.a, c.b, mask, |x, by| if by > 31 { 0 } else { x << (by & 31) })
    };
    ShrU: Op::Int(IntOp { code: Int::ShrU, wide: false, .. }) => {
        r.map2(c.d, c.a, c.b, mask, |x, by| if by > 31 { 0 } else { x >> (by & 31) })
    };
    ShrS: Op::Int(IntOp { code: Int::ShrS, wide: false, .. }) => {
        r.map2(c.d, c.a, c.b, mask, |x, by| ((x as i32) >> by.min(31)) as u32)
    };
    MulWideS: Op::Int(IntOp { code: Int::MulWideS, .. }) => {
        r.widen2(c.d, c.a, c.b, mask, |x, y| i64::from(x as i32).wrapping_mul(i64::from(y as i32)) as u64)
    };
    MulWideU: Op::Int(IntOp { code: Int::MulWideU, .. }) => {
        r.widen2(c.d, c.a, c.b, mask, |x, y| u64::from(x).wrapping_mul(u64::from(y)))
    };
    AddWide: Op::Int(IntOp { code: Int::Add, wide: true, .. }) => {
        r.wide2(c.d, c.a, c.b, mask, u64::wrapping_add)
    };
    MadWide: Op::Int(IntOp { code: Int::Mad, wide: true, .. }) => {
        r.wide3(c.d, c.a, c.b, c.c, mask, |x, y, z| x.wrapping_mul(y).wrapping_add(z))
    };
    SubWide: Op::Int(IntOp { code: Int::Sub, wide: true, .. }) => {
        r.wide2(c.d, c.a, c.b, mask, u64::wrapping_sub)
    };
    ShlWide: Op::Int(IntOp { code: Int::Shl, wide: true, .. }) => {
        r.wide_by(c.d, c.a, c.b, mask, |x, by| if by > 63 { 0 } else { x << (by & 63) })
    };
    AddF32: Op::Float(plain!(Add)) => float32::two::<false>(r, c, mask, |x, y| x + y);
    SubF32: Op::Float(plain!(Sub)) => float32::two::<false>(r, c, mask, |x, y| x - y);
    MulF32: Op::Float(plain!(Mul)) => float32::two::<false>(r, c, mask, |x, y| x * y);
    FmaF32: Op::Float(plain!(Fma)) => float32::three::<false>(r, c, mask, float32::fma::<SET>);
    MinF32: Op::Float(plain!(Min)) => r.map2(c.d, c.a, c.b, mask, float32::least);
    MaxF32: Op::Float(plain!(Max)) => r.map2(c.d, c.a, c.b, mask, float32::greatest);
    NegF32: Op::Float(plain!(Neg)) => r.map1(c.d, c.a, mask, float32::negated);
    FmaDownF32: Op::Float(FloatOp { code: Float::Fma, double: false, round: Round::Down, ftz: false, sat: false, .. }) => {
        float32::fma_down::<SET>(r, c, mask)
    };
    Ex2F32: Op::Float(FloatOp { code: Float::Ex2, double: false, ftz: true, sat: false, .. }) => {
        float32::ex2::<true>(r, c, mask)
    };
    FmaF64: Op::Float(FloatOp { code: Float::Fma, double: true, round: Round::Nearest, .. }) => {
        float64::fma(r, c, mask)
    };
    EqS32: Op::Compare(CompareOp { kind: CompareAs::S32 | CompareAs::U32, test: Test::Eq, .. }) => {
        words(r, c, mask, |x, y| x == y)
    };
    NeS32: Op::Compare(CompareOp { kind: CompareAs::S32 | CompareAs::U32, test: Test::Ne, .. }) => {
        words(r, c, mask, |x, y| x != y)
    };
    LtS32: Op::Compare(CompareOp { kind: CompareAs::S32, test: Test::Lt, .. }) => {
        words(r, c, mask, |x, y| (x as i32) < (y as i32))
    };
    GeS32: Op::Compare(CompareOp { kind: CompareAs::S32, test: Test::Ge, .. }) => {
        words(r, c, mask, |x, y| (x as i32) >= (y as i32))
    };
    GtS32: Op::Compare(CompareOp { kind: CompareAs::S32, test: Test::Gt, .. }) => {
        words(r, c, mask, |x, y| (x as i32) > (y as i32))
    };
    LtU32: Op::Compare(CompareOp { kind: CompareAs::U32, test: Test::Lt, .. }) => {
        words(r, c, mask, |x, y| x < y)
    };
    GeU32: Op::Compare(CompareOp { kind: CompareAs::U32, test: Test::Ge, .. }) => {
        words(r, c, mask, |x, y| x >= y)
    };
    WidenS: Op::Convert(ConvertOp { to: Num::S64, from: Num::S32, sat: false, ftz: false, a_wide: false, .. }) => {
        r.widen1(c.d, c.a, mask, |x| x as i32 as i64 as u64)
    };
    SatF32: Op::Convert(
        ConvertOp { to: Num::F32, from: Num::F32, sat: true, ftz: false, integral: false, .. }
    ) => r.map1(c.d, c.a, mask, convert::saturated);
    Mov32: Op::Move(MoveOp::Mov32 { .. }) => r.map1(c.d, c.a, mask, |x| x);
    Mov64: Op::Move(MoveOp::Mov64 { .. }) => r.wide1(c.d, c.a, mask, |x| x);
    AndP: Op::Move(MoveOp::AndP { .. }) => {
        let both = r.p[c.a as usize] & r.p[c.b as usize];
        r.put_p(c.d, both, mask)
    };
    OrP: Op::Move(MoveOp::OrP { .. }) => {
        let either = r.p[c.a as usize] | r.p[c.b as usize];
        r.put_p(c.d, either, mask)
    };
    Sel32: Op::Move(MoveOp::Sel32 { .. }) => moves::select32(r, [c.d, c.a, c.b], c.c, mask);
    LtF32: Op::Compare(CompareOp { kind: CompareAs::F32, test: Test::Lt, .. }) => {
        words(r, c, mask, |x, y| f32::from_bits(x) < f32::from_bits(y))
    };
}

/// Two steps of which the second reads what the first computes, as one function: the column between them is written, but
/// not waited for. A processor takes longer to read back what was just written than to compute it.
pub(crate) trait Paired {
    fn run<const SET: u8>(r: &mut Regs<'_>, first: Cols, second: Cols, mask: u32);
}

/// Which function of the table of pairs runs a record and the one behind it; 0 is none.
pub(crate) type Pair = u8;

/// `Second.c of First`: the source `c` of the second is the target of the first.
macro_rules! paired {
    ($($name:ident: $second:ident.$source:ident of $first:ident;)*) => {
        $(
            pub(crate) struct $name;
            impl Paired for $name {
                #[inline(always)]
                fn run<const SET: u8>(r: &mut Regs<'_>, first: Cols, second: Cols, mask: u32) {
                    // The same column by the same name: so the compiler sees that it need not be read.
                    let second = Cols { $source: first.d, ..second };
                    if mask == u32::MAX {
                        $first::run::<SET>(r, first, u32::MAX);
                        $second::run::<SET>(r, second, u32::MAX);
                    } else {
                        $first::run::<SET>(r, first, mask);
                        $second::run::<SET>(r, second, mask);
                    }
                }
            }
        )*

        /// The first of each pair, the second, and whether the one reads what the other writes.
        type Fits = (Name, Name, fn(Cols, Cols) -> bool);
        const PAIRS: &[Fits] =
            &[$((Name::$first, Name::$second, |first, second| second.$source == first.d)),*];

        /// A table of functions, of which the first is never called.
        macro_rules! table_of_pairs {
            ($none:expr, $pair:ident) => {
                [$none, $($pair::<steps::$name>),*]
            };
        }
        pub(crate) use table_of_pairs;
    };
}

/// How many pairs there are, with the one that is none.
pub(crate) const PAIR_COUNT: usize = 1 + PAIRS.len();

/// The pair of two records, by their steps and columns.
pub(crate) fn pair(first: (Step, Cols), second: (Step, Cols)) -> Pair {
    let fits = |&(a, b, reads): &Fits| (a as Step, b as Step) == (first.0, second.0) && reads(first.1, second.1);
    PAIRS.iter().position(fits).map_or(0, |at| at as Pair + 1)
}

// What compilers write for the address of an element, the end of a loop and a sum of products.
paired! {
    MadWideOfWiden: MadWide.a of WidenS;
    ShlWideOfWiden: ShlWide.a of WidenS;
    AddWideOfShl: AddWide.b of ShlWide;
    AddShlWide: AddWide.a of ShlWide;
    AddWideOfMulS: AddWide.b of MulWideS;
    AddMulWideS: AddWide.a of MulWideS;
    AddWideOfMulU: AddWide.b of MulWideU;
    AddMulWideU: AddWide.a of MulWideU;
    AddOfAdd: Add.b of Add;
    AddAdd: Add.a of Add;
    MadOfAdd: Mad.c of Add;
    MadAdd: Mad.a of Add;
    AddOfMad: Add.b of Mad;
    AddMad: Add.a of Mad;
    MadOfMad: Mad.c of Mad;
    AddOfMul: Add.b of Mul;
    AddMul: Add.a of Mul;
    MadOfMul: Mad.c of Mul;
    AddOfShl: Add.b of Shl;
    AddShl: Add.a of Shl;
    WidenAdd: WidenS.a of Add;
    WidenMad: WidenS.a of Mad;
    MulWideOfAdd: MulWideS.a of Add;
    MulWideOfMad: MulWideS.a of Mad;
    LtOfAdd: LtS32.a of Add;
    EqOfAdd: EqS32.a of Add;
    NeOfAdd: NeS32.a of Add;
    GeOfMad: GeS32.a of Mad;
    FmaOfFma: FmaF32.c of FmaF32;
    FmaOfMul: FmaF32.c of MulF32;
    AddOfMulF32: AddF32.b of MulF32;
    AddMulF32: AddF32.a of MulF32;
    MovOfFma: Mov32.a of FmaF32;
    MovOfAddF32: Mov32.a of AddF32;
    Ex2OfMul: Ex2F32.a of MulF32;
    FmaOfFmaDown: FmaF32.a of FmaDownF32;
    FmaDownOfSat: FmaDownF32.a of SatF32;
    SatOfFma: SatF32.a of FmaF32;
}

#[inline(always)]
fn words(r: &mut Regs<'_>, c: Cols, mask: u32, test: impl Fn(u32, u32) -> bool) {
    let (x, y) = (&r.r32[c.a as usize], &r.r32[c.b as usize]);
    let value = lanes_where(|lane| test(x[lane], y[lane]));
    r.put_p(c.d, value, mask);
}
