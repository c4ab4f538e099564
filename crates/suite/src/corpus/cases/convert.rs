//! Conversions between all pairs of types, all roundings, saturation.

use super::super::Bound::Exact;
use super::super::Case;
use super::super::bound::NUMBER;
use super::super::data::{ODD_F32, ODD_F64, ODD_I32, ODD_I64, Random};
use super::{BLOCK, ELEMENTS};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in ELEMENTS {
        let mut random = Random::of("convert", n);
        let (x, y) = (f32s(&mut random, n), f64s(&mut random, n));
        let a: Vec<i32> = (0..n).map(|at| ODD_I32.get(at).copied().unwrap_or(random.next() as i32)).collect();
        let b: Vec<i64> = (0..n).map(|at| ODD_I64.get(at).copied().unwrap_or(any_i64(&mut random))).collect();
        let case = |kernel| Case::new("convert", kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        cases.push(case("cvt_f32_to_i32").input(&x).planes::<i32>(n, &[Exact; 11]));
        cases.push(case("cvt_f32_to_i64").input(&x).planes::<i64>(n, &[Exact; 6]));
        cases.push(case("cvt_f32_to_small").input(&x).planes::<i32>(n, &[Exact; 6]));
        cases.push(case("cvt_f64_to_i32").input(&y).planes::<i32>(n, &[Exact; 6]));
        cases.push(case("cvt_f64_to_i64").input(&y).planes::<i64>(n, &[Exact; 7]));
        cases.push(case("cvt_int_to_f32").input(&a).input(&b).planes::<f32>(n, &[Exact; 16]));
        cases.push(case("cvt_int_to_f64").input(&a).input(&b).planes::<f64>(n, &[Exact; 9]));
        cases.push(case("cvt_f64_to_f32").input(&y).planes::<f32>(n, &[NUMBER; 6]));
        cases.push(case("cvt_to_f64").input(&x).input(&y).planes::<f64>(n, &[NUMBER; 6]));
        cases.push(case("cvt_f32_to_f32").input(&x).planes::<f32>(n, &[NUMBER; 7]));
        let integers = case("cvt_int_to_int").input(&a).input(&b);
        cases.push(integers.planes::<i32>(n, &[Exact; 12]).planes::<i64>(n, &[Exact; 3]));
    }
    cases
}

/// Odd numbers, halves on both sides of integers, and numbers of all magnitudes that integers can have.
fn f32s(random: &mut Random, n: usize) -> Vec<f32> {
    let pick = |at: usize| match at {
        _ if at < ODD_F32.len() => f32::from_bits(ODD_F32[at]),
        _ if at < ODD_F32.len() + 16 => (at - ODD_F32.len()) as f32 * 0.5 - 4.0,
        _ => (random.next() as i64 >> (random.next() % 63)) as f32 * 0.25,
    };
    (0..n).map(pick).collect()
}

/// As [`f32s`], in double precision, with numbers between two f32.
fn f64s(random: &mut Random, n: usize) -> Vec<f64> {
    let pick = |at: usize| match at {
        _ if at < ODD_F64.len() => f64::from_bits(ODD_F64[at]),
        _ if at < ODD_F64.len() + 16 => (at - ODD_F64.len()) as f64 * 0.5 - 4.0,
        _ if at.is_multiple_of(2) => f64::from(random.next() as i32) * 1.000000119,
        _ => (random.next() as i64 >> (random.next() % 63)) as f64 * 0.25,
    };
    (0..n).map(pick).collect()
}

fn any_i64(random: &mut Random) -> i64 {
    random.next() as i64 >> (random.next() % 60)
}
