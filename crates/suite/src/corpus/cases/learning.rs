//! Kernels of neural networks: softmax, normalisation, attention, losses, recurrent cells, optimisers, random numbers.

use super::super::Bound::{self, Exact};
use super::super::Case;
use super::super::bound::{NUMBER, U};
use super::super::data::Random;
use super::approx::FLUSH;
use super::{BLOCK, ELEMENTS};

pub fn cases() -> Vec<Case> {
    [softmax(), norms(), attention(), tokens(), cells(), random_numbers()].concat()
}

const SOFTMAX: Bound = Bound::within(
    26.0 * U,
    FLUSH,
    "each exponential ex2.approx 4 u; their sum 4 u + 1 u for each of at most 2 + 8 additions in a row = 14 u; its \
     reciprocal 1 u (rcp.approx: 2 u); exponential times reciprocal 4 u + 1 u more: 21 u",
);
const SOFTMAX_ONLINE: Bound = Bound::within(
    80.0 * U,
    FLUSH,
    "each of at most 5 steps over the columns multiplies by ex2.approx (4 u) and adds (1 u), each of 5 shuffle steps the \
     same with one rounding more: 25 u + 30 u, and 4 u of the first term; the quotient has another exponential, 4 u, \
     and is rounded (div.approx: 4 u): 71 u",
);

fn softmax() -> Vec<Case> {
    let mut cases = Vec::new();
    for module in ["softmax", "softmax.fast"] {
        for (rows, cols) in [(1, 0), (2, 1), (1, 255), (2, 257)] {
            let x = Random::of("softmax", cols).f32s(rows * cols, -8.0, 8.0);
            let case = Case::new(module, "softmax_block_f32", format!("{rows}x{cols}"));
            let case = case.blocks([rows as u32, 1, 1], [256, 1, 1]).scalar(cols as i32);
            cases.push(case.input(&x).output::<f32>(rows * cols, SOFTMAX));
        }
        for (rows, cols) in [(0, 3), (2, 1), (3, 31), (2, 33), (1, 127)] {
            let mut random = Random::of("softmax_warp", cols);
            let x = random.f32s(rows * cols, -8.0, 8.0);
            let case = Case::new(module, "softmax_online_warp_f32", format!("{rows}x{cols}")).over(32 * rows, 64);
            let case = case.scalar(rows as i32).scalar(cols as i32);
            cases.push(case.input(&x).output::<f32>(rows * cols, SOFTMAX_ONLINE));
            if module == "softmax" && rows > 0 {
                let (y, dy) = (random.f32s(rows * cols, 0.0, 1.0), random.f32s(rows * cols, -1.0, 1.0));
                let case = Case::new(module, "softmax_bwd_f32", format!("{rows}x{cols}"));
                let case = case.blocks([rows as u32, 1, 1], [32, 1, 1]).scalar(cols as i32);
                cases.push(case.input(&y).input(&dy).output::<f32>(rows * cols, Exact));
            }
        }
    }
    cases
}

const RMSNORM: Bound = Bound::within(
    5.0 * U,
    FLUSH,
    "the sum of squares and the mean are exact; rsqrt.approx 2^-22.9 on both sides 2.15 u; two products: 2 u",
);
const RMSNORM_FAST: Bound = Bound::within(
    8.0 * U,
    FLUSH,
    "div.approx 4 u and + eps 1 u, halved by the root: 2.5 u; rsqrt.approx 2.15 u; two products 2 u: 6.7 u",
);
const LAYERNORM_FAST: Bound = Bound::within(
    0.0,
    80.0 * U,
    "x in [0, 4], so |x - mean| <= 3 with spread >= 0.8: div.approx moves the mean by 4 u x 2.5, x - mean by that and 3 u \
     of rounding = 13 u; the mean square moves by 2 x 13 u / 0.8 = 33 u relative, 10 u for its additions, 4 u for div.approx, \
     1 u for eps: halved by the root 24 u, rsqrt.approx 2.15 u: r <= 1.25 by 27 u. (x - mean) r g then moves by 13 u x 1.25 + \
     3 x 27 u x 1.25 / 3 (|x - mean| r <= 2) = 16 u + 54 u, and 3 roundings of values <= 3 = 9 u: 79 u",
);
const LAYERNORM_FAST_STATS: Bound = Bound::within(
    27.0 * U,
    10.0 * U,
    "div.approx 4 u of the mean <= 2.5; the inverse deviation by 27 u as derived for the rows",
);

