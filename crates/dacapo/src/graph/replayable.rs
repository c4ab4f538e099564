//! What a graph consists of, whatever its type, and how it ends.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dacapo_driver::types::CUgraphExec;
use dacapo_ledger::{Use, UseSet};
use smallvec::SmallVec;

use crate::arrange::Arrangement;
use crate::device::{Booking, Cuda, Device, Each, Garbage, Keeps, Named, drop_each, go_on, keep_first};
use crate::graph::making::{Asked, Drafted, GraphOptions};
use crate::graph::memory::GraphMemory;
#[cfg(feature = "json")]
use crate::graph::report_of_graph;
use crate::graph::{GraphBuilder, StandIns};
use crate::lower::Built;
use crate::memory::{Allocation, Gate, Kind};
#[cfg(feature = "json")]
use crate::page::{Page, Pages};
use crate::pool::{Members, Pool, Space};
use crate::record::{Node, NodeParams};
use crate::value::{AnySlot, Readings};

/// A lowered recording and all that it holds.
///
/// # Why this is safe
///
/// 1. *Memory.* `nodes` hold every allocation that the executable graph names, and `spaces` what its temps lie in; none is
///    freed before this is dropped, and then only behind the last replay, because the graph's cell is folded into each
///    allocation's record first.
///    Temps share bytes only where edges order all that touches one before all that touches the other.
/// 2. *Races.* Every launch goes through the ledger with the set of all that the nodes touch. One executable graph never
///    overlaps itself: launching takes `&mut`, and another stream waits for the cell.
/// 3. *Handles.* The executable graph and its template are destroyed by the device's queue, after this is gone.
/// 4. *Values.* What foreign work or the pool keeps is dropped only when the last replay is known to be over.
/// 5. *Half-patched nodes.* A node whose patch was refused stays in `dirty`, and nothing launches while one is.
#[repr(C, align(64))] // in this order: what a launch touches comes first, in one line of the caches; then what slots need
pub(crate) struct Replayable {
    pub(super) set: UseSet<Cuda>,
    /// The same as of `built`.
    pub(super) exec: CUgraphExec,
    pub(crate) name: Arc<Named>,
    pub(crate) replays: u64,
    /// Whether a launch has to look at nothing of its own but the slots: no host memory, no stand-ins, no node to be told.
    pub(super) is_quiet: bool,
    /// Whether there are slots.
    pub(super) has_slots: bool,
    /// Whether something of it is done with others.
    pub(super) has_partners: bool,
    pub(crate) preloaded: bool,
    /// Whether it was captured: then its nodes are not all that it does.
    pub(crate) captured: bool,
    pub(crate) readings: Readings,
    pub(crate) device: Device,
    pub(super) built: Built,
    /// Nodes that must be told again before the next launch.
    pub(super) dirty: SmallVec<[u32; 4]>,
    pub(super) gates: Vec<Arc<Gate>>,
    pub(crate) nodes: Each<Node>,
    pub(crate) stand_ins: StandIns,
    /// What the dirty nodes will be told. Filled and emptied by a launch; after one that was refused, what it would have told.
    pub(super) changes: Vec<(u32, NodeParams)>,
    pub(crate) order: Arrangement,
    /// Whether it touches memory of another device: what that one has lost, its launches must ask.
    pub(super) is_across: bool,
    /// Whether bytes of a temp hang on a grid that a slot may empty.
    pub(super) may_idle: bool,
    pub(super) keeps: Keeps,
    pub(super) outputs: Vec<Arc<Allocation>>,
    /// What the temps lie in.
    pub(super) spaces: Vec<Space>,
    pub(super) pools: Members,
    /// How it was asked to be planned.
    pub(super) asked: Asked,
    /// Replays by this executable graph when another recording had it.
    pub(super) earlier: Vec<Use<Cuda>>,
    /// The last profile, where the environment asks for pages.
    #[cfg(feature = "json")]
    pub(crate) profile: Option<Box<crate::profile::Profile>>,
}

