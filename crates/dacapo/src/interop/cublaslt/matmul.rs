//! The op: a product described, checked when it is recorded, and done by the library or by a kernel of ours.
//!
//! Checked, with the numbers in the error:
//!
//! - A has batch · m · k elements, B batch · k · n, C and D batch · m · n, the bias n;
//! - m, n, k and the batch fit in 31 bits;
//! - D overlaps nothing that is read, and everything lives on one device;
//! - nothing is a stand-in of `record_into`: what the library enqueues is frozen with its addresses.
//!
//! A product without elements is no work. One over k = 0 is C and the bias alone, which the library does not know: it is
//! done by a kernel of ours on every device.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use smallvec::smallvec;

use crate::device::RawStream;
use crate::element::Pod;
use crate::error::{Error, ErrorKind, Result};
use crate::interop::cublaslt::CublasLt;
use crate::interop::cublaslt::descriptors::{Key, Operands, Product, Scales};
use crate::interop::cublaslt::reference::Launch;
use crate::memory::{Access, Accesses, Element, Kind, Slice};
use crate::record::{ForeignWork, Node, Op, Recorder, Work};
use crate::value::Baked;

/// A function applied to each element of the result.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::interop::cublaslt::{Activation, CublasLt};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let blas = CublasLt::load(&device)?;
/// let (x, w, mut y) = (device.buffer(&[1f32, -1.0])?, device.buffer(&[2f32])?, device.zeros::<f32>(2)?);
/// stream.run(blas.matmul(2, 1, 1).activation(Activation::Relu).op(&x, &w, &mut y))?;
/// assert_eq!(stream.read(&y)?, [2.0, 0.0]);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Activation {
    /// Nothing.
    #[default]
    None,
    /// Negative values become 0.
    Relu,
    /// x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³))): the tanh approximation, not the exact form with the error
    /// function.
    Gelu,
}

/// Numbers and how they are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Format {
    F32,
    Tf32,
    F16,
    Bf16,
}

mod sealed {
    pub trait Sealed {
        /// Which it is.
        #[doc(hidden)]
        #[allow(private_interfaces, reason = "a sealed trait: nobody outside can name what is in it")]
        const FORMAT: super::Format;
    }
}

/// What matrices are made of: `f32`, `half::f16` or `half::bf16`. Sealed.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Op, Slice, interop::cublaslt::{CublasLt, Number}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// fn square<'a, T: Number>(blas: &'a CublasLt, x: &'a Slice<T>, d: &'a mut Slice<T>) -> impl Op<Out = ()> {
///     blas.matmul(1, 1, x.len()).op(x, x, d)
/// }
/// let (blas, mut d) = (CublasLt::load(&device)?, device.zeros::<f32>(1)?);
/// let x = device.buffer(&[1.0, 2.0, 2.0])?;
/// stream.run(square(&blas, &x, &mut d))?;
/// assert_eq!(stream.read(&d)?, [9.0]);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` are not multiplied here",
    note = "`f32`, `half::f16` and `half::bf16` are"
)]
pub trait Number: Pod + sealed::Sealed {}

macro_rules! numbers {
    ($($t:ty: $format:ident),*) => { $(
        #[allow(private_interfaces, reason = "a sealed trait: nobody outside can name what is in it")]
        impl sealed::Sealed for $t {
            const FORMAT: Format = Format::$format;
        }
        impl Number for $t {}
    )* };
}
numbers!(f32: F32, half::f16: F16, half::bf16: Bf16);

/// A scale factor: `baked(0.5)`, which never changes, or one value in device memory, read at each replay.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let blas = dacapo::interop::cublaslt::CublasLt::load(&device)?;
/// let (x, mut y) = (device.buffer(&[3f32])?, device.zeros::<f32>(1)?);
/// let mut alpha = device.scalar(1f32)?;
/// let mut graph = device.record(blas.matmul(1, 1, 1).alpha(&*alpha).op(&x, &x, &mut y))?;
/// alpha.set(&stream, 2.0)?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&y)?, [18.0]);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Scale<'a>(ScaleOf<'a>);

#[derive(Clone, Copy, Debug)]
enum ScaleOf<'a> {
    Baked(f32),
    Device(&'a Element<f32>),
}

impl From<Baked<f32>> for Scale<'_> {
    fn from(value: Baked<f32>) -> Self {
        Scale(ScaleOf::Baked(value.get()))
    }
}

impl<'a> From<&'a Element<f32>> for Scale<'a> {
    fn from(value: &'a Element<f32>) -> Self {
        Scale(ScaleOf::Device(value))
    }
}

