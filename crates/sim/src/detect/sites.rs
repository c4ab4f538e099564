//! Who has touched a piece of memory, in 64 bits.
//!
//! A *site* is a task and a place in it: an instruction of a kernel, or the whole of a copy, a set, a free. It is a number.
//! A *cell* stands for a few bytes and holds two numbers: who wrote them last, and who has read them since. Where that
//! is more than one, because nothing orders them and they do no harm to each other, the number is that of a *set* of
//! sites. Numbers grow; what happens before everything to come is dropped from below, and such a number in a cell means
//! nobody.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::order::Node;
use crate::exec::{KernelId, Program};
use crate::finding::FindingOp;

/// A site's number, or a set's with [`SET`] in it; 0: nobody.
pub(crate) type Part = u32;

/// Marks the number of a set.
const SET: u32 = 1 << 31;
/// Sites kept before those that are over are looked for.
const SITES_KEPT: usize = 1 << 16;

/// What a task is, for reports.
#[derive(Debug)]
pub(crate) struct TaskInfo {
    /// `` `scale` `` or `a memcpy of 64 bytes`.
    pub(crate) name: String,
    /// ` on stream 1`, ` (node 2 of a graph on stream 1)`.
    pub(crate) on: String,
    /// Whose it is, as far as that was told.
    pub(crate) by: Option<Arc<FindingOp>>,
    /// What it runs.
    pub(crate) kernel: Option<Kernel>,
    /// What it is to memory.
    pub(crate) role: Role,
}

/// What a task is to the memory that it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It reads and writes.
    Uses,
    /// It allocates.
    Makes,
    Frees,
}

/// A kernel of a program.
pub(crate) struct Kernel {
    pub(crate) program: Arc<Program>,
    pub(crate) id: KernelId,
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "kernel {}", self.id.0)
    }
}

/// A task and a place in it.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) node: Arc<Node>,
    pub(crate) info: Arc<TaskInfo>,
    /// The record of a kernel.
    pub(crate) place: u32,
    /// An atomic, or a strong load or store: harmless to its like.
    pub(crate) strong: bool,
    pub(crate) writes: bool,
}

/// All sites and sets that cells may name.
pub(crate) struct Sites {
    sites: VecDeque<Site>,
    /// Number of the first site that is kept.
    base: u32,
    sets: VecDeque<Box<[u32]>>,
    set_base: u32,
    interned: HashMap<Box<[u32]>, u32>,
    limit: usize,
}

impl Sites {
    pub(crate) fn new() -> Sites {
        Sites {
            sites: VecDeque::new(),
            base: 1,
            sets: VecDeque::new(),
            set_base: 0,
            interned: HashMap::new(),
            limit: SITES_KEPT,
        }
    }

    /// A new site.
    pub(crate) fn add(&mut self, site: Site) -> u32 {
        self.sites.push_back(site);
        self.base + self.sites.len() as u32 - 1
    }

    /// A site that is not over.
    pub(crate) fn get(&self, number: u32) -> Option<&Site> {
        self.sites.get(number.checked_sub(self.base)? as usize)
    }

    /// The places of those who wrote last.
    pub(crate) fn writers(&self, cell: u64) -> Vec<Arc<Node>> {
        let writers = cell as u32;
        let all = std::iter::once(writers).chain(self.members(writers).iter().copied());
        all.filter_map(|number| self.get(number)).map(|site| Arc::clone(&site.node)).collect()
    }

    fn members(&self, part: Part) -> &[u32] {
        if part & SET == 0 {
            return &[];
        }
        let at = (part & !SET).checked_sub(self.set_base);
        at.and_then(|at| self.sets.get(at as usize)).map_or(&[], |set| set)
    }

    /// Those of a part that are neither over nor before the task.
    fn unordered(&self, part: Part, task: &Node) -> impl Iterator<Item = u32> {
        let alone = if part & SET == 0 && part != 0 { Some(part) } else { None };
        let all = alone.into_iter().chain(self.members(part).iter().copied());
        all.filter(move |number| self.get(*number).is_some_and(|s| !task.is_after(s.node.chain, s.node.at)))
    }

