//! Page-locked memory that reads and writes go through.
//!
//! A `&[T]` of the user's is never read after the call that was given it: it is copied into a block of this memory
//! first. A block is used again when the copy that used it is known to be done.

use dacapo_driver::{Call, Driver};
use dacapo_ledger::{Ledger, Use};

use crate::device::{Booking, Cuda, Device, twice};
use crate::error::Result;
use crate::held::Purpose;

/// The most that one copy takes at once; longer ones go in pieces.
pub(crate) const PIECE_MAX: usize = 8 << 20;
/// A block is never smaller: small reads and writes share few blocks.
const BLOCK_MIN: usize = 64 << 10;
/// Over this, a busy block is waited for instead of making another.
const TOTAL_MAX: usize = 64 << 20;

/// Blocks that nobody has taken.
#[derive(Default)]
pub(crate) struct Staging {
    blocks: Vec<Block>,
    total: usize,
}

/// A piece of page-locked memory.
pub(crate) struct Block {
    pub(crate) pointer: *mut u8,
    pub(crate) bytes: usize,
    /// The copy that used it last.
    pub(crate) busy: Option<Use<Cuda>>,
    /// Its bytes in the device's books.
    _booking: Booking,
}

// SAFETY: the memory is page-locked host memory that belongs to whoever has the block.
unsafe impl Send for Block {}

impl Staging {
    /// Bytes in all blocks, taken or not.
    pub(crate) fn bytes(&self) -> usize {
        self.total
    }

    /// Forgets copies that are over: a use holds its stream.
    fn forget_finished(&mut self, ledger: &Ledger<Cuda>) {
        for block in &mut self.blocks {
            if block.busy.as_ref().is_some_and(|busy| ledger.is_finished(busy)) {
                block.busy = None;
            }
        }
    }

    /// Frees what is not busy; for the end of the device.
    pub(crate) fn release(&mut self, driver: &dyn Driver, is_finished: impl Fn(&Use<Cuda>) -> bool) {
        for block in self.blocks.drain(..).filter(|block| block.busy.as_ref().is_none_or(&is_finished)) {
            // SAFETY: the block is ours and no copy uses it.
            twice(Call::cuMemFreeHost, || unsafe { driver.cuMemFreeHost(block.pointer.cast()) });
        }
    }
}

impl Device {
    fn staging(&self) -> std::sync::MutexGuard<'_, Staging> {
        self.0.staging.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Lets go of the streams of copies that are over.
    pub(crate) fn forget_copies(&self) {
        self.staging().forget_finished(self.ledger());
    }

    /// A block of at least `bytes`, which are at most [`PIECE_MAX`], that no copy uses.
    pub(crate) fn take_block(&self, bytes: usize) -> Result<Block> {
        let wanted = bytes.next_power_of_two().max(BLOCK_MIN);
        let waited_for = {
            let mut staging = self.staging();
            staging.forget_finished(self.ledger());
            if let Some(found) = staging.blocks.iter().position(|b| b.busy.is_none() && b.bytes >= wanted) {
                return Ok(staging.blocks.swap_remove(found));
            }
            let oldest = staging.blocks.iter().position(|block| block.bytes >= wanted);
            match oldest {
                Some(oldest) if staging.total >= TOTAL_MAX => Some(staging.blocks.remove(oldest)),
                _ => {
                    staging.total += wanted;
                    None
                }
            }
        };
        match waited_for {
            Some(mut block) => {
                if let Some(busy) = block.busy.take()
                    && let Err(error) = self.wait_for(&busy)
                {
                    self.give_block(block, Some(busy));
                    return Err(error);
                }
                Ok(block)
            }
            None => {
                match self.book(Purpose::Staging, wanted).and_then(|booking| Ok((booking, self.page_locked(wanted)?))) {
                    Ok((booking, pointer)) => {
                        Ok(Block { pointer, bytes: wanted, busy: None, _booking: booking.taken() })
                    }
                    Err(error) => {
                        self.staging().total -= wanted;
                        Err(error)
                    }
                }
            }
        }
    }

    /// Gives a block back, with the copy that still uses it.
    pub(crate) fn give_block(&self, mut block: Block, busy: Option<Use<Cuda>>) {
        block.busy = busy;
        self.staging().blocks.push(block);
    }
}