impl Replayable {
    /// The same options again.
    pub(super) fn recording<'d>(&self, device: &'d Device) -> GraphBuilder<'d> {
        let mut recording = GraphBuilder::new(device);
        recording.label = (!self.name.label.is_empty()).then(|| self.name.label.clone());
        recording.pool = self.pools.own().cloned();
        recording.arena = self.asked.arena.clone();
        recording.apart = self.asked.apart;
        recording.shape = self.asked.shape;
        recording.guarded = self.asked.guarded;
        recording.edges = self.asked.edges.clone();
        recording
    }

    /// What a node was told last, as far as it is known.
    pub(super) fn told(&self, number: usize) -> Option<&NodeParams> {
        self.built.told(number)
    }

    /// Nodes that were told what is another recording's must be told their own before the next launch.
    pub(super) fn set_back(&mut self, nodes: &[u32]) {
        for &number in nodes {
            self.built.forget(number as usize);
            self.dirty.push(number);
        }
        self.is_quiet = self.looks_quiet();
    }

    /// As `is_quiet` must be.
    pub(super) fn looks_quiet(&self) -> bool {
        self.gates.is_empty() && self.stand_ins.is_empty() && self.dirty.is_empty() && !self.is_across
    }

    /// Another recording takes over the executable graph, whose nodes were told already. What is left of this one holds
    /// what its own replays may still use.
    pub(super) fn hand_over(&mut self, drafted: Drafted, options: GraphOptions) -> Replayable {
        let built = std::mem::replace(&mut self.built, Built::none());
        self.exec = CUgraphExec::NULL;
        let mut graph = Replayable::put_together(drafted, options, StandIns::default(), built);
        graph.preloaded = self.preloaded;
        // The driver runs one executable graph's launches one after another, also on other streams. Only its end must be
        // told of those that the new set does not know.
        graph.earlier = std::mem::take(&mut self.earlier);
        graph.earlier.extend(self.retire());
        let ledger = self.device.ledger();
        graph.earlier.retain(|used| !ledger.is_finished(used));
        graph
    }

    /// Folds the last replay's place into every allocation's record; it is the last use of all that this holds.
    fn retire(&mut self) -> Option<Use<Cuda>> {
        self.device.ledger().remove_set(&mut self.set);
        // Also that of a launch that failed: some of it may be on the stream.
        self.set.last_use().cloned()
    }

    /// The last launch that succeeded.
    pub(crate) fn last_use(&self) -> &Use<Cuda> {
        self.set.last_use().expect("written by every launch")
    }

    /// The slots that a node reads.
    pub(crate) fn slots_of(&self, node: &Node) -> Vec<Option<Arc<AnySlot>>> {
        node.slots.iter().map(|&slot| Some(self.readings.slot(slot))).collect()
    }

    pub(crate) fn pool(&self) -> Option<&Pool> {
        self.pools.own()
    }

    /// Its pool, and those of the graphs inside it.
    pub(crate) fn all_pools(&self) -> impl Iterator<Item = &Pool> {
        self.pools.all()
    }

    pub(crate) fn keeps(&self) -> &[Arc<dyn Any + Send + Sync>] {
        &self.keeps
    }

    pub(crate) fn outputs(&self) -> &[Arc<Allocation>] {
        &self.outputs
    }

    /// Where its temps lie in the one piece of memory that they have, by the numbers of their allocations. Nothing where they
    /// have several pieces.
    pub(super) fn temp_offsets(&self) -> HashMap<u32, u64> {
        let ([space], false) = (&self.spaces[..], self.asked.apart) else { return HashMap::new() };
        let temps = self.nodes.iter().flat_map(|node| &node.access).map(|access| &access.place.allocation);
        let placed = temps.filter(|temp| matches!(temp.kind(), Kind::Temp(_)) && temp.address() != 0);
        placed.map(|temp| (temp.number(), temp.address() - space.base)).collect()
    }

    /// How much memory it takes.
    pub(crate) fn memory(&self) -> GraphMemory {
        let bytes = |own: bool| self.spaces.iter().filter(|space| space.is_own() == own).map(|space| space.bytes).sum();
        let mut host: Vec<(u32, usize)> = self
            .nodes
            .iter()
            .flat_map(|node| &node.access)
            .map(|access| &access.place.allocation)
            .filter(|allocation| allocation.kind() == Kind::Host)
            .map(|allocation| (allocation.number(), allocation.bytes()))
            .collect();
        host.sort_unstable();
        host.dedup();
        GraphMemory {
            arena: bytes(true),
            arena_shared: bytes(false),
            workspaces: self.workspace_bytes(),
            executable: self.built.booking.as_ref().map_or(0, Booking::bytes),
            staging: host.iter().map(|(_, bytes)| bytes).sum(),
            outputs: self.outputs.iter().map(|output| output.bytes()).sum(),
        }
    }

    /// All that is known of it.
    #[cfg(feature = "json")]
    fn page(&self) -> Page {
        let page = Page::new(report_of_graph(self)).memory(&self.memory());
        match &self.profile {
            Some(profile) => page.profile((**profile).clone()),
            None => page,
        }
    }

    /// Bytes of planned memory.
    pub(crate) fn temp_bytes(&self) -> usize {
        self.spaces.iter().map(|space| space.bytes).sum()
    }

    /// How many of them are a library's workspace at some time.
    pub(crate) fn workspace_bytes(&self) -> usize {
        self.spaces.iter().map(|space| space.workspace_bytes).sum()
    }
}

impl Drop for Replayable {
    fn drop(&mut self) {
        // Not of one whose executable another recording has taken over.
        #[cfg(feature = "json")]
        if !self.built.exec.is_null()
            && !self.captured
            && let Some(pages) = Pages::of(&self.device)
        {
            pages.graph_goes(&self.device, &self.name.label, || self.page());
        }
        // The last replay's place is folded into every allocation's record before any of them can be dropped.
        let after: Vec<Use<Cuda>> = self.retire().into_iter().collect();
        if !self.built.exec.is_null() {
            let all = self.earlier.iter().chain(&after).cloned().collect();
            let gone = Garbage::Graph(self.built.exec, self.built.template).booked(self.built.booking.take());
            self.device.put(gone, all);
            if self.name.expect_partners().is_err() {
                // The abort of a dead communicator waits for it.
                self.device.release_graphs_soon();
            }
        }
        let values = self.keeps.take();
        // A pool's values wait for the pool's last work, which this graph's is part of since the set was removed.
        // Theirs may go now, and panic: what this graph kept must still wait for its replay.
        let left = catch_unwind(AssertUnwindSafe(|| self.pools.leave()));
        // The nodes go now: their memory waits in the queue for its own last uses, and a module that nobody holds any more
        // for all that is on the streams. In the queue they would hold the device, which holds the queue, and neither
        // would ever go. What foreign work keeps is among the values.
        let mut first = left.err();
        keep_first(&mut first, drop_each(self.nodes.take()));
        let put = catch_unwind(AssertUnwindSafe(|| self.device.put_values(values, after)));
        keep_first(&mut first, put.err());
        go_on(first);
    }
}
