//! Integers of all widths: wrapping, signs, shifts beyond the width, bit fields.

use super::super::Bound::Exact;
use super::super::Case;
use super::super::data::{Random, odd_i32_pairs, odd_i64_pairs};
use super::{BLOCK, ELEMENTS};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [0, 1, 127, 149] {
        let mut random = Random::of("integer", n);
        let case = |kernel| Case::new("integer", kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        let (a, b) = odd_i32_pairs(&mut random, n);
        cases.push(case("int_s32").input(&a).input(&b).planes::<i32>(n, &[Exact; 16]));
        cases.push(case("int_u32").input(&a).input(&b).planes::<u32>(n, &[Exact; 12]));
        cases.push(case("int_dp4a").input(&a).input(&b).planes::<i32>(n, &[Exact; 4]));
        cases.push(case("int_mad").input(&a).input(&b).planes::<i64>(n, &[Exact; 4]).planes::<i32>(n, &[Exact; 3]));
        // Division by zero and of the least number by -1 have no defined result.
        let divisors: Vec<i32> =
            a.iter().zip(&b).map(|(&a, &b)| if b == 0 || (a, b) == (i32::MIN, -1) { 3 } else { b }).collect();
        cases.push(case("int_div_rem_32").input(&a).input(&divisors).planes::<i32>(n, &[Exact; 8]));

        let (a, b) = odd_i64_pairs(&mut random, n);
        let divisors: Vec<i64> =
            a.iter().zip(&b).map(|(&a, &b)| if b == 0 || (a, b) == (i64::MIN, -1) { -3 } else { b }).collect();
        cases.push(case("int_64").input(&a).input(&divisors).planes::<i64>(n, &[Exact; 16]));
    }
    for n in ELEMENTS {
        let mut random = Random::of("bits", n);
        let case = |kernel| Case::new("integer", kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        let (x, y) = (random.words(n), random.longs(n));
        // Amounts at, around and far beyond the width.
        const AMOUNTS: [u32; 13] = [0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 0x7fffffff, 0x80000000, 0xffffffff];
        let amounts: Vec<u32> = (0..n).map(|at| AMOUNTS[at % AMOUNTS.len()]).collect();
        let shifts = case("int_shifts").input(&x).input(&amounts).input(&y);
        cases.push(shifts.planes::<u32>(n, &[Exact; 3]).planes::<u64>(n, &[Exact; 3]));
        // Positions and lengths are defined up to 255 (PTX ISA, bfe).
        const FIELDS: [u32; 11] = [0, 1, 4, 8, 17, 31, 32, 33, 64, 200, 255];
        let field = |at: usize| FIELDS[at % FIELDS.len()];
        let positions: Vec<u32> = (0..n).map(field).collect();
        let lengths: Vec<u32> = (0..n).map(|at| field(at / FIELDS.len())).collect();
        let mut x = x;
        x.iter_mut().step_by(13).for_each(|x| *x = 0);
        x.iter_mut().skip(1).step_by(17).for_each(|x| *x = u32::MAX);
        let fields = case("int_bitfields").input(&x).input(&positions).input(&lengths);
        cases.push(fields.planes::<u32>(n, &[Exact; 9]));
        let (a, b) = (random.bytes(n), random.i32s(n, -32768, 32767));
        let b: Vec<i16> = b.iter().map(|&b| b as i16).collect();
        let small = case("int_small").input(&a).input(&b);
        cases.push(small.planes::<i8>(n, &[Exact; 2]).planes::<u16>(n, &[Exact; 3]));
    }
    cases
}
