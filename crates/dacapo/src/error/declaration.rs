//! A declaration that is not true, as an error carries it.

use std::fmt;

/// A part of a declaration that the kernel's PTX contradicts.
///
/// ```
/// use dacapo::ErrorKind;
/// dacapo::kernels! {
///     /// `y` is written by the kernel, and declared as read.
///     unsafe struct Kernels(include_str!("../../kernels/saxpy.ptx")) {
///         fn saxpy(a: f32, x: &[f32], y: &[f32], n: u32 = y.len()) { grid: linear(y.len(), 256); }
///     }
/// }
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let error = Kernels::load(&device).map(drop).unwrap_err();
/// let ErrorKind::Declaration(found) = error.kind() else { panic!("{error}") };
/// assert_eq!((found[0].kernel.as_str(), found[0].param.as_str()), ("saxpy", "y"));
/// assert!(found[0].instead.contains("&mut [f32]"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FalseDeclaration {
    /// The method's name.
    pub kernel: String,
    /// The parameter; for a global, its name.
    pub param: String,
    /// What the kernel does, as a sentence.
    pub what: String,
    /// Where in the PTX: a line.
    pub line: u32,
    /// Where in the CUDA source, if the PTX says: `saxpy.cu:12`.
    pub source: Option<String>,
    /// What is declared.
    pub declared: String,
    /// The declaration that would be true.
    pub instead: String,
}

impl fmt::Display for FalseDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FalseDeclaration { kernel, what, line, source, declared, instead, .. } = self;
        write!(f, "`{kernel}` {what} (line {line} of the PTX")?;
        if let Some(source) = source {
            write!(f, ", {source}")?;
        }
        write!(f, "); declared is `{declared}`, true would be `{instead}`")
    }
}
