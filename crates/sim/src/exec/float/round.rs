//! Arithmetic rounded to nearest, down, up or towards zero, without touching the processor's rounding mode.
//!
//! Results of f32 are made of an f64 that is exact, or of an f64 sum and its exact error (Knuth's two-sum): the f32
//! nearest to the sum is moved by one step where it lies on the wrong side. f64 results with a direction go through
//! integers of 128 bits (multiplication, division, square root, fused multiply-add), which is slow and exact.

use super::super::op::Round;

/// A subnormal becomes a zero of its sign.
#[inline(always)]
pub(crate) fn flush(x: f32) -> f32 {
    if x.to_bits() & 0x7f80_0000 == 0 { f32::from_bits(x.to_bits() & 0x8000_0000) } else { x }
}

/// Whether `a * b + c`, rounded to the 24 bits of an f32 as if exponents had no end, is below the smallest normal number:
/// what `.ftz` flushes, though rounded to a subnormal it may be that number (settled on an H200).
pub(crate) fn is_tiny(a: f32, b: f32, c: f32, round: Round) -> bool {
    let (product, addend) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + addend;
    is_tiny_sum(sum, two_sum_error(product, addend, sum), round)
}

/// As [`is_tiny`], of a sum and its exact error.
pub(crate) fn is_tiny_sum(sum: f64, error: f64, round: Round) -> bool {
    let least = f64::from(f32::MIN_POSITIVE);
    let ulp = least / 16_777_216.0;
    let away = match round {
        Round::Nearest => None,
        Round::Zero => Some(false),
        Round::Up => Some(sum > 0.0),
        Round::Down => Some(sum < 0.0),
    };
    // How far it is above where rounding reaches the smallest normal number; halves go to it, because it is even.
    let over = |limit: f64| (sum.abs() - limit) + error * sum.signum();
    match away {
        None => over(least - ulp / 2.0) < 0.0,
        Some(false) => over(least) < 0.0,
        Some(true) => over(least - ulp) <= 0.0,
    }
}

/// `sum + error` rounded to f32; the pair is exact, `sum` is the nearest f64 of it.
#[inline(always)]
fn directed(sum: f64, error: f64, round: Round) -> f32 {
    let nearest = sum as f32;
    // +1: the nearest f32 lies above the exact value, -1: below.
    let side = |r: f32| {
        let r = f64::from(r);
        if r > sum || (r == sum && error < 0.0) {
            1
        } else if r < sum || (r == sum && error > 0.0) {
            -1
        } else {
            0
        }
    };
    let down = match round {
        Round::Nearest => return nearest_of(sum, error),
        Round::Down => true,
        Round::Up => false,
        Round::Zero => sum > 0.0 || (sum == 0.0 && error > 0.0),
    };
    if down {
        if side(nearest) > 0 { nearest.next_down() } else { nearest }
    } else if side(nearest) < 0 {
        nearest.next_up()
    } else {
        nearest
    }
}

/// `sum + error` to the nearest f32, ties to even: the sum is made odd first, so that the second rounding cannot see
/// a tie that is none.
#[inline(always)]
fn nearest_of(sum: f64, error: f64) -> f32 {
    odd(sum, error) as f32
}

/// `sum + error` rounded to odd: where the error is not zero, the last bit tells that something is missing.
#[inline(always)]
pub(crate) fn odd(sum: f64, error: f64) -> f64 {
    let bits = sum.to_bits();
    if error == 0.0 || !sum.is_finite() || bits & 1 == 1 {
        return sum;
    }
    // Move to the neighbour on the side of the error; an even last bit becomes odd either way.
    if (error > 0.0) == (sum > 0.0) { f64::from_bits(bits + 1) } else { f64::from_bits(bits - 1) }
}

/// The exact error of `a + b` against its rounded `sum`.
#[inline(always)]
pub(crate) fn two_sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let b_part = sum - a;
    let a_part = sum - b_part;
    (a - a_part) + (b - b_part)
}

/// `a * b + c` rounded once.
#[inline(always)]
pub(crate) fn fma_f32(a: f32, b: f32, c: f32, round: Round) -> f32 {
    let product = f64::from(a) * f64::from(b);
    let addend = f64::from(c);
    let sum = product + addend;
    if !sum.is_finite() {
        return sum as f32;
    }
    if sum == 0.0 && (product != 0.0 || addend != 0.0 || product.is_sign_negative() != addend.is_sign_negative()) {
        // Exact cancellation: the sign depends on the direction alone.
        return if round == Round::Down { -0.0 } else { 0.0 };
    }
    directed(sum, two_sum_error(product, addend, sum), round)
}

