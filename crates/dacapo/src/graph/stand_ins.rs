//! The stand-ins of a graph that is a function of memory, and what each launch binds them to.

use std::sync::{Arc, Weak};

use crate::lower::Resolve;
use crate::memory::{Allocation, Extent};

/// A stand-in: what a launch must bind.
pub(crate) struct Hole {
    pub(crate) allocation: Arc<Allocation>,
}

/// All stand-ins of a graph, and where they are bound. Most graphs have none.
#[derive(Default)]
pub(crate) struct StandIns {
    pub(crate) holes: Vec<Hole>,
    /// What this launch has bound, held until it is in the ledger.
    bound: Vec<Option<Extent>>,
    /// Which memory the nodes were told last for each, and where; not held.
    told: Vec<(Weak<Allocation>, u64)>,
}

/// What a binding changes for the nodes that touch a stand-in.
pub(crate) enum Rebound {
    /// They must be told.
    Moved,
    /// It is other memory at the address that they were told: what they were told reads the same, and names what is gone.
    Reused,
}

impl StandIns {
    /// Bound to the memory that they were made after: a driver refuses a copy without addresses, so the nodes are built
    /// with these, and no launch is made before it has bound its own.
    pub(crate) fn new(holes: Vec<Hole>, given: Vec<Extent>) -> StandIns {
        let told = given.iter().map(|place| (Arc::downgrade(&place.allocation), place.address())).collect();
        StandIns { holes, bound: given.into_iter().map(Some).collect(), told }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.holes.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.holes.len()
    }

    /// Binds one for this launch. What that changes, if anything.
    pub(crate) fn bind(&mut self, hole: usize, place: Extent) -> Option<Rebound> {
        let before = self.bound[hole].as_ref().map(|before| (before.address(), before.start));
        if before == Some((place.address(), place.start)) {
            return None;
        }
        let (last, address) = &self.told[hole];
        let is_reused = last.as_ptr() != Arc::as_ptr(&place.allocation) && *address == place.address();
        self.bound[hole] = Some(place);
        Some(if is_reused { Rebound::Reused } else { Rebound::Moved })
    }

    /// Forgets what was bound: the memory is not held, and must not be taken for bound again.
    pub(crate) fn unbind(&mut self) {
        self.bound.fill(None);
    }

    /// What this launch has bound in the place of this allocation, if that is a stand-in.
    fn bound_to(&self, allocation: &Allocation) -> Option<&Extent> {
        let hole = self.holes.iter().position(|hole| hole.allocation.number() == allocation.number())?;
        self.bound[hole].as_ref()
    }

    /// The nodes have been told what is bound.
    pub(crate) fn were_told(&mut self) {
        for (told, place) in self.told.iter_mut().zip(&self.bound) {
            if let Some(place) = place
                && (told.0.as_ptr() != Arc::as_ptr(&place.allocation) || told.1 != place.address())
            {
                *told = (Arc::downgrade(&place.allocation), place.address());
            }
        }
    }
}

/// Stand-ins are where this launch has bound them.
impl Resolve for StandIns {
    fn place<'p>(&'p self, place: &'p Extent) -> (u64, u64) {
        match self.bound_to(&place.allocation) {
            Some(bound) if bound.address() != 0 => {
                (bound.address() + place.start as u64, (bound.start + place.start) as u64)
            }
            _ => (place.address(), place.start as u64),
        }
    }

    fn allocation<'p>(&'p self, allocation: &'p Arc<Allocation>) -> &'p Arc<Allocation> {
        self.bound_to(allocation).map_or(allocation, |bound| &bound.allocation)
    }
}
