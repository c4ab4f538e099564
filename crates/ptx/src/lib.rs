//! PTX text to checked, decoded kernels.
//!
//! The way through this crate: [`lex`](lex) → [`parse`](parse) → [`resolve`](resolve) → [`ir`].
//! [`forms`] is the one table of opcodes and modifiers.
//!
//! - Parsing never panics, whatever the text.
//! - A form that is not known makes its *function* unsupported, not the module: see [`ir::Function::unsupported`].
//! - Nothing here knows of drivers or devices.
#![forbid(unsafe_code)]

pub mod ir;
