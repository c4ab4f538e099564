//! How an output is compared with the recording.
//!
//! Both the GPU and the software driver run the same PTX. Instructions that IEEE 754 or the PTX manual fix to the bit
//! give the same bits on both; an `.approx` or `.full` instruction is within the manual's error of the true value on
//! both, so the two may be *twice* that error apart, and what is computed from them moves accordingly. A bound is
//! that sum, written down in its `why`:
//!
//! - u = 2^-23 is one unit in the last place of an f32, at its largest relative to the value;
//! - an exactly rounded operation on inputs that differ adds up to 1 u (half a unit on each side);
//! - where `.ftz` flushes, a value next to the smallest normal number may be 0 on one side: `abs` is then at least 2^-126.
//!
//! The manual's figures were written down from memory and have not been compared with the manual; where a derivation has a
//! step that is an estimate, docs/known-differences.md says so.

/// One unit in the last place of an f32 relative to the value, at most.
pub const U: f64 = 1.0 / (1 << 23) as f64;

/// How far an element may be from the recorded one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The same bits.
    Exact,
    /// The same bits, except that a NaN may be any NaN.
    Number {
        /// Why the bits of a NaN are not defined here.
        why: &'static str,
    },
    /// Within `max(abs, rel * |recorded|)`; infinities, zeros' signs and NaNs must agree in kind.
    Within {
        /// Relative to the recorded value.
        rel: f64,
        /// Absolute.
        abs: f64,
        /// The derivation.
        why: &'static str,
    },
}

/// Floating point arithmetic on inputs that include NaN.
pub const NUMBER: Bound = Bound::Number {
    why: "PTX ISA 9.7.3: programs should not rely on the specific NaNs that f32 instructions generate, and IEEE 754 \
          leaves the payload of f64 NaNs open; every other bit is fixed",
};

impl Bound {
    /// Shorthand for [`Bound::Within`].
    pub const fn within(rel: f64, abs: f64, why: &'static str) -> Bound {
        Bound::Within { rel, abs, why }
    }

    /// Why the comparison is not bit for bit; `None` where it is.
    pub fn why(&self) -> Option<&'static str> {
        match self {
            Bound::Exact => None,
            Bound::Number { why } | Bound::Within { why, .. } => Some(why),
        }
    }

    /// Whether `got` is acceptable where `want` was recorded. Bits that are equal always are.
    pub fn accepts(&self, got: f64, want: f64) -> bool {
        if got.is_nan() && want.is_nan() {
            return !matches!(self, Bound::Exact);
        }
        match *self {
            Bound::Exact | Bound::Number { .. } => false,
            Bound::Within { rel, abs, .. } => {
                // A zero of the other sign is another answer (1/x tells them apart), except where the true value may
                // have been flushed or rounded to zero from either side, which no bound here allows.
                let same_zero = !(got == 0.0 && want == 0.0) || got.is_sign_negative() == want.is_sign_negative();
                let finite = got.is_finite() && want.is_finite();
                same_zero && finite && (got - want).abs() <= abs.max(rel * want.abs())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOSE: Bound = Bound::within(0.5, 1e-3, "a test");

    #[test]
    fn kinds_of_numbers_must_agree() {
        assert!(LOOSE.accepts(1.2, 1.0));
        assert!(!LOOSE.accepts(1.6, 1.0));
        assert!(LOOSE.accepts(f64::NAN, f64::NAN));
        assert!(!LOOSE.accepts(f64::NAN, 1.0));
        assert!(!LOOSE.accepts(f64::INFINITY, f64::MAX));
        assert!(!LOOSE.accepts(-0.0, 0.0));
        assert!(LOOSE.accepts(0.0009, 0.0));
    }

    #[test]
    fn exact_is_left_to_the_bits() {
        assert!(!Bound::Exact.accepts(f64::NAN, f64::NAN));
        assert!(!NUMBER.accepts(1.0 + f64::EPSILON, 1.0));
        assert!(NUMBER.accepts(f64::NAN, -f64::NAN));
    }
}
