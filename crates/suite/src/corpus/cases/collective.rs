//! What threads do together: reductions, scans, shuffles, votes, atomics, barriers, locks.

use super::super::Bound::Exact;
use super::super::Case;
use super::super::data::Random;
use super::{BLOCK, ELEMENTS};

pub fn cases() -> Vec<Case> {
    [reductions(), warps(), atomics(), barriers()].concat()
}

fn reductions() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [0, 1, 255, 257, 1021] {
        let mut random = Random::of("reduce", n);
        let case = |kernel| Case::new("reduce", kernel, format!("n={n}")).scalar(n as i32);
        let x = random.f32s(n, -4.0, 4.0);
        // Two blocks, whatever n: the loops over the grid run several times, or for some threads never.
        for (kernel, block) in [("reduce_sum_f32", 64), ("reduce_max_f32", 256), ("reduce_sum_shfl_f32", 96)] {
            cases.push(case(kernel).blocks([2, 1, 1], [block, 1, 1]).input(&x).output::<f32>(2, Exact));
        }
        let whole = random.whole_f32s(n, 50);
        cases.push(case("reduce_sum_atomic_f32").over(n, BLOCK).input(&whole).in_out(&[3.0f32], Exact));
        let last = case("reduce_last_block_f32").over(n, 256).input(&x);
        let blocks = last.geometry.grid[0] as usize;
        cases.push(last.output::<f32>(blocks, Exact).in_out(&[0u32], Exact).output::<f32>(1, Exact));

        let case = |kernel, block| Case::new("scan", kernel, format!("n={n}")).over(n, block).scalar(n as i32);
        cases.push(case("scan_shared_f32", 256).input(&x).output::<f32>(n, Exact));
        let x = random.i32s(n, i32::MIN, i32::MAX);
        let scan = case("scan_shfl_i32", 96).input(&x);
        let blocks = scan.geometry.grid[0] as usize;
        cases.push(scan.output::<i32>(n, Exact).output::<i32>(blocks, Exact));
    }
    cases
}

fn warps() -> Vec<Case> {
    let mut cases = Vec::new();
    for (blocks, source) in [(1, 0), (2, 31), (3, 37)] {
        let mut random = Random::of("warp", blocks);
        let case = |module, kernel| {
            Case::new(module, kernel, format!("blocks={blocks}")).blocks([blocks as u32, 1, 1], [32, 1, 1])
        };
        let doubles = random.f64s(32 * blocks, -1e3, 1e3);
        cases.push(case("warp", "warp_reduce_f64").input(&doubles).output::<f64>(blocks, Exact));
        let x = random.i32s(32 * blocks, i32::MIN, i32::MAX);
        let shuffles = case("warp", "warp_shuffles").input(&x);
        cases.push(shuffles.output::<i32>(256 * blocks, Exact).scalar(source));
        cases.push(case("warp", "warp_shuffle_in_range").input(&x).output::<i32>(64 * blocks, Exact));
        cases.push(case("warp", "warp_votes").input(&x).output::<u32>(192 * blocks, Exact));
        cases.push(case("warp", "warp_match").input(&x).output::<u32>(128 * blocks, Exact));
        cases.push(case("warp", "warp_identity").output::<u32>(224 * blocks, Exact));
        cases.push(case("redux", "warp_redux").input(&x).output::<i32>(8 * blocks, Exact));
    }
    // All lanes alike: votes and matches have their other answer.
    let x = [5i32; 32];
    let case = |module, kernel| Case::new(module, kernel, "alike").blocks([1, 1, 1], [32, 1, 1]).input(&x);
    cases.push(case("warp", "warp_votes").output::<u32>(192, Exact));
    cases.push(case("warp", "warp_match").output::<u32>(128, Exact));
    cases.push(case("redux", "warp_redux").output::<i32>(8, Exact));
    cases
}

fn atomics() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in ELEMENTS {
        let mut random = Random::of("atomics", n);
        let case = |kernel| Case::new("atomics", kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        let x = random.i32s(n, i32::MIN, i32::MAX);
        let unused = case("atomics_unused").input(&x).in_out(&[1i32, 2, 3, 4, -1, 6, 7, 8], Exact);
        let unused = unused.in_out(&[9u32, 10, u32::MAX, 0, 12, 13], Exact);
        cases.push(unused.in_out(&[1u64, 2, 3, 4, 5, u64::MAX], Exact));
        // Small numbers, so that compare-and-swap meets its value and wrapping counters their limit.
        let small = random.i32s(n, -40, 40);
        let used = case("atomics_used").input(&small).in_out(&random.i32s(12 * n, 0, 40), Exact);
        let longs: Vec<u64> = (0..4 * n).map(|at| [7 << 32, 5, 1, u64::MAX][at % 4]).collect();
        let used = used.in_out(&longs, Exact).in_out(&random.whole_f32s(2 * n, 99), Exact);
        let doubles: Vec<f64> = random.whole_f32s(n, 99).into_iter().map(f64::from).collect();
        cases.push(used.in_out(&doubles, Exact).planes::<i32>(n, &[Exact; 19]));
        let whole = random.whole_f32s(n, 64);
        cases.push(case("atomics_float").input(&whole).in_out(&[0.5f32], Exact).in_out(&[0.25f64], Exact));
        cases.push(case("histogram_u32").input(&random.words(n)).in_out(&[1u32; 16], Exact));
        let x = random.f32s(n, -50.0, 50.0);
        cases.push(case("atomic_cas_max_f32").input(&x).in_out(&[f32::NEG_INFINITY], Exact));
    }
    for (blocks, threads) in [(1, 1), (2, 33), (3, 128)] {
        let shape = format!("blocks={blocks} threads={threads}");
        let case = |kernel| Case::new("atomics", kernel, shape.clone()).blocks([blocks, 1, 1], [threads, 1, 1]);
        let scoped = case("atomics_scoped").in_out(&[10i32, 20], Exact);
        cases.push(scoped.in_out(&vec![1.0f32; blocks as usize], Exact));
        cases.push(case("spin_lock_per_block").in_out(&[0i32], Exact).in_out(&[100i32], Exact));
        cases.push(case("spin_lock_per_lane").in_out(&[0i32], Exact).in_out(&[100i32], Exact));
    }
    cases
}

fn barriers() -> Vec<Case> {
    let mut cases = Vec::new();
    for (blocks, threads) in [(1usize, 32usize), (2, 96), (3, 256)] {
        let mut random = Random::of("barriers", blocks);
        let shape = format!("blocks={blocks} threads={threads}");
        let case = |kernel, threads| {
            Case::new("barriers", kernel, shape.clone()).blocks([blocks as u32, 1, 1], [threads as u32, 1, 1])
        };
        let x = random.i32s(blocks * threads, -2, 11);
        cases.push(case("barrier_votes", threads).input(&x).output::<i32>(3 * blocks, Exact));
        cases.push(case("barrier_warp", threads).in_out(&x, Exact));
        let x = random.f32s(32 * blocks, -9.0, 9.0);
        cases.push(case("barrier_named", 64).input(&x).output::<f32>(32 * blocks, Exact));
    }
    for n in [0, 1, 127, 255] {
        let x = Random::of("early_exit", n).i32s(n, -50, 50);
        let case = Case::new("barriers", "barrier_early_exit", format!("n={n}")).blocks([1, 1, 1], [256, 1, 1]);
        cases.push(case.scalar(n as i32).input(&x).output::<i32>(n, Exact));
    }
    cases
}
