//! Comparisons into predicates.

use super::super::float::round::flush;
use super::super::op::{CompareAs, CompareOp, Test};
use super::{Regs, lanes_where};

/// Runs one instruction.
#[inline(always)]
pub(crate) fn run(r: &mut Regs<'_>, op: &CompareOp, mask: u32) {
    let (a, b) = (op.a as usize, op.b as usize);
    let value = match op.kind {
        CompareAs::U32 => {
            let (x, y) = (&r.r32[a], &r.r32[b]);
            ordered(op.test, |lane| x[lane], |lane| y[lane])
        }
        CompareAs::S32 => {
            let (x, y) = (&r.r32[a], &r.r32[b]);
            ordered(op.test, |lane| x[lane] as i32, |lane| y[lane] as i32)
        }
        CompareAs::U64 => {
            let (x, y) = (&r.r64[a], &r.r64[b]);
            ordered(op.test, |lane| x[lane], |lane| y[lane])
        }
        CompareAs::S64 => {
            let (x, y) = (&r.r64[a], &r.r64[b]);
            ordered(op.test, |lane| x[lane] as i64, |lane| y[lane] as i64)
        }
        CompareAs::F32 => {
            let (x, y) = (&r.r32[a], &r.r32[b]);
            float(op.test, |lane| f32::from_bits(x[lane]), |lane| f32::from_bits(y[lane]))
        }
        CompareAs::F32Ftz => {
            let (x, y) = (&r.r32[a], &r.r32[b]);
            float(op.test, |lane| flush(f32::from_bits(x[lane])), |lane| flush(f32::from_bits(y[lane])))
        }
        CompareAs::F64 => {
            let (x, y) = (&r.r64[a], &r.r64[b]);
            float(op.test, |lane| f64::from_bits(x[lane]), |lane| f64::from_bits(y[lane]))
        }
    };
    r.put_p(op.d, value, mask);
}

#[inline(always)]
fn ordered<T: Ord>(test: Test, x: impl Fn(usize) -> T, y: impl Fn(usize) -> T) -> u32 {
    match test {
        Test::Eq | Test::Equ => lanes_where(|i| x(i) == y(i)),
        Test::Ne | Test::Neu => lanes_where(|i| x(i) != y(i)),
        Test::Lt | Test::Ltu => lanes_where(|i| x(i) < y(i)),
        Test::Le | Test::Leu => lanes_where(|i| x(i) <= y(i)),
        Test::Gt | Test::Gtu => lanes_where(|i| x(i) > y(i)),
        Test::Ge | Test::Geu => lanes_where(|i| x(i) >= y(i)),
        Test::Num => u32::MAX,
        Test::Nan => 0,
    }
}

/// The plain tests are false with a NaN, the unordered ones true; `ne` is ordered too (PTX ISA, `setp`).
#[inline(always)]
#[allow(clippy::neg_cmp_op_on_partial_ord, reason = "the negations are what \"unordered\" means")]
fn float<T: PartialOrd + Copy>(test: Test, x: impl Fn(usize) -> T, y: impl Fn(usize) -> T) -> u32 {
    match test {
        Test::Eq => lanes_where(|i| x(i) == y(i)),
        Test::Ne => lanes_where(|i| x(i) < y(i) || x(i) > y(i)),
        Test::Lt => lanes_where(|i| x(i) < y(i)),
        Test::Le => lanes_where(|i| x(i) <= y(i)),
        Test::Gt => lanes_where(|i| x(i) > y(i)),
        Test::Ge => lanes_where(|i| x(i) >= y(i)),
        Test::Equ => lanes_where(|i| !(x(i) < y(i) || x(i) > y(i))),
        Test::Neu => lanes_where(|i| x(i) != y(i)),
        Test::Ltu => lanes_where(|i| !(x(i) >= y(i))),
        Test::Leu => lanes_where(|i| !(x(i) > y(i))),
        Test::Gtu => lanes_where(|i| !(x(i) <= y(i))),
        Test::Geu => lanes_where(|i| !(x(i) < y(i))),
        Test::Num => lanes_where(|i| x(i) == x(i) && y(i) == y(i)),
        Test::Nan => lanes_where(|i| x(i) != x(i) || y(i) != y(i)),
    }
}
