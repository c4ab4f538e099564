//! Philox4x32-10 on the host, bit for bit what `kernels/random.cu` draws.
//!
//! The generator is that of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC11): a block of
//! four words is a function of key and counter, so a draw needs no history.
//!
//! - Element `i` of a draw takes word `i % 4` of counter + `i / 4`; a draw leaves the counter where it is.
//! - [`Philox::advance`] moves it past a draw, by whole blocks: what is left of the last block is never used.
//! - Floating point is + - * / sqrt and fused multiply-add, each rounded to nearest, in the order of the kernels. Who changes
//!   one changes both.
//!
//! Not for secrets: from a few words the key could be found.
#![cfg_attr(not(test), allow(dead_code, reason = "draws on the host are what tests hold the kernels against"))]

/// The multipliers of a round, for words 0 and 2.
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What the key grows by from round to round: the golden ratio, and the square root of 3 less 1.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
/// How many rounds.
const ROUNDS: usize = 10;

/// A generator: what lies in device memory, in the same order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Philox {
    /// Which sequence.
    pub(crate) key: [u32; 2],
    /// Where in it, as a number of 128 bits, lowest word first.
    pub(crate) counter: [u32; 4],
}

impl Philox {
    /// The sequence of a seed, from its start.
    pub(crate) fn new(seed: u64) -> Philox {
        Philox { key: [seed as u32, (seed >> 32) as u32], counter: [0; 4] }
    }

    /// What the kernels expect in device memory.
    pub(crate) fn state(&self) -> [u32; 6] {
        let ([k0, k1], [c0, c1, c2, c3]) = (self.key, self.counter);
        [k0, k1, c0, c1, c2, c3]
    }

    /// A generator from what lies in device memory.
    pub(crate) fn from_state([k0, k1, c0, c1, c2, c3]: [u32; 6]) -> Philox {
        Philox { key: [k0, k1], counter: [c0, c1, c2, c3] }
    }

    /// The four words of counter + `at`.
    pub(crate) fn block(&self, at: u64) -> [u32; 4] {
        let mut word = plus(self.counter, at);
        let [mut k0, mut k1] = self.key;
        for _ in 0..ROUNDS {
            let product0 = u64::from(MULTIPLIERS[0]) * u64::from(word[0]);
            let product1 = u64::from(MULTIPLIERS[1]) * u64::from(word[2]);
            let ([high0, low0], [high1, low1]) = (halves(product0), halves(product1));
            word = [high1 ^ word[1] ^ k0, low1, high0 ^ word[3] ^ k1, low0];
            k0 = k0.wrapping_add(WEYL[0]);
            k1 = k1.wrapping_add(WEYL[1]);
        }
        word
    }

    /// The next `n` words, as `philox_u32` draws them.
    pub(crate) fn words(&self, n: usize) -> Vec<u32> {
        self.draw(n, |words| words)
    }

    /// `n` numbers in [0, 1), as `philox_uniform` draws them.
    pub(crate) fn uniform(&self, n: usize) -> Vec<f32> {
        self.draw(n, |words| words.map(uniform))
    }

    /// `n` normal numbers of mean 0 and deviation 1, as `philox_normal` draws them.
    pub(crate) fn normal(&self, n: usize) -> Vec<f32> {
        self.draw(n, |[w0, w1, w2, w3]| {
            let ([a, b], [c, d]) = (normal(w0, w1), normal(w2, w3));
            [a, b, c, d]
        })
    }

    /// Moves past a draw of `n` elements, as `philox_advance` does.
    pub(crate) fn advance(&mut self, n: u64) {
        self.counter = plus(self.counter, n.div_ceil(4));
    }

    fn draw<T>(&self, n: usize, of: impl Fn([u32; 4]) -> [T; 4]) -> Vec<T> {
        (0..n.div_ceil(4) as u64).flat_map(|at| of(self.block(at))).take(n).collect()
    }
}

/// The counter, `by` further; it wraps after 2^128.
fn plus([c0, c1, c2, c3]: [u32; 4], by: u64) -> [u32; 4] {
    let joined = |low: u32, high: u32| u128::from(low) | u128::from(high) << 32;
    let sum = (joined(c0, c1) | joined(c2, c3) << 64).wrapping_add(u128::from(by));
    [sum as u32, (sum >> 32) as u32, (sum >> 64) as u32, (sum >> 96) as u32]
}

fn halves(product: u64) -> [u32; 2] {
    [(product >> 32) as u32, product as u32]
}

/// The upper 24 bits as a number in [0, 1).
fn uniform(word: u32) -> f32 {
    (word >> 8) as f32 * 5.960_464_5e-8
}

/// The natural logarithm of a normal number in (0, 1]: `m * 2^e` with `m` in [2/3, 4/3), and the series of
/// 2 atanh((m - 1) / (m + 1)).
fn ln(u: f32) -> f32 {
    let bits = u.to_bits() as i32;
    let e = (bits - 0x3F2A_AAAB) >> 23;
    let f = f32::from_bits((bits - e * 0x80_0000) as u32) - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let p = 0.181_818_18_f32.mul_add(z, 0.222_222_22).mul_add(z, 0.285_714_3).mul_add(z, 0.4).mul_add(z, 0.666_666_7);
    (e as f32).mul_add(LN_2, (s * z).mul_add(p, s * 2.0))
}

