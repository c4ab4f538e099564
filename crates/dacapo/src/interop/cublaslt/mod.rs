//! cuBLASLt matrix products as safe ops whose workspace belongs to the graph.
//!
//! ```
//! use dacapo::interop::cublaslt::CublasLt;
//! use dacapo::{Device, baked};
//!
//! # fn main() -> dacapo::Result<()> {
//! let device = Device::best()?;
//! let (stream, blas) = (device.stream()?, CublasLt::load(&device)?);
//! let x = device.buffer(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?; // 2 x 3, row by row
//! let w = device.buffer(&[1.0f32, 0.0, 0.0, 1.0, -9.0, 1.0])?; // 3 x 2
//! let bias = device.buffer(&[1.0f32, 0.5])?;
//! let mut y = device.zeros::<f32>(4)?;
//! let mut graph = device.record(blas.matmul(2, 2, 3).bias(&bias).relu().op(&x, &w, &mut y))?;
//! graph.launch(&stream)?;
//! assert_eq!(stream.read(&y)?, [0.0, 5.5, 0.0, 11.5]);
//! # Ok(()) }
//! ```
//!
//! - **D = act(alpha · A × B + beta · C + bias)**, in `f32`, tf32 ([`Matmul::tf32`]), `f16` or `bf16`; sums are in f32.
//!   Matrices are row-major; A and B may be transposed; the matrices of a batch are contiguous.
//! - **The library is found at run time**: `libcublasLt.so.13`, then `.12`, then the plain name, in the loader's search
//!   path and in the usual folders of the toolkit and of wheels; `DACAPO_LIBCUBLASLT` names a file instead. Without it
//!   [`CublasLt::load`] returns [`ErrorKind::NoLibrary`](crate::ErrorKind::NoLibrary).
//! - **The workspace is a temp** of the recording: the graph's arena holds it for the one op that needs it, so there is
//!   nothing for the caller to create, share or drop.
//! - **The algorithm is chosen once**, before anything is captured, by cuBLASLt's own heuristic, and is the same for the
//!   same shape on the same device: two recordings of one product give the same bits.
//! - **On the software device** our own kernels do the same work ([`Matmul::reference`] uses them on a GPU too). The
//!   same sizes, overlaps and stand-ins are refused and the same arguments are touched; results differ only by
//!   rounding. They need no workspace and support every product. So only a GPU shows what the workspace takes in the
//!   arena, and which products cuBLASLt has no algorithm for
//!   ([`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported)).
//!
//! # How results are rounded
//!
//! | | cuBLASLt (seen: 13.1 on an H200) | our kernels |
//! |---|---|---|
//! | order of the sum over k | its own, by algorithm | from the first to the last, fused multiply-add |
//! | factors as tf32 | rounded to 10 bits | to nearest, ties away from zero (`cvt.rna.tf32`) |
//! | parts of a split sum | in f32: other types are not requested | |
//! | GELU | by tanh, to 5·10⁻⁶ in f32 | by tanh, as x / (1 + exp(-2y)) |
//! | result in f16, bf16 | at the end; with odd sizes or addresses also before bias and activation | once, at the end |
//! | ReLU of a NaN; alpha = 0 with NaN factors | NaN | NaN |
//!
//! # Why this is safe
//!
//! 1. The handle is created once per device, before any recording, and kept by the device, which every graph keeps
//!    alive.
//! 2. Descriptors and the algorithm are owned by the op's closure, which the graph keeps until its last replay is done.
//! 3. All memory that the call is given is declared: A, B, C, D, bias, scales on the device, and the workspace. So the
//!    graph keeps it alive, and it is ordered against all other work and checked for overlap.
//! 4. The call only enqueues, on the stream it is given. Scales on the host are read during the call and frozen in what it
//!    enqueues, so they are [`Baked`](crate::Baked) in the type; those that change live on the device.

mod descriptors;
mod handle;
mod matmul;
mod reference;
mod sys;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::device::{Device, Guest};
use crate::error::Result;

use handle::Handle;
pub use matmul::{Activation, Matmul, Number, Scale};
use reference::Reference;

