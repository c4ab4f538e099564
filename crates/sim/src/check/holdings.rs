//! Memory, what the program sees of it, pools, graph memory, virtual memory.
//!
//! - Memory itself: see `memory::check`.
//! - What the program sees does not overlap, and has memory behind it of the same size, or will have when a stream comes to it;
//!   memory is seen, or some stream is about to end it, or somebody else's (a module's that is on its way out, a graph's).
//! - A pool has handed out what it says, keeps its bound, and no free block lies in what is seen.
//! - What pools have promised is what streams have yet to map.
//! - Addresses of graph memory do not overlap, and belong to a graph that has memory nodes.
//! - Mapped memory lies in reserved ranges; memory and mapping know each other; bytes are in one place.

use std::collections::{HashMap, HashSet};

use super::Report;
use crate::machine::State;
use crate::memory::Kind;
use crate::model::objects::{Owner, Pool};
use crate::model::table::Key;
use crate::model::work::Work;

/// Sizes of pool memory are counted in multiples of this.
const GRAIN: u64 = 512;
/// A pool takes memory from the device in pieces of this size.
const CHUNK: u64 = 32 << 20;

impl State {
    pub(super) fn check_holdings(&self, report: &mut Report) {
        let mut charged = vec![0; self.devices.len()];
        for (_, physical) in self.virtual_memory.physical.iter() {
            charged[physical.device] += physical.bytes;
        }
        self.memory.broken(&charged, |rule, what| report.tell(rule, what));
        self.check_visible(report);
        self.check_pools(report);
        self.check_arrays(report);
        self.check_graph_memory(report);
        self.check_virtual_memory(report);
    }

    fn check_visible(&self, report: &mut Report) {
        let (mut to_map, mut to_end, mut promised) = (HashMap::new(), HashSet::new(), 0);
        for (_, task) in self.tasks.table.iter() {
            match &task.work {
                Work::Map { address, bytes, .. } => {
                    promised += bytes;
                    to_map.insert(*address, *bytes);
                }
                Work::Unmap { address } => {
                    to_end.insert(*address);
                }
                _ => {}
            }
        }
        let broken = self.is_broken();
        let said: u64 = self.devices.iter().map(|device| device.promised).sum();
        report.ask("promised", broken || promised == said, || {
            format!("streams have yet to map {promised} bytes, {said} are promised")
        });
        let mut end_before = 0;
        for (base, seen) in &self.visible {
            report.ask("visible-overlap", *base >= end_before, || {
                format!("what is seen at {base:#x} begins in what is seen before it")
            });
            end_before = base.saturating_add(seen.bytes);
            let behind = self.memory.begins_at(*base);
            let kinds: &[Kind] = match seen.owner {
                Owner::Plain => &[Kind::Device],
                Owner::Managed => &[Kind::Managed],
                Owner::Pool(_) => &[Kind::Pool, Kind::Managed, Kind::HostPinned],
                Owner::Mapped => &[Kind::Mapped],
                Owner::Module => &[Kind::Module, Kind::Managed],
                Owner::HostAllocated { .. } => &[Kind::HostPinned],
                Owner::HostRegistered { .. } => &[Kind::HostRegistered],
                // Real only when the launch comes to its node.
                Owner::Graph => continue,
            };
            let is_there = behind.is_some_and(|(bytes, kind)| bytes == seen.bytes && kinds.contains(&kind));
            let comes = matches!(seen.owner, Owner::Pool(_)) && (broken || to_map.get(base) == Some(&seen.bytes));
            report.ask("visible-memory", is_there || comes, || {
                format!("{} bytes are seen at {base:#x} ({:?}), and behind it is {behind:?}", seen.bytes, seen.owner)
            });
        }
        for (base, bytes, kind) in self.memory.all() {
            // Modules that are on their way out, and graphs, hold memory that the program does not see.
            let leaving = kind == Kind::Managed && !self.retired.is_empty();
            let is_array = kind == Kind::Array && self.arrays.iter().any(|(_, array)| array.address == base);
            let other = leaving || is_array || matches!(kind, Kind::Module | Kind::Graph | Kind::Heap);
            let seen = self.visible.contains_key(&base) || to_end.contains(&base);
            report.ask("memory-seen", other || seen || broken, || {
                format!("{bytes} bytes at {base:#x} ({kind:?}) are seen by nobody and not about to end")
            });
        }
    }

    /// Each array has its memory, and lives in a context that does.
    fn check_arrays(&self, report: &mut Report) {
        for (key, array) in self.arrays.iter() {
            let behind = self.memory.begins_at(array.address);
            report.ask("array-memory", behind == Some((array.bytes(), Kind::Array)), || {
                format!("array {key:?} has {} bytes, and behind it is {behind:?}", array.bytes())
            });
            let lives = self.contexts.get(array.context).is_some_and(|context| context.is_active);
            report.ask("array-context", lives, || format!("array {key:?} is in no active context"));
        }
    }

