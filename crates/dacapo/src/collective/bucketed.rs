//! Small all-reduces, joined.

use std::panic::Location;
use std::sync::Arc;

use crate::collective::Communicator;
use crate::collective::number::{Number, Reduce};
use crate::collective::transfer::{Kind, Transfer, op_of};
use crate::error::Result;
use crate::memory::Slice;
use crate::record::{Node, Owed, Recorder};

/// All-reduces in place that are recorded in buckets: [`Communicator::bucketed`].
///
/// A piece that was added is reduced with its bucket, when that has enough bytes or at the end. The buckets are ops like any
/// other, so the first ones run beside what computes the next pieces.
///
/// Nothing may use a piece before its bucket is recorded, and a bucket that is never finished is never reduced: recording answers
/// [`NotReduced`](crate::ErrorKind::NotReduced) to both. So it does where an op has failed inside which a piece was added or its
/// bucket recorded, and the recording went on: neither has happened then.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::collective::{Communicator, Reduce};
/// use dacapo::{baked, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// # let comm = Communicator::alone(&device)?;
/// let mut gradients = [device.zeros::<f32>(8)?, device.zeros::<f32>(8)?, device.zeros::<f32>(8)?];
/// let mut graph = device.record(|r: &mut dacapo::Recorder<'_>| {
///     let mut buckets = comm.bucketed(64, Reduce::Average);
///     for gradient in gradients.iter_mut().rev() {
///         r.run(fill(gradient, baked(1.0)))?; // the backward pass of a layer
///         buckets.add(r, gradient)?;
///     }
///     buckets.finish(r)
/// })?;
/// graph.launch(&stream)?;
/// assert_eq!(graph.len(), 5); // three layers, and two buckets
/// # Ok(()) }
/// ```
#[must_use = "`finish` records the last bucket"]
pub struct Bucketed {
    comm: Communicator,
    reduce: Reduce,
    bytes_max: usize,
    bytes: usize,
    transfers: Vec<Waiting>,
    /// What the recording that it is in is owed, by which it knows that recording.
    owed: Arc<Owed>,
    /// The loop or branch that its pieces were added in.
    body: u32,
}

/// A piece in a bucket.
struct Waiting {
    transfer: Transfer,
    bytes: usize,
    /// How many nodes there were when it was added, and how many attempts.
    nodes: usize,
    attempts: u64,
}

impl Bucketed {
    pub(super) fn new(
        comm: &Communicator,
        bytes_max: usize,
        reduce: Reduce,
        at: &'static Location<'static>,
    ) -> Bucketed {
        let owed = Arc::new(Owed::new(at));
        Bucketed { comm: comm.clone(), reduce, bytes_max, bytes: 0, transfers: Vec::new(), owed, body: 0 }
    }

    /// One more piece. A full bucket is recorded.
    ///
    /// # Errors
    ///
    /// - As recording an [`all_reduce_in_place`](Communicator::all_reduce_in_place).
    /// - [`NotReduced`](crate::ErrorKind::NotReduced): something that was recorded meanwhile uses a piece of this bucket, or it
    ///   has pieces that were added inside, or outside, this loop or branch.
    #[track_caller]
    pub fn add<T: Number>(&mut self, recorder: &mut Recorder<'_>, piece: &mut Slice<T>) -> Result<()> {
        self.enter(recorder)?;
        let count = piece.len();
        let transfer = Transfer::reducing_in_place(Kind::AllReduce(self.reduce), piece, count);
        let (bytes, nodes, attempts) = (count * size_of::<T>(), recorder.len(), recorder.attempts());
        self.transfers.push(Waiting { transfer, bytes, nodes, attempts });
        self.owed.set(self.transfers.len());
        self.bytes += bytes;
        if self.bytes < self.bytes_max { Ok(()) } else { self.flush(recorder, Location::caller()) }
    }

    /// Records what is left.
    ///
    /// # Errors
    ///
    /// - As [`add`](Bucketed::add).
    #[track_caller]
    pub fn finish(mut self, recorder: &mut Recorder<'_>) -> Result<()> {
        self.flush(recorder, Location::caller())
    }

    /// A bucket is one recording's: what waits when it comes to another one stays owed to the first. And it is one body's: whether
    /// a piece of a branch is reduced may not depend on whether its bucket was full inside.
    fn enter(&mut self, recorder: &mut Recorder<'_>) -> Result<()> {
        // Not by the recording's number, which one of another device has too.
        if !recorder.is_owed(&self.owed) {
            self.owed = Arc::new(Owed::new(self.owed.at()));
            self.transfers.clear();
            self.bytes = 0;
            recorder.owes(&self.owed);
        }
        self.drop_taken_back();
        if !self.transfers.is_empty() && self.body != recorder.scope() {
            return Err(self.owed.not_reduced(self.transfers.len(), None));
        }
        self.body = recorder.scope();
        Ok(())
    }

    /// A piece that was added in an op that failed is gone with what the op did to it: reduced alone, it would be something else
    /// than the program meant.
    fn drop_taken_back(&mut self) {
        let cut = self.owed.take_cut();
        self.transfers.retain(|waiting| waiting.attempts < cut);
        self.bytes = self.transfers.iter().map(|waiting| waiting.bytes).sum();
        self.owed.keep(self.transfers.len());
    }

    fn flush(&mut self, recorder: &mut Recorder<'_>, at: &'static Location<'static>) -> Result<()> {
        self.enter(recorder)?;
        self.expect_untouched(recorder)?;
        let transfers: Vec<Transfer> = self.transfers.iter().map(|waiting| waiting.transfer.clone()).collect();
        if !transfers.is_empty() {
            // They wait until it is recorded: who goes on after an error has not reduced them.
            recorder.run(op_of(transfers, self.comm.0.clone(), "bucket", at))?;
            self.owed.pay(self.transfers.len(), recorder.len());
        }
        self.transfers.clear();
        self.bytes = 0;
        Ok(())
    }

    /// What is recorded between a piece and its bucket would see it reduced or not, as the bucket's size has it.
    fn expect_untouched(&self, recorder: &Recorder<'_>) -> Result<()> {
        for waiting in &self.transfers {
            let touches = |node: &&Node| node.access.iter().any(|access| waiting.transfer.touches(&access.place));
            if let Some(node) = recorder.since(waiting.nodes).iter().find(touches) {
                return Err(self
                    .owed
                    .not_reduced(self.transfers.len(), Some(format!("`{}` at {}", node.name, node.at))));
            }
        }
        Ok(())
    }
}
