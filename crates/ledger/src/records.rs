//! What is known of each piece of memory and of each set: who used it last.
//!
//! - Memory knows the uses that wrote it last, the reads since, at most one of each a lane, and the sets it is in.
//! - A set knows its members, its last launch, and whether it is clean. A launch is noted in its set and not in the
//!   members; so whoever looks at memory also looks at the last launches of the sets it is in.
//!
//! **Clean.** A set whose last launch `L` was on lane `A` is clean when each use that conflicts with one of its members
//! is either ordered before `L`, or on lane `A`. A further launch on `A` then needs no wait and no look: what came
//! before `L` comes before it too, and what is on `A` is ordered by the stream.
//!
//! - A launch that is not clean on its lane looks at everything that conflicts, has waited for it, and so is clean
//!   (`enter_launch`).
//! - A use that conflicts, on another lane than `A`, makes the set dirty when it is entered (`Set::disturb`). One on
//!   `A` need not.
//! - A clean launch disturbs nobody (`enter_clean`), and need not: **two clean sets that conflict had their last
//!   launches on the same lane.** The one that looked at its members last disturbed the other unless it was on that
//!   lane, and launches since then stayed on the lanes of the last ones, or they would have looked. So the sets that a
//!   clean launch on `A` conflicts with are dirty already, or on `A` themselves.
//! - A new set is dirty. A failed wait enters nothing. A failed enqueue is entered like any other.

use crate::slots::Slots;
use crate::uses::keep_latest;
use crate::{Lane, LaneKind, MemoryId, Queues, SetId, Touch, Touching, Use};

const KNOWN_MEMORY: &str = "memory is touched only while it is in the ledger";
const KNOWN_SET: &str = "a set is launched only while it is in the ledger";
const NAME_EACH_OTHER: &str = "memory and the sets it is in name each other until one of them is removed";

/// Everything behind the ledger's one short lock.
pub(crate) struct Records<Q: Queues> {
    memories: Slots<Memory<Q>>,
    sets: Slots<Set<Q>>,
    /// How many user lanes ever got work.
    pub(crate) user_lanes: usize,
    /// How many uses were entered: while it stands still, a look finds nothing new.
    pub(crate) uses_entered: u64,
    /// How many members launches looked at.
    pub(crate) members_visited: u64,
}

impl<Q: Queues> Records<Q> {
    pub(crate) fn new() -> Self {
        Records { memories: Slots::new(), sets: Slots::new(), user_lanes: 0, uses_entered: 0, members_visited: 0 }
    }

    pub(crate) fn add_memory(&mut self) -> MemoryId {
        MemoryId(self.memories.insert(Memory::new()))
    }