    fn check_pools(&self, report: &mut Report) {
        let mut handed_out: HashMap<Key<Pool>, (u64, u64)> = HashMap::new();
        for seen in self.visible.values() {
            if let Owner::Pool(pool) = seen.owner {
                let (bytes, room) = handed_out.entry(pool).or_default();
                *bytes += seen.bytes;
                *room += seen.bytes.next_multiple_of(GRAIN);
            }
        }
        for (key, pool) in self.pools.iter() {
            let (bytes, room) = handed_out.get(&key).copied().unwrap_or_default();
            // More where `cuMemFree` has freed: it leaves the count as it was.
            report.ask("pool-used", pool.used >= bytes, || {
                format!("pool {key:?} counts {} bytes and has handed out {bytes}", pool.used)
            });
            report.ask("pool-room", pool.room == room, || {
                format!("pool {key:?} counts room for {} bytes and has handed out {room}", pool.room)
            });
            let bound = pool.bytes_max.checked_next_multiple_of(CHUNK).unwrap_or(u64::MAX);
            report.ask("pool-bound", pool.bytes_max == 0 || pool.room <= bound, || {
                format!("pool {key:?} has handed out {} bytes of at most {}", pool.room, pool.bytes_max)
            });
            let ordered =
                pool.used <= pool.used_high && pool.room <= pool.reserved && pool.reserved <= pool.reserved_high;
            report.ask("pool-marks", ordered, || format!("the marks of pool {key:?} lie below what they mark"));
            for block in &pool.blocks {
                let below = self.visible.range(..block.address + block.room).next_back();
                let clear = below.is_none_or(|(base, seen)| base + seen.bytes <= block.address);
                report.ask("pool-block", clear, || format!("the free block at {:#x} is in use", block.address));
            }
            let of_a_place = self.other_pools.values().any(|(default, _)| *default == key);
            let of_a_device = self.devices.iter().any(|device| device.default_pool == key);
            report.ask("pool-default", pool.is_default == (of_a_device || of_a_place), || {
                format!("pool {key:?} is, or is not, the default one")
            });
        }
        for (number, device) in self.devices.iter().enumerate() {
            let current = self.pools.get(device.current_pool);
            let is_own = current.is_some_and(|pool| pool.device == number);
            report.ask("pool-current", is_own, || format!("the current pool of device {number} is gone, or another's"));
        }
    }

    fn check_graph_memory(&self, report: &mut Report) {
        let mut end_before = 0;
        for (base, known) in &self.graph_memory.reservations {
            report.ask("graph-memory-overlap", *base >= end_before, || {
                format!("graph memory at {base:#x} begins in that before it")
            });
            end_before = base.saturating_add(known.room);
            let holder = self.graph_memory.holders.get(&known.graph);
            report.ask("graph-memory-holder", holder.is_some_and(|holder| holder.addresses.contains(base)), || {
                format!("graph memory at {base:#x} belongs to no graph that knows of it")
            });
        }
        let marks = (0..self.devices.len())
            .all(|device| self.graph_memory.high(device).iter().all(|high| *high >= self.graph_memory.used(device)));
        report.ask("graph-memory-marks", marks, || "the marks of graph memory lie below what they mark".into());
    }

    fn check_virtual_memory(&self, report: &mut Report) {
        let (mut end_before, all) = (0, &self.virtual_memory);
        for (base, bytes) in &all.reserved {
            report.ask("reserved-overlap", *base >= end_before, || format!("the range at {base:#x} overlaps another"));
            end_before = base.saturating_add(*bytes);
        }
        end_before = 0;
        for (base, mapping) in &all.mappings {
            let fits = *base >= end_before && all.reserved_around(*base, mapping.bytes).is_some();
            report.ask("mapping-place", fits, || format!("the mapping at {base:#x} lies in no reserved range alone"));
            end_before = base.saturating_add(mapping.bytes);
            let found = all.physical.get(mapping.physical);
            let knows = found.is_some_and(|found| found.mapped_at == Some(*base) && found.bytes == mapping.bytes);
            report.ask("mapping-memory", knows, || format!("the memory mapped at {base:#x} does not know of it"));
            let attached = self.memory.begins_at(*base).is_some_and(|(_, kind)| kind == Kind::Mapped);
            let apart = found.is_some_and(|found| found.region.is_some());
            report.ask("mapping-bytes", (mapping.reach != 0) == attached && attached != apart, || {
                format!("the bytes mapped at {base:#x} are in two places, or in none")
            });
        }
        for (key, physical) in all.physical.iter() {
            report.ask("physical-held", physical.handles > 0 || physical.mapped_at.is_some(), || {
                format!("memory {key:?} is held by nobody and mapped nowhere")
            });
            let there = physical.mapped_at.is_none_or(|at| all.mappings.get(&at).is_some_and(|m| m.physical == key));
            report.ask("physical-mapped", there, || format!("memory {key:?} is not where it says it is mapped"));
        }
    }
}