/// `a + b` rounded once.
#[inline(always)]
pub(crate) fn add_f32(a: f32, b: f32, round: Round) -> f32 {
    fma_f32(a, 1.0, b, round)
}

/// `a * b` rounded once.
#[inline(always)]
pub(crate) fn mul_f32(a: f32, b: f32, round: Round) -> f32 {
    // Exact in f64: 48 bits, and exponents far inside.
    let product = f64::from(a) * f64::from(b);
    if !product.is_finite() || product == 0.0 {
        return product as f32;
    }
    directed(product, 0.0, round)
}

/// `a / b` rounded once.
pub(crate) fn div_f32(a: f32, b: f32, round: Round) -> f32 {
    let q = a / b;
    if round == Round::Nearest || !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return q;
    }
    // The f64 quotient is never halfway between an f32 and an f64 neighbour without being exact, and its residual
    // a - q*b is exact with one fused operation.
    let (x, y) = (f64::from(a), f64::from(b));
    let quotient = x / y;
    let residual = (-quotient).mul_add(y, x);
    let error = if y < 0.0 { -residual } else { residual };
    directed(quotient, error, round)
}

/// The square root of `a` rounded once.
pub(crate) fn sqrt_f32(a: f32, round: Round) -> f32 {
    let r = a.sqrt();
    if round == Round::Nearest || !a.is_finite() || a <= 0.0 {
        return r;
    }
    let x = f64::from(a);
    let root = x.sqrt();
    directed(root, (-root).mul_add(root, x), round)
}

/// f64 to f32 with a direction.
#[inline(always)]
pub(crate) fn narrow(x: f64, round: Round) -> f32 {
    if round == Round::Nearest || !x.is_finite() || x == 0.0 {
        return x as f32;
    }
    directed(x, 0.0, round)
}

/// `a + b` in f64, rounded once.
pub(crate) fn add_f64(a: f64, b: f64, round: Round) -> f64 {
    fma_f64(a, 1.0, b, round)
}

/// `a * b` in f64, rounded once.
pub(crate) fn mul_f64(a: f64, b: f64, round: Round) -> f64 {
    let nearest = a * b;
    if round == Round::Nearest || !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return nearest;
    }
    let (a, b) = (Exact::of(a), Exact::of(b));
    a.times(&b).round(round)
}

/// `a * b + c` in f64, rounded once.
pub(crate) fn fma_f64(a: f64, b: f64, c: f64, round: Round) -> f64 {
    let nearest = a.mul_add(b, c);
    if round == Round::Nearest || !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return nearest;
    }
    if a == 0.0 || b == 0.0 {
        return if c == 0.0 && (a * b).is_sign_negative() != c.is_sign_negative() {
            if round == Round::Down { -0.0 } else { 0.0 }
        } else {
            a * b + c
        };
    }
    let product = Exact::of(a).times(&Exact::of(b));
    if c == 0.0 {
        return product.round(round);
    }
    match product.plus(&Exact::of(c)) {
        Some(sum) => sum.round(round),
        None if round == Round::Down => -0.0,
        None => 0.0,
    }
}

/// `a / b` in f64, rounded once.
pub(crate) fn div_f64(a: f64, b: f64, round: Round) -> f64 {
    let nearest = a / b;
    if round == Round::Nearest || !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return nearest;
    }
    let (x, y) = (Exact::of(a), Exact::of(b));
    // 53 bits over 53 bits, shifted so that the quotient has at least 64 bits.
    let shift = 70u32;
    let (q, r) = ((x.high_part() << shift) / y.high_part(), (x.high_part() << shift) % y.high_part());
    Exact {
        negative: x.negative != y.negative,
        digits: vec![q],
        exponent: x.exponent - y.exponent - shift as i32,
        sticky: r != 0,
    }
    .round(round)
}

/// The square root in f64, rounded once.
pub(crate) fn sqrt_f64(a: f64, round: Round) -> f64 {
    let nearest = a.sqrt();
    if round == Round::Nearest || !a.is_finite() || a <= 0.0 {
        return nearest;
    }
    let x = Exact::of(a);
    let mut mantissa = x.high_part();
    let mut exponent = x.exponent;
    // An even exponent, and about 126 bits, so that the root has 63.
    let mut shift = mantissa.leading_zeros().saturating_sub(2);
    if (exponent - shift as i32) % 2 != 0 {
        shift -= 1;
    }
    mantissa <<= shift;
    exponent -= shift as i32;
    let root = mantissa.isqrt();
    let sticky = root * root != mantissa;
    Exact { negative: false, digits: vec![root], exponent: exponent / 2, sticky }.round(round)
}

