//! How an error is printed: as one line, as a report, and with all its causes in a line.
//!
//! - A line is a line, whatever the texts in it are: line ends become `; `.
//! - A report has each fact once: word and sentence, place, notes, causes with their notes, help.

use std::error::Error as StdError;
use std::fmt;

use super::{Error, Inner, table};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() { self.report(f) } else { f.write_str(&self.line()) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report(f)
    }
}

impl Error {
    /// Everything but the causes, in one line: op, place, rule, and what is most telling of the notes.
    fn line(&self) -> String {
        let Inner { kind, op, label, at, .. } = &*self.0;
        let mut text = String::new();
        if !op.is_empty() {
            text = format!("`{op}`");
            if !label.is_empty() {
                text += &format!(" in {label}");
            }
        }
        if let Some(at) = at {
            text += &format!("{}at {at}", if text.is_empty() { "" } else { " " });
        }
        if !text.is_empty() {
            text += ": ";
        }
        in_a_line(&(text + &table::sentence(kind) + &table::line(kind).unwrap_or_default()))
    }

    /// The line and those of its causes: for a text that can have one line only, and must lose nothing.
    pub(crate) fn chain(&self) -> String {
        causes(self).fold(self.line(), |text, cause| text + ": " + &in_a_line(&cause.to_string()))
    }

    fn report(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, op, label, at, .. } = &*self.0;
        write!(f, "error[{}]: {}", kind.word(), table::sentence(kind))?;
        if let Some(at) = at {
            write!(f, "\n  --> {at}")?;
            if !op.is_empty() {
                write!(f, "      `{op}`")?;
            }
            if !label.is_empty() {
                write!(f, " in {label}")?;
            }
        }
        self.notes(f)?;
        for cause in causes(self) {
            write!(f, "\ncaused by: {cause}")?;
            if let Some(ours) = cause.downcast_ref::<Error>() {
                ours.notes(f)?;
            }
        }
        match self.help() {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }

    fn notes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        table::notes(self.kind()).iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}

/// What an error came from, the nearest first.
fn causes(error: &Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// The same text without line ends.
fn in_a_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}