fn norms() -> Vec<Case> {
    let mut cases = Vec::new();
    for (module, fast) in [("norm", false), ("norm.fast", true)] {
        for (rows, cols) in [(1, 0), (2, 4), (1, 124), (2, 132)] {
            let mut random = Random::of("rmsnorm", cols);
            let (x, g) = (random.f32s(rows * cols, -2.0, 2.0), random.f32s(cols, 0.5, 2.0));
            let case = Case::new(module, "rmsnorm_f32", format!("{rows}x{cols}")).shared(8);
            let case = case.blocks([rows as u32, 1, 1], [64, 1, 1]).scalar(cols as i32).scalar(1e-5f32);
            let bound = if fast { RMSNORM_FAST } else { RMSNORM };
            cases.push(case.input(&x).input(&g).output::<f32>(rows * cols, bound));
        }
        // With one column the deviation is zero, and the fast quotient's error would be all there is.
        let shapes = if fast { [(1, 0), (1, 64), (2, 127), (1, 129)] } else { [(1, 0), (2, 1), (2, 31), (1, 129)] };
        for (rows, cols) in shapes {
            let mut random = Random::of("layernorm", cols);
            let x = random.f32s(rows * cols, 0.0, 4.0);
            let (g, b) = (random.f32s(cols, -1.0, 1.0), random.f32s(cols, -1.0, 1.0));
            let case = Case::new(module, "layernorm_f32", format!("{rows}x{cols}"));
            let case = case.blocks([rows as u32, 1, 1], [32, 1, 1]).scalar(cols as i32).scalar(1e-5f32);
            let (y, stats) = if fast { (LAYERNORM_FAST, LAYERNORM_FAST_STATS) } else { (NUMBER, NUMBER) };
            let case = case.input(&x).input(&g).input(&b);
            cases.push(case.output::<f32>(rows * cols, y).output::<f32>(2 * rows, stats));
        }
    }
    cases
}

const ATTENTION: Bound = Bound::within(
    0.0,
    256.0 * U,
    "|score| <= sqrt(64) = 8: rsqrt.approx and one product move it by 3.15 u x 8 = 25 u, score - max by 50 u + 16 u of \
     rounding, its exponential by as much relative + ex2.approx 4 u = 70 u; |v| <= 1, so numerator and denominator move by \
     70 u and 1 u an addition (at most 40 and 8) each relative to the sum, the quotient 1 u: 70 + 40 + 70 + 8 + 1 = 189 u",
);
const ROPE: Bound = Bound::within(
    0.0,
    704.0 * U,
    "powf 4 u (as pow_f32 of the activations, base exact), times a position < 64 rounded: the angle moves by at most 64 x 5 u \
     = 320 u, sine and cosine by that + 4 u each; both enter with |x| <= 1: 2 x 324 u, and 3 roundings of values <= 2: 654 u",
);

