//! One product as cuBLASLt describes it: descriptors, the choice of an algorithm, and the call.
//!
//! cuBLASLt's matrices lie column by column. Read so, memory that holds a matrix row by row holds its transpose; so what
//! is asked for is Dᵀ = Bᵀ × Aᵀ: our B is its first factor and our A its second, n and m change places, and its bias, one
//! value for each row of Dᵀ, is ours, one for each column of D.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use dacapo_driver::types::CUstream;

use crate::device::Relaxed;
use crate::error::{Error, ErrorKind, Result};
use crate::interop::cublaslt::Activation;
use crate::interop::cublaslt::handle::{Handle, check};
use crate::interop::cublaslt::matmul::Format;
use crate::interop::cublaslt::sys::{self, Algorithm, HeuristicResult, Opaque, Status};

/// Everything that an algorithm is chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) format: Format,
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) batch: usize,
    pub(super) a_transposed: bool,
    pub(super) b_transposed: bool,
    pub(super) activation: Activation,
    pub(super) has_bias: bool,
    pub(super) scales_on_device: bool,
    /// Whether C is memory of its own.
    pub(super) has_addend: bool,
    /// Of A, B, C and D with the bias, in bytes.
    pub(super) alignments: [u32; 4],
    pub(super) workspace_max: usize,
}

/// What the heuristic chose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    algorithm: Algorithm,
    pub(super) workspace: usize,
}

/// How many answers the heuristic is asked for; the first that is sound is taken.
const ASKED: usize = 8;

/// One of the library's descriptors, destroyed with this.
struct Owned {
    raw: Opaque,
    destroy: unsafe extern "C" fn(Opaque) -> Status,
}

impl Owned {
    /// Takes what `create` made.
    fn new(
        destroy: unsafe extern "C" fn(Opaque) -> Status,
        call: &'static str,
        create: impl FnOnce(*mut Opaque) -> Status,
    ) -> Result<Owned> {
        let mut raw: Opaque = std::ptr::null_mut();
        check(create(&mut raw), call)?;
        Ok(Owned { raw, destroy })
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by the library's own call of the same kind, and held by nobody else. It is host memory.
        unsafe { (self.destroy)(self.raw) };
    }
}

/// The descriptors of one product, with the algorithm that was chosen for it.
pub(super) struct Product {
    handle: Arc<Handle>,
    key: Key,
    /// Locked for a call: the address of the bias is a part of it.
    desc: Mutex<Owned>,
    first: Owned,
    second: Owned,
    target: Owned,
    choice: Choice,
}

// SAFETY: descriptors are plain host memory that the library takes from any thread; the one that is changed is locked.
unsafe impl Send for Product {}
// SAFETY: as above.
unsafe impl Sync for Product {}

/// The addresses of one call.
pub(super) struct Operands {
    pub(super) a: u64,
    pub(super) b: u64,
    /// That of D where there is no C.
    pub(super) c: u64,
    pub(super) d: u64,
    pub(super) bias: Option<u64>,
    pub(super) scales: Scales,
    pub(super) workspace: u64,
}

/// Where alpha and beta are.
#[derive(Clone, Copy)]
pub(super) enum Scales {
    Host(f32, f32),
    Device(u64, u64),
}

