//! Memory of a graph's allocation nodes: who has which address, and what is backed by memory.
//!
//! Observed rules that hold here (H200, driver 580.159.04):
//! - an address is known when its node is added, and shows nowhere before a launch;
//! - an allocation that comes after the free node of an earlier one in the same graph may get the same address; graphs do
//!   not share addresses;
//! - a free node may stand in the graph of the allocation or in another one; once in each;
//! - used and reserved memory grow in pieces of 32 MiB when a graph is launched, and stay until a trim.
//!
//! Ours, where nothing was observed: memory of several graphs counts together before it is rounded up.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dacapo_driver::types::CUmemAccessDesc;

use super::executable::{Body, ExecKind, Executable};
use super::graph::{Graph, Graphs, Node, NodeKind};
use super::table::Key;
use super::tasks::Task;
use crate::finding::{Ending, Finding};
use crate::machine::State;
use crate::memory::home::Home;
use crate::memory::{Kind, Request};

/// Sizes are rounded up to this.
pub(crate) const GRAIN: u64 = 512;
/// Memory is taken from the device in pieces of this size.
const CHUNK: u64 = 32 << 20;

/// What an allocation node does.
#[derive(Clone, Debug)]
pub(crate) struct AllocWork {
    pub(crate) address: u64,
    /// What was asked for; what lies behind it faults.
    pub(crate) bytes: u64,
    /// Whose memory it is.
    pub(crate) home: Home,
    /// As the program gave them, to read back.
    pub(crate) max_size: usize,
    pub(crate) usage: u16,
    pub(crate) access: Vec<CUmemAccessDesc>,
}

/// One allocation node at an address, with the free node of its own graph.
pub(crate) struct Use {
    pub(crate) alloc: Key<Node>,
    pub(crate) free: Option<Key<Node>>,
}

/// An address that allocation nodes of one graph have.
pub(crate) struct Reservation {
    pub(crate) room: u64,
    /// Whose memory it is.
    pub(crate) device: usize,
    pub(crate) graph: Key<Graph>,
    pub(crate) uses: Vec<Use>,
    /// Other graphs with a free node for it.
    freed_in: Vec<Key<Graph>>,
}

/// What is known of a graph that has memory nodes.
#[derive(Default)]
pub(crate) struct Holder {
    pub(crate) addresses: Vec<u64>,
    /// The executable that was made of it, or updated from it, last.
    executable: Option<Key<Executable>>,
}

/// An address with memory behind it.
struct Backed {
    room: u64,
    device: usize,
    /// The last work that allocates or frees it.
    last: Key<Task>,
}

/// All graph memory.
#[derive(Default)]
pub(crate) struct GraphMemory {
    pub(crate) reservations: BTreeMap<u64, Reservation>,
    pub(crate) holders: HashMap<Key<Graph>, Holder>,
    backed: BTreeMap<u64, Backed>,
    /// By device.
    high: BTreeMap<usize, [u64; 2]>,
}

impl GraphMemory {
    /// The address of an earlier allocation of the graph that is free again when a node behind `before` runs.
    pub(crate) fn share(
        &self,
        graphs: &Graphs,
        (graph, device): (Key<Graph>, usize),
        before: &[Key<Node>],
        room: u64,
    ) -> Option<u64> {
        let addresses = &self.holders.get(&graph)?.addresses;
        let fits = |address: &&u64| {
            self.reservations.get(*address).is_some_and(|known| {
                let frees: Option<Vec<_>> = known.uses.iter().map(|each| each.free).collect();
                known.graph == graph
                    && known.device == device
                    && known.room >= room
                    && frees.is_some_and(|frees| graphs.all_come_before(&frees, before))
            })
        };
        addresses.iter().filter(fits).min_by_key(|address| self.reservations[*address].room).copied()
    }

    /// A node of `graph` allocates at `address`.
    pub(crate) fn add_alloc(&mut self, graph: Key<Graph>, (address, room): (u64, u64), device: usize, node: Key<Node>) {
        let fresh = || Reservation { room, device, graph, uses: Vec::new(), freed_in: Vec::new() };
        let known = self.reservations.entry(address).or_insert_with(fresh);
        known.uses.push(Use { alloc: node, free: None });
        let holder = self.holders.entry(graph).or_default();
        if !holder.addresses.contains(&address) {
            holder.addresses.push(address);
        }
    }

    /// Whether a node of `graph` may free `address`: an allocation node has it, and none of `graph` frees it yet.
    pub(crate) fn may_free(&self, graph: Key<Graph>, address: u64) -> bool {
        self.reservations.get(&address).is_some_and(|known| match known.graph == graph {
            true => known.uses.iter().any(|each| each.free.is_none()),
            // What its own graph frees already, no other may, as observed.
            false => !known.freed_in.contains(&graph) && known.uses.iter().any(|each| each.free.is_none()),
        })
    }