fn attention() -> Vec<Case> {
    let mut cases = Vec::new();
    let (heads, kv_heads, dim, max_len) = (4, 2, 64, 40);
    for len in [0, 1, 31, 40] {
        let mut random = Random::of("attention", len);
        let case = Case::new("attention", "attention_decode_f32", format!("len={len}"));
        let case = case.blocks([heads as u32, 1, 1], [64, 1, 1]).shared((max_len + 32) * 4);
        let case = case.scalar(heads as i32).scalar(kv_heads as i32).scalar(dim as i32).scalar(max_len as i32);
        let cache = max_len * kv_heads * dim;
        let case = case.input(&[len as i32]).input(&random.f32s(heads * dim, -1.0, 1.0));
        let case = case.input(&random.f32s(cache, -1.0, 1.0)).input(&random.f32s(cache, -1.0, 1.0));
        cases.push(case.output::<f32>(heads * dim, ATTENTION));
    }
    for (kv_dim, len, max_len) in [(0, 0, 2), (1, 1, 2), (33, 2, 3), (129, 3, 3)] {
        let mut random = Random::of("kv_append", kv_dim);
        let case = Case::new("attention", "kv_append_f32", format!("dim={kv_dim} at {len} of {max_len}"));
        let case = case.blocks([1, 1, 1], [64, 1, 1]).scalar(kv_dim as i32).scalar(max_len);
        let case =
            case.in_out(&[len], Exact).input(&random.f32s(kv_dim, -1.0, 1.0)).input(&random.f32s(kv_dim, -1.0, 1.0));
        let cache = random.f32s(kv_dim * max_len as usize, -1.0, 1.0);
        cases.push(case.in_out(&cache, Exact).in_out(&cache, Exact));
    }
    for (tokens, heads, dim) in [(1, 1, 2), (3, 2, 14), (2, 3, 66)] {
        let mut random = Random::of("rope", dim);
        let positions = random.i32s(tokens, 0, 63);
        let x = random.f32s(tokens * heads * dim, -1.0, 1.0);
        let case = |kernel| {
            let case = Case::new("rope", kernel, format!("{tokens}x{heads}x{dim}"));
            let case = case.blocks([tokens as u32, heads as u32, 1], [64, 1, 1]);
            case.scalar(heads as i32).scalar(dim as i32).input(&positions)
        };
        cases.push(case("rope_f32").scalar(10000.0f32).in_out(&x, ROPE));
        let table = random.f32s(64 * dim, -1.0, 1.0);
        cases.push(case("rope_table_f32").input(&table).in_out(&x, Exact));
    }
    cases
}

const CROSS_ENTROPY: Bound = Bound::within(
    0.0,
    128.0 * U,
    "ex2.approx 4 u, at most 2 + 7 additions: the sum moves by 13 u relative, its logarithm by 13 u absolute and, within 2 ulp \
     on each side of a value <= 7, 28 u; max + log is rounded, |.| <= 16: 16 u; minus the logit, |.| <= 24: 24 u: 81 u",
);
const CROSS_ENTROPY_BWD: Bound = Bound::within(
    0.0,
    7.0 * U,
    "p < 1 by ex2.approx 4 u, p - 1 rounded 1 u, exactly rounded quotient 1 u of a value <= 1: 6 u",
);

/// Embeddings and losses.
fn tokens() -> Vec<Case> {
    let mut cases = Vec::new();
    let (rows, dim) = (10, 33);
    for n in [0, 1, 7, 13] {
        let mut random = Random::of("embedding", n);
        let indices: Vec<i64> = random.i32s(n, 0, rows as i32 - 1).into_iter().map(i64::from).collect();
        let case = |kernel| {
            let case = Case::new("embedding", kernel, format!("n={n}")).blocks([n.max(1) as u32, 1, 1], [32, 1, 1]);
            case.scalar(n as i32).scalar(dim as i32)
        };
        let table = random.f32s(rows * dim, -1.0, 1.0);
        cases.push(case("embedding_f32").input(&indices).input(&table).output::<f32>(n * dim, Exact));
        let (dout, dtable) = (random.whole_f32s(n * dim, 30), random.whole_f32s(rows * dim, 30));
        let gradient = case("embedding_bwd_f32").scalar(3i64).input(&indices).input(&dout);
        cases.push(gradient.in_out(&dtable, Exact));
    }
    for (rows, cols) in [(1, 1), (2, 127), (3, 129), (1, 257)] {
        let mut random = Random::of("cross_entropy", cols);
        let shape = format!("{rows}x{cols}");
        let (logits, target) = (random.f32s(rows * cols, -8.0, 8.0), random.i32s(rows, 0, cols as i32 - 1));
        let case = Case::new("cross_entropy", "cross_entropy_f32", shape.clone());
        let case = case.blocks([rows as u32, 1, 1], [128, 1, 1]).scalar(cols as i32).input(&logits).input(&target);
        cases.push(case.output::<f32>(rows, CROSS_ENTROPY).output::<f32>(rows, CROSS_ENTROPY));
        let case = Case::new("cross_entropy", "cross_entropy_bwd_f32", shape);
        let grid = [(cols as u32).div_ceil(64), rows as u32, 1];
        let case = case.blocks(grid, [64, 1, 1]).scalar(rows as i32).scalar(cols as i32);
        let case = case.input(&logits).input(&target).input(&random.f32s(rows, 8.5, 12.0));
        cases.push(case.output::<f32>(rows * cols, CROSS_ENTROPY_BWD));
    }
    cases
}

