//! Small branches as kernels that look at the flag themselves.
//!
//! On an H200 (results/ifs-h200.txt), a conditional node costs as much as three or four tiny kernels that return at once where
//! it is not taken, and 6 us more than its kernels where it is. So the kernels of a small branch stand in the graph around it,
//! behind the kernel that decides, and each reads what was decided before anything else ([`dacapo_ptx::Opening::Guarded`]). On the
//! side that was not chosen they return at once. A branch is guarded if
//!
//! - it is an `if`, with or without an `else`, and holds kernels only: at least one and at most [`KERNELS_MAX`];
//! - none of them decides about another condition, and all have a guarded entry point: no clusters, no `griddepcontrol`
//!   of their own, no variables of the module;
//! - all their grids together have at most [`BLOCKS_MAX`] blocks, as recorded. A slot that makes one larger later
//!   changes what it costs, and nothing else.
//!
//! # Why this is the same
//!
//! 1. *The flag is there.* The branch reads the state, so all of it is behind the kernel that decides, by full edges.
//! 2. *It stays.* The branch touches the state and the temps of its bodies, so the planner keeps them apart; and
//!    whatever comes behind the branch comes behind all that its bodies end in. That holds in every round of a loop.
//! 3. *One side does nothing.* A guarded kernel of the other side has read one word. So both sides may share their
//!    temps, and have no order between them.
//!
//! An eager run launches the kernels as they were written: the host decides.

use smallvec::SmallVec;

use crate::device::Device;
use crate::error::Result;
use crate::kernel::Grid;
use crate::memory::{Access, Mode};
use crate::record::{Branch, BranchKind, Guard, Node, Told, Work};

/// Whether small branches are guarded where nobody says.
pub(crate) const GUARDED: bool = true;

/// The most kernels of a guarded branch, on both sides. Three of one block are faster than a conditional node by 0.6 us where
/// the branch is not taken, three of 132 blocks take 0.1 us longer; where it is taken they are faster by 6 us.
const KERNELS_MAX: usize = 3;

/// The most blocks of a guarded branch: about as many as an H200 runs at once (132 multiprocessors, 8 blocks of 256
/// threads), so that those which only return are gone in one wave. One kernel of so many is still faster than a
/// conditional node by 2 us where it is not taken.
const BLOCKS_MAX: u64 = 1024;

/// Guards the kernels of all branches that are small enough. The nodes, and what is known of them, are as they were recorded.
///
/// # Errors
///
/// - The driver had no memory for guarded entry points, or the context is lost.
pub(crate) fn guard(device: &Device, nodes: &mut [Node], told: &[Told]) -> Result<()> {
    for number in 0..nodes.len() {
        let Work::Branch(branch) = &nodes[number].work else { continue };
        if !is_small(nodes, told, number, branch) {
            continue;
        }
        let Some(guards) = guards(device, nodes, number, branch)? else { continue };
        let flag = Access { name: "flag", mode: Mode::Read, ..branch.state.clone() };
        let Work::Branch(branch) = &mut nodes[number].work else { unreachable!("asked above") };
        branch.is_guarded = true;
        for (node, guard) in nodes[number + 1..].iter_mut().zip(guards) {
            let Work::Kernel(kernel) = &mut node.work else { unreachable!("a small branch has kernels only") };
            kernel.guard = Some(Box::new(guard));
            node.access.push(flag.clone());
        }
    }
    Ok(())
}

/// Takes the guard of a kernel away, for a recording in which it may be inside something else.
pub(crate) fn unguard(node: &mut Node) {
    match &mut node.work {
        Work::Kernel(kernel) if kernel.guard.is_some() => {
            kernel.guard = None;
            node.access.pop();
        }
        Work::Branch(branch) => branch.is_guarded = false,
        _ => {}
    }
}

/// Whether a branch holds a few small kernels and nothing else.
fn is_small(nodes: &[Node], told: &[Told], number: usize, branch: &Branch) -> bool {
    let inside = &nodes[number + 1..nodes[number].next(number)];
    if branch.kind != BranchKind::If || inside.is_empty() || inside.len() > KERNELS_MAX {
        return false;
    }
    let blocks = |grid: &Grid| grid.blocks.iter().map(|side| u64::from(*side)).product::<u64>();
    let each = inside.iter().zip(&told[number + 1..]).map(|(node, told)| match &node.work {
        Work::Kernel(kernel) if kernel.sets.is_none() => told.prepared().map(|it| blocks(&it.grid)),
        _ => None,
    });
    each.sum::<Option<u64>>().is_some_and(|blocks| blocks <= BLOCKS_MAX)
}

/// The guards of a branch's kernels, in order; none if one has none.
fn guards(device: &Device, nodes: &[Node], number: usize, branch: &Branch) -> Result<Option<SmallVec<[Guard; 4]>>> {
    let mut guards = SmallVec::new();
    for (body, (_, range)) in branch.bodies(number).enumerate() {
        for node in &nodes[range] {
            let Work::Kernel(kernel) = &node.work else { return Ok(None) };
            match kernel.function.guarded(device)? {
                Some(function) => guards.push(Guard { function: function.clone(), side: body == 0 }),
                None => return Ok(None),
            }
        }
    }
    Ok(Some(guards))
}
