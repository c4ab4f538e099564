//! What the software driver has to say about a program.
//!
//! A finding ends in one of four ways that are never mixed: the program is wrong, something is not supported yet,
//! Dacapo has a bug, or the program was answered as by any driver and should know of it. Findings are data; [`Finding`]'s `Display` is the one place that renders them.

use std::fmt;
use std::sync::Arc;

/// Whose doing a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The program broke a rule of CUDA or of PTX.
    YourProgram,
    /// The software driver does not know this yet; the program may be right.
    Unsupported,
    /// Dacapo broke a promise of its own.
    OurBug,
    /// Nobody need be wrong: a GPU's driver answers the same, and the program may go on well. It is worth knowing when
    /// something fails later.
    Remark,
}

/// An op of the program, as the library that handed its work over has named it ([`dacapo_driver::Driver::declare`]).
///
/// ```
/// use dacapo_sim::FindingOp;
///
/// let (op, label, file) = ("saxpy".to_string(), "layer0".to_string(), "src/main.rs".to_string());
/// let op = FindingOp { op, label, file, line: 12, column: 9 };
/// assert_eq!(op.to_string(), "op `saxpy`, labelled `layer0`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindingOp {
    /// What it is called: `saxpy`, `copy`.
    pub op: String,
    /// Its label; empty if it has none.
    pub label: String,
    /// The file of the program that made it.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl FindingOp {
    pub(crate) fn new(told: &dacapo_driver::Declared<'_>) -> FindingOp {
        FindingOp {
            op: told.op.to_string(),
            label: told.label.to_string(),
            file: told.at.file().to_string(),
            line: told.at.line(),
            column: told.at.column(),
        }
    }

    /// Where it was made, as reports write it.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// How reports name it.
impl fmt::Display for FindingOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op `{}`", self.op)?;
        if self.label.is_empty() { Ok(()) } else { write!(f, ", labelled `{}`", self.label) }
    }
}

/// One report. What, where, whose fault, help: see docs/STYLE.md.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The word in brackets, stable: `out-of-bounds`, `capture-invalidated`, `unsupported`.
    pub code: &'static str,
    /// Whose doing it is.
    pub ending: Ending,
    /// One line, the user's nouns.
    pub what: String,
    /// The place to edit first, then the other party: `(place, what happened there)`.
    pub places: Vec<(String, String)>,
    /// The ops of the program that it is about, the one to edit first first; empty where none is known. Each is a place as
    /// well.
    pub ops: Vec<FindingOp>,
    /// Further facts, one line each.
    pub notes: Vec<String>,
    /// Something one can type or do.
    pub help: Option<String>,
}

impl Finding {
    /// A finding with nothing but its first line.
    pub fn new(code: &'static str, ending: Ending, what: impl Into<String>) -> Finding {
        let what = what.into();
        Finding { code, ending, what, places: Vec::new(), ops: Vec::new(), notes: Vec::new(), help: None }
    }

    /// Adds a place.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>, what: impl Into<String>) -> Finding {
        self.places.push((place.into(), what.into()));
        self
    }

    /// Adds the op that it is about, if that is known, and the place where that was made. Once is enough.
    #[must_use]
    pub(crate) fn by(mut self, op: Option<&Arc<FindingOp>>) -> Finding {
        if let Some(op) = op.filter(|op| !self.ops.contains(op)) {
            self.ops.push(FindingOp::clone(op));
            self.places.push((op.place(), op.to_string()));
        }
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Finding {
        self.notes.push(note.into());
        self
    }

    /// Sets the help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ending {
            Ending::YourProgram => write!(f, "error[{}]: {}", self.code, self.what)?,
            Ending::Unsupported => write!(f, "unsupported: {}", self.what)?,
            Ending::OurBug => write!(f, "bug in Dacapo[{}]: {}", self.code, self.what)?,
            Ending::Remark => write!(f, "note[{}]: {}", self.code, self.what)?,
        }
        for (place, what) in &self.places {
            write!(f, "\n  --> {place}")?;
            if !what.is_empty() {
                write!(f, "      {what}")?;
            }
        }
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        if self.ending == Ending::Unsupported {
            write!(f, "\nnote: a gap in the software driver, not a finding about the program")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_gap_of_ours_is_called_one() {
        let first_words = [
            (Ending::YourProgram, "error[word]: what"),
            (
                Ending::Unsupported,
                "unsupported: what\nnote: a gap in the software driver, not a finding about the program",
            ),
            (Ending::OurBug, "bug in Dacapo[word]: what"),
            (Ending::Remark, "note[word]: what"),
        ];
        for (ending, text) in first_words {
            assert_eq!(Finding::new("word", ending, "what").to_string(), text);
        }
    }
}
