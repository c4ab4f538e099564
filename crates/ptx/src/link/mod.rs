//! Several modules to one: what one text declares `.extern` and another defines is the same thing in the result.
//!
//! - `.visible` defines a symbol for all texts, and so does `.entry`. Two such definitions of one name are an error.
//! - `.weak` gives way to `.visible`; of several the first stays. `.common` gives way to both; of several the largest stays.
//! - A symbol with no linkage belongs to its text: the same name in two texts means two things, and neither answers an
//!   `.extern`.
//! - `.extern .shared pool[]` is the dynamic memory of a launch, and no symbol.
//! - What is declared and used must be defined by one of the texts, or be provided by who links.
//!
//! Errors name the texts on both sides. Functions remember their text ([`ir::Function::text`]), so that a place in one
//! can be told.
//!
//! Not checked: whether versions and targets of the texts go together, which depends on the device.

mod error;
mod merge;
mod symbols;

pub use error::{LinkError, LinkErrorKind, LinkPlace};

use crate::ir;
use merge::Merge;
use symbols::Symbols;

/// One of the texts that are linked.
#[derive(Clone, Debug)]
pub struct Text {
    /// What reports call it.
    pub name: String,
    /// What is in it.
    pub module: ir::Module,
}

/// Texts that come one after another, each held against those before it.
///
/// Adding costs what the new text has, however many there are.
#[derive(Debug, Default)]
pub struct Gathered {
    texts: Vec<Text>,
    symbols: Symbols,
}

impl Gathered {
    /// Adds a text, and says what keeps it from being linked with the others whatever texts come besides: everything but
    /// what is not defined.
    pub fn add(&mut self, text: Text) -> Vec<LinkError> {
        self.texts.push(text);
        self.symbols.add_last(&self.texts)
    }

    /// The texts so far, in their order.
    pub fn texts(&self) -> &[Text] {
        &self.texts
    }
}

/// The name of the first function or variable that `module` declares `.extern`, uses and does not define, and that is not
/// in `provided` either.
pub fn unresolved(module: &ir::Module, provided: &[&str]) -> Option<String> {
    merge::undefined_in(module, provided)
}

/// One module of `texts`. Functions in `provided` need no definition.
///
/// # Errors
///
/// Every symbol that is defined twice, or is not what another text takes it for, or is used and not defined, in the order
/// of the texts.
pub fn link(texts: Vec<Text>, provided: &[&str]) -> Result<ir::Module, Vec<LinkError>> {
    let (symbols, mut errors) = Symbols::collect(&texts);
    let merge = Merge::new(&texts, &symbols);
    errors.extend(merge.unresolved(&texts, provided));
    if errors.is_empty() { Ok(merge.run(texts)) } else { Err(errors) }
}
