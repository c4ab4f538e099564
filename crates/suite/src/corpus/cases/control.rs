//! Calls through pointers, recursion, branches by index, carry chains, and grids whose blocks wait for each other.

use super::super::Bound::Exact;
use super::super::Case;
use super::super::data::{Random, odd_i64_pairs};
use super::{BLOCK, ELEMENTS};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in ELEMENTS {
        let mut random = Random::of("control", n);
        let case = |module, kernel| Case::new(module, kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        let x = random.i32s(n, i32::MIN, i32::MAX);
        for kernel in ["indirect_calls", "recursion", "local_sort"] {
            cases.push(case("control", kernel).input(&x).output::<i32>(n, Exact));
        }
        cases.push(case("control", "assertions").input(&x).scalar(256i32).output::<i32>(n, Exact));
        cases.push(case("control", "indexed_branch").input(&random.words(n)).output::<u32>(n, Exact));

        let (a, b) = odd_i64_pairs(&mut random, 2 * n);
        let wide = |values: &[i64]| values.iter().map(|&value| value as u64).collect::<Vec<u64>>();
        cases.push(case("wide", "carry_128").input(&wide(&a)).input(&wide(&b)).planes::<u64>(n, &[Exact; 6]));
        let words = |values: &[i64]| values.iter().take(n).map(|&value| value as u32).collect::<Vec<u32>>();
        cases.push(case("wide", "carry_32").input(&words(&a)).input(&words(&b)).planes::<u32>(n, &[Exact; 8]));
        let picks = case("wide", "permute_shift").input(&random.words(n)).input(&random.words(n));
        cases.push(picks.input(&random.words(n)).planes::<u32>(n, &[Exact; 11]));
    }
    for (blocks, threads, n) in [(1, 32, 7), (5, 64, 1000), (16, 96, 4099)] {
        let x = Random::of("cooperative", n).i32s(n, -1000, 1000);
        let shape = format!("n={n} blocks={blocks}");
        let case = |kernel| {
            Case::new("cooperative", kernel, shape.clone()).blocks([blocks, 1, 1], [threads, 1, 1]).cooperative()
        };
        let sum = case("grid_sum").scalar(n as i32).input(&x).in_out(&vec![0i32; blocks as usize], Exact);
        cases.push(sum.in_out(&[0u32], Exact).output::<i32>(blocks as usize, Exact));
        let wave = case("grid_wave").scalar(n as i32).scalar(5i32).in_out(&x, Exact).in_out(&vec![0i32; n], Exact);
        cases.push(wave.in_out(&[0u32], Exact));
    }
    cases
}
