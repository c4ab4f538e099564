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
//!   (`Set::launch`).
//! - Who looks for a use that conflicts, on another lane than `A`, makes the set dirty (`Set::look`), and the set stays
//!   so until that use is entered: if it was launched again meanwhile, under the records' lock, it counts among
//!   `uses_entered`, and is looked at again. Who looks on lane `A` need not: while it holds the lane's lock nobody else
//!   launches there.
//! - A clean launch looks at nobody (`UseSet::enter_clean`), and so disturbs nobody, and need not: **two clean sets that
//!   conflict had their last launches on the same lane.** The one that looked at its members last disturbed the other
//!   unless it was on that lane, and launches since then stayed on the lanes of the last ones, or they would have looked.
//!   So the sets that a clean launch on `A` conflicts with are dirty already, or on `A` themselves.
//! - A new set is dirty. A failed wait enters nothing. A failed enqueue is entered like any other. A look for the host
//!   (`Sight::Host`) enters nothing and disturbs nobody.
//!
//! A clean launch does not go through here: it is in the set's word (`set.rs`) alone, from where `Set::look` takes it.

use crate::queues::Touched;
use crate::set::{SetId, Word};
use crate::slots::Slots;
use crate::sync::Arc;
use crate::uses::keep_latest;
use crate::{Lane, MemoryId, Queues, Touching, Use, UseSet};

const KNOWN_MEMORY: &str = "memory is touched only while it is in the ledger";
pub(crate) const KNOWN_SET: &str = "a set is launched only while it is in the ledger";
const NAME_EACH_OTHER: &str = "memory and the sets it is in name each other until one of them is removed";

/// Everything behind the ledger's one short lock.
pub(crate) struct Records<Q: Queues> {
    memories: Slots<Memory<Q>>,
    sets: Slots<Set<Q>>,
    /// How many uses were entered here. While it stands still, a look finds nothing new: what it would find beside them
    /// are clean launches, and those of sets that it has disturbed.
    pub(crate) uses_entered: u64,
    /// How many members launches looked at.
    pub(crate) members_visited: u64,
}

impl<Q: Queues> Records<Q> {
    pub(crate) fn new() -> Self {
        Records { memories: Slots::new(), sets: Slots::new(), uses_entered: 0, members_visited: 0 }
    }

    pub(crate) fn add_memory(&mut self) -> MemoryId {
        MemoryId(self.memories.insert(Memory::new()))
    }

    pub(crate) fn add_set(&mut self, members: &[(MemoryId, Touching)]) -> UseSet<Q> {
        let mut members = members.to_vec();
        // Backwards, so that a write stands before a read of the same memory and is the one that stays.
        members.sort_unstable_by(|a, b| b.cmp(a));
        members.dedup_by_key(|(memory, _)| *memory);
        for (memory, _) in &members {
            assert!(self.memories.get(memory.0).is_some(), "{KNOWN_MEMORY}");
        }
        let id = SetId(self.sets.next());
        let word = Word::new(id);
        self.sets.insert(Set {
            members: members.clone(),
            last_launch: None,
            launched_at: 0,
            before: None,
            not_made: None,
            word: Arc::clone(&word),
        });
        for (memory, access) in members {
            self.memories.get_mut(memory.0).expect(KNOWN_MEMORY).sets_with(access).push(id);
        }
        UseSet::new(word)
    }

    /// Shows every use that work on `lane` must come after, and disturbs the sets whose launches are among them. Changes
    /// nothing else but the count of members.
    ///
    /// # Panics
    ///
    /// - The touch names memory or a set that is not here.
    pub(crate) fn conflicts(&mut self, lane: &Lane<Q>, touch: Touched<'_>, mut see: impl FnMut(&Use<Q>)) {
        if let Some(id) = touch.set {
            let set = self.sets.get_mut(id.0).expect(KNOWN_SET);
            if !set.is_clean_on(lane) {
                self.members_visited += set.members.len() as u64;
                // Also where its members are only read: a set has room for one launch, the last.
                set.last_launch().into_iter().for_each(|launch| see(launch));
                // Taken out meanwhile, because other sets change while these are read.
                let members = std::mem::take(&mut set.members);
                for (memory, access) in &members {
                    let memory = self.memories.get(memory.0).expect(NAME_EACH_OTHER);
                    memory.conflicts(&mut self.sets, Some(id), *access, Sight::From(lane), &mut see);
                }
                self.sets.get_mut(id.0).expect(KNOWN_SET).members = members;
            }
        }
        for &(memory, access) in touch.memory {
            self.conflicts_of(memory, access, Sight::From(lane), &mut see);
        }
    }

