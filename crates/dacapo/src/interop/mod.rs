//! Other libraries in a graph, each behind a feature of its name. None is needed to build: they are looked for at run time.

#[cfg(feature = "cublaslt")]
pub mod cublaslt;
#[cfg(feature = "cudarc")]
pub mod cudarc;
#[cfg(any(feature = "cublaslt", feature = "nvrtc"))]
mod library;
#[cfg(feature = "nvrtc")]
pub mod nvrtc;
