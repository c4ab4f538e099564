//! What a driver refused, as an error: the entry point and the code it answered.
//!
//! A code without a name survives as its number: a driver newer than this table is not a reason to lose it.

use std::fmt;

use crate::{CUresult, Call};

/// A driver call answered something else than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DriverError {
    /// What it answered.
    pub code: CUresult,
    /// Which entry point was called.
    pub call: Call,
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.call.symbol(), self.code)?;
        // A code without a name is already displayed as its number.
        if self.code.name().is_some() { write!(f, " ({})", self.code.0) } else { Ok(()) }
    }
}

impl std::error::Error for DriverError {}

/// Turns a result code into a `Result` that names the call.
pub trait Check {
    /// `Ok` for success, otherwise an error that names `call` and the code.
    ///
    /// # Errors
    ///
    /// - [`DriverError`] for every code but `CUDA_SUCCESS`.
    fn check(self, call: Call) -> Result<(), DriverError>;
}

impl Check for CUresult {
    fn check(self, call: Call) -> Result<(), DriverError> {
        if self.is_success() { Ok(()) } else { Err(DriverError { code: self, call }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_call_and_the_code() {
        let error = CUresult::CUDA_ERROR_OUT_OF_MEMORY.check(Call::cuMemAlloc_v2).unwrap_err();
        assert_eq!(error.to_string(), "cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY (2)");
    }

    #[test]
    fn an_unknown_code_survives_as_its_number() {
        let error = CUresult(4242).check(Call::cuInit).unwrap_err();
        assert_eq!(error.to_string(), "cuInit failed: code 4242");
        assert_eq!(error.code.0, 4242);
    }

    #[test]
    fn success_is_no_error() {
        assert_eq!(CUresult::CUDA_SUCCESS.check(Call::cuInit), Ok(()));
    }
}