    /// Shows every use that an access to one piece of memory must come after.
    ///
    /// # Panics
    ///
    /// - The memory is not here.
    pub(crate) fn conflicts_of(
        &mut self,
        memory: MemoryId,
        access: Touching,
        sight: Sight<'_, Q>,
        mut see: impl FnMut(&Use<Q>),
    ) {
        self.memories.get(memory.0).expect(KNOWN_MEMORY).conflicts(&mut self.sets, None, access, sight, &mut see);
    }

    /// Enters a use whose conflicts were all looked at and waited for.
    pub(crate) fn enter(&mut self, lane: &Lane<Q>, position: u64, touch: Touched<'_>, remembers: bool) {
        self.uses_entered += 1;
        if let Some(set) = touch.set {
            self.sets.get_mut(set.0).expect(KNOWN_SET).launch(lane, position, self.uses_entered, remembers);
        }
        for &(memory, access) in touch.memory {
            let memory = self.memories.get_mut(memory.0).expect(KNOWN_MEMORY);
            memory.enter(access, lane, position, self.uses_entered, remembers);
        }
    }

    /// Gives the use at `position` its event wherever it is still known. Later uses may have replaced it.
    pub(crate) fn note_event(&mut self, lane: &Lane<Q>, position: u64, touch: Touched<'_>, event: &Q::Event) {
        let note = |used: &mut Use<Q>| {
            if used.is_at(lane, position) {
                used.event = Some(event.clone());
            }
        };
        let set = touch.set.and_then(|set| self.sets.get_mut(set.0));
        set.and_then(Set::last_launch).into_iter().for_each(note);
        for (memory, _) in touch.memory {
            let Some(memory) = self.memories.get_mut(memory.0) else { continue };
            memory.writes.iter_mut().chain(&mut memory.reads).for_each(note);
        }
    }

    /// The work of a use that was entered was refused: what it was to replace is what was written last, as far as anybody asks for
    /// that. For the order it stays: part of it may be on the stream. `again`: where the set's launch before it was, if this one was
    /// clean.
    pub(crate) fn not_made(&mut self, lane: &Lane<Q>, position: u64, touch: Touched<'_>, again: Option<u64>) {
        if let Some(set) = touch.set.and_then(|set| self.sets.get_mut(set.0)) {
            set.not_made(lane, position, again);
        }
        for (memory, _) in touch.memory {
            let Some(memory) = self.memories.get_mut(memory.0) else { continue };
            if memory.writes.iter().any(|write| write.is_at(lane, position))
                && let Some((at, before)) = memory.before.take()
            {
                before.iter().for_each(|write| keep_latest(&mut memory.writes, write));
                memory.written_at = at;
            }
        }
    }

    /// Takes a set out, and returns its last launch, of which its members learn. Of one that is finished they learn only where
    /// somebody may ask who wrote them (`remembers`), and it is the last who did.
    pub(crate) fn remove_set(&mut self, id: SetId, remembers: bool) -> Option<Use<Q>> {
        let mut set = self.sets.remove(id.0)?;
        let made = if remembers { set.last_made() } else { None };
        set.last_launch();
        for (memory, access) in set.members {
            let memory = self.memories.get_mut(memory.0).expect(NAME_EACH_OTHER);
            memory.sets_with(access).retain(|set| *set != id);
            let Some(launch) = &set.last_launch else { continue };
            let is_newer = memory.is_older(set.launched_at, launch);
            if !is_newer {
                // A write has come behind it, and has waited for it.
                continue;
            }
            if remembers && access == Touching::Write {
                let is_made = |(_, made): &(u64, Use<Q>)| made.is_at(&launch.lane, launch.position);
                if made.as_ref().is_none_or(|made| !is_made(made)) {
                    // It was refused: others wait for it as ever, and what it should have replaced stays what was written last.
                    if let Some((at, before)) = made.as_ref().filter(|(at, before)| memory.is_older(*at, before)) {
                        memory.written_at = memory.written_at.max(*at);
                        keep_latest(&mut memory.writes, before);
                    }
                    if !launch.is_finished() {
                        keep_latest(&mut memory.writes, launch);
                    }
                    continue;
                }
                memory.written_at = memory.written_at.max(set.launched_at);
            } else if launch.is_finished() {
                continue;
            }
            // Into a list, and not in the place of what is there: several sets may be removed, whose order is not known here.
            let list = match access {
                Touching::Read => &mut memory.reads,
                Touching::Write => &mut memory.writes,
            };
            list.retain(|used| !used.is_finished());
            keep_latest(list, launch);
        }
        set.last_launch
    }

