//! What a recording owes: ops that somebody has promised and not recorded yet.

use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// Pieces that wait in a bucket for the op that reduces them. Shared by the bucket and the recording.
pub(crate) struct Owed {
    /// Where the bucket was made.
    at: &'static Location<'static>,
    pieces: AtomicUsize,
    /// The newest op that reduced some: how many, and how many nodes there were behind it.
    paid: AtomicUsize,
    paid_nodes: AtomicUsize,
    /// The fewest nodes that there were since the bucket asked, because an op failed and was taken back.
    cut: AtomicUsize,
    /// Pieces whose op was taken back.
    lost: AtomicUsize,
}

impl Owed {
    pub(crate) fn new(at: &'static Location<'static>) -> Owed {
        let zero = || AtomicUsize::new(0);
        let cut = AtomicUsize::new(usize::MAX);
        Owed { at, pieces: zero(), paid: zero(), paid_nodes: zero(), cut, lost: zero() }
    }

    pub(crate) fn at(&self) -> &'static Location<'static> {
        self.at
    }

    /// So many pieces wait now.
    pub(crate) fn set(&self, pieces: usize) {
        self.pieces.store(pieces, Ordering::Relaxed);
    }

    /// So many pieces were reduced by the op that was just recorded: there are so many nodes now.
    pub(crate) fn pay(&self, pieces: usize, nodes: usize) {
        self.set(0);
        self.paid.store(pieces, Ordering::Relaxed);
        self.paid_nodes.store(nodes, Ordering::Relaxed);
    }

    /// The recording has been taken back to so many nodes.
    pub(crate) fn cut(&self, nodes: usize) {
        self.cut.fetch_min(nodes, Ordering::Relaxed);
        if nodes < self.paid_nodes.load(Ordering::Relaxed) {
            self.paid_nodes.store(0, Ordering::Relaxed);
            self.lost.fetch_add(self.paid.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// The fewest nodes that there were since the last question.
    pub(crate) fn take_cut(&self) -> usize {
        self.cut.swap(usize::MAX, Ordering::Relaxed)
    }

    /// # Errors
    ///
    /// - Pieces wait, or their op was taken back.
    pub(crate) fn expect_paid(&self) -> Result<()> {
        match self.pieces.load(Ordering::Relaxed) + self.lost.load(Ordering::Relaxed) {
            0 => Ok(()),
            pieces => Err(self.not_reduced(pieces, None)),
        }
    }

    /// That pieces are not reduced when they are used, or never.
    pub(crate) fn not_reduced(&self, pieces: usize, used: Option<String>) -> Error {
        Error::new(ErrorKind::NotReduced { pieces, used }).of("bucketed", "", self.at)
    }
}
