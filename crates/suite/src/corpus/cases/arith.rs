//! f32 and f64 arithmetic: odd numbers against odd numbers, every rounding.

use super::super::Bound::Exact;
use super::super::bound::NUMBER;
use super::super::data::{Random, odd_f32_pairs, odd_f64_pairs};
use super::super::{Bound, Case};
use super::{BLOCK, ELEMENTS};

/// Enough for each odd f32 to meet each other one (17 x 17), and a prime.
const MANY: usize = 293;

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in ELEMENTS {
        let mut random = Random::of("saxpy", n);
        let (x, y) = odd_f32_pairs(&mut random, n);
        let case = |kernel, shape: &str| Case::new("saxpy", kernel, format!("n={n}{shape}")).over(n, BLOCK);
        let saxpy = |kernel| case(kernel, "").scalar(n as i32).scalar(2.5f32).input(&x).in_out(&y, NUMBER);
        cases.push(saxpy("saxpy_f32"));
        // A grid too small and one too large for the number of elements: the stride makes up for both.
        cases.push(saxpy("saxpy_stride_f32").blocks([1, 1, 1], [32, 1, 1]));
        let (x, y) = odd_f64_pairs(&mut random, n);
        cases.push(case("daxpy_f64", "").scalar(n as i32).scalar(-0.375f64).input(&x).in_out(&y, NUMBER));
        let (x, y) = (random.i32s(n, i32::MIN, i32::MAX), random.i32s(n, i32::MIN, i32::MAX));
        cases.push(case("iaxpy_i32", "").scalar(n as i32).scalar(-7i32).input(&x).in_out(&y, Exact));
    }
    for n in [0, 1, 127, MANY] {
        let mut random = Random::of("arith_f32", n);
        let (a, b) = odd_f32_pairs(&mut random, n);
        let case = |kernel| Case::new("arith_f32", kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        cases.push(case("arith_f32").input(&a).input(&b).planes::<f32>(n, &[NUMBER; 13]));
        cases.push(case("round_f32").input(&a).planes::<f32>(n, &[NUMBER; 5]));
        cases.push(case("compare_f32").input(&a).input(&b).planes::<u8>(n, &[Exact; 9]));
        for kernel in ["rounding_add_mul_fma_f32", "rounding_div_sqrt_rcp_f32"] {
            cases.push(case(kernel).input(&a).input(&b).planes::<f32>(n, &[NUMBER; 12]));
        }
    }
    for n in [0, 1, 127, 257] {
        let mut random = Random::of("arith_f64", n);
        let (a, b) = odd_f64_pairs(&mut random, n);
        let case = |kernel| Case::new("arith_f64", kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        cases.push(case("arith_f64").input(&a).input(&b).planes::<f64>(n, &[NUMBER; 13]));
        cases.push(case("rounding_f64").input(&a).input(&b).planes::<f64>(n, &[NUMBER; 9]));
        cases.push(case("compare_f64").input(&a).input(&b).planes::<u8>(n, &[Exact; 6]));
    }
    for n in ELEMENTS {
        // Odd numbers first, then what exp and log are usually asked for.
        let mut random = Random::of("math_f64", n);
        let mut x = odd_f64_pairs(&mut random, n.min(16)).0;
        x.extend(random.f64s(n - x.len(), -700.0, 700.0));
        let case = Case::new("arith_f64", "math_f64", format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        cases.push(case.input(&x).planes::<f64>(n, &[NUMBER, LOG_F64]));
    }
    cases
}

const LOG_F64: Bound = Bound::within(
    1.0 / (1u64 << 49) as f64,
    0.0,
    "log: one rcp.approx.ftz.f64 of 1 + m, whose 20 mantissa bits leave e <= 2^-18; the step r (1 + e + e^2) leaves \
     e^3 <= 2^-54. The quotient then differs by 2 units of 2^-52 (rounding of r and of the product), its residual is \
     added back, and the sum log(m) + k ln 2 is rounded twice more: 8 units of 2^-52",
);
