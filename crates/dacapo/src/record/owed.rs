//! What a recording owes: ops that somebody has promised and not recorded yet.

use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// Pieces that wait in a bucket for the op that reduces them. Shared by the bucket and the recording.
pub(crate) struct Owed {
    /// Where the bucket was made.
    at: &'static Location<'static>,
    pieces: AtomicUsize,
}

impl Owed {
    pub(crate) fn new(at: &'static Location<'static>) -> Owed {
        Owed { at, pieces: AtomicUsize::new(0) }
    }

    pub(crate) fn at(&self) -> &'static Location<'static> {
        self.at
    }

    /// So many pieces wait now.
    pub(crate) fn set(&self, pieces: usize) {
        self.pieces.store(pieces, Ordering::Relaxed);
    }

    /// # Errors
    ///
    /// - Pieces wait.
    pub(crate) fn expect_paid(&self) -> Result<()> {
        match self.pieces.load(Ordering::Relaxed) {
            0 => Ok(()),
            pieces => Err(self.not_reduced(pieces, None)),
        }
    }

    /// That pieces are not reduced when they are used, or never.
    pub(crate) fn not_reduced(&self, pieces: usize, used: Option<String>) -> Error {
        Error::new(ErrorKind::NotReduced { pieces, used }).of("bucketed", "", self.at)
    }
}