impl<'a> Scale<'a> {
    /// The value, or 0 and where it is instead.
    fn split(self) -> (f32, Option<&'a Element<f32>>) {
        match self.0 {
            ScaleOf::Baked(value) => (value, None),
            ScaleOf::Device(element) => (0.0, Some(element)),
        }
    }
}

/// The description of a matrix product: [`CublasLt::matmul`] begins it, [`op`](Matmul::op) turns it into an op.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let blas = dacapo::interop::cublaslt::CublasLt::load(&device)?;
/// let x = device.buffer(&[1f32, 2.0, 3.0, 4.0])?; // 2 x 2, row by row
/// let (bias, mut y) = (device.buffer(&[10f32, 20.0])?, device.zeros::<f32>(4)?);
/// stream.run(blas.matmul(2, 2, 2).transpose_b().bias(&bias).op(&x, &x, &mut y))?; // x · xᵀ + bias
/// assert_eq!(stream.read(&y)?, [15.0, 31.0, 21.0, 45.0]);
/// # Ok(()) }
/// ```
#[must_use = "a description does nothing until `op(..)` makes an op of it"]
pub struct Matmul<'a, T: Number> {
    blas: &'a CublasLt,
    shape: Shape,
    format: Format,
    activation: Activation,
    alpha: Scale<'a>,
    beta: Scale<'a>,
    addend: Addend<'a, T>,
    bias: Option<&'a Slice<T>>,
    reference: bool,
    workspace_max: usize,
    workspace: Option<&'a mut Slice<u8>>,
}

/// What the product is added to.
enum Addend<'a, T: Pod> {
    None,
    Slice(&'a Slice<T>),
    Target,
}

#[derive(Clone, Copy)]
struct Shape {
    m: usize,
    n: usize,
    k: usize,
    batch: usize,
    a_transposed: bool,
    b_transposed: bool,
}

/// As much as cuBLAS recommends for a Hopper GPU. What an algorithm does not need is not planned.
const WORKSPACE_MAX: usize = 32 << 20;

impl<'a, T: Number> Matmul<'a, T> {
    pub(super) fn new(blas: &'a CublasLt, m: usize, n: usize, k: usize) -> Matmul<'a, T> {
        Matmul {
            blas,
            shape: Shape { m, n, k, batch: 1, a_transposed: false, b_transposed: false },
            format: T::FORMAT,
            activation: Activation::None,
            alpha: Scale(ScaleOf::Baked(1.0)),
            beta: Scale(ScaleOf::Baked(0.0)),
            addend: Addend::None,
            bias: None,
            reference: false,
            workspace_max: WORKSPACE_MAX,
            workspace: None,
        }
    }

    /// A is stored as k rows of m.
    pub fn transpose_a(mut self) -> Self {
        self.shape.a_transposed = true;
        self
    }

    /// B is stored as n rows of k, as the weights of a linear layer usually are.
    pub fn transpose_b(mut self) -> Self {
        self.shape.b_transposed = true;
        self
    }

    /// This many products at once. The matrices of each operand are stored one after the other; the bias is shared.
    pub fn batch(mut self, products: usize) -> Self {
        self.shape.batch = products;
        self
    }

    /// Scales the product: `baked(0.5f32)`, or a `&Element<f32>` that is read at each replay. 1 by default.
    pub fn alpha(mut self, alpha: impl Into<Scale<'a>>) -> Self {
        self.alpha = alpha.into();
        self
    }

    /// Adds beta · C, where C is m x n like D. Where beta is 0, C is not read.
    pub fn add(mut self, c: &'a Slice<T>, beta: impl Into<Scale<'a>>) -> Self {
        (self.addend, self.beta) = (Addend::Slice(c), beta.into());
        self
    }

    /// Adds beta · D, with the old contents of D: `accumulate(baked(1.0f32))` sums gradients.
    pub fn accumulate(mut self, beta: impl Into<Scale<'a>>) -> Self {
        (self.addend, self.beta) = (Addend::Target, beta.into());
        self
    }

    /// Adds a vector of n to each row.
    pub fn bias(mut self, bias: &'a Slice<T>) -> Self {
        self.bias = Some(bias);
        self
    }

    /// Applies a function to each element at the end, after bias and C.
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// [`Activation::Relu`].
    pub fn relu(self) -> Self {
        self.activation(Activation::Relu)
    }

    /// [`Activation::Gelu`].
    pub fn gelu(self) -> Self {
        self.activation(Activation::Gelu)
    }

    /// The most bytes of workspace that the algorithm may use; 32 MiB by default.
    pub fn workspace_max(mut self, bytes: usize) -> Self {
        self.workspace_max = bytes;
        self
    }

    /// Uses your scratch memory instead of the graph's own; the algorithm is chosen to fit. It must be aligned to 256
    /// bytes. The graph holds it like all other memory, so you may drop it at once.
    pub fn workspace(mut self, scratch: &'a mut Slice<u8>) -> Self {
        self.workspace_max = scratch.len();
        self.workspace = Some(scratch);
        self
    }

    /// Uses our own kernel on every device: slow, but with a known order of summation. For comparisons.
    pub fn reference(mut self) -> Self {
        self.reference = true;
        self
    }

    /// The op: writes the product of `a` and `b` to `d`, as described.
    ///
    /// Recording or running it fails if a length does not fit, or if `d` overlaps what is read.
    #[track_caller]
    pub fn op(mut self, a: &'a Slice<T>, b: &'a Slice<T>, d: &'a mut Slice<T>) -> impl Op<Out = ()> {
        let at = Location::caller();
        move |recorder: &mut Recorder<'_>| {
            let outcome = self.record(recorder, at, a, b, d);
            outcome.map_err(|error| recorder.blame(error, "matmul", at))
        }
    }