/// A finite number other than zero, exactly: `digits * 2^exponent`, plus something below where `sticky`.
struct Exact {
    negative: bool,
    /// Little-endian digits of 128 bits; those of products use 106 bits of one.
    digits: Vec<u128>,
    exponent: i32,
    sticky: bool,
}

impl Exact {
    fn of(x: f64) -> Exact {
        let bits = x.to_bits();
        let biased = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
        // Subnormals get 53 bits too, so that quotients and roots have enough of them.
        let up = mantissa.leading_zeros().saturating_sub(11).min(52);
        let (mantissa, exponent) = (mantissa << up, exponent - up as i32);
        Exact { negative: x.is_sign_negative(), digits: vec![mantissa.into()], exponent, sticky: false }
    }

    fn high_part(&self) -> u128 {
        self.digits[0]
    }

    fn times(&self, other: &Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            digits: vec![self.digits[0] * other.digits[0]],
            exponent: self.exponent + other.exponent,
            sticky: false,
        }
    }

    /// The sum; `None` for exactly zero. One of the numbers may be shifted out of sight: it then leaves its mark in
    /// `sticky`, which is enough, because the other one is longer than an f64.
    fn plus(&self, other: &Exact) -> Option<Exact> {
        let (big, small) = if self.top() >= other.top() { (self, other) } else { (other, self) };
        // Bring the larger one to the top of 126 bits, and the smaller one to the same exponent.
        let up = big.digits[0].leading_zeros() - 2;
        let mut sum = big.digits[0] << up;
        let exponent = big.exponent - up as i32;
        let distance = small.exponent - exponent;
        let mut sticky = false;
        let aligned = if distance >= 0 {
            small.digits[0] << distance
        } else if distance <= -128 {
            sticky = true;
            0
        } else {
            let by = -distance as u32;
            sticky = small.digits[0] & ((1u128 << by) - 1) != 0;
            small.digits[0] >> by
        };
        let mut negative = big.negative;
        if big.negative == small.negative {
            sum += aligned;
        } else if sum >= aligned {
            // What was cut off is subtracted too: one less, and the rest stays above.
            sum = sum - aligned - u128::from(sticky);
        } else {
            sum = aligned - sum;
            negative = small.negative;
        }
        if sum == 0 && !sticky {
            return None;
        }
        Some(Exact { negative, digits: vec![sum], exponent, sticky })
    }

    /// Exponent of the highest bit.
    fn top(&self) -> i32 {
        self.exponent + 128 - self.digits[0].leading_zeros() as i32
    }

    fn round(&self, round: Round) -> f64 {
        let top = self.top();
        // Exponent of the last bit that an f64 of this size has.
        let last = (top - 53).max(-1074);
        let cut = last - self.exponent;
        let (mut mantissa, inexact) = if cut <= 0 {
            (self.digits[0] << -cut, self.sticky)
        } else if cut >= 128 {
            (0, true)
        } else {
            (self.digits[0] >> cut, self.sticky || self.digits[0] & ((1u128 << cut) - 1) != 0)
        };
        let away = match round {
            Round::Down => self.negative,
            Round::Up => !self.negative,
            Round::Zero | Round::Nearest => false,
        };
        if inexact && away {
            mantissa += 1;
        }
        let magnitude = if top > 1024 || (mantissa == 1 << 53 && last == 971) {
            if away { f64::INFINITY } else { f64::MAX }
        } else {
            // At most 53 bits (or exactly 2^53), so both steps are exact.
            scale(mantissa as u64, last)
        };
        if self.negative { -magnitude } else { magnitude }
    }
}

/// `mantissa * 2^exponent`, which is representable.
fn scale(mantissa: u64, exponent: i32) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let power = |e: i32| f64::from_bits(((e + 1023) as u64) << 52);
    let m = mantissa as f64;
    if exponent < -1022 {
        // Two exact steps: the first keeps it normal, and the result has no bits below 2^-1074.
        m * power(-1022 + 100) * power(exponent + 1022 - 100)
    } else if exponent > 970 {
        m * power(970) * power(exponent - 970)
    } else {
        m * power(exponent)
    }
}
