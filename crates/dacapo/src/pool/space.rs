//! A graph's hold on what its temps lie in: an arena of its own, one of the caller's, or the one of its pool.
//!
//! The memory is given back behind the last replay of all that hold it: it is one memory in the ledger, and every graph in
//! it has it in its set; of a pool's, the pool's own memory stands for it.

use std::sync::Arc;

use dacapo_driver::types::CUdeviceptr;
use dacapo_ledger::{MemoryId, Touching};

use crate::device::Device;
use crate::error::Result;
use crate::held::Purpose;
use crate::memory::{Allocation, Arena, InArena, Kind, written};
use crate::pool::Pool;

/// What the temps of a graph lie in, held.
pub(crate) struct Space {
    /// Where it begins.
    pub(crate) base: CUdeviceptr,
    /// How many bytes of it the graph needs.
    pub(crate) bytes: usize,
    /// How many of these are a library's workspace at some time.
    pub(crate) workspace_bytes: usize,
    whose: Whose,
}

enum Whose {
    /// The graph's own.
    Own(Arc<Allocation>),
    /// The caller's.
    Given(InArena),
    /// The pool's, which goes with the pool; or an allocation that graphs of the pool share.
    Pool(Pool, Option<Arc<Allocation>>),
}

impl Space {
    /// In an arena of the caller's, which is large enough.
    pub(crate) fn given(arena: &Arena, bytes: usize, workspace_bytes: usize) -> Space {
        arena.note_used(bytes);
        Space { base: arena.address(), bytes, workspace_bytes, whose: Whose::Given(arena.join()) }
    }

    /// In what the graphs of a pool share.
    ///
    /// # Errors
    ///
    /// - As [`own`](Space::own).
    pub(crate) fn of_pool(device: &Device, pool: &Pool, bytes: usize, workspace_bytes: usize) -> Result<Space> {
        let room = pool.arena().room(device, bytes)?;
        Ok(Space { base: room.base, bytes, workspace_bytes, whose: Whose::Pool(pool.clone(), room.hold) })
    }

    /// An allocation of its own.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), [`ErrorKind::Full`](crate::ErrorKind::Full), what the
    ///   driver refused.
    pub(crate) fn own(device: &Device, bytes: usize, workspace_bytes: usize) -> Result<Space> {
        let allocation = Allocation::unplaced(device, Kind::Arena, bytes)?;
        device.place(&allocation, false, Purpose::Arenas)?;
        Ok(Space { base: allocation.address(), bytes, workspace_bytes, whose: Whose::Own(allocation) })
    }

    /// Whether it is the graph's own, and nobody else's.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.whose, Whose::Own(_))
    }

    /// What a replay writes, as far as the ledger is concerned.
    pub(crate) fn touched(&self) -> (MemoryId, Touching) {
        match &self.whose {
            Whose::Own(allocation) | Whose::Pool(_, Some(allocation)) => written(allocation),
            Whose::Given(inside) => inside.arena().touched(),
            Whose::Pool(pool, None) => pool.touched(),
        }
    }
}