const GRU: Bound = Bound::within(
    0.0,
    72.0 * U,
    "both gates 6 u (as sigmoid_f32), <= 1; the argument of tanh moves by |q| <= 4 times 6 u and 8 u of rounding = 32 u, \
     tanh (slope <= 1) by that + 5 u (as tanh_f32), also where the two sides fall into its two intervals; (1 - z) n + z h with \
     |h| <= 1 by 6 u + 37 u + 6 u and 4 u of rounding: 53 u",
);
const ADAM: Bound = Bound::within(
    0.0,
    4.0 * U,
    "at step 7: powf 4 u; 1 - 0.999^7 = 0.007 by 715 u relative, its quotient's root by 360 u; 1 - 0.9^7 = 0.52 by 5 u; the \
     ratio <= 2 by 370 u, times lr = 0.001: 0.8 u absolute; p <= 2 is rounded once more: 2 u",
);

/// Recurrent cells and optimisers.
fn cells() -> Vec<Case> {
    let mut cases = Vec::new();
    for (batch, hidden) in [(0, 5), (1, 1), (3, 43), (2, 64)] {
        let n = batch * hidden;
        let mut random = Random::of("gru", n);
        let shape = format!("{batch}x{hidden}");
        let case = |kernel| {
            let case = Case::new("gru", kernel, shape.clone()).over(n, BLOCK);
            case.scalar(batch as i32).scalar(hidden as i32)
        };
        let mut floats = |elements: usize, limit: f32| random.f32s(elements, -limit, limit);
        let forward = case("gru_fwd_f32").input(&floats(3 * n, 4.0)).input(&floats(3 * n, 4.0)).input(&floats(n, 1.0));
        cases.push(forward.output::<f32>(n, GRU).output::<f32>(4 * n, GRU));
        let backward = case("gru_bwd_f32").input(&floats(n, 1.0)).input(&floats(n, 1.0)).input(&floats(4 * n, 1.0));
        let backward = backward.output::<f32>(3 * n, Exact).output::<f32>(3 * n, Exact);
        cases.push(backward.output::<f32>(n, Exact));
    }
    for n in ELEMENTS {
        let mut random = Random::of("optimiser", n);
        let case = |kernel| Case::new("optimiser", kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        let (g, p, m) = (random.f32s(n, -1.0, 1.0), random.f32s(n, -1.9, 1.9), random.f32s(n, -1.0, 1.0));
        let v = random.f32s(n, 0.1, 1.0);
        let adam = case("adamw_f32").scalar(1e-3f32).scalar(0.9f32).scalar(0.999f32).scalar(1e-8f32).scalar(0.01f32);
        let adam = adam.input(&[7i32]).input(&g);
        cases.push(adam.in_out(&p, ADAM).in_out(&m, Exact).in_out(&v, Exact));
        let sgd = case("sgd_f32").scalar(0.05f32).scalar(0.9f32).input(&g);
        cases.push(sgd.in_out(&p, Exact).in_out(&v, Exact));
    }
    for step in [0, 41, i32::MAX] {
        cases.push(Case::new("optimiser", "step_inc", format!("step={step}")).in_out(&[step], Exact));
    }
    cases
}

fn random_numbers() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in ELEMENTS {
        let (seed, offset) = (0x5eed_0041_dead_beefu64, 0xffff_fff0u64 + n as u64);
        let case = |kernel| Case::new("philox", kernel, format!("n={n}")).over(n, BLOCK).scalar(n as i32);
        for kernel in ["philox_uniform_f32", "philox_normal_f32"] {
            cases.push(case(kernel).scalar(seed).input(&[offset]).output::<f32>(4 * n, Exact));
        }
        let x = Random::of("dropout", n).f32s(n, -4.0, 4.0);
        let dropout = case("dropout_f32").scalar(0.3f32).scalar(seed).input(&[offset]).input(&x);
        cases.push(dropout.output::<f32>(n, Exact).output::<u8>(n, Exact));
    }
    for by in [0u64, 1, u64::MAX] {
        cases.push(Case::new("philox", "philox_advance", format!("by={by}")).in_out(&[9u64], Exact).scalar(by));
    }
    cases
}