/// The kernels' own digits; by chance or not, the nearest f32.
const LN_2: f32 = std::f32::consts::LN_2;

/// Two normal numbers by Box and Muller's method.
fn normal(w0: u32, w1: u32) -> [f32; 2] {
    let radius = (-2.0 * ln((w0 as f32).mul_add(2.328_306_4e-10, 1.164_153_2e-10))).sqrt();
    // The nearest quarter turn, and what is left of it: at most an eighth of a turn either way.
    let quarter = w1.wrapping_add(0x2000_0000) >> 30;
    let x = (w1 << 2) as i32 as f32 * 3.657_295_2e-10;
    let z = x * x;
    let s = 2.755_731_9e-6_f32.mul_add(z, -1.984_127e-4).mul_add(z, 8.333_333e-3).mul_add(z, -0.166_666_67);
    let s = (s * z).mul_add(x, x);
    let c = 2.480_158_7e-5_f32.mul_add(z, -1.388_888_9e-3).mul_add(z, 4.166_666_7e-2).mul_add(z, -0.5);
    let c = c.mul_add(z, 1.0);
    let (cosine, sine) = if quarter & 1 == 1 { (s, c) } else { (c, s) };
    let cosine = if (quarter + 1) & 2 == 2 { -cosine } else { cosine };
    let sine = if quarter & 2 == 2 { -sine } else { sine };
    [radius * cosine, radius * sine]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The three vectors that Random123 publishes for philox4x32 with 10 rounds (`tests/kat_vectors` of
    /// github.com/DEShawResearch/random123): counter, key, block.
    #[test]
    fn the_published_vectors_come_out() {
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([!0; 4], [!0; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, block) in cases {
            assert_eq!(Philox { key, counter }.block(0), block);
        }
    }

    #[test]
    fn the_counter_carries_through_all_four_words() {
        let at = |counter| Philox { key: [1, 2], counter };
        let full = [!0, !0, !0, 7];
        assert_eq!(at(full).block(1), at([0, 0, 0, 8]).block(0));
        let mut moved = at(full);
        moved.advance(5); // two blocks
        assert_eq!(moved, at([1, 0, 0, 8]));
        let mut last = at([!0; 4]);
        last.advance(1);
        assert_eq!(last, at([0; 4]));
        assert_eq!(at([!0, 0, 0, 0]).block(1 << 40), at([!0, 1 << 8, 0, 0]).block(0));
    }

    #[test]
    fn a_draw_and_an_advance_continue_one_sequence() {
        let mut philox = Philox::new(0x0123_4567_89ab_cdef);
        assert_eq!(philox.key, [0x89ab_cdef, 0x0123_4567]);
        let all = philox.words(12);
        let first = philox.words(5);
        philox.advance(5);
        assert_eq!((&all[..5], &all[8..]), (&first[..], &philox.words(4)[..]));
        assert_eq!(Philox::from_state(philox.state()), philox);
    }

    #[test]
    fn uniform_numbers_are_in_their_range_and_even() {
        assert_eq!((uniform(0), uniform(!0)), (0.0, 1.0 - f32::EPSILON / 2.0));
        let drawn = Philox::new(7).uniform(40_000);
        let mean = drawn.iter().map(|u| f64::from(*u)).sum::<f64>() / 40_000.0;
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / 40_000.0_f64).sqrt(), "{mean}");
    }

    #[test]
    fn logarithm_and_angle_are_right_to_single_precision() {
        for k in 0..4000_u32 {
            let u = (k.wrapping_mul(1_072_693) as f32).mul_add(2.328_306_4e-10, 1.164_153_2e-10);
            let exact = f64::from(u).ln();
            assert!((f64::from(ln(u)) - exact).abs() <= 1.5e-7 * exact.abs().max(1e-3), "{u} {} {exact}", ln(u));
        }
        assert_eq!(ln(1.0), 0.0);
        // Radius 1 exactly enough: the two numbers then are cosine and sine.
        let w0 = ((-0.5_f64).exp() * 4_294_967_296.0) as u32;
        for w1 in (0..4096_u32).map(|k| k.wrapping_mul(1_048_583)).chain([0, 1 << 30, 2 << 30, 3 << 30, !0]) {
            let turn = f64::from(w1) / 4_294_967_296.0 * std::f64::consts::TAU;
            let [a, b] = normal(w0, w1);
            assert!((f64::from(a) - turn.cos()).abs() < 3e-7, "{w1}: {a} {}", turn.cos());
            assert!((f64::from(b) - turn.sin()).abs() < 3e-7, "{w1}: {b} {}", turn.sin());
        }
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let n = 100_000;
        let drawn = Philox::new(3).normal(n);
        let moment = |k: i32| drawn.iter().map(|z| f64::from(*z).powi(k)).sum::<f64>() / n as f64;
        // Five standard errors each: of the mean, the square, the cube, the fourth power.
        for (k, expected, spread) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            let error: f64 = moment(k) - expected;
            assert!(error.abs() < 5.0 * (spread / n as f64).sqrt(), "moment {k} is off by {error}");
        }
        assert!(drawn.iter().all(|z| z.is_finite()));
        // The ends of the range: the largest radius, and none.
        assert!(normal(0, 0)[0] > 6.7 && normal(!0, 0) == [0.0, 0.0]);
    }
}
