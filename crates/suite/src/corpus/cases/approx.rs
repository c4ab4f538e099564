//! Each approximate instruction alone against the manual's bound for it.

use super::super::bound::U;
use super::super::data::{ODD_F32, Random};
use super::super::{Bound, Case};
use super::{BLOCK, ELEMENTS};

/// Where results flush to zero: the smallest normal f32.
pub const FLUSH: f64 = f32::MIN_POSITIVE as f64;
/// Units in the last place where results may be subnormal: four of them.
pub const SUBNORMAL: f64 = 4.0 * 1.401298464324817e-45;

const EX2: &str = "PTX ISA, ex2.approx: 2 units in the last place, on both sides: 4 u";
const LG2: &str =
    "PTX ISA, lg2.approx: 2^-22 absolute for inputs in (0.5, 2), 2^-22 relative elsewhere, on both sides: 4 u";
const SIN: &str = "PTX ISA, sin.approx and cos.approx: 2^-20.5 absolute in [-2 pi, 2 pi], on both sides: 2^-19.5";
const RCP: &str = "PTX ISA, rcp.approx: 1 unit in the last place, on both sides: 2 u";
const SQRT: &str = "PTX ISA, sqrt.approx: 2^-23 relative, on both sides: 2 u";
const RSQRT: &str = "PTX ISA, rsqrt.approx: 2^-22.9 relative, on both sides: 2.15 u";
const TANH: &str = "PTX ISA, tanh.approx: 2^-11 relative, on both sides: 2^-10";
const DIV: &str =
    "PTX ISA, div.approx for divisors in [2^-126, 2^126] and div.full: 2 units in the last place, on both sides: 4 u";
const SEED: &str = "PTX ISA, rcp.approx.ftz.f64: 20 mantissa bits of the operand and of the result, so 2^-20 for each \
                    and as much for the table between them, on both sides: 6 x 2^-20 < 2^-17; rsqrt.approx.f64 at least as good";

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in ELEMENTS {
        let mut random = Random::of("approx", n);
        // Odd numbers, then what the instruction is for.
        let mut with_odd = |low: f32, high: f32, odd: &[u32]| {
            let mut x: Vec<f32> = odd.iter().take(n).map(|&bits| f32::from_bits(bits)).collect();
            let rest = random.f32s(n - x.len(), low, high);
            x.extend(rest);
            x
        };
        let case = |kernel| Case::new("approx", kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        let both = |rel: f64, why| [Bound::within(rel, SUBNORMAL, why), Bound::within(rel, FLUSH, why)];

        let x = with_odd(-125.0, 127.0, &ODD_F32);
        cases.push(case("ex2_f32").input(&x).planes::<f32>(n, &both(4.0 * U, EX2)));
        let x = with_odd(0.0, 40.0, &ODD_F32);
        cases.push(case("lg2_f32").input(&x).planes::<f32>(n, &[Bound::within(4.0 * U, 4.0 * U, LG2); 2]));
        let x = with_odd(-6.2, 6.2, &NEAR_ZERO);
        let sin = Bound::within(0.0, (-19.5f64).exp2(), SIN);
        cases.push(case("sin_cos_f32").input(&x).planes::<f32>(n, &[sin; 4]));
        let x = with_odd(-1000.0, 1000.0, &ODD_F32);
        cases.push(case("rcp_f32").input(&x).planes::<f32>(n, &both(2.0 * U, RCP)));
        let x = with_odd(0.0, 1e6, &ODD_F32);
        let (sqrt, rsqrt) = (both(2.0 * U, SQRT), both(2.15 * U, RSQRT));
        cases.push(case("sqrt_rsqrt_f32").input(&x).planes::<f32>(n, &[sqrt, rsqrt].concat()));
        let x = with_odd(-6.0, 6.0, &ODD_F32);
        let tanh = Bound::within((-10.0f64).exp2(), FLUSH, TANH);
        cases.push(case("tanh_approx_f32").input(&x).planes::<f32>(n, &[tanh]));
        let a = with_odd(-1e6, 1e6, &NEAR_ZERO);
        let b = with_odd(-1e3, 1e3, &DIVISORS);
        let div = both(4.0 * U, DIV);
        cases.push(case("div_f32").input(&a).input(&b).planes::<f32>(n, &[div, div].concat()));
        let mut x: Vec<f64> = [0.0, -0.0, f64::INFINITY, f64::NAN, 1.0, 1e300].into_iter().take(n).collect();
        let rest = random.f64s(n - x.len(), 1e-3, 1e6);
        x.extend(rest);
        let seed = Bound::within((-17.0f64).exp2(), 0.0, SEED);
        cases.push(case("rcp_rsqrt_f64").input(&x).planes::<f64>(n, &[seed; 2]));
    }
    cases
}

/// Zeros, infinities and NaN, and numbers inside [-2 pi, 2 pi].
const NEAR_ZERO: [u32; 9] =
    [0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0xbfc00000, 0x3f000000, 0x40490fdb];

/// Divisors inside the range that div.approx is defined for, with both ends, and infinity.
const DIVISORS: [u32; 9] =
    [0x3f800000, 0xbf800000, 0x40400000, 0x40000000, 0x40a00000, 0x00800000, 0x7e800000, 0x7f800000, 0xff800000];
