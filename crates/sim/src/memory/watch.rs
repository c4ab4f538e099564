//! Who has touched which bytes: a cell for each grain of an allocation, and the reports of what has no order.
//!
//! - While a task runs it is the *current* one, and all that is touched is touched by it. With no current task nothing is
//!   noted: what the machine does for itself is nobody's doing.
//! - A grain is 4 bytes, and becomes smaller for an allocation that is ever touched in smaller pieces, so that neighbours
//!   are never taken for each other.
//! - What a cell holds, and who conflicts with whom, is in `detect/sites.rs`.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Memory, backing};
use crate::detect::order::Node;
use crate::detect::sites::{Role, Site, Sites, TaskInfo};
use crate::exec::placed_in;
use crate::finding::{Ending, Finding};

/// The place of a task that is not a kernel.
const WHOLE: u32 = u32::MAX;

/// Cells of one allocation.
pub(crate) struct Shadow {
    /// A grain is this power of two bytes.
    shift: u32,
    cells: Vec<u64>,
    /// What a cell that is 0 means: who made the allocation, as the writer.
    initial: u32,
}

/// Who touches memory now, and who has.
pub(crate) struct MemoryWatch {
    pub(crate) sites: Sites,
    current: Option<Current>,
    findings: Vec<Finding>,
    reported: HashSet<(String, String, u64)>,
    age: u64,
}

/// The task that runs.
struct Current {
    node: Arc<Node>,
    info: Arc<TaskInfo>,
    /// Its sites for reads and writes of the task as a whole.
    whole: [Memo; 2],
}

/// The last cell that a site has found, and what it has made of it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Memo {
    site: u32,
    old: u64,
    new: u64,
}

/// How an instruction touches memory.
#[derive(Clone, Copy)]
pub(crate) struct Toucher {
    pub(crate) place: u32,
    pub(crate) strong: bool,
    pub(crate) writes: bool,
}

impl Shadow {
    fn new(bytes: u64) -> Option<Shadow> {
        let cells = backing::zeroed_words(usize::try_from(bytes).ok()?.div_ceil(4))?;
        Some(Shadow { shift: 2, cells, initial: 0 })
    }

    /// Smaller grains, each with what the larger one has.
    fn refine(&mut self, shift: u32) {
        let by = self.shift - shift;
        if let Some(mut cells) = backing::zeroed_words(self.cells.len() << by) {
            for (at, cell) in self.cells.iter().enumerate().filter(|(_, cell)| **cell != 0) {
                cells[at << by..(at + 1) << by].fill(*cell);
            }
            (self.cells, self.shift) = (cells, shift);
        }
    }
}

impl Memory {
    /// The task with this place in the order runs from now on. `age`: how often everything was over.
    pub(crate) fn begin_task(&mut self, node: Arc<Node>, info: TaskInfo, age: u64) {
        let watch = self.watch.get_or_insert_with(|| {
            Box::new(MemoryWatch {
                sites: Sites::new(),
                current: None,
                findings: Vec::new(),
                reported: HashSet::new(),
                age,
            })
        });
        if watch.age != age {
            watch.age = age;
            watch.sites.forget_all();
        }
        watch.current = Some(Current { node, info: Arc::new(info), whole: [Memo::default(); 2] });
    }

    /// Nobody runs; gives what was found.
    pub(crate) fn end_task(&mut self) -> Vec<Finding> {
        match &mut self.watch {
            Some(watch) => {
                watch.current = None;
                std::mem::take(&mut watch.findings)
            }
            None => Vec::new(),
        }
    }