impl Product {
    /// Describes a product and has an algorithm chosen for it, unless the same was asked before.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Unsupported`]: the library has none for it.
    /// - [`ErrorKind::Library`]: it refused a call.
    pub(super) fn new(handle: &Arc<Handle>, key: Key) -> Result<Product> {
        let entries = &handle.entries;
        let (element, compute) = match key.format {
            Format::F32 => (sys::CUDA_R_32F, sys::COMPUTE_32F),
            Format::Tf32 => (sys::CUDA_R_32F, sys::COMPUTE_32F_FAST_TF32),
            Format::F16 => (sys::CUDA_R_16F, sys::COMPUTE_32F),
            Format::Bf16 => (sys::CUDA_R_16BF, sys::COMPUTE_32F),
        };
        // SAFETY: the place is valid for the write.
        let desc = Owned::new(entries.cublasLtMatmulDescDestroy, "cublasLtMatmulDescCreate", |place| unsafe {
            (entries.cublasLtMatmulDescCreate)(place, compute, sys::CUDA_R_32F)
        })?;
        let describe = |attribute, value: &[u8]| {
            // SAFETY: the descriptor is alive; the value has as many bytes as are said, and is copied.
            let status = unsafe {
                (entries.cublasLtMatmulDescSetAttribute)(desc.raw, attribute, value.as_ptr().cast(), value.len())
            };
            check(status, "cublasLtMatmulDescSetAttribute")
        };
        let operation = |transposed| if transposed { sys::OP_T } else { sys::OP_N };
        describe(sys::DESC_TRANSA, &operation(key.b_transposed).to_ne_bytes())?;
        describe(sys::DESC_TRANSB, &operation(key.a_transposed).to_ne_bytes())?;
        describe(sys::DESC_EPILOGUE, &epilogue(&key).to_ne_bytes())?;
        if key.scales_on_device {
            describe(sys::DESC_POINTER_MODE, &sys::POINTER_MODE_DEVICE.to_ne_bytes())?;
        }
        if key.has_bias {
            // Not yet known, and not followed by the heuristic, which wants one that is not null.
            describe(sys::DESC_BIAS_POINTER, &u64::from(key.alignments[3]).to_ne_bytes())?;
        }
        let layout = |rows: usize, columns: usize| -> Result<Owned> {
            // SAFETY: the place is valid for the write.
            let layout =
                Owned::new(entries.cublasLtMatrixLayoutDestroy, "cublasLtMatrixLayoutCreate", |place| unsafe {
                    (entries.cublasLtMatrixLayoutCreate)(place, element, rows as u64, columns as u64, rows as i64)
                })?;
            let (count, stride) = ((key.batch as i32).to_ne_bytes(), ((rows * columns) as i64).to_ne_bytes());
            let attributes: [(c_int, &[u8]); 2] =
                [(sys::LAYOUT_BATCH_COUNT, &count), (sys::LAYOUT_STRIDED_BATCH_OFFSET, &stride)];
            for (attribute, value) in attributes {
                // SAFETY: the layout is alive; the value has as many bytes as are said, and is copied.
                let status = unsafe {
                    (entries.cublasLtMatrixLayoutSetAttribute)(
                        layout.raw,
                        attribute,
                        value.as_ptr().cast(),
                        value.len(),
                    )
                };
                check(status, "cublasLtMatrixLayoutSetAttribute")?;
            }
            Ok(layout)
        };
        let Key { m, n, k, .. } = key;
        let first = if key.b_transposed { layout(k, n)? } else { layout(n, k)? };
        let second = if key.a_transposed { layout(m, k)? } else { layout(k, m)? };
        let target = layout(n, m)?;
        let choice = handle.choice(key, || choose(handle, &key, [&desc, &first, &second, &target]))?;
        Ok(Product { handle: handle.clone(), key, desc: Mutex::new(desc), first, second, target, choice })
    }

    /// Bytes of workspace that a call wants, at a multiple of 256.
    pub(super) fn workspace(&self) -> usize {
        self.choice.workspace
    }

    /// Enqueues the product.
    ///
    /// # Safety
    ///
    /// - The context of the handle is current; the stream is of it.
    /// - The addresses are of memory of as many elements as the key says, aligned as it says; those of scales on the device
    ///   of an f32 each; the workspace of [`workspace`](Product::workspace) bytes. All are good until the work is over.
    pub(super) unsafe fn enqueue(&self, stream: CUstream, at: &Operands) -> Result<()> {
        // A first call may load a kernel, which breaks a capture of another library's.
        let _relaxed = Relaxed::new(&*self.handle.driver)?;
        let entries = &self.handle.entries;
        let desc = self.desc.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bias) = at.bias {
            let attribute = sys::DESC_BIAS_POINTER;
            // SAFETY: the descriptor is alive; the value, an address, is copied.
            let status = unsafe {
                (entries.cublasLtMatmulDescSetAttribute)(
                    desc.raw,
                    attribute,
                    (&raw const bias).cast(),
                    size_of::<u64>(),
                )
            };
            check(status, "cublasLtMatmulDescSetAttribute")?;
        }
        let pointer = |address: u64| std::ptr::with_exposed_provenance_mut::<c_void>(address as usize);
        let host;
        let (alpha, beta): (*const c_void, *const c_void) = match at.scales {
            Scales::Host(alpha, beta) => {
                host = [alpha, beta];
                ((&raw const host[0]).cast(), (&raw const host[1]).cast())
            }
            Scales::Device(alpha, beta) => (pointer(alpha), pointer(beta)),
        };
        // SAFETY: handle, descriptors and layouts are alive; the algorithm was chosen for them; addresses, workspace and
        // stream are the caller's promise. Scales on the host are read before the call returns.
        let status = unsafe {
            (entries.cublasLtMatmul)(
                self.handle.raw,
                desc.raw,
                alpha,
                pointer(at.b),
                self.first.raw,
                pointer(at.a),
                self.second.raw,
                beta,
                pointer(at.c),
                self.target.raw,
                pointer(at.d),
                self.target.raw,
                &self.choice.algorithm,
                pointer(at.workspace),
                self.choice.workspace,
                stream,
            )
        };
        check(status, "cublasLtMatmul")
    }

    pub(super) fn key(&self) -> &Key {
        &self.key
    }
}

