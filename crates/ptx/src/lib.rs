//! PTX text to checked, decoded kernels.
//!
//! ```
//! let module = dacapo_ptx::parse(
//!     ".version 8.4 .target sm_80 .address_size 64
//!      .visible .entry one(.param .u64 p) {
//!        .reg .b64 %rd<2>;
//!        ld.param.u64 %rd1, [p];
//!        st.global.u32 [%rd1], 1;
//!        ret;
//!      }",
//! )?;
//! assert_eq!(module.functions[0].name, "one");
//! assert_eq!(module.functions[0].param_bytes(), 8);
//! # Ok::<(), dacapo_ptx::Errors>(())
//! ```
//!
//! The way through this crate: `lex` → `parse` → `resolve` → [`ir`]. The table of opcodes and modifiers in
//! `forms` is read by all of them.
//!
//! - Parsing never panics, whatever the text.
//! - A form that is not known makes its *function* unsupported, not the module: see [`ir::Function::unsupported`].
//! - Nothing here knows of drivers or devices.
#![forbid(unsafe_code)]

pub mod effects;
mod error;
mod forms;
pub mod ir;
mod lex;
pub mod link;
mod parse;
mod print;
mod resolve;
mod variant;

pub use error::{Error, ErrorKind, Errors};
pub use forms::{Family, FormRow, Status, Support, classify, decode_text, supported_forms};
pub use variant::{Left, Opening, Variant, variant};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// A module from its text.
///
/// # Errors
///
/// Everything that was found wrong with the text, in text order. What is merely not supported is no error: it is
/// noted in the function that has it.
pub fn parse(text: &str) -> Result<ir::Module, Errors> {
    let mut errors = Vec::new();
    // Columns and lengths are 32 bits wide, and no module comes near that.
    if text.len() > u32::MAX as usize {
        let error = Error::new(ErrorKind::Limit, ir::Span::default(), "the text is longer than 4 GiB", "");
        return Err(Errors::new(vec![error], ""));
    }
    let tokens = lex::lex(text, &mut errors);
    // A character that is no token breaks its statement as well; saying so twice helps nobody.
    let broken: Vec<u32> = errors.iter().map(|error| error.span.line).collect();
    let tree = parse::parse(text, &tokens, &mut errors);
    let mut seen = 0;
    errors.retain(|error| {
        seen += 1;
        seen <= broken.len() || broken.binary_search(&error.span.line).is_err()
    });
    let mut module = ir::Module::default();
    // A text with syntax errors has lost statements; what their absence breaks is not worth reporting.
    if errors.is_empty() {
        module = resolve::resolve(&tree, &mut errors);
    }
    if errors.is_empty() { Ok(module) } else { Err(Errors::new(errors, text)) }
}

/// A module from the bytes a driver is handed: they end at the first NUL, if there is one.
///
/// # Errors
///
/// As [`parse`], and [`ErrorKind::Encoding`] where the bytes are not UTF-8.
pub fn parse_bytes(bytes: &[u8]) -> Result<ir::Module, Errors> {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    let bytes = &bytes[..end];
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text),
        Err(error) => {
            let good = &bytes[..error.valid_up_to()];
            let line = good.iter().filter(|b| **b == b'\n').count() as u32 + 1;
            let column = good.iter().rev().take_while(|b| **b != b'\n').count() as u32 + 1;
            let span = ir::Span { line, column, len: 1 };
            let error = Error::new(ErrorKind::Encoding, span, "the text is not UTF-8", "from here on");
            Err(Errors::new(vec![error], &String::from_utf8_lossy(bytes)))
        }
    }
}
