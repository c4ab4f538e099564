//! Matrix products: the order of the sums is in the PTX, every step fused, so the bits are too.

use super::super::Bound::Exact;
use super::super::Case;
use super::super::data::Random;

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (m, n, k) in [(0, 3, 4), (1, 1, 1), (5, 3, 0), (15, 17, 16), (33, 31, 7)] {
        let mut random = Random::of("matmul", m * 100 + n * 10 + k);
        let (a, b) = (random.f32s(m * k, -2.0, 2.0), random.f32s(k * n, -2.0, 2.0));
        for (kernel, tile) in [("matmul_naive_f32", [8u32, 4]), ("matmul_tiled_f32", [16, 16])] {
            let grid = [(n as u32).div_ceil(tile[0]).max(1), (m as u32).div_ceil(tile[1]).max(1), 1];
            let case = Case::new("matmul", kernel, format!("{m}x{n}x{k}")).blocks(grid, [tile[0], tile[1], 1]);
            let case = case.scalar(m as i32).scalar(n as i32).scalar(k as i32);
            cases.push(case.input(&a).input(&b).output::<f32>(m * n, Exact));
        }
    }
    for (m, n, k) in [(64, 64, 0), (64, 64, 16), (64, 128, 32)] {
        let mut random = Random::of("matmul_reg4x4", m + n + k);
        // Few different numbers: the recording stays small, and every product still counts.
        let (a, b) = (random.f32s(m * k, -2.0, 2.0), random.f32s(k * n, -2.0, 2.0));
        let grid = [n as u32 / 64, m as u32 / 64, 1];
        let case = Case::new("matmul", "matmul_reg4x4_f32", format!("{m}x{n}x{k}")).blocks(grid, [16, 16, 1]);
        let case = case.scalar(m as i32).scalar(n as i32).scalar(k as i32);
        cases.push(case.input(&a).input(&b).output::<f32>(m * n, Exact));
    }
    for (rows, cols) in [(0, 8), (1, 1), (3, 31), (5, 33), (2, 127)] {
        let mut random = Random::of("matvec", rows * 1000 + cols);
        let case = |kernel, shape| Case::new("matvec", kernel, shape).over(32 * rows, 64).scalar(rows as i32);
        let (w, x) = (random.f32s(rows * cols, -2.0, 2.0), random.f32s(cols, -2.0, 2.0));
        let f32s = case("matvec_f32", format!("{rows}x{cols}")).scalar(cols as i32);
        cases.push(f32s.input(&w).input(&x).output::<f32>(rows, Exact));
        let cols = 4 * cols;
        let (w, scale, x) = (random.bytes(rows * cols), random.f32s(rows, 0.0, 0.1), random.f32s(cols, -2.0, 2.0));
        let bytes = case("matvec_i8", format!("{rows}x{cols}")).scalar(cols as i32);
        cases.push(bytes.input(&w).input(&scale).input(&x).output::<f32>(rows, Exact));
    }
    for (n, inputs, outputs) in [(1, 1, 1), (2, 0, 3), (3, 17, 5), (2, 33, 129)] {
        let mut random = Random::of("linear", n * 10000 + inputs * 100 + outputs);
        let mut floats = |elements: usize| random.f32s(elements, -1.0, 1.0);
        let (x, w, b, dy) = (floats(n * inputs), floats(outputs * inputs), floats(outputs), floats(n * outputs));
        let (dw, db) = (floats(outputs * inputs), floats(outputs));
        let case = |kernel, wide: usize, high: usize| {
            let grid = [(wide as u32).div_ceil(32).max(1), high as u32, 1];
            let case = Case::new("linear", kernel, format!("{n}x{inputs}x{outputs}")).blocks(grid, [32, 1, 1]);
            case.scalar(n as i32).scalar(inputs as i32).scalar(outputs as i32)
        };
        let forward = case("linear_fwd_f32", outputs, n).input(&x).input(&w);
        // One shape goes without a bias: the pointer is null then.
        let forward = if n == 3 { forward.null() } else { forward.input(&b) };
        cases.push(forward.output::<f32>(n * outputs, Exact));
        cases.push(case("linear_bwd_x_f32", inputs, n).input(&dy).input(&w).output::<f32>(n * inputs, Exact));
        let weights = case("linear_bwd_w_f32", inputs, outputs).input(&dy).input(&x);
        cases.push(weights.in_out(&dw, Exact).in_out(&db, Exact));
    }
    cases
}