fn epilogue(key: &Key) -> c_int {
    let activation = match key.activation {
        Activation::None => 0,
        Activation::Relu => sys::EPILOGUE_RELU,
        Activation::Gelu => sys::EPILOGUE_GELU,
    };
    match activation | if key.has_bias { sys::EPILOGUE_BIAS } else { 0 } {
        0 => sys::EPILOGUE_DEFAULT,
        bits => bits,
    }
}

/// Asks the heuristic.
fn choose(handle: &Handle, key: &Key, [desc, first, second, target]: [&Owned; 4]) -> Result<Choice> {
    let entries = &handle.entries;
    // SAFETY: the place is valid for the write.
    let preference =
        Owned::new(entries.cublasLtMatmulPreferenceDestroy, "cublasLtMatmulPreferenceCreate", |place| unsafe {
            (entries.cublasLtMatmulPreferenceCreate)(place)
        })?;
    let prefer = |attribute, value: &[u8]| {
        // SAFETY: the preference is alive; the value has as many bytes as are said, and is copied.
        let status = unsafe {
            (entries.cublasLtMatmulPreferenceSetAttribute)(
                preference.raw,
                attribute,
                value.as_ptr().cast(),
                value.len(),
            )
        };
        check(status, "cublasLtMatmulPreferenceSetAttribute")
    };
    prefer(sys::PREF_MAX_WORKSPACE_BYTES, &key.workspace_max.to_ne_bytes())?;
    if matches!(key.format, Format::F16 | Format::Bf16) {
        // The parts of a sum that is split may otherwise be kept in the type of the result, each of them rounded.
        prefer(sys::PREF_REDUCTION_SCHEME_MASK, &sys::REDUCTION_SCHEME_COMPUTE_TYPE.to_ne_bytes())?;
    }
    // Its first factor is our B.
    let [a, b, c, d] = key.alignments;
    prefer(sys::PREF_MIN_ALIGNMENT_A_BYTES, &b.to_ne_bytes())?;
    prefer(sys::PREF_MIN_ALIGNMENT_B_BYTES, &a.to_ne_bytes())?;
    prefer(sys::PREF_MIN_ALIGNMENT_C_BYTES, &c.to_ne_bytes())?;
    prefer(sys::PREF_MIN_ALIGNMENT_D_BYTES, &d.to_ne_bytes())?;
    let (mut results, mut found) = ([HeuristicResult::EMPTY; ASKED], 0);
    // SAFETY: all descriptors are alive; there is room for as many results as are asked for.
    let status = unsafe {
        (entries.cublasLtMatmulAlgoGetHeuristic)(
            handle.raw,
            desc.raw,
            first.raw,
            second.raw,
            target.raw,
            target.raw,
            preference.raw,
            ASKED as c_int,
            results.as_mut_ptr(),
            &mut found,
        )
    };
    if status != sys::NOT_SUPPORTED {
        check(status, "cublasLtMatmulAlgoGetHeuristic")?;
    }
    let found = usize::try_from(found).unwrap_or(0).min(ASKED);
    let sound =
        results[..found].iter().find(|result| result.state == sys::SUCCESS && result.workspace <= key.workspace_max);
    match sound {
        Some(result) => Ok(Choice { algorithm: result.algorithm, workspace: result.workspace }),
        None => {
            let Key { m, n, k, batch, format, activation, .. } = key;
            let what = format!(
                "a product of {m} x {k} with {k} x {n} ({batch} of them) in {format:?} with activation {activation:?}"
            );
            let needs = "an algorithm of cuBLASLt's for it; `reference()` does it with a kernel of ours".to_string();
            Err(Error::new(ErrorKind::Unsupported { what, needs }))
        }
    }
}
