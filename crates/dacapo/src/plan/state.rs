//! For each cell the last writer, and the readers since.
//!
//! Each memory has a tree over its cells (a single node, usually). A node is *even* when all its cells have the same
//! writer and the same readers; otherwise it is *mixed*, its children know more, and it holds only the readers that read
//! all of it since it became mixed. So a touch costs the logarithm of the number of cells, and what a write looks through
//! it also makes even.
//!
//! Nodes lie in the order of a walk from left to right, parents first: the left child of a node over n cells is the next
//! one, the right child comes after the 2m - 1 nodes of the left child's m cells.

use super::NONE;
use super::cells::CellRange;
use super::draft::Draft;
use super::readers::{Readers, SetId};

/// What is known of all cells while ops are taken one after another.
pub(super) struct State {
    nodes: Vec<Node>,
    readers: Readers,
}

#[derive(Clone, Copy)]
struct Node {
    is_mixed: bool,
    /// Even: the last writer, or `NONE`. Mixed: a step after all last writers, `NONE` if there is none, `UNKNOWN` if it
    /// was not asked for since the last write.
    writer: u32,
    readers: SetId,
}

const UNKNOWN: u32 = NONE - 1;

impl State {
    /// Nobody touched any cell.
    pub(super) fn new(nodes: usize) -> State {
        let untouched = Node { is_mixed: false, writer: NONE, readers: NONE };
        State { nodes: vec![untouched; nodes], readers: Readers::default() }
    }

    /// Makes the op being drafted wait for the writers of `place`.
    #[inline]
    pub(super) fn before_read(&mut self, place: CellRange, draft: &mut Draft) {
        self.parts(place, false, &mut |state, root, cells| {
            let Node { is_mixed, writer, .. } = state.nodes[root];
            let writer = if is_mixed { state.writers(root, cells, draft) } else { writer };
            if writer != NONE {
                draft.wait_for_one(writer);
            }
        });
    }

    /// Makes the op being drafted wait for the readers of `place`, and for the writers where nobody read.
    #[inline]
    pub(super) fn before_write(&mut self, place: CellRange, draft: &mut Draft) {
        self.parts(place, false, &mut |state, root, cells| match state.nodes[root] {
            // As most are: written by one before.
            Node { is_mixed: false, readers: NONE, writer: NONE } => {}
            Node { is_mixed: false, readers: NONE, writer } => draft.wait_for_one(writer),
            _ => state.everyone(root, cells, false, draft),
        });
    }

    /// `step` reads `place`.
    #[inline]
    pub(super) fn read(&mut self, place: CellRange, step: u32) {
        self.parts(place, false, &mut |state, root, _| {
            let node = &mut state.nodes[root];
            node.readers = state.readers.with(node.readers, step);
        });
    }

    /// `step` writes `place`.
    #[inline]
    pub(super) fn write(&mut self, place: CellRange, step: u32) {
        self.parts(place, true, &mut |state, root, cells| {
            let node = &state.nodes[root];
            if node.is_mixed || node.readers != NONE {
                state.forget(root, cells);
            }
            state.nodes[root].writer = step;
        });
    }

    /// Calls `act` with the fewest nodes that make up `place`. With `writes`, what is above them is not known any more.
    #[inline]
    fn parts(&mut self, place: CellRange, writes: bool, act: &mut impl FnMut(&mut State, usize, usize)) {
        let CellRange { root, cells, from, to } = place;
        // All of it, as most touches are.
        if from == 0 && to == cells {
            return act(self, root as usize, cells as usize);
        }
        self.parts_of(root as usize, cells as usize, from as usize, to as usize, writes, act);
    }

    fn parts_of<F: FnMut(&mut State, usize, usize)>(
        &mut self,
        node: usize,
        cells: usize,
        from: usize,
        to: usize,
        writes: bool,
        act: &mut F,
    ) {
        if from == 0 && to == cells {
            return act(self, node, cells);
        }
        self.tell_children(node, cells);
        if writes {
            self.nodes[node].writer = UNKNOWN;
        }
        let [(left, half), (right, rest)] = children(node, cells);
        if from < half {
            self.parts_of(left, half, from, to.min(half), writes, act);
        }
        if to > half {
            self.parts_of(right, rest, from.max(half) - half, to - half, writes, act);
        }
    }

    /// Moves what `node` knows of all its cells down by one.
    fn tell_children(&mut self, node: usize, cells: usize) {
        let Node { is_mixed, writer, readers } = self.nodes[node];
        let [(left, _), (right, _)] = children(node, cells);
        if !is_mixed {
            self.readers.share(readers);
            self.nodes[left] = Node { is_mixed: false, writer, readers };
            self.nodes[right] = self.nodes[left];
            // All last writers are this one: known, and it stays so.
            self.nodes[node] = Node { is_mixed: true, writer, readers: NONE };
        } else if readers != NONE {
            self.readers.share(readers);
            for child in [left, right] {
                self.nodes[child].readers = self.readers.union(self.nodes[child].readers, readers);
            }
            self.nodes[node].readers = NONE;
        }
    }

    /// A step after all last writers of `node`, or `NONE`.
    fn writers(&mut self, node: usize, cells: usize, draft: &mut Draft) -> u32 {
        let Node { is_mixed, writer, .. } = self.nodes[node];
        if !is_mixed || writer != UNKNOWN {
            return writer;
        }
        let [a, b] = children(node, cells).map(|(child, cells)| self.writers(child, cells, draft));
        let writer = match (a, b) {
            (NONE, one) | (one, NONE) => one,
            (a, b) if a == b => a,
            _ => draft.join(&[a, b]),
        };
        self.nodes[node].writer = writer;
        writer
    }

    /// Waits for all readers of `node`, and for the writers of what nobody read.
    fn everyone(&mut self, node: usize, cells: usize, is_read: bool, draft: &mut Draft) {
        let Node { is_mixed, writer, readers } = self.nodes[node];
        // A reader waits for the writer already, so that its edge implies the other.
        let is_read = is_read || readers != NONE;
        if readers != NONE {
            self.readers.wait_for(readers, draft);
        }
        if is_mixed {
            for (child, cells) in children(node, cells) {
                self.everyone(child, cells, is_read, draft);
            }
        } else if !is_read && writer != NONE {
            draft.wait_for_one(writer);
        }
    }

    /// Makes `node` even again, without readers.
    fn forget(&mut self, node: usize, cells: usize) {
        if self.nodes[node].is_mixed {
            for (child, cells) in children(node, cells) {
                self.forget(child, cells);
            }
        }
        self.readers.release(self.nodes[node].readers);
        self.nodes[node] = Node { is_mixed: false, writer: NONE, readers: NONE };
    }
}

/// The children of `node` over `cells` cells, each with its own number of them.
fn children(node: usize, cells: usize) -> [(usize, usize); 2] {
    let half = cells.div_ceil(2);
    [(node + 1, half), (node + 2 * half, cells - half)]
}
