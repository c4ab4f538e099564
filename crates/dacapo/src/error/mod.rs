//! Errors: what, where, whose doing, help.
//!
//! - [`Error`] names the op that caused it, its label and its line, for as long as anyone can know them: also in a
//!   replay, long after the recording.
//! - `{}` is one line. `{:#}` and `{:?}`, which is what `main` and `unwrap` print, are the whole report: the other party,
//!   findings, logs, causes, help.
//! - What an error came from is kept and not turned into text: [`source`](std::error::Error::source) gives it. `{}` does
//!   not repeat it, so that whoever prints a chain of errors prints nothing twice.
//! - [`ErrorKind`] is for programs: a variant for each rule. Word, sentence, notes and help of each are one row of
//!   [`table`], and nowhere else.
//!
//! An error is a pointer, and making one is never on the way of a launch that works.

mod declaration;
mod kind;
mod nearest;
mod report;
mod table;
#[cfg(all(test, feature = "software"))]
mod tests;
mod words;

use std::error::Error as StdError;
use std::panic::Location;
use std::sync::Arc;

use dacapo_driver::DriverError;

pub use declaration::FalseDeclaration;
pub use kind::ErrorKind;
pub(crate) use nearest::nearest_first;

/// The result of every fallible call of this library.
///
/// ```
/// fn zeros(len: usize) -> dacapo::Result<Vec<f32>> {
///     let device = dacapo::Device::software()?;
///     device.stream()?.read(&device.zeros::<f32>(len)?)
/// }
/// assert_eq!(zeros(2)?, [0.0, 0.0]);
/// # Ok::<(), dacapo::Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, where, and what to do.
///
/// `{}` is one line, for a log. `{:#}` is the whole report; so is `{:?}`, which `main` and `unwrap` print.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Device, copy};
/// let device = Device::software()?;
/// let (x, mut y) = (device.zeros::<f32>(2)?, device.zeros::<f32>(3)?);
/// let error = device.record(copy(&x, &mut y)).unwrap_err();
/// assert!(error.to_string().ends_with("the lengths differ: `source` has 2 elements, `target` has 3"));
/// assert!(format!("{error:#}").ends_with("help: copy a part: `copy(&source, &mut target[..2])`"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    op: String,
    label: String,
    at: Option<&'static Location<'static>>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind) -> Error {
        Error(Box::new(Inner { kind, op: String::new(), label: String::new(), at: None, source: None }))
    }

    /// An error of your own, to return from a closure.
    #[cold]
    pub fn msg(text: impl Into<String>) -> Error {
        Error::new(ErrorKind::Msg(text.into()))
    }

    /// The same error with this source. The source's text is not part of `{}`: let this error say what failed, and the
    /// source why.
    ///
    /// ```
    /// use std::error::Error as _;
    /// let read = std::fs::read("no such file");
    /// let error = read.map_err(|why| dacapo::Error::msg("the weights cannot be read").with_source(why)).unwrap_err();
    /// assert_eq!(error.to_string(), "the weights cannot be read");
    /// assert!(error.source().is_some_and(|why| why.is::<std::io::Error>()));
    /// ```
    #[must_use]
    #[cold]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        self.0.source = Some(source.into().into());
        self
    }

    /// Two lengths that must be equal for `what` and are not.
    #[cold]
    pub(crate) fn lengths(what: &'static str, sides: [(&'static str, usize); 2], unit: &'static str) -> Error {
        let [(first, left), (second, right)] = sides;
        Error::new(ErrorKind::Length { what, left, right, names: [first, second], unit })
    }

    /// Which rule was broken.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The op at fault: a kernel's name, `copy`, `fill`; or the call, such as `Stream::write`. Empty if neither is
    /// known.
    pub fn op(&self) -> &str {
        &self.0.op
    }

    /// The labels around the op, outermost first: `decode/layer0`.
    pub fn label(&self) -> &str {
        &self.0.label
    }

    /// Where the op was made: the call `k.saxpy(..)`, `copy(..)`.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.0.at
    }

    /// What you can do about it.
    pub fn help(&self) -> Option<String> {
        table::help(&self.0.kind)
    }

    /// What the driver refused, where that is what it is about.
    pub(crate) fn opt_driver(&self) -> Option<DriverError> {
        match self.kind() {
            ErrorKind::Driver(refused) => Some(*refused),
            _ => None,
        }
    }

    /// Whether memory was wanted that is not there, or not allowed: dropping something may help.
    pub(crate) fn is_memory(&self) -> bool {
        matches!(self.kind(), ErrorKind::OutOfMemory { .. } | ErrorKind::OverBudget { .. })
    }

    /// The same error with the line of the call that was refused, where no op is concerned.
    #[cold]
    pub(crate) fn on_line(mut self, at: &'static Location<'static>) -> Error {
        self.0.at.get_or_insert(at);
        self
    }

    /// The same error with the op that the library did for the user's line, in place of a line of the library's own.
    #[cfg(feature = "nccl")]
    #[cold]
    pub(crate) fn on_behalf(mut self, op: &str, at: &'static Location<'static>) -> Error {
        self.0.at = None;
        self.of(op, "", at)
    }

    /// The same error with the op it is about, unless a closer one is already named.
    #[cold]
    pub(crate) fn of(mut self, op: &str, label: &str, at: &'static Location<'static>) -> Error {
        if self.0.at.is_none() {
            self.0.op = op.to_string();
            self.0.label = label.to_string();
            self.0.at = Some(at);
        }
        self
    }
}

impl ErrorKind {
    /// The word for this rule, as shown in brackets in a report: `length`, `no_such_kernel`. Short, unique, and the
    /// same in later versions.
    pub fn word(&self) -> &'static str {
        table::word(self)
    }
}

impl From<DriverError> for Error {
    #[cold]
    fn from(error: DriverError) -> Error {
        Error::new(ErrorKind::Driver(error))
    }
}

/// An error of the program's own type: it becomes the source, where it can be found again by its type. One of this
/// library's stays what it is.
impl From<Box<dyn StdError + Send + Sync>> for Error {
    #[cold]
    fn from(error: Box<dyn StdError + Send + Sync>) -> Error {
        match error.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(error) => Error::msg("an error of the program's own").with_source(error),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match (&self.0.source, &self.0.kind) {
            (Some(source), _) => Some(&**source),
            (
                None,
                ErrorKind::Driver(refused)
                | ErrorKind::Lost { first: refused, .. }
                | ErrorKind::OtherLost { first: refused, .. },
            ) => Some(&refused.code),
            _ => None,
        }
    }
}