    /// The last writes, done or not: more than one where their order is not known here.
    ///
    /// # Panics
    ///
    /// - The memory is not here.
    pub(crate) fn last_writes(&mut self, id: MemoryId) -> Vec<Use<Q>> {
        let memory = self.memories.get_mut(id.0).expect(KNOWN_MEMORY);
        let mut launches: Vec<(u64, Use<Q>)> = Vec::new();
        for set in &memory.written_by {
            let set = self.sets.get_mut(set.0).expect(NAME_EACH_OTHER);
            let made = set.last_made().filter(|(at, launch)| memory.is_older(*at, launch));
            launches.extend(made);
        }
        let Some((at, newest)) = launches.iter().max_by_key(|(at, _)| *at) else { return memory.writes.clone() };
        let lane = newest.lane.clone();
        // Writes on other lanes are older than a launch that was entered behind them; of one that is newer than a write on its own
        // lane nobody knows.
        let is_newest = *at > memory.written_at;
        let others = memory.writes.iter().filter(|write| !is_newest && write.lane != lane).cloned();
        // One that was entered earlier may have been launched again since, on that lane.
        launches.into_iter().map(|(_, launch)| launch).filter(|launch| launch.lane == lane).chain(others).collect()
    }

    /// The host has written it: all that wrote it before is over, and older than that. A launch of a set that wrote it is entered the
    /// next time, so that it is known to be newer.
    pub(crate) fn written_by_host(&mut self, id: MemoryId) {
        self.uses_entered += 1;
        let memory = self.memories.get_mut(id.0).expect(KNOWN_MEMORY);
        memory.writes.retain(|write| !write.is_finished());
        memory.before = None;
        memory.written_at = self.uses_entered;
        for set in &memory.written_by {
            self.sets.get_mut(set.0).expect(NAME_EACH_OTHER).word.disturb();
        }
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
            set.last_launch().into_iter().for_each(|launch| see(launch));
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
    /// How many uses had been entered when the last of them was.
    written_at: u64,
    /// The writes that the last one has replaced, and how many uses had been entered then, where somebody may ask who wrote the
    /// memory: it may not be made.
    before: Option<(u64, Vec<Use<Q>>)>,
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
        Memory {
            writes: Vec::new(),
            written_at: 0,
            before: None,
            reads: Vec::new(),
            read_by: Vec::new(),
            written_by: Vec::new(),
        }
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
    fn conflicts(
        &self,
        sets: &mut Slots<Set<Q>>,
        looking: Option<SetId>,
        access: Touching,
        sight: Sight<'_, Q>,
        see: &mut impl FnMut(&Use<Q>),
    ) {
        self.writes.iter().for_each(&mut *see);
        if access == Touching::Write {
            self.reads.iter().for_each(&mut *see);
        }
        for set in self.sets_against(access).filter(|set| Some(*set) != looking) {
            let launch = sets.get_mut(set.0).expect(NAME_EACH_OTHER).look(sight);
            launch.into_iter().for_each(|launch| see(launch));
        }
    }

    /// Whether the writes are older than a launch that was entered then. On one lane it may be newer than that says: clean ones
    /// are not entered.
    fn is_older(&self, launched_at: u64, launch: &Use<Q>) -> bool {
        let is_behind = |write: &Use<Q>| write.lane == launch.lane && write.position < launch.position;
        launched_at > self.written_at || self.writes.iter().any(is_behind)
    }

    /// A write replaces all before it, a read the one before it on its lane.
    fn enter(&mut self, access: Touching, lane: &Lane<Q>, position: u64, uses_entered: u64, remembers: bool) {
        let entered = Use { lane: lane.clone(), position, event: None };
        match access {
            Touching::Write => {
                self.reads.clear();
                if self.writes.iter().any(|write| write.is_at(lane, position)) {
                    // Named twice.
                    return;
                }
                if remembers {
                    self.before = Some((self.written_at, std::mem::take(&mut self.writes)));
                } else {
                    self.writes.clear();
                }
                self.written_at = uses_entered;
                self.writes.push(entered);
            }
            Touching::Read => {
                self.reads.retain(|read| read.lane != *lane && !read.is_finished());
                self.reads.push(entered);
            }
        }
    }
}

/// For whom somebody looks.
pub(crate) enum Sight<'l, Q: Queues> {
    /// For a use on this lane, which will come after what is found.
    From(&'l Lane<Q>),
    /// For the host, which enters no use.
    Host,
}

impl<Q: Queues> Clone for Sight<'_, Q> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q: Queues> Copy for Sight<'_, Q> {}

/// Memory that is used together: what a graph touches.
struct Set<Q: Queues> {
    members: Vec<(MemoryId, Touching)>,
    /// As it was when somebody looked last. Clean launches since then are in `word`, and on the same lane.
    last_launch: Option<Use<Q>>,
    /// How many uses had been entered when the last one was that was not clean.
    launched_at: u64,
    /// As of the launch before that one, where somebody may ask who wrote the members.
    before: Option<(u64, Use<Q>)>,
    /// The position of a launch that was not made.
    not_made: Option<u64>,
    /// Where the last launch is, and whether the set is clean; the owner has it too.
    word: Arc<Word>,
}

impl<Q: Queues> Set<Q> {
    fn is_clean_on(&self, lane: &Lane<Q>) -> bool {
        self.word.is_clean() && self.last_launch.as_ref().is_some_and(|launch| launch.lane == *lane)
    }