    pub(crate) fn add_set(&mut self, members: &[(MemoryId, Touching)]) -> SetId {
        let mut members = members.to_vec();
        // Backwards, so that a write stands before a read of the same memory and is the one that stays.
        members.sort_unstable_by(|a, b| b.cmp(a));
        members.dedup_by_key(|(memory, _)| *memory);
        for (memory, _) in &members {
            assert!(self.memories.get(memory.0).is_some(), "{KNOWN_MEMORY}");
        }
        let id = SetId(self.sets.insert(Set { members: members.clone(), last_launch: None, is_clean: false }));
        for (memory, access) in members {
            self.memories.get_mut(memory.0).expect(KNOWN_MEMORY).sets_with(access).push(id);
        }
        id
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
                self.members_visited += set.members.len() as u64;
                // Also where its members are only read: a set has room for one launch, the last.
                set.last_launch.iter().for_each(&mut see);
                for (memory, access) in &set.members {
                    let memory = self.memories.get(memory.0).expect(NAME_EACH_OTHER);
                    memory.conflicts(&self.sets, Some(id), *access, &mut see);
                }
            }
        }
        for &(memory, access) in touch.memory() {
            self.conflicts_of(memory, access, &mut see);
        }
    }

    /// Shows every use that an access to one piece of memory must come after.
    ///
    /// # Panics
    ///
    /// - The memory is not here.
    pub(crate) fn conflicts_of(&self, memory: MemoryId, access: Touching, mut see: impl FnMut(&Use<Q>)) {
        self.memories.get(memory.0).expect(KNOWN_MEMORY).conflicts(&self.sets, None, access, &mut see);
    }

    /// Enters a use whose conflicts were all waited for, and says whether an event is to follow its work.
    pub(crate) fn enter(&mut self, lane: &Lane<Q>, position: u64, touch: Touch<'_>) -> bool {
        self.uses_entered += 1;
        if position == 1 && lane.kind() == LaneKind::User {
            self.user_lanes += 1;
        }
        if let Some(set) = touch.set() {
            self.enter_launch(lane, position, set);
        }
        for &(memory, access) in touch.memory() {
            self.disturb_sets(memory, access, lane);
            self.memories.get_mut(memory.0).expect(KNOWN_MEMORY).enter(access, lane, position);
        }
        self.wants_event(lane)
    }

    fn enter_launch(&mut self, lane: &Lane<Q>, position: u64, id: SetId) {
        let set = self.sets.get_mut(id.0).expect(KNOWN_SET);
        if !set.is_clean_on(lane) {
            // Taken out meanwhile, because other sets change while these are read. The set itself may be disturbed
            // as well: it is clean again below.
            let members = std::mem::take(&mut set.members);
            for (memory, access) in &members {
                self.disturb_sets(*memory, *access, lane);
            }
            self.sets.get_mut(id.0).expect(KNOWN_SET).members = members;
        }
        let set = self.sets.get_mut(id.0).expect(KNOWN_SET);
        set.is_clean = true;
        set.note_launch(lane, position);
    }

    /// Enters a launch of a set that is clean on this lane, and says whether an event is to follow it. None, and nothing
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
        set.note_launch(lane, position);
        self.uses_entered += 1;
        Some(self.wants_event(lane))
    }

    /// Whether work on a lane is to be followed by an event of its own: from the second user lane on, on user lanes.
    #[inline]
    fn wants_event(&self, lane: &Lane<Q>) -> bool {
        self.user_lanes > 1 && lane.kind() == LaneKind::User
    }

    /// Makes dirty the sets that an access on `lane` conflicts with.
    fn disturb_sets(&mut self, memory: MemoryId, access: Touching, lane: &Lane<Q>) {
        let memory = self.memories.get(memory.0).expect(KNOWN_MEMORY);
        for set in memory.sets_against(access) {
            self.sets.get_mut(set.0).expect(NAME_EACH_OTHER).disturb(lane);
        }
    }

    /// Gives the use at `position` its event wherever it is still known. Later uses may have replaced it.
    pub(crate) fn note_event(&mut self, lane: &Lane<Q>, position: u64, touch: Touch<'_>, event: &Q::Event) {
        let note = |used: &mut Use<Q>| {
            if used.is_at(lane, position) {
                used.event = Some(event.clone());
            }
        };
        let set = touch.set().and_then(|set| self.sets.get_mut(set.0));
        set.and_then(|set| set.last_launch.as_mut()).into_iter().for_each(note);
        for (memory, _) in touch.memory() {
            let Some(memory) = self.memories.get_mut(memory.0) else { continue };
            memory.writes.iter_mut().chain(&mut memory.reads).for_each(note);
        }
    }

    /// Takes a set out, and returns its last launch, of which its members learn.
    pub(crate) fn remove_set(&mut self, id: SetId) -> Option<Use<Q>> {
        let set = self.sets.remove(id.0)?;
        let unfinished = set.last_launch.as_ref().filter(|launch| !launch.is_finished());
        for (memory, access) in set.members {
            let memory = self.memories.get_mut(memory.0).expect(NAME_EACH_OTHER);
            memory.sets_with(access).retain(|set| *set != id);
            let Some(launch) = unfinished else { continue };
            // Into a list, and not in the place of the last write: this launch may be older than that.
            match access {
                Touching::Read => keep_latest(&mut memory.reads, launch),
                Touching::Write => keep_latest(&mut memory.writes, launch),
            }
        }
        set.last_launch
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
        memory.writes.iter().for_each(&mut see);
        memory.reads.iter().for_each(&mut see);
        for set in memory.written_by.iter().chain(&memory.read_by) {
            let set = self.sets.get_mut(set.0).expect(NAME_EACH_OTHER);
            set.last_launch.iter().for_each(&mut see);
            // The number will be another's.
            set.members.retain(|(member, _)| *member != id);
        }
        last
    }
}

