//! A declaration that is not true, as an error carries it.

use std::fmt;

/// A sentence of a declaration that the text of the kernel contradicts.
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
    /// Where in the CUDA source, if the PTX tells: `saxpy.cu:12`.
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