    fn record(
        &mut self,
        recorder: &mut Recorder<'_>,
        at: &'static Location<'static>,
        a: &Slice<T>,
        b: &Slice<T>,
        d: &mut Slice<T>,
    ) -> Result<()> {
        if !self.blas.device.is(recorder.device()) {
            return Err(recorder.device().stranger("the cuBLASLt handle", &self.blas.device));
        }
        self.check(a, b, d)?;
        let accumulate = matches!(self.addend, Addend::Target);
        let mut access: Accesses = smallvec![
            if accumulate { Access::write("d", d) } else { Access::out("d", d) },
            Access::read("a", a),
            Access::read("b", b),
        ];
        if let Addend::Slice(c) = &self.addend {
            access.push(Access::read("c", c));
        }
        access.extend(self.bias.map(|bias| Access::read("bias", bias)));
        let ((alpha, alpha_at), (beta, beta_at)) = (self.alpha.split(), self.beta.split());
        let is_stand_in = |access: &Access| matches!(access.place.allocation.kind(), Kind::StandIn(_));
        let scales = [alpha_at, beta_at].map(|at| at.map(|at| Access::read("scale", at.as_slice())));
        let scratch = self.workspace.as_deref_mut().map(|scratch| Access::write("workspace", scratch));
        if let Some(scratch) = scratch.as_ref().filter(|scratch| !scratch.place.start.is_multiple_of(256)) {
            let values = format!("it begins at byte {} of its buffer", scratch.place.start);
            return Err(Error::new(ErrorKind::Requires { condition: "workspace.aligned(256)", values }));
        }
        if !self.reference && access.iter().chain(scales.iter().flatten()).chain(&scratch).any(is_stand_in) {
            return Err(Error::new(ErrorKind::NoMemoryYet { call: "matmul" }));
        }
        if d.is_empty() {
            return Ok(());
        }
        let handle = self.blas.shared.handle.as_ref().filter(|_| !self.reference && self.shape.k > 0);
        let Some(handle) = handle else {
            access.extend(scales.into_iter().flatten());
            // Not needed, and yet declared: what is refused and what is ordered shall not depend on the device.
            access.extend(scratch);
            let launch = self.launch((alpha, alpha_at.is_some()), (beta, beta_at.is_some()));
            let work = self.blas.shared.reference(recorder.device())?.work(launch);
            return recorder.push(Node::new("matmul".into(), at, access, work), &[]);
        };
        let product = {
            // Asked of the library now, outside of every capture of ours; another library's must not be broken.
            recorder.device().enter()?;
            let _relaxed = recorder.device().relaxed()?;
            Product::new(handle, self.key(&access, alpha_at.is_some() || beta_at.is_some()))?
        };
        let mut host = Scales::Host(alpha, beta);
        if product.key().scales_on_device {
            // The library takes both from the device or none: the other one gets memory of its own, which the graph holds.
            host = Scales::Device(0, 0);
            for (scale, value) in scales.into_iter().zip([alpha, beta]) {
                match scale {
                    Some(scale) => access.push(scale),
                    None => access.push(Access::read("scale", &recorder.device().filled(&[value])?)),
                }
            }
        }
        match scratch {
            Some(scratch) => access.push(scratch),
            // A temp, and nobody's else: planned into the arena for this op alone.
            None if product.workspace() > 0 => {
                let mut workspace = recorder.workspace(product.workspace())?;
                access.push(Access::out("workspace", &mut workspace));
            }
            None => {}
        }
        let work = Work::Foreign(enqueues(product, host));
        recorder.push(Node::new("matmul".into(), at, access, work), &[])
    }