    /// Plain accesses before `site`, where that is a strong one: another strong one, to which it is harmless, may still do
    /// them harm. So a strong access stands for none of them.
    fn plain_of(&self, part: Part, site: &Site) -> Vec<u32> {
        if !site.strong {
            return Vec::new();
        }
        let alone = if part & SET == 0 && part != 0 { Some(part) } else { None };
        let all = alone.into_iter().chain(self.members(part).iter().copied());
        all.filter(|number| self.get(*number).is_some_and(|s| !s.strong && site.node.is_after(s.node.chain, s.node.at)))
            .collect()
    }

    fn part_of(&mut self, mut all: Vec<u32>) -> Part {
        all.sort_unstable();
        all.dedup();
        match all[..] {
            [] => 0,
            [one] => one,
            _ => {
                let all: Box<[u32]> = all.into();
                if let Some(known) = self.interned.get(&all) {
                    return *known;
                }
                let number = (self.set_base + self.sets.len() as u32) | SET;
                self.sets.push_back(all.clone());
                self.interned.insert(all, number);
                number
            }
        }
    }

    /// The cell after site `number` has touched it, and a site that it conflicts with and that nothing orders.
    pub(crate) fn touch(&mut self, cell: u64, number: u32) -> (u64, Option<u32>) {
        let (writers, readers) = (cell as u32, (cell >> 32) as u32);
        let Some(site) = self.get(number).cloned() else { return (cell, None) };
        let harmless = |other: u32| site.strong && self.get(other).is_some_and(|other| other.strong);
        let mut conflict = self.unordered(writers, &site.node).find(|other| !harmless(*other));
        let (writers, readers) = if site.writes {
            conflict = conflict.or(self.unordered(readers, &site.node).find(|other| !harmless(*other)));
            let kept = |part: Part| {
                let unordered = self.unordered(part, &site.node).filter(|other| harmless(*other));
                unordered.chain(self.plain_of(part, &site)).collect::<Vec<_>>()
            };
            let (mut writers, readers) = (kept(writers), kept(readers));
            writers.push(number);
            (self.part_of(writers), self.part_of(readers))
        } else {
            let mut all: Vec<u32> = self.unordered(readers, &site.node).chain(self.plain_of(readers, &site)).collect();
            all.push(number);
            (writers, self.part_of(all))
        };
        (u64::from(writers) | u64::from(readers) << 32, conflict)
    }

    /// Everything is over: no number that was given out means anybody.
    pub(crate) fn forget_all(&mut self) {
        self.base += self.sites.len() as u32;
        self.set_base += self.sets.len() as u32;
        self.sites.clear();
        self.sets.clear();
        self.interned.clear();
    }

    /// Are there so many that it is worth looking for those that are over?
    pub(crate) fn are_many(&self) -> bool {
        self.sites.len() > self.limit
    }

