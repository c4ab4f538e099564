//! One call of a collective, as data: what all ranks have to say alike of it, and where its bytes lie.

use std::fmt;
use std::sync::Arc;

use super::element::{Element, Reduction};
use crate::finding::FindingOp;

/// Which call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Reduce,
    Broadcast,
    AllReduce,
    ReduceScatter,
    AllGather,
    Send,
    Recv,
}

impl Kind {
    pub(crate) const ALL: [Kind; 7] =
        [Kind::Reduce, Kind::Broadcast, Kind::AllReduce, Kind::ReduceScatter, Kind::AllGather, Kind::Send, Kind::Recv];

    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Kind::Reduce => "ncclReduce",
            Kind::Broadcast => "ncclBroadcast",
            Kind::AllReduce => "ncclAllReduce",
            Kind::ReduceScatter => "ncclReduceScatter",
            Kind::AllGather => "ncclAllGather",
            Kind::Send => "ncclSend",
            Kind::Recv => "ncclRecv",
        }
    }

    /// Between two ranks; all others take all ranks.
    pub(crate) fn is_pair(self) -> bool {
        matches!(self, Kind::Send | Kind::Recv)
    }

    pub(crate) fn reduces(self) -> bool {
        matches!(self, Kind::Reduce | Kind::AllReduce | Kind::ReduceScatter)
    }
}

/// What a rank says of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) kind: Kind,
    /// Elements, as the call counts them.
    pub(crate) count: u64,
    pub(crate) element: Element,
    /// [`Reduction::Sum`] where nothing is folded.
    pub(crate) reduction: Reduction,
    /// The root or the peer; 0 where there is none.
    pub(crate) other: u32,
}

impl Told {
    /// Bytes of one count; `None` if no memory has so many for all `ranks`.
    pub(crate) fn bytes(&self, ranks: u32) -> Option<u64> {
        let bytes = self.count.checked_mul(self.element.size())?;
        bytes.checked_mul(u64::from(ranks)).filter(|all| *all <= u64::MAX / 4)?;
        Some(bytes)
    }

    /// Bytes that this rank gives.
    pub(crate) fn sent(&self, rank: u32, ranks: u32) -> u64 {
        let bytes = self.count * self.element.size();
        match self.kind {
            Kind::AllReduce | Kind::Reduce | Kind::AllGather | Kind::Send => bytes,
            Kind::ReduceScatter => bytes * u64::from(ranks),
            Kind::Broadcast if rank == self.other => bytes,
            Kind::Broadcast | Kind::Recv => 0,
        }
    }

    /// Bytes that this rank is given.
    pub(crate) fn received(&self, rank: u32, ranks: u32) -> u64 {
        let bytes = self.count * self.element.size();
        match self.kind {
            Kind::AllReduce | Kind::Broadcast | Kind::ReduceScatter | Kind::Recv => bytes,
            Kind::AllGather => bytes * u64::from(ranks),
            Kind::Reduce if rank == self.other => bytes,
            Kind::Reduce | Kind::Send => 0,
        }
    }
}

/// As reports write it: `ncclAllReduce of 8 float32, sum`.
impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} {}", self.kind.symbol(), self.count, self.element.name())?;
        if self.kind.reduces() {
            write!(f, ", {}", self.reduction.name())?;
        }
        match self.kind {
            Kind::Reduce | Kind::Send => write!(f, ", to rank {}", self.other),
            Kind::Broadcast | Kind::Recv => write!(f, ", from rank {}", self.other),
            _ => Ok(()),
        }
    }
}

/// What a rank says of a call, and whose it is, as far as that was told.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) told: Told,
    pub(crate) by: Option<Arc<FindingOp>>,
}

/// A call with its buffers.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) said: Said,
    pub(crate) send: u64,
    pub(crate) receive: u64,
}
