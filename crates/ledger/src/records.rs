//! What is known of each piece of memory and of each set: who used it last.
//!
//! - Memory knows the uses that wrote it last, the reads since, at most one of each a lane, and the sets it is in.
//! - A set knows its last launch (its *cell*), its members, and whether it is clean. A launch writes the cell and not
//!   the members' records; so whoever looks at memory also looks at the cells of the sets it is in.
//!
//! **Clean.** A set is clean with its cell `c` on lane `A` when each use that conflicts with one of its members is
//! either ordered before `c`, or on lane `A`. A further launch on `A` then needs no wait and no look: what came before
//! `c` comes before it too, and what is on `A` is ordered by the stream.
//!
//! - A launch that is not clean on its lane looks at everything that conflicts, has waited for it, and so is clean.
//! - A use that conflicts, on another lane than `A`, makes the set dirty when it is entered (`mark`). One on `A` need
//!   not.
//! - A clean launch marks nobody, and need not: **two clean sets that conflict have their cells on the same lane.** The
//!   one that looked at its members last marked the other unless it was on that lane, and launches since then were on
//!   the lanes of the cells, or they would have looked. So the sets that a clean launch on `A` conflicts with are dirty
//!   already, or on `A` themselves.
//! - A new set is dirty. A failed wait enters nothing. A failed enqueue is entered like any other.

use crate::lane::{keep_latest, must_order};
use crate::rule::{Rule, holds};
use crate::slots::Slots;
use crate::{Access, Lane, MemoryId, Queues, SetId, Touch, Use};

const KNOWN_MEMORY: &str = "memory is touched only while it is in the ledger";
const KNOWN_SET: &str = "a set is launched only while it is in the ledger";

/// Everything behind the ledger's one short lock.
pub(crate) struct Records<Q: Queues> {
    memories: Slots<Memory<Q>>,
    sets: Slots<Set<Q>>,
    /// How many user lanes ever got work.
    pub(crate) lanes_used: usize,
    /// How many uses were entered: while it stands still, a look finds nothing new.
    pub(crate) entries: u64,
    /// How many members launches looked at.
    pub(crate) visited: u64,
}

struct Memory<Q: Queues> {
    /// The last write. More than one only where cells of removed sets were folded in, whose order is not known here.
    writes: Vec<Use<Q>>,
    /// The reads since.
    reads: Vec<Use<Q>>,
    /// The sets that read it, and those that write it. Apart, because a reader need not look at the other readers:
    /// weights may be in a thousand graphs.
    sets: [Vec<SetId>; 2],
}

struct Set<Q: Queues> {
    members: Vec<(MemoryId, Access)>,
    cell: Option<Use<Q>>,
    clean: bool,
}

impl<Q: Queues> Set<Q> {
    #[inline]
    fn is_clean_on(&self, lane: &Lane<Q>) -> bool {
        let on_lane = self.cell.as_ref().is_some_and(|cell| cell.lane == *lane);
        self.clean && (on_lane || !holds(Rule::CleanOnlyOnItsLane)) && holds(Rule::CleanLaunchLooksAtNothing)
    }

    /// Somebody on `lane` did what conflicts with this set.
    fn mark(&mut self, lane: &Lane<Q>) {
        if self.cell.as_ref().is_none_or(|cell| cell.lane != *lane) {
            self.clean = false;
        }
    }
}

/// Who looks at a memory's uses.
#[derive(Clone, Copy, PartialEq)]
enum Looks {
    Touch,
    Launch(SetId),
}

impl<Q: Queues> Memory<Q> {
    /// The sets it is in that an access conflicts with.
    fn sets_against(&self, access: Access) -> impl Iterator<Item = (SetId, Access)> {
        let reading = match access {
            Access::Read => &[][..],
            Access::Write => &self.sets[Access::Read as usize],
        };
        let writing = self.sets[Access::Write as usize].iter().map(|set| (*set, Access::Write));
        writing.chain(reading.iter().map(|set| (*set, Access::Read)))
    }

