//! Copies between the user's slices and device memory, through page-locked memory of ours.

use std::panic::Location;

use dacapo_driver::Call;
use dacapo_ledger::{MemoryId, Touch, Touching, Use};

use crate::device::{Block, Cuda, Device, PIECE_MAX, Stream, StreamInner};
use crate::element::{Pod, bytes_of};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Buffer, Extent, Kind, Reading, Slice};

impl Stream {
    /// Copies elements to device memory in stream order. `elements` can be reused as soon as this returns.
    ///
    /// More than 8 MiB are copied in pieces; work that another thread enqueues meanwhile may run between two of them.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Length`], [`ErrorKind::WrongDevice`], [`ErrorKind::NoMemoryYet`], [`ErrorKind::EagerInRecording`].
    /// - Any error from the driver or from earlier work.
    #[doc(alias = "htod")]
    #[doc(alias = "memcpy")]
    #[doc(alias = "cudaMemcpy")]
    #[track_caller]
    pub fn write<T: Pod>(&self, target: &mut Slice<T>, elements: &[T]) -> Result<()> {
        let place = self.place_of(target, "Stream::write")?;
        if target.len() != elements.len() {
            let sides = [("`target`", target.len()), ("`elements`", elements.len())];
            let error = Error::lengths("Stream::write", sides, "elements");
            return Err(error.of("Stream::write", "", Location::caller()));
        }
        self.0.copy_in(&place, bytes_of(elements))
    }

    /// Waits for everything enqueued before this call on this stream, and for work on other streams that touches these
    /// elements; then returns the elements.
    ///
    /// More than 8 MiB are copied in pieces; work that another thread enqueues meanwhile may run between two of them.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::WrongDevice`], [`ErrorKind::NoMemoryYet`], [`ErrorKind::EagerInRecording`].
    /// - Any error from the driver or from earlier work.
    #[doc(alias = "dtoh")]
    #[doc(alias = "memcpy")]
    #[doc(alias = "cudaMemcpy")]
    #[track_caller]
    pub fn read<T: Pod>(&self, source: &Slice<T>) -> Result<Vec<T>> {
        let place = self.place_of(source, "Stream::read")?;
        let mut elements = vec![T::zeroed(); source.len()];
        self.0.copy_out(&place, bytemuck::cast_slice_mut(&mut elements))?;
        Ok(elements)
    }

    /// [`read`](Stream::read) into your own slice: nothing is allocated.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let x = device.buffer(&[1u32, 2, 3])?;
    /// let mut last = [0];
    /// stream.read_into(&x[2..], &mut last)?;
    /// assert_eq!(last, [3]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`read`](Stream::read). Elements that have already arrived stay in `elements`.
    /// - [`ErrorKind::Length`].
    #[track_caller]
    pub fn read_into<T: Pod>(&self, source: &Slice<T>, elements: &mut [T]) -> Result<()> {
        let place = self.place_of(source, "Stream::read_into")?;
        if source.len() != elements.len() {
            let sides = [("`source`", source.len()), ("`elements`", elements.len())];
            let error = Error::lengths("Stream::read_into", sides, "elements");
            return Err(error.of("Stream::read_into", "", Location::caller()));
        }
        self.0.copy_out(&place, bytemuck::cast_slice_mut(elements))
    }

    /// As [`read`](Stream::read), without waiting: wait for the elements or await them, in this task or another. The
    /// result borrows nothing, and later work does not change it.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut x = device.buffer(&[1u32, 2, 3])?;
    /// let before = stream.read_later(&x)?;
    /// stream.write(&mut x, &[4, 5, 6])?;
    /// assert_eq!(before.wait()?, [1, 2, 3]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`read`](Stream::read).
    #[doc(alias = "dtoh")]
    #[doc(alias = "async")]
    #[track_caller]
    pub fn read_later<T: Pod>(&self, source: &Slice<T>) -> Result<Reading<T>> {
        let place = self.place_of(source, "Stream::read_later")?;
        Reading::begin(self, &place, source.len())
    }

    #[track_caller]
    fn place_of<T: Pod>(&self, slice: &Slice<T>, call: &'static str) -> Result<Extent> {
        self.0.enter(call)?;
        let place = slice.place();
        self.0.device.expect_memory(&place, call)?;
        self.0.device.drain()?;
        Ok(place)
    }
}

impl Device {
    /// Refuses memory of another device, and what has no memory.
    #[track_caller]
    pub(crate) fn expect_memory(&self, place: &Extent, call: &'static str) -> Result<()> {
        if !place.allocation.device().is(self) {
            let stranger = self.stranger(&format!("memory that `{call}` was given"), place.allocation.device());
            return Err(stranger.on_line(Location::caller()));
        }
        match place.allocation.kind() {
            Kind::Temp(_) | Kind::StandIn(_) => {
                Err(Error::new(ErrorKind::NoMemoryYet { call }).on_line(Location::caller()))
            }
            Kind::Device | Kind::Host | Kind::State | Kind::Arena => Ok(()),
        }
    }

