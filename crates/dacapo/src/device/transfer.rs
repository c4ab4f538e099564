//! Copies between the user's slices and device memory, through page-locked memory of ours.

use dacapo_driver::Call;
use dacapo_ledger::{Access as Touching, Touch};

use crate::device::staging::PIECE_MAX;
use crate::device::{Device, StreamInner};
use crate::element::Pod;
use crate::error::{Error, Result};
use crate::memory::{Buffer, Place};

impl Device {
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
    pub(crate) fn copy_in(&self, place: &Place, bytes: &[u8]) -> Result<()> {
        let device = &self.device;
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
    pub(crate) fn copy_out(&self, place: &Place, bytes: &mut [u8]) -> Result<()> {
        let device = &self.device;
        let memory = place.allocation.memory().expect("the place has memory");
        for (piece, offset) in bytes.chunks_mut(PIECE_MAX).zip((0..).step_by(PIECE_MAX)) {
            let block = device.take_block(piece.len())?;
            let source = place.address() + offset as u64;
            let submitted = device.ledger().submit::<_, Error>(
                &device.0.cuda,
                &self.lane,
                Touch::Memory(&[(memory, Touching::Read)]),
                |stream| {
                    // SAFETY: as in `copy_in`.
                    let code = unsafe {
                        device.driver().cuMemcpyDtoHAsync_v2(block.pointer.cast(), source, piece.len(), stream.raw.0)
                    };
                    device.check(code, Call::cuMemcpyDtoHAsync_v2)
                },
            );
            let waited = submitted.and_then(|((), used)| device.wait_until(&used));
            if let Err(error) = waited {
                device.give_block(block, device.ledger().last_use(&self.lane));
                return Err(device.noted(error));
            }
            // SAFETY: the block is at least as long as the piece, and the copy into it is over.
            unsafe { std::ptr::copy_nonoverlapping(block.pointer, piece.as_mut_ptr(), piece.len()) };
            device.give_block(block, None);
        }
        Ok(())
    }
}
