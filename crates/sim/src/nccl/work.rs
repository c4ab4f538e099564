//! A piece of work on a stream or in a graph: the calls of one group for one communicator.

use std::sync::Arc;

use super::communicator::{Communicator, Link};
use super::meeting::Outcome;
use super::transfer::Transfer;
use super::wire::{FRAME_MAX, SAID_MAX};
use crate::finding::FindingOp;

/// The calls that are put on a stream at once. Never empty.
#[derive(Clone)]
pub(crate) struct CollectiveWork {
    pub(crate) communicator: Arc<Communicator>,
    pub(crate) calls: Vec<Transfer>,
}

impl CollectiveWork {
    /// Whose it is, as far as that was told.
    pub(crate) fn by(&self) -> Option<&Arc<FindingOp>> {
        self.calls.iter().find_map(|call| call.said.by.as_ref())
    }

    pub(crate) fn set_by(&mut self, by: Option<&Arc<FindingOp>>) {
        self.calls.iter_mut().for_each(|call| call.said.by = by.cloned());
    }

    /// `ncclAllReduce`, `a group of 3 NCCL calls`.
    pub(crate) fn name(&self) -> String {
        match &self.calls[..] {
            [call] => call.said.told.kind.symbol().to_string(),
            calls => format!("group of {} NCCL calls", calls.len()),
        }
    }

    /// Bytes that it reads and writes on this rank.
    pub(crate) fn bytes(&self) -> u64 {
        let (rank, ranks) = (self.communicator.rank, self.communicator.ranks);
        let bytes = |call: &Transfer| call.said.told.sent(rank, ranks) + call.said.told.received(rank, ranks);
        self.calls.iter().map(bytes).sum()
    }

    /// Whether it is more than goes over a connection at once, where it has to; with room for what is said of each call.
    pub(crate) fn is_too_much(&self) -> bool {
        let said = SAID_MAX * self.calls.len() as u64;
        matches!(*self.communicator.link(), Link::Remote(_)) && self.bytes() + said > FRAME_MAX as u64
    }

    /// Every address with how many bytes from there on.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (rank, ranks) = (self.communicator.rank, self.communicator.ranks);
        let both = move |call: &Transfer| {
            let told = call.said.told;
            [(call.send, told.sent(rank, ranks)), (call.receive, told.received(rank, ranks))]
        };
        self.calls.iter().flat_map(both).filter(|(_, bytes)| *bytes > 0)
    }
}

/// One run of a piece of work. Its communicator stays until it is over.
pub(crate) struct Trip {
    pub(crate) work: Arc<CollectiveWork>,
    is_over: bool,
}

impl Trip {
    pub(crate) fn new(work: Arc<CollectiveWork>) -> Trip {
        work.communicator.take_off();
        Trip { work, is_over: false }
    }

    /// It has done what it was to do, or was given up.
    pub(crate) fn end(mut self) {
        self.is_over = true;
    }
}

impl Drop for Trip {
    fn drop(&mut self) {
        self.work.communicator.land(self.is_over);
    }
}

/// A run of a piece of work, as a task has it.
pub(crate) enum Run {
    /// Its turn is to come.
    Waits(Trip),
    /// It has offered what it has, or waits for the piece before it: it is set aside.
    Apart(Trip),
    /// The others have come: its turn is to write what they bring.
    Met(Trip, Vec<Outcome>),
    /// It is given up: its turn is to end.
    GivenUp(Trip),
}

impl Run {
    /// Whose it is, as far as that was told.
    pub(crate) fn by(&self) -> Option<&Arc<FindingOp>> {
        self.trip().work.by()
    }

    /// It is set aside: no step comes to it.
    pub(crate) fn is_apart(&self) -> bool {
        matches!(self, Run::Apart(_))
    }

    pub(crate) fn trip(&self) -> &Trip {
        match self {
            Run::Waits(trip) | Run::Apart(trip) | Run::Met(trip, _) | Run::GivenUp(trip) => trip,
        }
    }
}
