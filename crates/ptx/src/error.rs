//! What was wrong with a PTX text, with the place and what to do.
//!
//! Errors stay structured; `Display` renders them in the project's form: what, where (the line with a caret), help.

use crate::ir::Span;
use std::fmt;

/// The kind of an error: the word in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The text is not PTX: something is missing, does not end, or stands where it must not.
    Syntax,
    /// The text is not UTF-8.
    Encoding,
    /// A name that nothing in scope declares.
    UnknownName,
    /// A name that is declared twice in one scope.
    DuplicateName,
    /// A name of the wrong sort: a label where a register is needed.
    WrongSort,
    /// An operand whose type or size the instruction does not take.
    TypeMismatch,
    /// Too few or too many operands, or one of the wrong shape.
    Operands,
    /// A directive that is missing, misplaced, or has a value it cannot have.
    Directive,
    /// A size or a nesting beyond what is sensible.
    Limit,
}

impl ErrorKind {
    fn word(self) -> &'static str {
        match self {
            ErrorKind::Syntax => "syntax",
            ErrorKind::Encoding => "encoding",
            ErrorKind::UnknownName => "unknown-name",
            ErrorKind::DuplicateName => "duplicate-name",
            ErrorKind::WrongSort => "wrong-sort",
            ErrorKind::TypeMismatch => "type-mismatch",
            ErrorKind::Operands => "operands",
            ErrorKind::Directive => "directive",
            ErrorKind::Limit => "limit",
        }
    }
}

/// One thing that is wrong with a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// Its kind.
    pub kind: ErrorKind,
    /// Where.
    pub span: Span,
    /// What, in one line.
    pub message: String,
    /// What stands under the caret.
    pub label: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The other place concerned (the first declaration of a name), with a word about it.
    pub other: Option<(Span, String)>,
    /// The source line of `span`, cut to a sensible length.
    pub line_text: String,
    /// The column at which `line_text` begins: 1 but for very long lines.
    pub line_text_column: u32,
}

impl Error {
    /// An error without help; `line_text` is filled in by [`Errors::new`].
    pub(crate) fn new(kind: ErrorKind, span: Span, message: impl Into<String>, label: &str) -> Error {
        Error {
            kind,
            span,
            message: message.into(),
            label: label.to_string(),
            help: None,
            other: None,
            line_text: String::new(),
            line_text_column: 1,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Error {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn other(mut self, span: Span, what: &str) -> Error {
        self.other = Some((span, what.to_string()));
        self
    }

    /// The diagnostic with `file` in front of line and column.
    pub fn render(&self, file: &str) -> String {
        let mut out = format!("error[{}]: {}\n", self.kind.word(), self.message);
        out.push_str(&format!("  --> {file}:{}:{}\n", self.span.line, self.span.column));
        let number = self.span.line.to_string();
        let gutter = " ".repeat(number.len());
        let text = &self.line_text;
        let before = self.span.column.saturating_sub(self.line_text_column) as usize;
        // Tabs stay tabs in front of the caret, so that it stands under its text in any terminal.
        let lead: String = text.bytes().take(before).map(|b| if b == b'\t' { '\t' } else { ' ' }).collect();
        let room = text.len().saturating_sub(before).max(1);
        let carets = "^".repeat((self.span.len as usize).clamp(1, room.min(200)));
        out.push_str(&format!("{gutter} |\n{number} | {text}\n{gutter} | {lead}{carets}"));
        if !self.label.is_empty() {
            out.push_str(&format!(" {}", self.label));
        }
        if let Some((span, what)) = &self.other {
            out.push_str(&format!("\nnote: {what}\n  --> {file}:{}:{}", span.line, span.column));
        }
        if let Some(help) = &self.help {
            out.push_str(&format!("\nhelp: {help}"));
        }
        out
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render("ptx"))
    }
}

impl std::error::Error for Error {}

/// Everything that was found wrong with a text, in text order; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Errors(pub Vec<Error>);

/// How many errors are kept of one text: a text that is not PTX at all has one in every line.
const ERRORS_MAX: usize = 50;

/// How much of a source line is kept: some generators write a module on one line.
const LINE_TEXT_MAX: usize = 400;

impl Errors {
    /// Sorts `errors` into text order, drops repetitions, and gives each its line of `text`.
    pub(crate) fn new(mut errors: Vec<Error>, text: &str) -> Errors {
        errors.sort_by_key(|e| (e.span.line, e.span.column));
        errors.dedup_by(|b, a| a.span == b.span && a.message == b.message);
        errors.truncate(ERRORS_MAX);
        let mut lines = text.split('\n').enumerate();
        let mut current: Option<(usize, &str)> = None;
        for error in &mut errors {
            let wanted = (error.span.line.max(1) - 1) as usize;
            while current.is_none_or(|(number, _)| number < wanted) {
                let Some(next) = lines.next() else { break };
                current = Some(next);
            }
            if let Some((number, line)) = current
                && number == wanted
            {
                error.take_line(line.trim_end_matches('\r'));
            }
        }
        Errors(errors)
    }

    /// All diagnostics, a blank line between them, with `file` in front of line and column.
    pub fn render(&self, file: &str) -> String {
        self.0.iter().map(|e| e.render(file)).collect::<Vec<_>>().join("\n\n")
    }
}

impl Error {
    /// Keeps `line`, or the piece of it around the error when it is very long.
    fn take_line(&mut self, line: &str) {
        let column = (self.span.column.max(1) - 1) as usize;
        let mut from = if line.len() <= LINE_TEXT_MAX { 0 } else { column.saturating_sub(60).min(line.len()) };
        while !line.is_char_boundary(from) {
            from -= 1;
        }
        let mut to = line.len().min(from + LINE_TEXT_MAX);
        while !line.is_char_boundary(to) {
            to -= 1;
        }
        self.line_text = line[from..to].to_string();
        self.line_text_column = from as u32 + 1;
    }
}

impl std::ops::Deref for Errors {
    type Target = [Error];

    fn deref(&self) -> &[Error] {
        &self.0
    }
}

impl IntoIterator for Errors {
    type Item = Error;
    type IntoIter = std::vec::IntoIter<Error>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render("ptx"))
    }
}

impl std::error::Error for Errors {}