    /// Shows every use that one with `access` must come after.
    fn conflicts(&self, sets: &Slots<Set<Q>>, access: Access, who: Looks, see: &mut impl FnMut(&Use<Q>)) {
        if who == Looks::Touch || holds(Rule::TouchesSeenByLaunches) {
            self.writes.iter().filter(|_| must_order(Access::Write, access)).for_each(&mut *see);
            self.reads.iter().filter(|_| must_order(Access::Read, access)).for_each(&mut *see);
        }
        let cells_seen = match who {
            Looks::Touch => holds(Rule::SetCellsSeenByTouches),
            Looks::Launch(_) => holds(Rule::SetCellsSeenByLaunches),
        };
        for (set, its) in self.sets_against(access) {
            if cells_seen && who != Looks::Launch(set) && must_order(its, access) {
                sets.get(set.0).and_then(|set| set.cell.as_ref()).into_iter().for_each(&mut *see);
            }
        }
    }

    fn enter(&mut self, access: Access, lane: &Lane<Q>, position: u64) {
        let entered = Use { lane: lane.clone(), position, event: None };
        match access {
            Access::Write => {
                self.reads.clear();
                self.writes.clear();
                self.writes.push(entered);
            }
            Access::Read => match self.reads.iter_mut().find(|read| read.lane == *lane) {
                Some(read) => *read = entered,
                None => {
                    self.reads.retain(|read| !read.is_finished());
                    self.reads.push(entered);
                }
            },
        }
    }
}

impl<Q: Queues> Records<Q> {
    pub(crate) fn new() -> Self {
        Records { memories: Slots::new(), sets: Slots::new(), lanes_used: 0, entries: 0, visited: 0 }
    }

    pub(crate) fn add_memory(&mut self) -> MemoryId {
        MemoryId(self.memories.insert(Memory { writes: Vec::new(), reads: Vec::new(), sets: [Vec::new(), Vec::new()] }))
    }

    /// Takes memory out, and returns what must be over before it is released.
    pub(crate) fn remove_memory(&mut self, id: MemoryId) -> Vec<Use<Q>> {
        let mut last = Vec::new();
        let Some(memory) = self.memories.remove(id.0) else { return last };
        let mut see = |used: &Use<Q>| {
            if !used.is_finished() {
                keep_latest(&mut last, used);
            }
        };
        memory.writes.iter().filter(|_| holds(Rule::FreeAfterWrites)).for_each(&mut see);
        memory.reads.iter().filter(|_| holds(Rule::FreeAfterReads)).for_each(&mut see);
        for set in memory.sets.iter().flatten() {
            let Some(set) = self.sets.get_mut(set.0) else { continue };
            set.cell.iter().filter(|_| holds(Rule::FreeAfterLaunches)).for_each(&mut see);
            // The number will be another's.
            set.members.retain(|(member, _)| *member != id);
        }
        last
    }

    pub(crate) fn add_set(&mut self, members: &[(MemoryId, Access)]) -> SetId {
        let mut members = members.to_vec();
        // A write sorts behind a read: from the back, it is the one that stays.
        members.sort_unstable();
        if holds(Rule::WriteWins) {
            members.reverse();
        }
        members.dedup_by_key(|(memory, _)| *memory);
        for (memory, _) in &members {
            assert!(self.memories.get(memory.0).is_some(), "{KNOWN_MEMORY}");
        }
        let set = SetId(self.sets.insert(Set { members: members.clone(), cell: None, clean: false }));
        for (memory, access) in members {
            self.memories.get_mut(memory.0).expect(KNOWN_MEMORY).sets[access as usize].push(set);
        }
        set
    }

    /// Takes a set out. Its members learn of its last launch.
    pub(crate) fn remove_set(&mut self, id: SetId) -> Option<Use<Q>> {
        let set = self.sets.remove(id.0)?;
        let unfinished = set.cell.as_ref().filter(|cell| !cell.is_finished() && holds(Rule::FoldCellOnRemove));
        for (memory, access) in set.members {
            let Some(memory) = self.memories.get_mut(memory.0) else { continue };
            memory.sets[access as usize].retain(|set| *set != id);
            let Some(cell) = unfinished else { continue };
            if !holds(Rule::FoldReplacesNothing) && access == Access::Write {
                memory.reads.clear();
                memory.writes.clear();
            }
            // Into a list, and not in the place of the last write: this launch may be older than that.
            match access {
                Access::Read => keep_latest(&mut memory.reads, cell),
                Access::Write => keep_latest(&mut memory.writes, cell),
            }
        }
        set.cell
    }

