//! Sums and functions as `kernels/training.cu` computes them: the same operations, rounded the same way, in the same order.

use crate::shape::TILE;

/// A sum of products as the products' kernels take it: four groups take turns of 32 terms.
pub fn product(terms: usize, a: impl Fn(usize) -> f32, b: impl Fn(usize) -> f32) -> f32 {
    let mut sums = [0.0_f32; 4];
    for term in 0..terms {
        let sum = &mut sums[term / TILE % 4];
        *sum = a(term).mul_add(b(term), *sum);
    }
    in_order(&sums)
}

/// A plain sum, taken by the same groups.
pub fn total(terms: usize, a: impl Fn(usize) -> f32) -> f32 {
    let mut sums = [0.0_f32; 4];
    for term in 0..terms {
        sums[term / TILE % 4] += a(term);
    }
    in_order(&sums)
}

/// A sum of products as the GRU's kernels take it: eight lanes of each of `turns` warps take four terms in turn; the lanes'
/// sums are added by halves, then the warps' in order.
pub fn shared_out<const TURNS: usize>(terms: usize, a: impl Fn(usize) -> f32, b: impl Fn(usize) -> f32) -> f32 {
    let mut sums = [[0.0_f32; 8]; TURNS];
    for term in 0..terms {
        let lane = term / 4 % (8 * TURNS);
        let sum = &mut sums[lane / 8][lane % 8];
        *sum = a(term).mul_add(b(term), *sum);
    }
    in_order(&sums.map(|mut lanes| by_halves(&mut lanes)))
}

fn in_order(sums: &[f32]) -> f32 {
    sums[1..].iter().fold(sums[0], |whole, sum| whole + sum)
}

/// The sum of a power of two of numbers: the upper half is added to the lower until one is left.
pub fn by_halves(sums: &mut [f32]) -> f32 {
    let mut half = sums.len() / 2;
    while half > 0 {
        for at in 0..half {
            sums[at] += sums[at + half];
        }
        half /= 2;
    }
    sums[0]
}

fn exp_nonpositive(x: f32) -> f32 {
    let k = (x * std::f32::consts::LOG2_E).round_ties_even();
    let r = k.mul_add(1.904_654_3e-9, k.mul_add(-std::f32::consts::LN_2, x));
    let p = 1.984_127e-4_f32.mul_add(r, 1.388_888_9e-3).mul_add(r, 8.333_333e-3).mul_add(r, 4.166_666_7e-2);
    let p = p.mul_add(r, 0.166_666_67).mul_add(r, 0.5).mul_add(r, 1.0).mul_add(r, 1.0);
    let p = p * f32::from_bits(((k as i32).wrapping_add(127) << 23) as u32);
    if x < -87.0 { 0.0 } else { p }
}

/// 1 / (1 + e^-x).
pub fn sigmoid(x: f32) -> f32 {
    let e = exp_nonpositive(-x.abs());
    let s = 1.0 / (1.0 + e);
    if x < 0.0 { e * s } else { s }
}

/// The hyperbolic tangent.
pub fn tangent(x: f32) -> f32 {
    let e = exp_nonpositive(-2.0 * x.abs());
    let t = (1.0 - e) / (1.0 + e);
    if x < 0.0 { -t } else { t }
}

/// x times the chance that a normal number is below x, and the slope of that.
pub fn gelu(x: f32) -> (f32, f32) {
    let a = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let (e, t) = (exp_nonpositive(-(a * a)), 1.0 / 0.327_591_1_f32.mul_add(a, 1.0));
    let p = 1.061_405_4_f32.mul_add(t, -1.453_152).mul_add(t, 1.421_413_7);
    let p = p.mul_add(t, -0.284_496_74).mul_add(t, 0.254_829_6);
    let tail = p * t * e * 0.5;
    let chance = if x < 0.0 { tail } else { 1.0 - tail };
    (x * chance, (x * 0.398_942_3).mul_add(e, chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_right_to_single_precision() {
        for step in -2000..2000_i32 {
            let x = step as f32 * 0.0123;
            let (exact, close) = (f64::from(x), |found: f32, exact: f64| (f64::from(found) - exact).abs() < 2e-7);
            assert!(close(sigmoid(x), 1.0 / (1.0 + (-exact).exp())), "sigmoid {x}");
            assert!(close(tangent(x), exact.tanh()), "tanh {x}");
            // The slope is the difference quotient, in double steps that single precision can still tell apart.
            let (y, slope) = gelu(x);
            let quotient = (f64::from(gelu(x + 0.01).0) - f64::from(gelu(x - 0.01).0))
                / (f64::from(x + 0.01) - f64::from(x - 0.01));
            assert!((quotient - f64::from(slope)).abs() < 2e-4, "slope {x}: {slope} {quotient}");
            assert!(y <= x.max(0.0) + 1e-6 && y >= -0.171, "gelu {x}: {y}");
        }
        // Known values: the chance below 1 is 0.841344746, below -2 it is 0.022750132.
        assert!((gelu(1.0).0 - 0.841_344_8).abs() < 2e-7 && (gelu(-2.0).0 + 0.045_500_264).abs() < 3e-7);
        assert!(gelu(f32::NAN).0.is_nan() && sigmoid(f32::NAN).is_nan() && tangent(f32::NAN).is_nan());
    }

    #[test]
    fn a_sum_has_every_term_once() {
        for terms in [1, 4, 31, 32, 96, 129, 300] {
            let exact = (terms * (terms + 1) / 2) as f32;
            assert_eq!(product(terms, |t| (t + 1) as f32, |_| 1.0), exact);
            assert_eq!(total(terms, |t| (t + 1) as f32), exact);
            assert_eq!(shared_out::<4>(terms, |t| (t + 1) as f32, |_| 1.0), exact);
            assert_eq!(shared_out::<8>(terms, |t| (t + 1) as f32, |_| 1.0), exact);
        }
    }
}
