//! Launch geometry.

use crate::device::Properties;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Function;

/// How many blocks of how many threads, and how much dynamic shared memory a block has.
///
/// A grid without blocks is no work: the node does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks in x, y, z.
    pub blocks: [u32; 3],
    /// Threads of a block in x, y, z.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub shared: u32,
}

impl Grid {
    /// The same with dynamic shared memory.
    pub const fn shared(mut self, bytes: u32) -> Grid {
        self.shared = bytes;
        self
    }

    /// Whether there is no work in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.contains(&0)
    }
}

/// What may be said after `grid:` in [`kernels!`](crate::kernels), and in its conditions.
pub mod grid {
    pub use super::Grid;

    /// Blocks for `n` elements; more than can be counted stays more than any device has, which is an error later.
    #[inline]
    fn blocks(n: usize, threads: u32) -> u32 {
        u32::try_from(n.div_ceil(threads.max(1) as usize)).unwrap_or(u32::MAX)
    }

    /// One thread for each of `n` elements.
    #[inline]
    pub fn linear(n: usize, threads: u32) -> Grid {
        Grid { blocks: [blocks(n, threads), 1, 1], threads: [threads, 1, 1], shared: 0 }
    }

    /// One thread for each element of a `w` by `h` plane, in tiles.
    pub fn tiled((w, h): (usize, usize), (tx, ty): (u32, u32)) -> Grid {
        Grid { blocks: [blocks(w, tx), blocks(h, ty), 1], threads: [tx, ty, 1], shared: 0 }
    }

    /// Exactly this.
    pub fn exact(blocks: [u32; 3], threads: [u32; 3]) -> Grid {
        Grid { blocks, threads, shared: 0 }
    }

    /// `offset + len <= total`, without the overflow.
    pub fn within(offset: impl TryInto<usize>, len: usize, total: usize) -> bool {
        offset.try_into().ok().and_then(|offset| offset.checked_add(len)).is_some_and(|end| end <= total)
    }
}

/// Refuses a geometry that no launch can have.
pub(crate) fn check_grid(properties: &Properties, function: &Function, grid: &Grid) -> Result<()> {
    let too_large = |asked: String, limit: String| Err(Error::new(ErrorKind::GridTooLarge { asked, limit }));
    for (dimension, name) in ["x", "y", "z"].iter().enumerate() {
        let (blocks, blocks_max) = (grid.blocks[dimension], properties.grid_max[dimension]);
        if blocks > blocks_max {
            return too_large(format!("{blocks} blocks in {name}"), format!("{blocks_max}"));
        }
        let (threads, threads_max) = (grid.threads[dimension], properties.block_max[dimension]);
        if threads > threads_max {
            return too_large(format!("{threads} threads in {name}"), format!("{threads_max}"));
        }
        if threads == 0 {
            return too_large(format!("no threads in {name}"), "at least one thread".into());
        }
    }
    let threads: u64 = grid.threads.iter().map(|&threads| u64::from(threads)).product();
    if threads > u64::from(function.threads_max) {
        return too_large(format!("{threads} threads a block"), format!("{} for this kernel", function.threads_max));
    }
    let shared = u64::from(grid.shared) + u64::from(function.shared_static);
    if shared > u64::from(properties.shared_bytes_max) {
        return too_large(
            format!("{shared} bytes of shared memory a block"),
            format!("{}", properties.shared_bytes_max),
        );
    }
    Ok(())
}