    /// A launch that has looked at all that it conflicts with.
    fn launch(&mut self, lane: &Lane<Q>, position: u64, uses_entered: u64, remembers: bool) {
        if remembers {
            self.before = self.last_made();
            self.not_made = None;
        }
        self.launched_at = uses_entered;
        self.last_launch = Some(Use { lane: lane.clone(), position, event: None });
        self.word.launch(position);
    }

    /// The launch at this position was refused. If it was clean, the one before it is on the same lane and as good as that one for
    /// who asks who wrote; unless that one was refused, too.
    fn not_made(&mut self, lane: &Lane<Q>, position: u64, again: Option<u64>) {
        let is_first = again.is_none_or(|before| self.not_made == Some(before));
        if is_first && self.last_launch().is_some_and(|launch| launch.is_at(lane, position)) {
            self.not_made = Some(position);
        }
    }

    /// The last launch that was made, and how many uses had been entered when it was.
    fn last_made(&mut self) -> Option<(u64, Use<Q>)> {
        let (at, not_made) = (self.launched_at, self.not_made);
        let launch = self.last_launch()?.clone();
        if not_made == Some(launch.position) { self.before.clone() } else { Some((at, launch)) }
    }

    /// The last launch, for one that conflicts with it.
    fn look(&mut self, sight: Sight<'_, Q>) -> Option<&mut Use<Q>> {
        match sight {
            Sight::From(lane) if self.last_launch.as_ref().is_none_or(|launch| launch.lane != *lane) => {
                let position = self.word.disturb();
                self.last_launch_at(position)
            }
            Sight::From(_) | Sight::Host => self.last_launch(),
        }
    }

    /// The last launch, for one that need not disturb it.
    fn last_launch(&mut self) -> Option<&mut Use<Q>> {
        let position = self.word.position();
        self.last_launch_at(position)
    }

    fn last_launch_at(&mut self, position: u64) -> Option<&mut Use<Q>> {
        let launch = self.last_launch.as_mut()?;
        if launch.position != position {
            (launch.position, launch.event) = (position, None);
        }
        Some(launch)
    }
}