    /// Drops from below what is before `floor` in its chain.
    pub(crate) fn forget_before(&mut self, floor: &[u32]) {
        let over = |site: &Site| floor.get(site.node.chain as usize).is_some_and(|known| site.node.at <= *known);
        while self.sites.front().is_some_and(over) {
            self.sites.pop_front();
            self.base += 1;
        }
        while self.sets.front().is_some_and(|set| set.iter().all(|number| *number < self.base)) {
            if let Some(set) = self.sets.pop_front() {
                self.interned.remove(&set);
            }
            self.set_base += 1;
        }
        self.limit = SITES_KEPT.max(2 * self.sites.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::order::Order;
    use crate::random::Random;

    fn site(order: &mut Order<u32>, key: u32, writes: bool, strong: bool) -> Site {
        let info = TaskInfo { name: String::new(), on: String::new(), by: None, kernel: None, role: Role::Uses };
        let node = order.begin(key).expect("made");
        Site { node, info: Arc::new(info), place: key, strong, writes }
    }

    #[test]
    fn updates_by_atomics_are_harmless_to_each_other_and_to_nobody_else() {
        let mut order = Order::new();
        (1..=3).for_each(|key| order.add(key, &[]));
        let mut sites = Sites::new();
        let [a, b] = [1, 2].map(|key| sites.add(site(&mut order, key, true, true)));
        let plain = sites.add(site(&mut order, 3, false, false));
        let (cell, none) = sites.touch(0, a);
        assert_eq!(none, None);
        let (cell, none) = sites.touch(cell, b);
        assert_eq!(none, None);
        assert!(sites.touch(cell, plain).1.is_some());
        // Ordered behind one of them only: the other is still found.
        order.add(4, &[2]);
        let behind_b = sites.add(site(&mut order, 4, false, false));
        assert_eq!(sites.touch(cell, behind_b).1, Some(a));
    }

    #[test]
    fn what_is_over_is_nobody() {
        let mut order = Order::new();
        order.add(1, &[]);
        let mut sites = Sites::new();
        let a = sites.add(site(&mut order, 1, true, false));
        let (cell, _) = sites.touch(0, a);
        sites.forget_all();
        order.add(2, &[]);
        let b = sites.add(site(&mut order, 2, true, false));
        assert_ne!(a, b);
        assert_eq!(sites.touch(cell, b).1, None);
        [1, 2].into_iter().for_each(|key| order.finish(key));
        order.add(3, &[]);
        order.finish(3);
        order.add(4, &[]);
        order.host_has(2);
        sites.forget_before(&[u32::MAX; 4]);
        assert!(sites.sites.is_empty());
    }

    /// Random small graphs of tasks over few words, run in an order that they allow: a conflict is found for exactly those
    /// words on which two tasks conflict with no way between them.
    #[test]
    fn a_race_is_found_where_a_search_finds_no_way() {
        let mut random = Random::new(0x5eed);
        let (mut racy, mut fine) = (0, 0);
        for _ in 0..3000 {
            let count = 2 + random.below(7) as u32;
            let mut order = Order::new();
            let mut edges: Vec<Vec<u32>> = Vec::new();
            // Each task touches two words: (word, writes, strong).
            let mut touches: Vec<[(usize, bool, bool); 2]> = Vec::new();
            let mut sites = Sites::new();
            let mut cells = [0u64; 3];
            let mut found = [false; 3];
            for key in 0..count {
                let after: Vec<u32> = (0..key).filter(|_| random.below(5) < 2).collect();
                order.add(key, &after);
                edges.push(after);
                touches.push([0; 2].map(|_| (random.below(3), random.below(2) == 0, random.below(4) == 0)));
            }
            // Their numbers are an order that the edges allow.
            for key in 0..count {
                for (word, writes, strong) in touches[key as usize] {
                    let number = sites.add(site(&mut order, key, writes, strong));
                    let (cell, conflict) = sites.touch(cells[word], number);
                    cells[word] = cell;
                    found[word] |= conflict.is_some();
                }
            }
            let reaches = |from: u32, to: u32| {
                let mut open = vec![to];
                while let Some(at) = open.pop() {
                    if at == from {
                        return true;
                    }
                    open.extend(&edges[at as usize]);
                }
                false
            };
            for (word, found) in found.into_iter().enumerate() {
                let mut expected = false;
                for (a, b) in (0..count).flat_map(|b| (0..b).map(move |a| (a, b))) {
                    let conflict = touches[a as usize].iter().any(|x| {
                        touches[b as usize].iter().any(|y| x.0 == word && y.0 == word && (x.1 || y.1) && !(x.2 && y.2))
                    });
                    expected |= conflict && !reaches(a, b);
                }
                assert_eq!(found, expected, "word {word} of {touches:?} with {edges:?}");
                if expected { racy += 1 } else { fine += 1 }
            }
        }
        assert!(racy > 500 && fine > 500, "{racy} {fine}");
    }
}
