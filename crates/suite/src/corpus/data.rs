//! Inputs: a generator of our own, and the numbers that arithmetic gets wrong.
//!
//! The same name and shape give the same numbers on every machine; nothing here depends on a platform's maths library.

/// SplitMix64: one 64-bit state, every seed good.
pub struct Random(u64);

impl Random {
    /// A generator for a kernel and a shape.
    pub fn of(kernel: &str, shape: usize) -> Random {
        // FNV-1a over the name; the shape moves the start.
        let hash = kernel
            .bytes()
            .fold(0xcbf29ce484222325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3));
        Random(hash ^ (shape as u64).wrapping_mul(0x9e3779b97f4a7c15))
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        z ^ z >> 31
    }

    /// Uniform in [low, high).
    pub fn f32s(&mut self, n: usize, low: f32, high: f32) -> Vec<f32> {
        self.f64s(n, f64::from(low), f64::from(high)).into_iter().map(|value| value as f32).collect()
    }

    /// Uniform in [low, high).
    pub fn f64s(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|_| low + (high - low) * ((self.next() >> 11) as f64 / (1u64 << 53) as f64)).collect()
    }

    /// Whole numbers as floats, so that sums are exact in any order.
    pub fn whole_f32s(&mut self, n: usize, limit: u64) -> Vec<f32> {
        (0..n).map(|_| (self.next() % (2 * limit + 1)) as f32 - limit as f32).collect()
    }

    /// Uniform in low..=high.
    pub fn i32s(&mut self, n: usize, low: i32, high: i32) -> Vec<i32> {
        let width = (i64::from(high) - i64::from(low) + 1) as u64;
        (0..n).map(|_| (i64::from(low) + (self.next() % width) as i64) as i32).collect()
    }

    /// Any bits.
    pub fn words(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| (self.next() >> 32) as u32).collect()
    }

    /// Any bits.
    pub fn longs(&mut self, n: usize) -> Vec<u64> {
        (0..n).map(|_| self.next()).collect()
    }

    /// Any bits.
    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// Bits of the f32 numbers that arithmetic gets wrong.
pub const ODD_F32: [u32; 17] = [
    0x00000000, // 0
    0x80000000, // -0
    0x7f800000, // inf
    0xff800000, // -inf
    0x7fc00000, // NaN
    0x7f812345, // a signalling NaN
    0x00000001, // smallest subnormal
    0x807fffff, // largest subnormal, negative
    0x00800000, // smallest normal
    0x7f7fffff, // largest
    0xff7fffff, // -largest
    0x3f800000, // 1
    0xbfc00000, // -1.5
    0x3f000000, // 0.5
    0x4b000001, // 2^23 + 1
    0x4f000000, // 2^31
    0x5f7fffff, // just under 2^64
];

/// Bits of the f64 numbers that arithmetic gets wrong.
pub const ODD_F64: [u64; 16] = [
    0x0000000000000000,
    0x8000000000000000,
    0x7ff0000000000000,
    0xfff0000000000000,
    0x7ff8000000000000,
    0x0000000000000001,
    0x800fffffffffffff,
    0x0010000000000000,
    0x7fefffffffffffff,
    0x3ff0000000000000,
    0xc004000000000000, // -2.5
    0x41dfffffffe00000, // just under 2^31
    0xc3e0000000000000, // -2^63
    0x43efffffffffffff, // just under 2^64
    0x47efffffefffffff, // rounds to the largest f32 or to infinity
    0x36a0000000000001, // just over half the smallest f32
];

/// Integers where signs, carries and widths meet.
pub const ODD_I32: [i32; 12] =
    [0, 1, -1, i32::MIN, i32::MAX, 0x0000ffff, -0x8000, 0x7fff, 0x00ff00ff, -128, 0x55555555, 255];

/// Integers where signs, carries and widths meet.
pub const ODD_I64: [i64; 10] =
    [0, 1, -1, i64::MIN, i64::MAX, 0xffffffff, -0x80000000, 0x7fffffff, 0x0123456789abcdef, -0x100000001];

/// Two lists of `n` numbers in which the odd ones meet each other first, and random ones of all magnitudes follow.
pub fn odd_f32_pairs(random: &mut Random, n: usize) -> (Vec<f32>, Vec<f32>) {
    let k = ODD_F32.len();
    let pick = |at: usize, other: u32| match at < k * k {
        true => (ODD_F32[at % k], ODD_F32[at / k]),
        false => (other, other.rotate_left(9) ^ 0x00012345),
    };
    let pairs = (0..n).map(|at| pick(at, random.next() as u32));
    pairs.map(|(a, b)| (f32::from_bits(a), f32::from_bits(b))).unzip()
}

/// As [`odd_f32_pairs`], in double precision.
pub fn odd_f64_pairs(random: &mut Random, n: usize) -> (Vec<f64>, Vec<f64>) {
    let k = ODD_F64.len();
    let pick = |at: usize, other: u64| match at < k * k {
        true => (ODD_F64[at % k], ODD_F64[at / k]),
        false => (other, other.rotate_left(9) ^ 0x0001_2345_0000_6789),
    };
    let pairs = (0..n).map(|at| pick(at, random.next()));
    pairs.map(|(a, b)| (f64::from_bits(a), f64::from_bits(b))).unzip()
}

/// As [`odd_f32_pairs`], in 32-bit integers.
pub fn odd_i32_pairs(random: &mut Random, n: usize) -> (Vec<i32>, Vec<i32>) {
    let k = ODD_I32.len();
    let pick = |at: usize, other: u64| match at < k * k {
        true => (ODD_I32[at % k], ODD_I32[at / k]),
        false => (other as i32, (other >> 32) as i32),
    };
    (0..n).map(|at| pick(at, random.next())).unzip()
}

/// As [`odd_f32_pairs`], in 64-bit integers.
pub fn odd_i64_pairs(random: &mut Random, n: usize) -> (Vec<i64>, Vec<i64>) {
    let k = ODD_I64.len();
    let pick = |at: usize, a: u64, b: u64| match at < k * k {
        true => (ODD_I64[at % k], ODD_I64[at / k]),
        false => (a as i64, b as i64 >> (b % 50)),
    };
    (0..n).map(|at| pick(at, random.next(), random.next())).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_sequence() {
        // The first numbers of SplitMix64 from the seed 1234567.
        let mut random = Random(1234567);
        assert_eq!(random.next(), 6457827717110365317);
        assert_eq!(random.next(), 3203168211198807973);
    }

    #[test]
    fn ranges_are_kept() {
        let mut random = Random::of("ranges", 3);
        assert!(random.f32s(1000, -2.0, 3.0).iter().all(|value| (-2.0..=3.0).contains(value)));
        assert!(random.i32s(1000, -3, 4).iter().all(|value| (-3..=4).contains(value)));
        assert!(random.whole_f32s(1000, 8).iter().all(|value| value.fract() == 0.0 && value.abs() <= 8.0));
    }
}
