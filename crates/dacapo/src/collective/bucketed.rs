//! Small all-reduces, joined.

use std::panic::Location;

use crate::collective::Communicator;
use crate::collective::number::{Number, Reduce};
use crate::collective::transfer::{Kind, Transfer, op_of};
use crate::error::Result;
use crate::memory::Slice;
use crate::record::Recorder;

/// All-reduces in place that are recorded in buckets: [`Communicator::bucketed`].
///
/// A piece that was added is reduced with its bucket, when that is full or at the end. The buckets are ops like any other, so the
/// first ones run beside what computes the next pieces.
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
    transfers: Vec<Transfer>,
}

impl Bucketed {
    pub(super) fn new(comm: &Communicator, bytes_max: usize, reduce: Reduce) -> Bucketed {
        Bucketed { comm: comm.clone(), reduce, bytes_max, bytes: 0, transfers: Vec::new() }
    }

    /// One more piece. A full bucket is recorded.
    ///
    /// # Errors
    ///
    /// - As recording an [`all_reduce_in_place`](Communicator::all_reduce_in_place).
    #[track_caller]
    pub fn add<T: Number>(&mut self, recorder: &mut Recorder<'_>, piece: &mut Slice<T>) -> Result<()> {
        let count = piece.len();
        self.transfers.push(Transfer::reducing_in_place(Kind::AllReduce(self.reduce), piece, count));
        self.bytes += count * size_of::<T>();
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

    fn flush(&mut self, recorder: &mut Recorder<'_>, at: &'static Location<'static>) -> Result<()> {
        self.bytes = 0;
        let transfers = std::mem::take(&mut self.transfers);
        match transfers.is_empty() {
            true => Ok(()),
            false => recorder.run(op_of(transfers, self.comm.0.clone(), "bucket", at)),
        }
    }
}
