//! The manual's errors of approximate instructions, and the true values they are measured from.
//!
//! The figures are those of the PTX ISA 8.4 manual as we remember them; the recorded results of an H200 were held
//! against each, and all are within.

/// How far a result may be from the true value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Units in the last place of the true value.
    Ulp(f64),
    /// Two to this power, relative to the true value.
    Relative(f64),
    /// Two to this power.
    Absolute(f64),
    /// Nothing is promised.
    None,
}

/// The format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Format {
    F32,
    F64,
    F16,
    Bf16,
}

impl Format {
    /// Bits of the mantissa behind the point, and the exponent of the smallest normal number.
    fn shape(self) -> (i32, i32) {
        match self {
            Format::F32 => (23, -126),
            Format::F64 => (52, -1022),
            Format::F16 => (10, -14),
            Format::Bf16 => (7, -126),
        }
    }

    /// The smallest normal number.
    pub fn least(self) -> f64 {
        2f64.powi(self.shape().1)
    }

    /// The largest finite number.
    pub fn greatest(self) -> f64 {
        match self {
            Format::F64 => f64::MAX,
            Format::F32 => f32::MAX.into(),
            Format::F16 => 65504.0,
            Format::Bf16 => f64::from(f32::from_bits(0x7f7f_0000)),
        }
    }

    /// One unit in the last place of a number of this size.
    pub fn ulp(self, y: f64) -> f64 {
        let (mantissa, least) = self.shape();
        let exponent = if y == 0.0 || !y.is_finite() { least } else { y.abs().log2().floor() as i32 };
        2f64.powi(exponent.max(least) - mantissa)
    }

    /// The value of bits of this format.
    pub fn value(self, bits: u64) -> f64 {
        match self {
            Format::F64 => f64::from_bits(bits),
            Format::F32 => f32::from_bits(bits as u32).into(),
            Format::Bf16 => f32::from_bits((bits as u32) << 16).into(),
            Format::F16 => {
                let bits = bits as u16;
                let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
                let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
                sign * match exponent {
                    0 => fraction * 2f64.powi(-24),
                    31 if fraction == 0.0 => f64::INFINITY,
                    31 => f64::NAN,
                    _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
                }
            }
        }
    }
}

/// An approximation: what it computes, in which format, how well.
#[derive(Clone, Copy, Debug)]
pub struct Approx {
    /// Of operands and results.
    pub format: Format,
    /// Two numbers in a word.
    pub pair: bool,
    /// Subnormal operands and results are zeros.
    pub ftz: bool,
    /// Only the upper 32 bits of an operand are looked at.
    pub upper: bool,
    /// The true value.
    pub truth: fn(f64, f64) -> f64,
    /// The error allowed for these operands.
    pub bound: fn(f64, f64) -> Bound,
}

impl Approx {
    /// The error allowed around the true value `y`; none where nothing is promised.
    pub fn allowed(&self, bound: Bound, y: f64) -> Option<f64> {
        // A result that is subnormal has no more than its last place.
        let floor = self.format.ulp(0.0);
        Some(match bound {
            Bound::Ulp(n) => n * self.format.ulp(y),
            Bound::Relative(power) => (power.exp2() * y.abs()).max(floor),
            Bound::Absolute(power) => power.exp2().max(floor),
            Bound::None => return None,
        })
    }
}
