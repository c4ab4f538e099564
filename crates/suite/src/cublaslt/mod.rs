//! cuBLASLt in graphs: bodies over a device, run in full on a GPU (`dacapo-gpu cublaslt`) and small in `cargo test`.
//!
//! - [`survive`](survive::survive): a graph with products in it is replayed while everything else that the program had is dropped and memory is
//!   written over; its results stay the same in every bit.
//! - [`compare`](compare::compare): all formats, transposes, epilogues and addends, by the library and by the kernels that stand in for it.
//! - [`facts`](facts::facts): what the library does where its documentation is silent, as it was seen.

pub mod compare;
pub mod facts;
pub mod survive;

use dacapo::half::{bf16, f16};
use dacapo::interop::cublaslt::{Matmul, Number};

/// A type of number, and how products in it are made.
trait Sample: Number + PartialEq {
    /// Half the distance of two neighbours, beside them.
    const ROUNDING: f64;
    fn of(value: f32) -> Self;
    fn wide(self) -> f32;
    /// As tf32 where that is asked for: only f32 knows it.
    fn described(product: Matmul<'_, Self>, tf32: bool) -> Matmul<'_, Self> {
        assert!(!tf32, "only f32 is multiplied as tf32");
        product
    }
}

impl Sample for f32 {
    const ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

    fn of(value: f32) -> f32 {
        value
    }

    fn wide(self) -> f32 {
        self
    }

    fn described(product: Matmul<'_, f32>, tf32: bool) -> Matmul<'_, f32> {
        if tf32 { product.tf32() } else { product }
    }
}

impl Sample for f16 {
    const ROUNDING: f64 = 1.0 / 2048.0;

    fn of(value: f32) -> f16 {
        f16::from_f32(value)
    }

    fn wide(self) -> f32 {
        self.to_f32()
    }
}

impl Sample for bf16 {
    const ROUNDING: f64 = 1.0 / 256.0;

    fn of(value: f32) -> bf16 {
        bf16::from_f32(value)
    }

    fn wide(self) -> f32 {
        self.to_f32()
    }
}

/// Numbers in [-1, 1), the same for the same seed: every format holds them nearly.
fn numbers<T: Sample>(n: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        T::of((state >> 48) as f32 / 32768.0 - 1.0)
    };
    (0..n).map(|_| draw()).collect()
}
