//! Why a checkpoint is not decoded: it is refused, or the device failed.
//!
//! A refusal says what is wrong, in which file, and what to do about it. It names a tensor or a key, what was expected and
//! what was found.

use std::fmt;
use std::path::{Path, PathBuf};

/// A checkpoint, a prompt or an option that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// One word for the kind, in brackets.
    word: &'static str,
    what: String,
    opt_place: Option<PathBuf>,
    help: String,
}

impl Refused {
    /// Of this kind, in this file.
    pub fn new(word: &'static str, place: &Path, what: impl Into<String>, help: impl Into<String>) -> Refused {
        Refused { word, what: what.into(), opt_place: Some(place.to_owned()), help: help.into() }
    }

    /// Of this kind, in what was asked and not in a file.
    pub fn asked(word: &'static str, what: impl Into<String>, help: impl Into<String>) -> Refused {
        Refused { word, what: what.into(), opt_place: None, help: help.into() }
    }

    /// A file that the system does not let us read.
    pub fn unreadable(place: &Path, error: &std::io::Error, help: impl Into<String>) -> Refused {
        Refused::new("file", place, format!("{} cannot be read: {error}", name_of(place)), help)
    }

    /// The word for its kind.
    pub fn word(&self) -> &'static str {
        self.word
    }
}

/// The last part of a path, as messages have it.
pub fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.word, self.what)?;
        if let Some(place) = &self.opt_place {
            write!(f, "\n  --> {}", place.display())?;
        }
        write!(f, "\nhelp: {}", self.help)
    }
}

impl std::error::Error for Refused {}

/// Why there is no text.
#[derive(Debug)]
pub enum Failure {
    /// The checkpoint or what was asked of it is refused.
    Refused(Refused),
    /// What the device answered.
    Device(dacapo::Error),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        Failure::Refused(refused)
    }
}

impl From<dacapo::Error> for Failure {
    fn from(error: dacapo::Error) -> Failure {
        Failure::Device(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(refused) => write!(f, "{refused}"),
            Failure::Device(error) => write!(f, "{error:#}"),
        }
    }
}

impl std::error::Error for Failure {}