    /// Shows every use that work on `lane` must come after. Changes nothing but the count of members.
    ///
    /// # Panics
    ///
    /// - The touch names memory or a set that is not here.
    pub(crate) fn conflicts(&mut self, lane: &Lane<Q>, touch: Touch<'_>, mut see: impl FnMut(&Use<Q>)) {
        if let Some(id) = touch.set() {
            let set = self.sets.get(id.0).expect(KNOWN_SET);
            if !set.is_clean_on(lane) {
                self.visited += set.members.len() as u64;
                set.cell.iter().filter(|_| holds(Rule::OwnCellOnOtherLane)).for_each(&mut see);
                for (memory, access) in &set.members {
                    let memory = self.memories.get(memory.0).expect(KNOWN_MEMORY);
                    memory.conflicts(&self.sets, *access, Looks::Launch(id), &mut see);
                }
            }
        }
        for &(memory, access) in touch.memory() {
            self.conflicts_of(memory, access, &mut see);
        }
    }

    /// Shows every use that an access to one piece of memory must come after.
    pub(crate) fn conflicts_of(&self, memory: MemoryId, access: Access, mut see: impl FnMut(&Use<Q>)) {
        self.memories.get(memory.0).expect(KNOWN_MEMORY).conflicts(&self.sets, access, Looks::Touch, &mut see);
    }

    /// Enters a launch of a set that is clean on this lane, and says whether several lanes are in use. None, and nothing
    /// entered, if it is not clean there.
    ///
    /// # Panics
    ///
    /// - The set is not here.
    #[inline]
    pub(crate) fn enter_clean(&mut self, lane: &Lane<Q>, position: u64, set: SetId) -> Option<bool> {
        let set = self.sets.get_mut(set.0).expect(KNOWN_SET);
        if !set.is_clean_on(lane) {
            return None;
        }
        // Clean on this lane, so there is a cell, and it is on this lane.
        let cell = set.cell.as_mut()?;
        (cell.position, cell.event) = (position, None);
        self.entries += 1;
        Some(self.lanes_used > 1)
    }

    /// Enters a use, and makes dirty what it makes dirty.
    pub(crate) fn enter(&mut self, lane: &Lane<Q>, position: u64, touch: Touch<'_>) {
        self.entries += 1;
        if let Some(id) = touch.set() {
            let set = self.sets.get_mut(id.0).expect(KNOWN_SET);
            if !set.is_clean_on(lane) {
                self.mark_conflicting(id, lane);
            }
            let set = self.sets.get_mut(id.0).expect(KNOWN_SET);
            set.clean = true;
            match &mut set.cell {
                Some(cell) if cell.lane == *lane => (cell.position, cell.event) = (position, None),
                cell => *cell = Some(Use { lane: lane.clone(), position, event: None }),
            }
        }
        for &(memory, access) in touch.memory() {
            let memory = self.memories.get_mut(memory.0).expect(KNOWN_MEMORY);
            for (set, _) in memory.sets_against(access) {
                if holds(Rule::DirtyOnTouch) {
                    self.sets.get_mut(set.0).expect(KNOWN_SET).mark(lane);
                }
            }
            memory.enter(access, lane, position);
        }
    }

    fn mark_conflicting(&mut self, id: SetId, lane: &Lane<Q>) {
        // By number, because other sets change while the members of this one are read.
        let count = self.sets.get(id.0).map_or(0, |set| set.members.len());
        for member in 0..count {
            let Some(set) = self.sets.get(id.0) else { return };
            let (memory, access) = set.members[member];
            let memory = self.memories.get(memory.0).expect(KNOWN_MEMORY);
            for (other, _) in memory.sets_against(access) {
                if other != id && holds(Rule::DirtyOnLaunch) {
                    self.sets.get_mut(other.0).expect(KNOWN_SET).mark(lane);
                }
            }
        }
    }

    /// Shows every record that is the use at `position`: there may be fewer than were entered, others came since.
    pub(crate) fn entered(
        &mut self,
        lane: &Lane<Q>,
        position: u64,
        touch: Touch<'_>,
        mut see: impl FnMut(&mut Use<Q>),
    ) {
        let set = touch.set().and_then(|set| self.sets.get_mut(set.0));
        let cell = set.and_then(|set| set.cell.as_mut());
        cell.into_iter().filter(|cell| cell.is(lane, position)).for_each(&mut see);
        for (memory, _) in touch.memory() {
            let Some(memory) = self.memories.get_mut(memory.0) else { continue };
            let uses = memory.writes.iter_mut().chain(&mut memory.reads);
            uses.filter(|used| used.is(lane, position)).for_each(&mut see);
        }
    }
}
