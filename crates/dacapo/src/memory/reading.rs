//! A copy out of device memory under way.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use dacapo_ledger::Use;

use crate::device::{Block, Cuda, Device, PIECE_MAX, Stream, Waiting, Writers, is_over, poll_use};
use crate::element::Pod;
use crate::error::Result;
use crate::memory::Extent;

/// Elements on their way to the host: [`Stream::read_later`](crate::Stream::read_later).
///
/// It borrows nothing, and can be waited for or awaited in any task.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let x = device.buffer(&[1.0f32, 2.0])?;
/// let reading: dacapo::memory::Reading<f32> = stream.read_later(&x)?;
/// let answer = std::thread::spawn(move || reading.wait()).join().unwrap()?;
/// assert_eq!(answer, [1.0, 2.0]);
/// # Ok(()) }
/// ```
#[doc(alias = "await")]
#[doc(alias = "future")]
#[doc(alias = "dtoh")]
#[must_use = "dropping it forgets the answer"]
pub struct Reading<T: Pod> {
    device: Device,
    /// The pieces in order, each in page-locked memory of ours; all on one stream, so that the last one is over last.
    pieces: Vec<Piece>,
    len: usize,
    /// Whether the elements were given out.
    given: bool,
    waiting: Option<Arc<Waiting>>,
    _elements: PhantomData<fn() -> T>,
}

struct Piece {
    block: Block,
    bytes: usize,
    used: Use<Cuda>,
    /// Whose results it brings.
    writers: Writers,
}

impl<T: Pod> Reading<T> {
    /// Enqueues the copies. The place must have memory of the stream's device.
    pub(crate) fn begin(stream: &Stream, place: &Extent, len: usize) -> Result<Reading<T>> {
        let memory = place.allocation.memory().expect("the place has memory");
        let device = stream.device().clone();
        let mut reading =
            Reading { device, pieces: Vec::new(), len, given: false, waiting: None, _elements: PhantomData };
        for offset in (0..place.bytes).step_by(PIECE_MAX) {
            let bytes = (place.bytes - offset).min(PIECE_MAX);
            // What is enqueued by then is given back with its uses when `reading` is dropped.
            let writers = reading.device.writers(memory);
            let (block, used) = stream.0.copy_to_block(place.address() + offset as u64, memory, bytes)?;
            reading.pieces.push(Piece { block, bytes, used, writers });
        }
        if let Some(last) = reading.pieces.last() {
            // An event of its own now: who waits later waits for this copy, not for what came behind it.
            let _ = reading.device.ledger().event_for(&reading.device.0.cuda, &last.used);
        }
        Ok(reading)
    }

    /// Waits for the elements.
    ///
    /// # Errors
    ///
    /// - Any error from earlier work.
    ///
    /// # Panics
    ///
    /// - It was already awaited to completion.
    pub fn wait(mut self) -> Result<Vec<T>> {
        if let Some(last) = self.pieces.last() {
            self.device.enter()?;
            self.device.wait_until(&last.used)?;
        }
        self.arrived()
    }

    /// Whether the elements have arrived. May answer late, never early.
    pub fn is_done(&self) -> bool {
        self.pieces.last().is_none_or(|last| is_over(&self.device, &last.used))
    }

    /// The elements; every copy is over.
    fn arrived(&mut self) -> Result<Vec<T>> {
        self.pieces.iter().try_for_each(|piece| piece.writers.expect_whole())?;
        assert!(!std::mem::replace(&mut self.given, true), "a reading gives its elements once");
        let mut elements = vec![T::zeroed(); self.len];
        let mut rest: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
        for Piece { block, bytes, .. } in self.pieces.drain(..) {
            let (piece, behind) = rest.split_at_mut(bytes);
            // SAFETY: the block is at least as long as the piece, and the copy into it is over.
            unsafe { std::ptr::copy_nonoverlapping(block.pointer, piece.as_mut_ptr(), bytes) };
            self.device.give_block(block, None);
            rest = behind;
        }
        Ok(elements)
    }
}

impl<T: Pod> Future for Reading<T> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Reading { device, pieces, waiting, .. } = &mut *self;
        let done = match pieces.last() {
            Some(last) => poll_use(device, &last.used, waiting, context),
            None => Poll::Ready(Ok(())),
        };
        done.map(|done| done.and_then(|()| self.arrived()))
    }
}

impl<T: Pod> Drop for Reading<T> {
    fn drop(&mut self) {
        for Piece { block, used, .. } in self.pieces.drain(..) {
            self.device.give_block(block, Some(used));
        }
    }
}

impl<T: Pod> fmt::Debug for Reading<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reading<{}>[{}]", std::any::type_name::<T>(), self.len)
    }
}