    /// A node of `graph` frees `address`.
    pub(crate) fn add_free(&mut self, graph: Key<Graph>, address: u64, node: Key<Node>) {
        self.holders.entry(graph).or_default();
        let Some(known) = self.reservations.get_mut(&address) else { return };
        if known.graph != graph {
            known.freed_in.push(graph);
        } else if let Some(open) = known.uses.iter_mut().find(|each| each.free.is_none()) {
            open.free = Some(node);
        }
    }

    /// Forgets graphs that are gone, with the addresses that can come to life no more; the answer is those and their sizes.
    pub(crate) fn forget(
        &mut self,
        is_graph: impl Fn(Key<Graph>) -> bool,
        is_executable: impl Fn(Key<Executable>) -> bool,
        lives: impl Fn(u64) -> bool,
    ) -> Vec<(u64, u64)> {
        let mut gone = Vec::new();
        self.holders.retain(|graph, holder| {
            let keep = is_graph(*graph)
                || holder.executable.is_some_and(&is_executable)
                || holder.addresses.iter().any(|address| lives(*address));
            if !keep {
                gone.extend(holder.addresses.iter().copied());
            }
            keep
        });
        // What happens to them must not depend on the order of a hash table.
        gone.sort_unstable();
        gone.into_iter().filter_map(|at| self.reservations.remove(&at).map(|known| (at, known.room))).collect()
    }

    /// Whether any graph has memory nodes.
    pub(crate) fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }

    /// Whether the graph itself has memory nodes.
    pub(crate) fn has_nodes(&self, graph: Key<Graph>) -> bool {
        self.holders.contains_key(&graph)
    }

    /// The device of the graph memory at an address.
    pub(crate) fn device_at(&self, address: u64) -> Option<usize> {
        self.reservations.get(&self.covering(address, 1)?).map(|known| known.device)
    }

    /// Where the allocation begins that these bytes lie in.
    pub(crate) fn covering(&self, address: u64, bytes: u64) -> Option<u64> {
        let (base, known) = self.reservations.range(..=address).next_back()?;
        let offset = address - base;
        (offset < known.room && bytes <= known.room - offset).then_some(*base)
    }

    /// Whether some allocation node asks for all of these bytes.
    pub(crate) fn holds(&self, graphs: &Graphs, address: u64, bytes: u64) -> bool {
        let Some((base, known)) = self.reservations.range(..=address).next_back() else { return false };
        let asked = |each: &Use| match graphs.nodes.get(each.alloc).map(|node| &node.kind) {
            Some(NodeKind::Alloc(work)) => work.bytes,
            // The graph is gone and its executable is not: what was asked for is not known here any more.
            _ => known.room,
        };
        known.uses.iter().map(asked).any(|asked| address - base < asked && bytes <= asked - (address - base))
    }

    /// The graph whose node allocates at `address`.
    pub(crate) fn graph_of(&self, address: u64) -> Option<Key<Graph>> {
        self.reservations.get(&address).map(|known| known.graph)
    }

    /// The executable that holds the graph's memory nodes.
    pub(crate) fn executable_of(&self, graph: Key<Graph>) -> Option<Key<Executable>> {
        self.holders.get(&graph).and_then(|holder| holder.executable)
    }

    /// An executable was made of the graph, or updated from it.
    pub(crate) fn hold(&mut self, graph: Key<Graph>, executable: Key<Executable>) {
        if let Some(holder) = self.holders.get_mut(&graph) {
            holder.executable = Some(executable);
        }
    }

    /// Addresses that a free node of the graph frees although it need not run behind the allocation.
    pub(crate) fn unordered_frees(&self, graphs: &Graphs, graph: Key<Graph>) -> Vec<u64> {
        let addresses = self.holders.get(&graph).map(|holder| holder.addresses.as_slice()).unwrap_or_default();
        let is_unordered = |address: &&u64| {
            let uses = self.reservations.get(*address).map(|known| known.uses.as_slice()).unwrap_or_default();
            uses.iter().any(|each| each.free.is_some_and(|free| !graphs.all_come_before(&[each.alloc], &[free])))
        };
        addresses.iter().filter(is_unordered).copied().collect()
    }

    /// The last work at each of these addresses: a launch comes behind it.
    pub(crate) fn last_at(&self, addresses: impl Iterator<Item = u64>) -> Vec<Key<Task>> {
        addresses.filter_map(|address| self.backed.get(&address)).map(|backed| backed.last).collect()
    }

    /// Bytes that a launch would take from a device beyond what is backed already.
    pub(crate) fn lacking(&self, wanted: &[Arc<AllocWork>], device: usize) -> u64 {
        let own = wanted.iter().filter(|work| work.home.device == device);
        let rooms: BTreeMap<u64, u64> = own.map(|work| (work.address, self.room(work))).collect();
        rooms.iter().filter(|(address, _)| !self.backed.contains_key(address)).map(|(_, room)| room).sum()
    }

    fn room(&self, work: &AllocWork) -> u64 {
        self.reservations.get(&work.address).map_or(work.bytes, |known| known.room)
    }

    /// Work that ends with `last` allocates these.
    pub(crate) fn back(&mut self, wanted: &[Arc<AllocWork>], last: Key<Task>) {
        for work in wanted {
            let room = self.room(work);
            let device = work.home.device;
            self.backed.insert(work.address, Backed { room, device, last });
            let used = self.used(device);
            let high = self.high.entry(device).or_default();
            *high = high.map(|high| high.max(used));
        }
    }

    /// Work that ends with `last` frees this.
    pub(crate) fn freed(&mut self, address: u64, last: Key<Task>) {
        if let Some(backed) = self.backed.get_mut(&address) {
            backed.last = last;
        }
    }

    /// Gives back what nothing lives in or runs with, of a device.
    pub(crate) fn trim(&mut self, device: usize, in_use: impl Fn(u64, Key<Task>) -> bool) {
        self.backed.retain(|address, backed| backed.device != device || in_use(*address, backed.last));
    }

    /// Bytes of a device behind addresses.
    pub(crate) fn bytes_backed(&self, device: usize) -> u64 {
        self.backed.values().filter(|backed| backed.device == device).map(|backed| backed.room).sum()
    }

    /// What the attributes call used, and reserved.
    pub(crate) fn used(&self, device: usize) -> u64 {
        self.bytes_backed(device).next_multiple_of(CHUNK)
    }

    /// The high marks of used and reserved memory.
    pub(crate) fn high(&self, device: usize) -> [u64; 2] {
        self.high.get(&device).copied().unwrap_or_default()
    }

    /// Sets a high mark back to what is used now.
    pub(crate) fn reset_high(&mut self, device: usize, which: usize) {
        let used = self.used(device);
        self.high.entry(device).or_default()[which] = used;
    }
}

