//! f16 and bf16, alone and in pairs: arithmetic, comparisons, conversions, sums in memory.

use super::super::Bound::Exact;
use super::super::Case;
use super::super::data::Random;
use super::{BLOCK, ELEMENTS};

/// Numbers that 16-bit floats of both kinds get wrong.
const ODD: [u16; 20] = [
    0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x007f, 0x8080, 0x3c00, 0xbc00, 0x3f80, 0x3555, 0x7bff, 0xfbff, 0x7c00,
    0xfc00, 0x7e00, 0x7f7f, 0x7f80, 0xff80, 0x7fc1,
];

/// Enough for each odd number to meet each other one, and a prime.
const MANY: usize = 409;

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [0, 1, 127, MANY] {
        let mut random = Random::of("halves", n);
        let pick = |at: usize, other: u64| match at < ODD.len() * ODD.len() {
            true => (ODD[at % ODD.len()], ODD[at / ODD.len()]),
            false => (other as u16, (other >> 16) as u16),
        };
        let (a, b): (Vec<u16>, Vec<u16>) = (0..n).map(|at| pick(at, random.next())).unzip();
        let c: Vec<u16> = (0..n).map(|at| ODD.get(at % 41).copied().unwrap_or(random.next() as u16)).collect();
        let case = |module, kernel| Case::new(module, kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        let three = |module, kernel| case(module, kernel).input(&a).input(&b).input(&c);
        cases.push(three("half", "half_arith").planes::<u16>(n, &[Exact; 12]));
        cases.push(three("bf16", "bf16_arith").planes::<u16>(n, &[Exact; 12]));
        cases.push(three("bf16", "half_extremes").planes::<u16>(n, &[Exact; 7]));
        cases.push(case("half", "half_compare").input(&a).input(&b).planes::<u16>(n, &[Exact; 3]));

        // f32 at and around the ties of both formats, and integers of all magnitudes.
        let near = |bits: u64| [0x0000, 0x1000, 0x0fff, 0x8000, 0x7fff, 0x1001][(bits % 6) as usize];
        let f: Vec<f32> = (0..n)
            .map(|at| (random.next() as u32 & 0xffff_2000, at, random.next()))
            .map(|(bits, at, other)| match at % 2 {
                0 => f32::from_bits((0x3300_0000 + (bits & 0x0fff_ffff) % 0x1480_0000) | near(other)),
                _ => f32::from_bits(bits | near(other)),
            })
            .collect();
        let v: Vec<i32> = (0..n).map(|_| (random.next() as i64 >> (32 + random.next() % 31)) as i32).collect();
        let convert = |module, kernel| case(module, kernel).input(&f).input(&v).input(&a);
        let half = convert("half", "half_convert").planes::<u16>(n, &[Exact; 9]).planes::<i32>(n, &[Exact; 2]);
        cases.push(half.output::<f32>(n, Exact));
        let brain = convert("bf16", "bf16_convert").planes::<u16>(n, &[Exact; 7]).output::<i32>(n, Exact);
        cases.push(brain.planes::<u32>(n, &[Exact; 3]));
    }
    for n in ELEMENTS {
        let mut random = Random::of("half atomics", n);
        // Small whole numbers: exact in both formats however they are added up.
        let whole = |random: &mut Random, format: Format| -> Vec<u16> {
            random.i32s(n, -1, 1).into_iter().map(|value| of_whole(value, format)).collect()
        };
        let pairs = |halves: &[u16]| -> Vec<u32> {
            halves.iter().map(|&half| u32::from(half) | u32::from(half ^ 0x8000) << 16).collect()
        };
        for (module, kernel, format) in [("half", "half_atomic", Format::F16), ("bf16", "bf16_atomic", Format::Bf16)] {
            let (a, b) = (whole(&mut random, format), whole(&mut random, format));
            let case = Case::new(module, kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
            let case = case.input(&a).input(&pairs(&b));
            cases.push(case.in_out(&[of_whole(2, format); 4], Exact).in_out(&[0u32; 3], Exact));
        }
    }
    for (rows, n) in [(1, 1), (3, 17), (37, 8)] {
        let mut random = Random::of("half products", rows * n);
        // Ordinary numbers, so that sums round and do not overflow.
        let ordinary = |random: &mut Random, count: usize, base: u32, range: u32| -> Vec<u32> {
            let one = |bits: u32| (base + bits % range) | bits & 0x8000;
            (0..count).map(|_| random.next()).map(|bits| one(bits as u32) | one((bits >> 32) as u32) << 16).collect()
        };
        for (module, kernel, base, range) in
            [("half", "half_dot", 0x3400, 0x0c00), ("bf16", "bf16_dot", 0x3e80, 0x0180)]
        {
            let (a, b) = (ordinary(&mut random, rows * n, base, range), ordinary(&mut random, rows * n, base, range));
            let case = Case::new(module, kernel, format!("rows={rows} n={n}")).over(rows, 32);
            let case = case.scalar(rows as i32).scalar(n as i32).input(&a).input(&b);
            cases.push(case.output::<u32>(rows, Exact));
        }
        let out = 19;
        let low = |words: Vec<u32>| words.into_iter().map(|word| word as u16).collect::<Vec<u16>>();
        let shape = format!("{rows}x{n} by {n}x{out}");
        let linear = |module, kernel| {
            let case = Case::new(module, kernel, shape.clone()).blocks([1, rows as u32, 1], [32, 1, 1]);
            case.scalar(rows as i32).scalar(n as i32).scalar(out as i32)
        };
        let x = low(ordinary(&mut random, rows * n, 0x3400, 0x0c00));
        let w = low(ordinary(&mut random, n * out, 0x3400, 0x0c00));
        let bias = low(ordinary(&mut random, out, 0x3400, 0x0c00));
        cases.push(linear("half", "half_linear").input(&x).input(&w).input(&bias).output::<u16>(rows * out, Exact));
        let x = low(ordinary(&mut random, rows * n, 0x3e80, 0x0180));
        let (w, bias) = (ordinary(&mut random, n * out, 0x3e80, 0x0180), ordinary(&mut random, out, 0x3e80, 0x0180));
        cases.push(linear("bf16", "bf16_linear").input(&x).input(&w).input(&bias).output::<u32>(rows * out, Exact));
    }
    cases
}

#[derive(Clone, Copy)]
enum Format {
    F16,
    Bf16,
}

/// -1, 0, 1 or 2.
fn of_whole(value: i32, format: Format) -> u16 {
    let (one, two) = match format {
        Format::F16 => (0x3c00, 0x4000),
        Format::Bf16 => (0x3f80, 0x4000),
    };
    match value {
        0 => 0,
        2 => two,
        -1 => one | 0x8000,
        _ => one,
    }
}