    /// Does a task run whose accesses are noted?
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.current.is_some())
    }

    /// The sites, if there are any.
    pub(crate) fn sites_mut(&mut self) -> Option<&mut Sites> {
        self.watch.as_mut().map(|watch| &mut watch.sites)
    }

    /// Runs what follows as one task of its own that is watched: what a machine does around every launch, for
    /// benchmarks of kernels without a machine.
    pub fn watch_alone(&mut self) {
        let mut order = crate::detect::order::Order::new();
        order.add(0, &[]);
        if let Some(node) = order.begin(0) {
            let info = TaskInfo { name: String::new(), on: String::new(), by: None, kernel: None, role: Role::Uses };
            self.begin_task(node, info, 0);
        }
    }

    /// The current task touches a range, as far as it lies in an allocation.
    pub(crate) fn touch(&mut self, address: u64, bytes: u64, writes: bool) {
        let Some(watch) = self.watch.as_mut() else { return };
        let Some(current) = watch.current.as_mut() else { return };
        let mut memo = current.whole[usize::from(writes)];
        let by = Toucher { place: WHOLE, strong: false, writes };
        let Some(index) = self.slot_index(address) else { return };
        let bytes = bytes.min(self.slots[index as usize].bytes - (address - self.slots[index as usize].base));
        if bytes > 0 {
            self.touch_slot(index, address, bytes, by, &mut memo);
        }
        if let Some(current) = self.watch.as_mut().and_then(|watch| watch.current.as_mut()) {
            current.whole[usize::from(writes)] = memo;
        }
    }

    /// The current task writes a word that others wait for: harmless to its like.
    pub(crate) fn touch_strongly(&mut self, address: u64, bytes: u64) {
        let Some(index) = self.slot_index(address) else { return };
        let by = Toucher { place: WHOLE, strong: true, writes: true };
        self.touch_slot(index, address, bytes, by, &mut Memo::default());
    }

    /// Who wrote the word at `address` last.
    pub(crate) fn writers(&self, address: u64) -> Vec<Arc<Node>> {
        let slot = self.slot_index(address).map(|index| &self.slots[index as usize]);
        let cell = slot.and_then(|slot| {
            let shadow = slot.shadow.as_ref()?;
            let cell = *shadow.cells.get(((address - slot.base) >> shadow.shift) as usize)?;
            Some(if cell == 0 { u64::from(shadow.initial) } else { cell })
        });
        match (&self.watch, cell) {
            (Some(watch), Some(cell)) => watch.sites.writers(cell),
            _ => Vec::new(),
        }
    }

    /// The current task has made the allocation that starts at `address`: who touches it must come after.
    pub(crate) fn touch_as_maker(&mut self, address: u64) {
        let Some(index) = self.slot_index(address) else { return };
        let Some(watch) = self.watch.as_mut() else { return };
        let by = Toucher { place: WHOLE, strong: false, writes: true };
        let Some(site) = watch.site(by) else { return };
        let slot = &mut self.slots[index as usize];
        slot.shadow = Shadow::new(slot.bytes).map(|shadow| Box::new(Shadow { initial: site, ..shadow }));
    }

    /// The lanes in `mask` touch `total` bytes each, as far as they lie in an allocation.
    #[inline]
    pub(crate) fn touch_lanes(&mut self, addresses: &[u64; 32], mask: u32, total: u32, by: Toucher, memo: &mut Memo) {
        let total = u64::from(total);
        let mut rest = mask;
        let mut index = u32::MAX;
        let (mut base, mut bytes) = (0, 0);
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let address = addresses[lane];
            if address.wrapping_sub(base) >= bytes {
                match self.slot_index(address) {
                    Some(found) => {
                        let slot = &self.slots[found as usize];
                        (index, base, bytes) = (found, slot.base, slot.bytes);
                    }
                    None => continue,
                }
            }
            let offset = address - base;
            if bytes - offset < total {
                continue;
            }
            // The usual case: whole grains as this site found and left the ones before.
            if memo.new != 0
                && let Some(shadow) = &mut self.slots[index as usize].shadow
                && shadow.shift == 2
                && (offset | total) & 3 == 0
                && (memo.old != 0 || shadow.initial == 0)
            {
                let first = (offset >> 2) as usize;
                let cells = &mut shadow.cells[first..first + (total >> 2) as usize];
                if cells.iter().all(|cell| *cell == memo.old || *cell == memo.new) {
                    cells.fill(memo.new);
                    continue;
                }
            }
            self.touch_slot(index, address, total, by, memo);
        }
    }

    /// A range inside the allocation of slot `index`.
    #[inline(never)]
    fn touch_slot(&mut self, index: u32, address: u64, bytes: u64, by: Toucher, memo: &mut Memo) {
        let Some(watch) = self.watch.as_mut() else { return };
        let slot = &mut self.slots[index as usize];
        if slot.shadow.is_none() {
            slot.shadow = Shadow::new(slot.bytes).map(Box::new);
        }
        let Some(shadow) = slot.shadow.as_mut() else { return };
        let offset = address - slot.base;
        let shift = (offset | bytes).trailing_zeros().min(2);
        // The last grain may be cut short by the end of the allocation, and has no neighbour then.
        let to_the_end = offset + bytes == slot.bytes && offset.trailing_zeros() >= shadow.shift;
        if shift < shadow.shift && !to_the_end {
            shadow.refine(shift);
        }
        if memo.site == 0 {
            match watch.site(by) {
                Some(site) => memo.site = site,
                None => return,
            }
        }
        let mut conflict = None;
        let grains = (offset >> shadow.shift) as usize..=((offset + bytes - 1) >> shadow.shift) as usize;
        let first = *grains.start();
        for (at, cell) in shadow.cells[grains].iter_mut().enumerate() {
            if *cell == memo.new && memo.new != 0 {
                continue;
            }
            if *cell == memo.old && memo.new != 0 && (memo.old != 0 || shadow.initial == 0) {
                *cell = memo.new;
                continue;
            }
            let was = if *cell == 0 { u64::from(shadow.initial) } else { *cell };
            let (new, other) = watch.sites.touch(was, memo.site);
            (memo.old, memo.new) = (*cell, new);
            *cell = new;
            if let Some(other) = other
                && conflict.is_none()
            {
                conflict = Some((other, slot.base + (((first + at) as u64) << shadow.shift)));
            }
        }
        if let Some((other, at)) = conflict {
            self.report(memo.site, other, at.max(address));
        }
    }

    /// Reports two sites that nothing orders; once for each pair of names and each allocation.
    #[inline(never)]
    fn report(&mut self, mine: u32, other: u32, address: u64) {
        let allocation = self.containing(address).map_or(address, |a| a.base);
        let place = self.describe(address);
        let Some(watch) = self.watch.as_mut() else { return };
        let (Some(mine), Some(other)) = (watch.sites.get(mine).cloned(), watch.sites.get(other).cloned()) else {
            return;
        };
        // In the order in which they were submitted, or were added to their graph: which one came first to the memory is
        // luck.
        let mine_is_first = match (mine.node.origin.node, other.node.origin.node) {
            (Some((launch, a)), Some((same, b))) if launch == same && a != b => a < b,
            _ => mine.node.number < other.node.number,
        };
        let (first, second) = if mine_is_first { (mine, other) } else { (other, mine) };
        if watch.reported.insert((first.info.name.clone(), second.info.name.clone(), allocation)) {
            watch.findings.push(unordered(&first, &second, &place));
        }
    }
}