/// cuBLASLt on one device, or on the software device the kernels that replace it. Clones are the same library.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let blas = dacapo::interop::cublaslt::CublasLt::load(&device)?;
/// let (a, b) = (device.buffer(&[1.0f32, 2.0])?, device.buffer(&[3.0f32, 4.0])?);
/// let mut d = device.zeros::<f32>(1)?;
/// stream.run(blas.matmul(1, 1, 2).op(&a, &b, &mut d))?; // 1 x 2 times 2 x 1
/// assert_eq!(stream.read(&d)?, [11.0]);
/// # Ok(()) }
/// ```
#[doc(alias = "gemm")]
#[doc(alias = "cublas")]
#[derive(Clone)]
pub struct CublasLt {
    device: Device,
    shared: Arc<Shared>,
}

/// What a device holds.
pub(crate) struct Shared {
    /// None on the software device.
    handle: Option<Arc<Handle>>,
    /// Loaded when first needed.
    reference: OnceLock<Reference>,
}

impl CublasLt {
    /// Finds the library and creates its handle; on the software device, loads the kernels that replace it.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NoLibrary`](crate::ErrorKind::NoLibrary): it was not found; the error lists what was tried.
    /// - Any error from creating the handle or loading the kernels.
    ///
    /// This is safe, although opening a library runs its code: the system and whoever started the process choose the
    /// file (as with `LD_LIBRARY_PATH`), never safe code.
    pub fn load(device: &Device) -> Result<CublasLt> {
        CublasLt::load_at(device, None)
    }

    /// [`load`](CublasLt::load) from this file. If the device has already loaded the library, that one is used.
    ///
    /// # Errors
    ///
    /// - As [`load`](CublasLt::load).
    ///
    /// Unsafe, because opening a file runs its code:
    ///
    /// ```compile_fail,E0133
    /// fn demo(device: &dacapo::Device) {
    ///     dacapo::interop::cublaslt::CublasLt::load_from(device, "any.so");
    /// }
    /// ```
    ///
    /// # Safety
    ///
    /// - Opening the file runs its initialisers and those of its dependencies: they do no harm.
    /// - It is cuBLASLt 12 or 13: its exports do what NVIDIA's do.
    pub unsafe fn load_from(device: &Device, library: impl AsRef<Path>) -> Result<CublasLt> {
        CublasLt::load_at(device, Some(library.as_ref()))
    }

    fn load_at(device: &Device, library: Option<&Path>) -> Result<CublasLt> {
        if let Some(shared) = device.guest() {
            return Ok(CublasLt { device: device.clone(), shared });
        }
        let handle = match device.is_software() {
            true => None,
            false => Some(Arc::new(Handle::make(device, library)?)),
        };
        let shared = Shared { handle, reference: OnceLock::new() };
        if shared.handle.is_none() {
            shared.reference(device)?;
        }
        Ok(CublasLt { device: device.clone(), shared: device.take_in(shared) })
    }

    /// The library's version; none on the software device.
    pub fn version(&self) -> Option<(u32, u32, u32)> {
        self.shared.handle.as_ref().map(|handle| handle.version())
    }

    /// The file it was loaded from, or the name that the loader was given.
    pub fn path(&self) -> Option<&Path> {
        self.shared.handle.as_ref().map(|handle| handle.path())
    }

    /// Begins the product of an m x k and a k x n matrix; [`Matmul::op`] completes it.
    pub fn matmul<'a, T: Number>(&'a self, m: usize, n: usize, k: usize) -> Matmul<'a, T> {
        Matmul::new(self, m, n, k)
    }
}

impl Shared {
    fn reference(&self, device: &Device) -> Result<&Reference> {
        if let Some(reference) = self.reference.get() {
            return Ok(reference);
        }
        let reference = Reference::load(device)?;
        Ok(self.reference.get_or_init(|| reference))
    }
}

impl Guest for Shared {
    fn leave(&self, is_quiet: bool) {
        if !is_quiet {
            // The handle is never destroyed: its context is lost, or work of it may still run.
            std::mem::forget(self.handle.clone());
        }
    }
}

impl fmt::Debug for CublasLt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version() {
            Some((major, minor, patch)) => write!(f, "CublasLt({major}.{minor}.{patch})"),
            None => f.write_str("CublasLt(kernels of the library's own)"),
        }
    }
}
