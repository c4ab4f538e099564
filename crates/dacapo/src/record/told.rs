//! What the driver is told of one op: its parameters, computed while it is recorded, and the node that has them, once there is
//! one. It is made where it stays, so that nothing of it is moved on the way.

use dacapo_driver::types::{CUfunction, CUgraphNode};

use crate::kernel::{Args, Grid, Prepared};

/// The driver's node of an op, and what it has been told.
#[repr(C)] // beside each other: a changed slot needs both
pub(crate) struct Told {
    /// Null for foreign work, which has no parameters of ours, and before there is a node.
    pub(crate) handle: CUgraphNode,
    /// Of a kernel: the one that suits the edges into and out of the node, whatever it is told.
    pub(crate) function: CUfunction,
    /// None for foreign work, and after a refusal: then it is not known.
    pub(crate) params: Option<NodeParams>,
}

impl Told {
    /// Nothing that is known.
    #[inline]
    pub(crate) fn nothing() -> Told {
        Told { handle: CUgraphNode::NULL, function: CUfunction::NULL, params: None }
    }

    /// A kernel whose recipe has not run.
    #[inline]
    pub(crate) fn kernel() -> Told {
        let prepared = Prepared { grid: Grid::EMPTY, args: Args::default() };
        Told { params: Some(NodeParams::Kernel { prepared }), ..Told::nothing() }
    }

    /// Where a kernel's recipe writes.
    #[inline]
    pub(crate) fn prepared_mut(&mut self) -> Option<&mut Prepared> {
        match &mut self.params {
            Some(NodeParams::Kernel { prepared }) => Some(prepared),
            _ => None,
        }
    }

    /// What a kernel's recipe gave.
    pub(crate) fn prepared(&self) -> Option<&Prepared> {
        match &self.params {
            Some(NodeParams::Kernel { prepared }) => Some(prepared),
            _ => None,
        }
    }

    /// The same, for somebody else to tell.
    pub(crate) fn take_prepared(&mut self) -> Option<Prepared> {
        match self.params.take() {
            Some(NodeParams::Kernel { prepared }) => Some(prepared),
            _ => None,
        }
    }

    /// Whether the op does nothing, as far as is known: a kernel whose grid is empty.
    pub(crate) fn is_idle(&self) -> bool {
        self.params.as_ref().is_some_and(|params| !params.is_enabled())
    }
}

/// A node's parameters, with addresses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeParams {
    /// A kernel; disabled when its grid is empty.
    Kernel { prepared: Prepared },
    /// A copy of this many bytes.
    Copy { source: Side, target: Side, bytes: usize },
    /// A fill of `count` elements of `size` bytes with the low bytes of `value`.
    Fill { target: u64, value: u32, size: u32, count: usize },
    /// Nothing to do.
    Nothing,
}

/// One side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) address: u64,
    pub(crate) host: bool,
}

impl NodeParams {
    /// Whether the node does something in this launch.
    pub(crate) fn is_enabled(&self) -> bool {
        match self {
            NodeParams::Kernel { prepared } => !prepared.grid.is_empty(),
            _ => true,
        }
    }
}