/// What the launches of an executable do with graph memory.
#[derive(Default)]
pub(crate) struct MemoryUse {
    pub(crate) allocs: Vec<Arc<AllocWork>>,
    frees: Vec<u64>,
}

impl MemoryUse {
    /// Of a body and its children.
    pub(crate) fn of(body: &Body) -> MemoryUse {
        let mut all = MemoryUse::default();
        all.add(body);
        all
    }

    fn add(&mut self, body: &Body) {
        for node in &body.nodes {
            match &node.kind {
                ExecKind::Alloc(work) => self.allocs.push(work.clone()),
                ExecKind::Free(address) => self.frees.push(*address),
                ExecKind::Child(child) => self.add(child),
                _ => {}
            }
        }
    }

    /// No memory nodes.
    pub(crate) fn is_empty(&self) -> bool {
        self.allocs.is_empty() && self.frees.is_empty()
    }

    /// All addresses it touches.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.allocs.iter().map(|work| work.address).chain(self.frees.iter().copied())
    }

    /// Allocations that live on after a launch.
    pub(crate) fn left_open(&self) -> Vec<Arc<AllocWork>> {
        let count = |address: u64| self.frees.iter().filter(|free| **free == address).count();
        let later = |at: usize, address: u64| self.allocs[at..].iter().filter(|work| work.address == address).count();
        let open = self.allocs.iter().enumerate().filter(|(at, work)| {
            later(*at, work.address) == 1
                && self.allocs.iter().filter(|other| other.address == work.address).count() > count(work.address)
        });
        open.map(|(_, work)| work.clone()).collect()
    }

    /// Addresses that a launch frees and does not allocate.
    pub(crate) fn freed_from_outside(&self) -> Vec<u64> {
        let allocated = |address: &u64| self.allocs.iter().any(|work| work.address == *address);
        self.frees.iter().copied().filter(|address| !allocated(address)).collect()
    }
}

impl State {
    /// An allocation node's turn.
    pub(crate) fn run_graph_alloc(&mut self, work: &AllocWork) {
        self.note(|| format!("graph allocation of {} bytes", work.bytes));
        // A free node that was not ordered behind the allocation before has run too early: that memory ends here.
        if self.memory.containing(work.address).is_some_and(|found| found.kind == Kind::Graph) {
            self.memory.free(work.address);
        }
        let request = Request { bytes: work.bytes, align: GRAIN, kind: Kind::Graph, label: "" };
        if self.memory.alloc_at_for(work.home, work.address, request).is_err() {
            let what = format!("graph memory at {:#x} could not be had when its node ran", work.address);
            self.find(Finding::new("graph-memory-in-use", Ending::OurBug, what));
        }
    }

    /// A free node's turn.
    pub(crate) fn run_graph_free(&mut self, address: u64) {
        self.note(|| "graph free".to_string());
        self.memory.free(address);
    }
}
