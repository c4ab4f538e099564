//! Transcendental and activation functions, as compiled plainly and with --use_fast_math.
//!
//! The bounds follow the PTX of each kernel from its approximate instructions to its store; see `bound.rs` for u and
//! for what a rounding adds.

use super::super::Bound::{self, Exact};
use super::super::Case;
use super::super::bound::{NUMBER, U};
use super::super::data::Random;
use super::approx::{FLUSH, SUBNORMAL};
use super::{BLOCK, ELEMENTS};

/// A kernel, the range of its inputs, and its bound in each module.
struct Row(&'static str, f32, f32, Bound, Bound);

const fn u(rel: f64, why: &'static str) -> Bound {
    Bound::within(rel * U, FLUSH, why)
}

const fn abs(abs: f64, why: &'static str) -> Bound {
    Bound::within(0.0, abs * U, why)
}

const EXP: Bound = u(4.0, "ex2.approx.ftz 2 ulp on both sides; the factor 2^k is exact: 4 u");
const TANH: Bound = u(
    10.0,
    "|x| < 0.6 is exact; else t = ex2.approx 4 u, t + 1 one u more, rcp.approx 2 u: r differs by 7 u of r <= 0.24, so \
     1 - 2 r by 3.4 u + 1 u of rounding, of a value >= 0.53: 10 u",
);
const GELU_TANH: Bound = abs(
    32.0,
    "the argument of tanh is exact; tanh differs by 4.4 u (as tanh_f32), 1 + tanh by 2 u more; times |x| / 2 <= 3, and \
     two roundings of |y| <= 6: 3 x 6.4 u + 12 u = 32 u",
);
const GELU_ERF: Bound = abs(
    24.0,
    "the polynomial is exact; 1 - ex2.approx(p) with ex2 <= 0.16 differs by 4 u x 0.16 + 1 u, 1 + erf by 2 u more; times \
     |x| / 2 <= 3, and two roundings of |y| <= 6: 3 x 3.7 u + 12 u = 24 u",
);
const LG2_LN2: Bound = Bound::within(
    6.0 * U,
    4.0 * U,
    "lg2.approx: 2^-22 absolute in (0.5, 2), relative elsewhere, on both sides 4 u; times ln 2, one rounding: 0.69 x 5 u \
     absolute where |y| < 0.7, 5 u relative elsewhere",
);
const ATAN: Bound = u(
    8.0,
    "|x| <= 1 is exact; else rcp.approx 2 u of r < 1 goes through a polynomial of slope <= 1, 2 u of rounding, and is \
     taken from pi/2, one rounding more: 6 u absolute of a value >= 0.78",
);
const SOFTPLUS: Bound = u(
    10.0,
    "ex2.approx 4 u; log1p has relative condition <= 1, and its ten fused steps are within 2 ulp on each side, also \
     where the two sides fall into neighbouring intervals: 4 u + 4 u + rounding",
);

#[rustfmt::skip] // one row each
const ROWS: &[Row] = &[
    Row("relu_f32", -9.0, 9.0, NUMBER, NUMBER),
    Row("leaky_relu_f32", -9.0, 9.0, NUMBER, NUMBER),
    Row("sigmoid_f32", -80.0, 80.0,
        u(6.0, "ex2.approx 4 u, 1 + e one u, exactly rounded reciprocal one u: 6 u"),
        u(8.0, "ex2.approx 4 u, 1 + e one u, rcp.approx 2 u and its rounding: 8 u")),
    Row("silu_f32", -80.0, 80.0,
        u(6.0, "ex2.approx 4 u, 1 + e one u, exactly rounded quotient one u: 6 u"),
        u(9.0, "ex2.approx 4 u, 1 + e one u, div.approx 2 ulp on both sides 4 u: 9 u")),
    Row("tanh_f32", -11.0, 11.0, TANH, TANH),
    Row("gelu_tanh_f32", -6.0, 6.0, GELU_TANH, GELU_TANH),
    Row("gelu_erf_f32", -6.0, 6.0, GELU_ERF, GELU_ERF),
    Row("exp_f32", -86.0, 88.0, EXP, EXP),
    Row("exp2_f32", -125.0, 127.0,
        Bound::within(4.0 * U, SUBNORMAL, "ex2.approx 2 ulp on both sides: 4 u, also of subnormals"),
        u(4.0, "ex2.approx 2 ulp on both sides: 4 u")),
    Row("log_f32", 0.0, 9.0, NUMBER, LG2_LN2),
    Row("log1p_f32", -0.9, 9.0, NUMBER, NUMBER),
    Row("pow_f32", 0.016, 60.0,
        u(6.0, "the logarithm is a pair of floats, and the residual of rcp.approx's quotient is added to its low part, so \
                that 2 u of the reciprocal leave 2^-44; the reduced argument is then rounded (1 u), six fused steps of the \
                exponential follow (2 ulp on each side), and an exact scale: 1 u + 4 u + rounding"),
        u(56.0, "|lg2 x| <= 6: lg2.approx 4 u x 6, times 2.4 and rounded: 72 u absolute in the exponent, 50 u relative in \
                 the power; ex2.approx 4 u: 56 u")),
    Row("sin_f32", -6.2, 6.2, NUMBER, abs(12.0, "sin.approx.ftz 2^-20.5 absolute on both sides: 2^-19.5 = 11.4 u")),
    Row("cos_f32", -6.2, 6.2, NUMBER, abs(12.0, "cos.approx.ftz 2^-20.5 absolute on both sides: 2^-19.5 = 11.4 u")),
    Row("atan_f32", -9.0, 9.0, ATAN, ATAN),
    Row("softplus_f32", -60.0, 30.0, SOFTPLUS, SOFTPLUS),
    Row("fast_exp_f32", -86.0, 88.0,
        Bound::within(4.0 * U, SUBNORMAL, "ex2.approx 2 ulp on both sides: 4 u, also of subnormals"), EXP),
    Row("fast_log_f32", 0.001, 9.0, LG2_LN2, LG2_LN2),
    Row("fast_div_f32", -900.0, 900.0,
        Bound::within(4.0 * U, SUBNORMAL, "div.approx 2 ulp on both sides: 4 u"), u(4.0, "div.approx 2 ulp on both sides: 4 u")),
];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (module, fast) in [("activations", false), ("activations.fast", true)] {
        // The fast module repeats the kernels with other instructions: fewer shapes are enough.
        let shapes: &[usize] = if fast { &[1, 127, 257] } else { &ELEMENTS };
        for &n in shapes {
            let case = |kernel| Case::new(module, kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
            for &Row(kernel, low, high, plain, with_fast_math) in ROWS {
                let mut x = Random::of(kernel, n).f32s(n, low, high);
                for (x, odd) in x.iter_mut().skip(1).zip(odd(low)) {
                    *x = odd;
                }
                let bound = if fast { with_fast_math } else { plain };
                cases.push(case(kernel).input(&x).output::<f32>(n, bound));
            }
            let mut random = Random::of("pairs", n);
            let (x, dy) = (random.f32s(n, -9.0, 9.0), random.f32s(n, -9.0, 9.0));
            cases.push(case("relu_bwd_f32").input(&x).input(&dy).output::<f32>(n, Exact));
            let swiglu = match fast {
                false => u(7.0, "ex2.approx 4 u, 1 + e, the exact quotient and the product one u each: 7 u"),
                true => u(10.0, "ex2.approx 4 u, 1 + e one u, div.approx 4 u, the product one u: 10 u"),
            };
            cases.push(case("swiglu_f32").input(&x).input(&dy).output::<f32>(n, swiglu));
        }
    }
    // Angles far outside a period: the compiler's own argument reduction, in integers, is exact too.
    for kernel in ["sin_f32", "cos_f32"] {
        let mut x = Random::of("angles", 129).f32s(129, -2e6, 2e6);
        x[..6].copy_from_slice(&[1e30, -3e38, f32::INFINITY, f32::NAN, 1e-40, 105615.0]);
        let case = Case::new("activations", kernel, "n=129 large").over(129, BLOCK).scalar(129i32);
        cases.push(case.input(&x).output::<f32>(129, NUMBER));
    }
    cases
}

/// Numbers that every function here has an answer for within its bound; negative ones only where the range has them.
fn odd(low: f32) -> Vec<f32> {
    let mut odd = vec![0.0, f32::INFINITY, f32::NAN, 1.0, 0.5];
    if low < 0.0 {
        odd.extend([-0.0, -0.5]);
    }
    odd
}