    /// Fills a new buffer, before anyone else knows it.
    pub(crate) fn write_now<T: Pod>(&self, buffer: &Buffer<T>, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let base = buffer.allocation().address();
        for (piece, offset) in bytes.chunks(PIECE_MAX).zip((0..).step_by(PIECE_MAX)) {
            let _relaxed = self.relaxed()?;
            let block = self.take_block(piece.len())?;
            // SAFETY: the block is at least as long as the piece, and no copy uses it.
            unsafe { std::ptr::copy_nonoverlapping(piece.as_ptr(), block.pointer, piece.len()) };
            // SAFETY: the buffer is as long as `bytes`, the block is page-locked and kept until the wait below.
            let code = unsafe {
                self.driver().cuMemcpyHtoDAsync_v2(
                    base + offset as u64,
                    block.pointer.cast(),
                    piece.len(),
                    self.0.home.0,
                )
            };
            let copied = self.check(code, Call::cuMemcpyHtoDAsync_v2).and_then(|()| self.wait_for_home());
            match copied {
                Ok(()) => self.give_block(block, None),
                Err(error) => {
                    // A copy may still read the block: unless that is known to be over, it is never used again.
                    if self.wait_for_home().is_ok() {
                        self.give_block(block, None);
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

impl StreamInner {
    /// Copies bytes to a place in stream order; they are not looked at after this returns.
    pub(crate) fn copy_in(&self, place: &Extent, bytes: &[u8]) -> Result<()> {
        let device = &self.device;
        device.expect_untorn(&self.lane)?;
        let memory = place.allocation.memory().expect("the place has memory");
        for (piece, offset) in bytes.chunks(PIECE_MAX).zip((0..).step_by(PIECE_MAX)) {
            let block = device.take_block(piece.len())?;
            // SAFETY: the block is at least as long as the piece, and no copy uses it.
            unsafe { std::ptr::copy_nonoverlapping(piece.as_ptr(), block.pointer, piece.len()) };
            let target = place.address() + offset as u64;
            let submitted = device.ledger().submit::<_, Error>(
                &device.0.cuda,
                &self.lane,
                Touch::Memory(&[(memory, Touching::Write)]),
                |stream| {
                    // SAFETY: the place is inside its allocation, which the caller holds and the ledger keeps until
                    // this copy is over; the block is page-locked and given back with this use.
                    let code = unsafe {
                        device.driver().cuMemcpyHtoDAsync_v2(target, block.pointer.cast(), piece.len(), stream.raw.0)
                    };
                    device.check(code, Call::cuMemcpyHtoDAsync_v2)
                },
            );
            match submitted {
                Ok(((), used)) => device.give_block(block, Some(used)),
                Err(error) => {
                    // Some of it may be on the stream.
                    device.give_block(block, device.ledger().last_use(&self.lane));
                    return Err(device.noted(error));
                }
            }
        }
        Ok(())
    }

    /// Copies a place out in stream order, and waits for it.
    pub(crate) fn copy_out(&self, place: &Extent, bytes: &mut [u8]) -> Result<()> {
        let device = &self.device;
        let memory = place.allocation.memory().expect("the place has memory");
        for (piece, offset) in bytes.chunks_mut(PIECE_MAX).zip((0..).step_by(PIECE_MAX)) {
            let writers = device.writers(memory);
            let (block, used) = self.copy_to_block(place.address() + offset as u64, memory, piece.len())?;
            if let Err(error) = device.wait_until(&used).and_then(|()| writers.expect_whole()) {
                device.give_block(block, device.ledger().last_use(&self.lane));
                return Err(device.noted(error));
            }
            // SAFETY: the block is at least as long as the piece, and the copy into it is over.
            unsafe { std::ptr::copy_nonoverlapping(block.pointer, piece.as_mut_ptr(), piece.len()) };
            device.give_block(block, None);
        }
        Ok(())
    }

    /// Enqueues a copy of so many bytes, at most [`PIECE_MAX`], into page-locked memory. What is copied must lie in memory
    /// of this name, which the caller holds.
    pub(crate) fn copy_to_block(&self, source: u64, memory: MemoryId, bytes: usize) -> Result<(Block, Use<Cuda>)> {
        let device = &self.device;
        let block = device.take_block(bytes)?;
        let submitted = device.ledger().submit::<_, Error>(
            &device.0.cuda,
            &self.lane,
            Touch::Memory(&[(memory, Touching::Read)]),
            |stream| {
                // SAFETY: as in `copy_in`.
                let code =
                    unsafe { device.driver().cuMemcpyDtoHAsync_v2(block.pointer.cast(), source, bytes, stream.raw.0) };
                device.check(code, Call::cuMemcpyDtoHAsync_v2)
            },
        );
        match submitted {
            Ok(((), used)) => Ok((block, used)),
            Err(error) => {
                // Some of it may be on the stream.
                device.give_block(block, device.ledger().last_use(&self.lane));
                Err(device.noted(error))
            }
        }
    }
}
