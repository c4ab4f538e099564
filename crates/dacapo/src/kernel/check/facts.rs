//! What was decided about a declaration, as data.

/// What loading a `kernels!` struct found in the PTX of its kernels: `Kernels::checked`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// dacapo::kernels! {
///     unsafe struct Kernels(include_str!("../../../kernels/saxpy.ptx")) {
///         fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// let k = Kernels::load(&device)?;
/// assert_eq!(k.checked().warnings().count(), 0);
/// assert_eq!(k.checked().kernels[0].params[2].found.to_string(), "read and written, 4 bytes at once");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// The kernels, in the order of declaration.
    pub kernels: Vec<CheckedKernel>,
}

/// What was found in one kernel.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::CheckedKernel;
/// # let device = dacapo::Device::software()?;
/// dacapo::kernels! {
///     unsafe struct Kernels(include_str!("../../../kernels/saxpy.ptx")) {
///         fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// let k = Kernels::load(&device)?;
/// let kernel: &CheckedKernel = &k.checked().kernels[0];
/// assert!(kernel.entry == "saxpy" && kernel.not_decided.is_none());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CheckedKernel {
    /// The method's name.
    pub name: String,
    /// The entry point's name.
    pub entry: String,
    /// Why nothing could be decided, if nothing could: an unknown form of PTX, for example.
    pub not_decided: Option<String>,
    /// The parameters, in the order of declaration.
    pub params: Vec<CheckedParam>,
    /// Its warnings.
    pub warnings: Vec<Warning>,
}

/// What was found about one parameter.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::CheckedParam;
/// # let device = dacapo::Device::software()?;
/// dacapo::kernels! {
///     unsafe struct Kernels(include_str!("../../../kernels/saxpy.ptx")) {
///         fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// let k = Kernels::load(&device)?;
/// let x: &CheckedParam = &k.checked().kernels[0].params[1];
/// assert_eq!((x.name.as_str(), x.declared.as_str()), ("x", "&[f32]"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckedParam {
    /// The parameter's name.
    pub name: String,
    /// What it is declared as: `&mut [f32]`.
    pub declared: String,
    /// What the PTX does with it.
    pub found: Found,
}

/// What a kernel's PTX does with a parameter.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::Found;
/// # let device = dacapo::Device::software()?;
/// dacapo::kernels! {
///     unsafe struct Kernels(include_str!("../../../kernels/saxpy.ptx")) {
///         fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// let k = Kernels::load(&device)?;
/// let params = &k.checked().kernels[0].params;
/// assert_eq!(params[0].found, Found::Value);
/// assert!(matches!(params[1].found, Found::Memory { read: true, written: false, .. }));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Found {
    /// A value: no address is made from it alone.
    Value,
    /// Memory: every access through it is known.
    Memory {
        /// Whether an access reads.
        read: bool,
        /// Whether an access writes; atomics do both.
        written: bool,
        /// Whether an access is atomic.
        atomic: bool,
        /// The narrowest access in bytes; 0 if there is none.
        bytes_min: u32,
        /// The widest access in bytes.
        bytes_max: u32,
    },
    /// The analysis could not follow it.
    NotDecided {
        /// Why not.
        why: String,
    },
    /// The declaration says `unchecked`.
    Unchecked,
}

/// Something in a declaration that may be right but seldom is.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// dacapo::kernels! {
///     unsafe struct Kernels(include_str!("../../../kernels/saxpy.ptx")) {
///         fn saxpy(a: f32, x: &mut [f32], y: &mut [f32], n: u32 = y.len()) {
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// let k = Kernels::load(&device)?;
/// let (kernel, warning) = k.checked().warnings().next().unwrap();
/// assert_eq!((kernel.name.as_str(), warning.param.as_str()), ("saxpy", "x")); // `&mut`, and never written
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Warning {
    /// Which warning it is.
    pub kind: WarningKind,
    /// The parameter; empty if it is about the whole kernel.
    pub param: String,
    /// One line, with the place if it is known.
    pub text: String,
}

/// Which warning it is.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::WarningKind;
/// # let device = dacapo::Device::software()?;
/// dacapo::kernels! {
///     unsafe struct Kernels(include_str!("../../../kernels/saxpy.ptx")) {
///         fn saxpy(a: f32, x: &mut [f32], y: &mut [f32], n: u32 = y.len()) {
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// let k = Kernels::load(&device)?;
/// let (_, warning) = k.checked().warnings().next().unwrap();
/// assert_eq!(warning.kind, WarningKind::NeverWritten);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// An address was loaded from memory, or could not be followed: what it points to is not declared.
    AddressFromMemory,
    /// Every access is narrower than the declared element.
    Narrow,
    /// Memory that is declared as written is never written.
    NeverWritten,
    /// Memory that is declared as read is never read.
    NeverRead,
}

impl Checked {
    /// Every warning, with its kernel.
    pub fn warnings(&self) -> impl Iterator<Item = (&CheckedKernel, &Warning)> {
        self.kernels.iter().flat_map(|kernel| kernel.warnings.iter().map(move |warning| (kernel, warning)))
    }
}