/// A piece of memory.
struct Memory<Q: Queues> {
    /// The last write. More than one only where launches of removed sets were added, whose order is not known here.
    writes: Vec<Use<Q>>,
    /// The reads since.
    reads: Vec<Use<Q>>,
    /// The sets that read it. Apart from those that write it, because a reader need not look at the other readers:
    /// weights may be in a thousand graphs.
    read_by: Vec<SetId>,
    /// The sets that write it.
    written_by: Vec<SetId>,
}

impl<Q: Queues> Memory<Q> {
    fn new() -> Self {
        Memory { writes: Vec::new(), reads: Vec::new(), read_by: Vec::new(), written_by: Vec::new() }
    }

    /// The sets it is in with this access.
    fn sets_with(&mut self, access: Touching) -> &mut Vec<SetId> {
        match access {
            Touching::Read => &mut self.read_by,
            Touching::Write => &mut self.written_by,
        }
    }

    /// The sets it is in that an access conflicts with.
    fn sets_against(&self, access: Touching) -> impl Iterator<Item = SetId> {
        let readers = match access {
            Touching::Read => &[][..],
            Touching::Write => &self.read_by,
        };
        self.written_by.iter().chain(readers).copied()
    }

    /// Shows every use that one with `access` must come after. A set that is looking is not shown its own launch: it
    /// has seen that once, and not for each member.
    fn conflicts(&self, sets: &Slots<Set<Q>>, looking: Option<SetId>, access: Touching, see: &mut impl FnMut(&Use<Q>)) {
        self.writes.iter().for_each(&mut *see);
        if access == Touching::Write {
            self.reads.iter().for_each(&mut *see);
        }
        for set in self.sets_against(access).filter(|set| Some(*set) != looking) {
            sets.get(set.0).expect(NAME_EACH_OTHER).last_launch.iter().for_each(&mut *see);
        }
    }

    /// A write replaces all before it, a read the one before it on its lane.
    fn enter(&mut self, access: Touching, lane: &Lane<Q>, position: u64) {
        let entered = Use { lane: lane.clone(), position, event: None };
        match access {
            Touching::Write => {
                self.reads.clear();
                self.writes.clear();
                self.writes.push(entered);
            }
            Touching::Read => match self.reads.iter_mut().find(|read| read.lane == *lane) {
                Some(read) => *read = entered,
                None => {
                    self.reads.retain(|read| !read.is_finished());
                    self.reads.push(entered);
                }
            },
        }
    }
}

/// Memory that is used together: what a graph touches.
struct Set<Q: Queues> {
    members: Vec<(MemoryId, Touching)>,
    last_launch: Option<Use<Q>>,
    is_clean: bool,
}

impl<Q: Queues> Set<Q> {
    #[inline]
    fn is_clean_on(&self, lane: &Lane<Q>) -> bool {
        self.is_clean && self.last_launch.as_ref().is_some_and(|launch| launch.lane == *lane)
    }

    #[inline]
    fn note_launch(&mut self, lane: &Lane<Q>, position: u64) {
        match &mut self.last_launch {
            // On the same lane again that is a number, and no count of handles is touched.
            Some(launch) if launch.lane == *lane => (launch.position, launch.event) = (position, None),
            launch => *launch = Some(Use { lane: lane.clone(), position, event: None }),
        }
    }

    /// Somebody on `lane` did what conflicts with this set.
    fn disturb(&mut self, lane: &Lane<Q>) {
        if self.last_launch.as_ref().is_none_or(|launch| launch.lane != *lane) {
            self.is_clean = false;
        }
    }
}
