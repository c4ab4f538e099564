//! Launch geometry.

use crate::device::Properties;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Function;

/// A launch geometry: blocks, threads per block, and bytes of dynamic shared memory per block.
///
/// A grid without blocks is allowed: the node does nothing.
///
/// ```
/// use dacapo::grid::{Grid, linear};
/// let grid: Grid = linear(1000, 256).shared(1024);
/// assert_eq!((grid.blocks, grid.threads, grid.shared), ([4, 1, 1], [256, 1, 1], 1024));
/// ```
#[doc(alias = "dim3")]
#[doc(alias = "block")]
#[doc(alias = "threadIdx")]
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
    /// Without blocks, and without threads: no launch has this one.
    pub(crate) const EMPTY: Grid = Grid { blocks: [0; 3], threads: [0; 3], shared: 0 };

    /// The same geometry with this many bytes of dynamic shared memory.
    pub const fn shared(mut self, bytes: u32) -> Grid {
        self.shared = bytes;
        self
    }

    /// Whether there is no work in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.contains(&0)
    }
}

/// Launch geometries: what follows `grid:` in [`kernels!`](crate::kernels).
///
/// [`linear`](grid::linear) covers a vector, [`tiled`](grid::tiled) a plane, [`exact`](grid::exact) is anything else;
/// all make a [`Grid`]. [`within`](grid::within) is for conditions on offsets.
pub mod grid {
    pub use super::Grid;

    /// Blocks for `n` elements; more than can be counted stays more than any device has, which is an error later.
    #[inline]
    fn blocks(n: usize, threads: u32) -> u32 {
        u32::try_from(n.div_ceil(threads.max(1) as usize)).unwrap_or(u32::MAX)
    }

    /// One thread for each of `n` elements.
    ///
    /// ```
    /// use dacapo::grid::linear;
    /// assert_eq!(linear(1000, 256).blocks, [4, 1, 1]); // rounded up: the kernel checks its index
    /// assert_eq!(linear(0, 256).blocks, [0, 1, 1]); // nothing to do
    /// ```
    #[inline]
    pub fn linear(n: usize, threads: u32) -> Grid {
        Grid { blocks: [blocks(n, threads), 1, 1], threads: [threads, 1, 1], shared: 0 }
    }

    /// One thread for each element of a `w` by `h` plane, in tiles of `tx` by `ty`.
    ///
    /// ```
    /// use dacapo::grid::tiled;
    /// let grid = tiled((1920, 1080), (16, 16));
    /// assert_eq!((grid.blocks, grid.threads), ([120, 68, 1], [16, 16, 1]));
    /// ```
    pub fn tiled((w, h): (usize, usize), (tx, ty): (u32, u32)) -> Grid {
        Grid { blocks: [blocks(w, tx), blocks(h, ty), 1], threads: [tx, ty, 1], shared: 0 }
    }

    /// Exactly these blocks of exactly these threads.
    ///
    /// ```
    /// use dacapo::grid::exact;
    /// let grid = exact([4, 2, 1], [128, 1, 1]); // one block for each of 4 heads and 2 sequences
    /// assert_eq!(grid.blocks.iter().product::<u32>(), 8);
    /// ```
    pub fn exact(blocks: [u32; 3], threads: [u32; 3]) -> Grid {
        Grid { blocks, threads, shared: 0 }
    }

    /// Whether `offset + len <= total`, without overflow: for a kernel's `requires`.
    ///
    /// ```
    /// use dacapo::grid::within;
    /// assert!(within(6u32, 2, 8));
    /// assert!(!within(7u32, 2, 8));
    /// assert!(!within(-1i32, 2, 8) && !within(u64::MAX, 2, 8)); // neither wraps around
    /// ```
    pub fn within(offset: impl TryInto<usize>, len: usize, total: usize) -> bool {
        offset.try_into().ok().and_then(|offset| offset.checked_add(len)).is_some_and(|end| end <= total)
    }
}

/// Refuses a geometry that no launch can have.
#[inline]
pub(crate) fn check_grid(properties: &Properties, function: &Function, grid: &Grid) -> Result<()> {
    let within = |asked: [u32; 3], most: &[u32; 3]| asked[0] <= most[0] && asked[1] <= most[1] && asked[2] <= most[2];
    let [x, y, z] = grid.threads.map(u64::from);
    let shared = u64::from(grid.shared) + u64::from(function.shared_static);
    let fits = within(grid.blocks, &properties.grid_max)
        && within(grid.threads, &properties.block_max)
        && (1..=u64::from(function.threads_max)).contains(&(x * y * z))
        && shared <= u64::from(properties.shared_bytes_max);
    if fits { Ok(()) } else { say_what_exceeds(properties, function, grid) }
}

#[cold]
fn say_what_exceeds(properties: &Properties, function: &Function, grid: &Grid) -> Result<()> {
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
