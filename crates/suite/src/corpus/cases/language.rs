//! What the language has besides arithmetic: conditions, calls, loops that diverge, switches.

use super::super::Bound::Exact;
use super::super::Case;
use super::super::data::{Random, odd_f32_pairs, odd_f64_pairs, odd_i32_pairs, odd_i64_pairs};
use super::{BLOCK, ELEMENTS};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in ELEMENTS {
        let mut random = Random::of("language", n);
        let case = |module, kernel| Case::new(module, kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        let (a, b) = odd_i32_pairs(&mut random, n);
        let (c, d) = odd_i64_pairs(&mut random, n);
        let comparisons = case("predicates", "comparisons").input(&a).input(&b).input(&c).input(&d);
        cases.push(comparisons.planes::<i32>(n, &[Exact; 4]));
        let near: Vec<i32> = random.i32s(n, -3, 12);
        let longs: Vec<i64> = random.i32s(n, 4, 6).into_iter().map(i64::from).collect();
        let (floats, doubles) = (odd_f32_pairs(&mut random, n).0, odd_f64_pairs(&mut random, n).0);
        let predicates = case("predicates", "predicates").input(&near).input(&floats).input(&doubles).input(&longs);
        cases.push(predicates.planes::<i32>(n, &[Exact; 8]));

        let x = random.f32s(n, -1.5, 1.5);
        let calls = case("functions", "call_functions").input(&x);
        cases.push(calls.output::<f32>(n, Exact).output::<i32>(n, Exact));
        cases.push(case("functions", "divergent_loop").input(&random.words(n)).output::<i32>(n, Exact));
        cases.push(case("functions", "dense_switch").input(&a).output::<i32>(n, Exact));
    }
    cases
}