impl MemoryWatch {
    /// A new site of the current task.
    fn site(&mut self, by: Toucher) -> Option<u32> {
        let current = self.current.as_ref()?;
        let (node, info) = (Arc::clone(&current.node), Arc::clone(&current.info));
        Some(self.sites.add(Site { node, info, place: by.place, strong: by.strong, writes: by.writes }))
    }
}

/// The report about two sites that nothing orders.
fn unordered(first: &Site, second: &Site, place: &str) -> Finding {
    let does = |site: &Site| match (site.info.role, site.writes) {
        (Role::Frees, _) => "ends",
        (Role::Makes, _) => "makes",
        (Role::Uses, true) => "writes",
        (Role::Uses, false) => "reads",
    };
    let frees = [first, second].iter().any(|site| site.info.role == Role::Frees);
    let code = if frees { "unordered-free" } else { "unordered" };
    let what = format!(
        "{} {} and {} {} the same memory, and nothing orders the two: {place}",
        first.info.name,
        does(first),
        second.info.name,
        does(second)
    );
    let mut finding = Finding::new(code, Ending::YourProgram, what);
    for site in [first, second] {
        let info = &site.info;
        let who = format!("{}{} {} it", info.name, info.on, does(site));
        finding = match &info.kernel {
            Some(kernel) if site.place != WHOLE => placed_in(&kernel.program, kernel.id, finding, site.place, who),
            _ => finding.at(format!("{}{}", info.name, info.on), format!("{} it", does(site))),
        };
        finding = finding.by(info.by.as_ref());
    }
    let (a, b) = (known(&first.info.name), known(&second.info.name));
    match (first.node.origin.node, second.node.origin.node) {
        (Some((launch, from)), Some((other, to))) if launch == other => finding
            .note(format!("they are nodes {from} and {to} of one graph, and no way leads from one to the other"))
            .help(format!(
                "add an edge from node {from} to node {to}; in a capture, record an event behind {a} and let the stream of \
                 {b} wait for it"
            )),
        _ => finding.help(format!(
            "record an event behind {a}, and let the stream of {b} wait for it (cuStreamWaitEvent); or wait on the host \
             in between"
        )),
    }
}

/// A task that was named before: `a memcpy of 4 bytes` becomes `the memcpy of 4 bytes`.
fn known(name: &str) -> String {
    let noun = name.strip_prefix("a ").or_else(|| name.strip_prefix("an "));
    noun.map_or_else(|| name.to_string(), |noun| format!("the {noun}"))
}
