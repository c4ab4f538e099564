//! A declaration held against the text of its kernel, when the module is loaded.
//!
//! Refused is what the text contradicts, in whichever branch (conditions are not looked into):
//!
//! - a store or an atomic through `&[T]` or `&T`;
//! - a parameter that is declared as a value and used as an address, or the reverse;
//! - `.param .f32` declared as a whole number, and a whole number declared as `f32`;
//! - a global that is written and does not stand in `state`.
//!
//! Warned about, in [`Checked`] and by `inspect`, is what may be right and seldom is: an address that came out of
//! memory, accesses that are all narrower than the declared element, `&mut` memory that is never written, `&` memory
//! that is never read.
//!
//! What cannot be decided is neither: a pointer that is stored, two pointers in one sum, a form of PTX that is not
//! known. No text stops loading because it is not understood.
//!
//! [`facts`] is what comes out, [`compare`] how, [`words`] how it is said. What a kernel does is found by
//! [`dacapo_ptx::effects`].

mod compare;
mod facts;
mod words;

use dacapo_ptx::ir::Module;

use crate::error::FalseDeclaration;
use crate::kernel::KernelDecl;

pub(crate) use words::not_read;

pub use facts::{Checked, CheckedKernel, CheckedParam, Found, Warning, WarningKind};

/// Holds declarations against a text that was parsed, or against why it was not.
pub(crate) fn check(text: Result<&Module, &str>, kernels: &[KernelDecl]) -> (Checked, Vec<FalseDeclaration>) {
    let (mut checked, mut lies) = (Checked::default(), Vec::new());
    for decl in kernels {
        let (kernel, false_ones) = compare::compare(text, decl);
        checked.kernels.push(kernel);
        lies.extend(false_ones);
    }
    (checked, lies)
}

/// What loading this text with these declarations would find, without a device.
#[doc(hidden)]
pub fn check_text(ptx: &str, kernels: &[KernelDecl]) -> (Checked, Vec<FalseDeclaration>) {
    match dacapo_ptx::parse(ptx) {
        Ok(module) => check(Ok(&module), kernels),
        Err(errors) => check(Err(&words::not_read(&errors)), kernels),
    }
}
