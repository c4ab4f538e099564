//! Other libraries: cuBLASLt, NVRTC and the crate cudarc, each behind a feature of that name.
//!
//! `cublaslt` has matrix products as safe ops, `nvrtc` compiles CUDA C at run time, `cudarc` shares contexts, streams
//! and memory in both directions. No CUDA library is needed to build: they are found at run time.

#[cfg(feature = "cublaslt")]
pub mod cublaslt;
#[cfg(feature = "cudarc")]
pub mod cudarc;
#[cfg(any(feature = "cublaslt", feature = "nvrtc", feature = "nccl"))]
pub(crate) mod library;
#[cfg(feature = "nvrtc")]
pub mod nvrtc;