    fn check(&self, a: &Slice<T>, b: &Slice<T>, d: &Slice<T>) -> Result<()> {
        let Shape { m, n, k, batch, .. } = self.shape;
        let sizes = || format!("m = {m}, n = {n}, k = {k}, batch = {batch}");
        let fails = |condition, values| Err(Error::new(ErrorKind::Requires { condition, values }));
        if [m, n, k, batch].into_iter().any(|size| i32::try_from(size).is_err()) {
            return fails("m, n, k and the batch are below 2^31", sizes());
        }
        let product = |sizes: [usize; 3]| sizes.into_iter().try_fold(1usize, usize::checked_mul);
        let mut lengths = vec![
            ("a", a.len(), product([batch, m, k]), "a.len() == batch * m * k"),
            ("b", b.len(), product([batch, k, n]), "b.len() == batch * k * n"),
            ("d", d.len(), product([batch, m, n]), "d.len() == batch * m * n"),
        ];
        if let Addend::Slice(c) = &self.addend {
            lengths.push(("c", c.len(), product([batch, m, n]), "c.len() == batch * m * n"));
        }
        if let Some(bias) = self.bias {
            lengths.push(("bias", bias.len(), Some(n), "bias.len() == n"));
        }
        match lengths.into_iter().find(|(_, len, wanted, _)| *wanted != Some(*len)) {
            Some((name, len, _, condition)) => fails(condition, format!("{name}.len() = {len}, {}", sizes())),
            None => Ok(()),
        }
    }

    fn key(&self, access: &[Access], scales_on_device: bool) -> Key {
        let Shape { m, n, k, batch, a_transposed, b_transposed } = self.shape;
        // Allocations begin at multiples of 256, so the offset is all that counts.
        let alignment = |name: &str| {
            let found = access.iter().find(|access| access.name == name);
            found.map_or(256, |access| 1 << access.place.start.trailing_zeros().min(8))
        };
        let d: u32 = alignment("d");
        let has_addend = matches!(self.addend, Addend::Slice(_));
        Key {
            format: self.format,
            m,
            n,
            k,
            batch,
            a_transposed,
            b_transposed,
            activation: self.activation,
            has_bias: self.bias.is_some(),
            scales_on_device,
            has_addend,
            alignments: [
                alignment("a"),
                alignment("b"),
                if has_addend { alignment("c") } else { d },
                d.min(alignment("bias")),
            ],
            workspace_max: self.workspace_max,
        }
    }

    fn launch(&self, alpha: (f32, bool), beta: (f32, bool)) -> Launch {
        let Shape { m, n, k, batch, a_transposed, b_transposed } = self.shape;
        Launch {
            format: self.format,
            // Checked to have 31 bits.
            m: m as u32,
            n: n as u32,
            k: k as u32,
            batch: batch as u64,
            a_transposed,
            b_transposed,
            activation: self.activation,
            accumulate: matches!(self.addend, Addend::Target),
            has_addend: matches!(self.addend, Addend::Slice(_)),
            has_bias: self.bias.is_some(),
            alpha,
            beta,
        }
    }
}

/// What the replay calls: the product at the places that it is handed, in the order of the accesses that `record` declared.
fn enqueues(product: Product, host: Scales) -> ForeignWork {
    let has_addend = product.key().has_addend;
    let call = move |stream: RawStream, places: &mut dyn Iterator<Item = (u64, usize)>| {
        let mut next = || places.next().map_or(0, |(address, _)| address);
        let (d, a, b) = (next(), next(), next());
        let c = if has_addend { next() } else { d };
        let bias = product.key().has_bias.then(&mut next);
        let scales = match host {
            Scales::Device(..) => Scales::Device(next(), next()),
            host => host,
        };
        let at = Operands { a, b, c, d, bias, scales, workspace: next() };
        // SAFETY: the places are the declared accesses in their order, whose lengths were checked against the key and
        // whose alignment is in it, the workspace the last if there is one; the recording holds them until the
        // work is over. Foreign work is called with the device's context current and a stream of it.
        unsafe { product.enqueue(stream.0, &at) }
    };
    ForeignWork { call: Arc::new(call), joint: None }
}

impl Matmul<'_, f32> {
    /// Rounds the factors to tf32 (8 bits of exponent, 10 of mantissa); sums and results stay f32. Tensor cores are
    /// several times as fast this way.
    pub fn tf32(mut self) -> Self {
        self.format = Format::Tf32;
        self
    }
}

impl<T: Number> fmt::Debug for Matmul<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { m, n, k, batch, .. } = self.shape;
        write!(f, "Matmul({:?}, {m} x {k} with {k} x {n}, batch {batch}, {:?})", self.format, self.activation)
    }
}
