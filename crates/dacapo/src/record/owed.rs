//! What a recording owes: ops that somebody has promised and not recorded yet.

use std::panic::Location;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// Pieces that wait in a bucket for the op that reduces them. Shared by the bucket and the recording.
pub(crate) struct Owed {
    /// Where the bucket was made.
    at: &'static Location<'static>,
    pieces: AtomicUsize,
    /// The newest op that reduced some: how many, and how many nodes there were behind it.
    paid: AtomicUsize,
    paid_nodes: AtomicUsize,
    /// The oldest attempt that has failed since the bucket asked.
    cut: AtomicU64,
    /// Pieces that were added or reduced in an op that was taken back.
    lost: AtomicUsize,
}

impl Owed {
    pub(crate) fn new(at: &'static Location<'static>) -> Owed {
        let zero = || AtomicUsize::new(0);
        let cut = AtomicU64::new(u64::MAX);
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

    /// This attempt has failed, and the recording is taken back to so many nodes.
    pub(crate) fn cut(&self, attempt: u64, nodes: usize) {
        self.cut.fetch_min(attempt, Ordering::Relaxed);
        if nodes < self.paid_nodes.load(Ordering::Relaxed) {
            self.paid_nodes.store(0, Ordering::Relaxed);
            self.lost.fetch_add(self.paid.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// The oldest attempt that has failed since the last question: what was done from its begin on is taken back.
    pub(crate) fn take_cut(&self) -> u64 {
        self.cut.swap(u64::MAX, Ordering::Relaxed)
    }

    /// Of the pieces that wait only so many are left.
    pub(crate) fn keep(&self, pieces: usize) {
        let before = self.pieces.swap(pieces, Ordering::Relaxed);
        self.lost.fetch_add(before - pieces, Ordering::Relaxed);
    }

    /// # Errors
    ///
    /// - Pieces wait, or an op that added or reduced some was taken back.
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
