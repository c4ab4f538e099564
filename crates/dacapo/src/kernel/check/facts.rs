//! What was decided about a declaration, as data.

/// What was decided about the kernels of a `kernels!` struct when it was loaded.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// dacapo::kernels! {
///     unsafe struct Kernels(include_str!("../../../tests/saxpy.ptx")) {
///         fn saxpy(n: i32 = y.len(), a: f32, x: &[f32], y: &mut [f32]) {
///             entry: "saxpy_f32";
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// let k = Kernels::load(&device)?;
/// let checked = k.checked();
/// assert_eq!(checked.warnings().count(), 0);
/// assert_eq!(checked.kernels[0].params[3].found.to_string(), "read and written, 4 bytes at once");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// In the order in which they are declared.
    pub kernels: Vec<CheckedKernel>,
}

/// What was decided about one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CheckedKernel {
    /// The method's name.
    pub name: String,
    /// The entry point's.
    pub entry: String,
    /// Why nothing was decided, where it was not: a form of PTX that is not known, say.
    pub not_decided: Option<String>,
    /// In the order of the declaration.
    pub params: Vec<CheckedParam>,
    /// What may be right, and seldom is.
    pub warnings: Vec<Warning>,
}

/// What was decided about one parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckedParam {
    /// Its name.
    pub name: String,
    /// What it is declared as: `&mut [f32]`.
    pub declared: String,
    /// What the text does with it.
    pub found: Found,
}

/// What the text does with a parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Found {
    /// It is declared as a value, and no address is made of it alone.
    Value,
    /// Every access that can go through it is known.
    Memory {
        /// Whether one reads.
        read: bool,
        /// Whether one writes; atomics do both.
        written: bool,
        /// Whether one is atomic.
        atomic: bool,
        /// The fewest bytes at once; 0 where there is no access.
        bytes_min: u32,
        /// The most.
        bytes_max: u32,
    },
    /// It could not be followed.
    NotDecided {
        /// Why not.
        why: String,
    },
    /// The declaration says `unchecked`.
    Unchecked,
}

/// Something that may be right, and seldom is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Warning {
    /// Which.
    pub kind: WarningKind,
    /// The parameter; empty where it is about the whole kernel.
    pub param: String,
    /// In one line, with the place where there is one.
    pub text: String,
}

/// Which warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// An address came out of memory, or from nothing that could be followed: what it leads to is not declared.
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
