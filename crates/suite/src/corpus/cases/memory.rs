//! Memory: vectors, caching, shared and local memory, constants, generic pointers, parameters, ordering.

use super::super::Bound::Exact;
use super::super::Case;
use super::super::data::Random;
use super::{BLOCK, ELEMENTS};

pub fn cases() -> Vec<Case> {
    [vectors(), spaces(), parameters()].concat()
}

fn vectors() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in ELEMENTS {
        let mut random = Random::of("vector", n);
        let case = |kernel| Case::new("vector", kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        let mut copy = case("vector_copy");
        for bytes in [16, 8, 16, 4, 8, 16, 4] {
            copy = copy.input(&random.bytes(bytes * n)).output::<u8>(bytes * n, Exact);
        }
        cases.push(copy);
        let hints = case("vector_cache_hints").input(&random.f32s(12 * n, -9.0, 9.0)).output::<f32>(12 * n, Exact);
        let hints = hints.input(&random.f32s(n, -9.0, 9.0)).in_out(&random.f32s(2 * n, -9.0, 9.0), Exact);
        let hints = hints.input(&random.i32s(2 * n, i32::MIN, i32::MAX)).output::<i32>(n, Exact);
        cases.push(hints.input(&random.bytes(n)).output::<u8>(n, Exact));
        let pack = case("vector_pack").input(&random.longs(n)).input(&random.longs(n)).input(&random.words(n));
        let pack = pack.planes::<u32>(n, &[Exact; 5]).output::<u64>(n, Exact);
        let pack = pack.input(&random.bytes(16 * n)).output::<u8>(16 * n, Exact);
        let pack = pack.input(&random.bytes(8 * n)).output::<u8>(8 * n, Exact);
        cases.push(pack.scalars(&[1u8, 0, 3, 4, 5, 6, 7, 0]));
    }
    for (rows, cols) in [(0, 5), (1, 1), (31, 33), (32, 32), (37, 3)] {
        let x = Random::of("transpose", rows * cols).f32s(rows * cols, -9.0, 9.0);
        let grid = [(cols as u32).div_ceil(32).max(1), (rows as u32).div_ceil(32).max(1), 1];
        let case = Case::new("transpose", "transpose_f32", format!("{rows}x{cols}")).blocks(grid, [32, 8, 1]);
        cases.push(case.scalar(rows as i32).scalar(cols as i32).input(&x).output::<f32>(rows * cols, Exact));
    }
    cases
}

fn spaces() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, threads) in [(0, 32), (1, 64), (127, 128), (255, 256)] {
        let x = Random::of("shared_dynamic", n).f32s(n, -9.0, 9.0);
        let case = Case::new("shared", "shared_dynamic", format!("n={n}")).blocks([1, 1, 1], [threads, 1, 1]);
        cases.push(case.shared(13 * n).scalar(n as i32).input(&x).output::<f32>(n, Exact));
    }
    for (space, pick) in [("shared", 0i32), ("local", 1), ("global", 2)] {
        let x = Random::of("generic", 64).f32s(64, -9.0, 9.0);
        let case = Case::new("shared", "shared_generic_pointer", space).blocks([1, 1, 1], [64, 1, 1]);
        cases.push(case.scalar(64i32).input(&x).output::<f32>(64, Exact).scalar(pick));
    }
    for (h, w) in [(0, 0), (1, 1), (7, 5), (17, 33)] {
        let x = Random::of("conv", h * w).f32s(h * w, -9.0, 9.0);
        let grid = [(w as u32).div_ceil(16).max(1), (h as u32).div_ceil(4).max(1), 1];
        let case = Case::new("constant", "conv3x3_f32", format!("{h}x{w}")).blocks(grid, [16, 4, 1]);
        cases.push(case.scalar(h as i32).scalar(w as i32).input(&x).output::<f32>(h * w, Exact));
    }
    for n in ELEMENTS {
        let mut random = Random::of("lookup", n);
        let case = |module, kernel| Case::new(module, kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        let select = random.i32s(n, 0, 8);
        let lookup = case("constant", "constant_lookup").input(&select);
        cases.push(lookup.output::<f32>(n, Exact).output::<i32>(n, Exact));
        let x = random.i32s(n, i32::MIN, i32::MAX);
        cases.push(case("functions", "local_array").input(&x).output::<i32>(n, Exact));
    }
    cases
}

fn parameters() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in ELEMENTS {
        let x = Random::of("bounded", n).f32s(n, -9.0, 9.0);
        let case = Case::new("parameters", "bounded", format!("n={n}")).over(n, 128).scalar(n as i32);
        cases.push(case.in_out(&x, Exact));
    }
    let table = Random::of("big_parameter", 64).f32s(64, -9.0, 9.0);
    for (threads, offset) in [(1, 0), (64, 1), (96, 63)] {
        let shape = format!("threads={threads} offset={offset}");
        let case = Case::new("parameters", "big_parameter", shape).blocks([1, 1, 1], [threads, 1, 1]);
        cases.push(case.scalars(&table).scalar(offset).output::<f32>(threads as usize, Exact));
    }
    for (shape, sign) in [("positive", 1), ("negative", -1), ("mixed", 3)] {
        let case = Case::new("parameters", "mixed_parameters", shape);
        let case = case.scalar(sign as i8 * 40).scalar(sign as i16 * -300).scalar(sign * 70_000);
        let case =
            case.scalar(i64::from(sign) * 0x1_2345_6789).scalar(sign as f32 * 1.5).scalar(f64::from(sign) * -2.75e6);
        let case = case.scalar(u8::from(sign > 0)).scalar(200u8).scalars(&[1.0f32, 2.0, sign as f32]);
        cases.push(case.output::<i32>(10, Exact));
    }
    for (grid, block) in [([1, 1, 1], [1, 1, 1]), ([3, 2, 2], [5, 3, 2]), ([2, 1, 3], [33, 2, 1])] {
        let threads = grid.iter().chain(&block).product::<u32>() as usize;
        let shape = format!("{}x{}x{} of {}x{}x{}", grid[0], grid[1], grid[2], block[0], block[1], block[2]);
        let case = Case::new("parameters", "launch_shape", shape.clone()).blocks(grid, block);
        cases.push(case.output::<u64>(threads, Exact));
        cases.push(Case::new("parameters", "empty", shape).blocks(grid, block));
    }
    for (value, threads) in [(42, 1), (-1, 32), (7, 64)] {
        let shape = format!("threads={threads}");
        let case = Case::new("memory_model", "flag_handoff", shape.clone()).blocks([2, 1, 1], [threads, 1, 1]);
        let case = case.scalar(value).in_out(&[0i32], Exact).in_out(&[0i32], Exact);
        cases.push(case.output::<i32>(1, Exact));
        let total = 2 * threads as usize;
        let counters = Random::of("counters", total).words(total + 1);
        let case = Case::new("memory_model", "relaxed_counters", shape).blocks([2, 1, 1], [threads, 1, 1]);
        cases.push(case.in_out(&counters, Exact).in_out(&[5u64], Exact).output::<u32>(total, Exact));
    }
    cases
}
