//! What can be wrong between texts that are right by themselves.

use std::fmt;

use crate::ir::Span;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkErrorKind {
    /// Two texts define it, and neither says `.weak`.
    Duplicate,
    /// A text uses it, and none defines it.
    Unresolved,
    /// One text declares another thing than the other defines: its sort, its size, or its state space.
    Mismatch,
    /// One text declares a function with other parameters than the other defines.
    Prototype,
}

/// A place in one of the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPlace {
    /// The text's name.
    pub text: String,
    /// Where in it.
    pub span: Span,
}

/// One symbol that does not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkError {
    /// What is wrong.
    pub kind: LinkErrorKind,
    /// The symbol's name.
    pub name: String,
    /// The one side: the first definition, or the declaration that is used.
    pub first: LinkPlace,
    /// The other side, where there is one.
    pub second: Option<LinkPlace>,
    /// What differs, of a mismatch: "8 bytes long in one text and 4 in another".
    pub difference: String,
}

impl LinkError {
    /// The whole sentence, without places.
    pub fn what(&self) -> String {
        let (name, first) = (&self.name, &self.first.text);
        let second = self.second.as_ref().map_or("", |place| &place.text);
        match self.kind {
            LinkErrorKind::Duplicate => format!("`{name}` is defined in {first} and again in {second}"),
            LinkErrorKind::Unresolved => format!("`{name}` is used in {first} and defined in none of the texts"),
            LinkErrorKind::Mismatch | LinkErrorKind::Prototype => {
                format!("`{name}` is {} (defined in {first}, declared in {second})", self.difference)
            }
        }
    }

    /// What can be done.
    pub fn help(&self) -> &'static str {
        match self.kind {
            LinkErrorKind::Duplicate => {
                "define it once and declare it `.extern` elsewhere; `.weak` where any of them may be taken; without \
                 `.visible` each text has its own"
            }
            LinkErrorKind::Unresolved => "link the text that defines it `.visible`, or check the spelling",
            LinkErrorKind::Mismatch | LinkErrorKind::Prototype => "declare it as it is defined",
        }
    }
}

impl fmt::Display for LinkPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.text, self.span)
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = match self.kind {
            LinkErrorKind::Duplicate => "duplicate-symbol",
            LinkErrorKind::Unresolved => "unresolved-symbol",
            LinkErrorKind::Mismatch | LinkErrorKind::Prototype => "symbol-mismatch",
        };
        write!(f, "error[{code}]: {}\n  --> {}", self.what(), self.first)?;
        if let Some(second) = &self.second {
            write!(f, "\n  --> {second}")?;
        }
        write!(f, "\nhelp: {}", self.help())
    }
}

impl std::error::Error for LinkError {}
