//! Sets of the ops that read some cells since those were written last.
//!
//! A set is a list that only grows at its head, and a tail may be shared: cells that were one when they were read, and are
//! written one by one, share what was there before the cut. A long shared tail is answered with one join, made once, so
//! that a thousand readers and a thousand writers of pieces do not give a million edges.

use super::NONE;
use super::draft::Draft;

/// A set; `NONE` is the empty one. Owned by whoever holds the number: `share` and `release` keep count.
pub(super) type SetId = u32;

/// A shared tail of more readers than this gets a join.
const SHORT: u32 = 8;

#[derive(Default)]
pub(super) struct Readers {
    links: Vec<Link>,
    free: Vec<u32>,
    // Kept between calls, empty in between.
    work: Vec<SetId>,
    walk: Vec<SetId>,
    found: Vec<u32>,
    missing: Vec<SetId>,
}

struct Link {
    /// The rest of the set.
    older: SetId,
    item: Item,
    /// How many own this link: cells, or links newer than it.
    owners: u32,
    /// Readers from here on.
    len: u32,
    /// The step that comes after all of them, if it was needed already.
    join: u32,
}

#[derive(Clone, Copy)]
enum Item {
    Reader(u32),
    Set(SetId),
}

impl Readers {
    /// `set` and `step`. Takes over `set`.
    #[inline]
    pub(super) fn with(&mut self, set: SetId, step: u32) -> SetId {
        self.link(set, Item::Reader(step), 1)
    }

    /// `older` and `newer` together. Takes over both.
    pub(super) fn union(&mut self, older: SetId, newer: SetId) -> SetId {
        match (older, newer) {
            (NONE, one) | (one, NONE) => one,
            _ => self.link(older, Item::Set(newer), self.links[newer as usize].len),
        }
    }

    /// One more owner of `set`.
    pub(super) fn share(&mut self, set: SetId) -> SetId {
        if set != NONE {
            self.links[set as usize].owners += 1;
        }
        set
    }

    /// One owner fewer.
    pub(super) fn release(&mut self, set: SetId) {
        self.walk.push(set);
        while let Some(mut at) = self.walk.pop() {
            while at != NONE {
                let link = &mut self.links[at as usize];
                link.owners -= 1;
                if link.owners > 0 {
                    break;
                }
                if let Item::Set(set) = link.item {
                    self.walk.push(set);
                }
                self.free.push(at);
                at = link.older;
            }
        }
    }

    /// Makes the op being drafted wait for all of `set`.
    pub(super) fn wait_for(&mut self, set: SetId, draft: &mut Draft) {
        // By hand and not by recursion: a list may be as long as the recording.
        self.work.push(set);
        while let Some(&top) = self.work.last() {
            if self.links[top as usize].join == NONE {
                self.look_through(top);
                if !self.missing.is_empty() {
                    self.work.append(&mut self.missing);
                    continue;
                }
                if self.deserves_join(top) {
                    self.links[top as usize].join = draft.join(&self.found);
                } else {
                    draft.wait_for(&self.found);
                }
            }
            self.work.pop();
        }
        if self.links[set as usize].join != NONE {
            draft.wait_for_one(self.links[set as usize].join);
        }
    }

    /// Finds the readers of `set`, with joins for those that have one; and the shared tails that have none yet.
    fn look_through(&mut self, set: SetId) {
        self.found.clear();
        self.walk.push(set);
        while let Some(mut at) = self.walk.pop() {
            while at != NONE {
                let link = &self.links[at as usize];
                if link.join != NONE {
                    self.found.push(link.join);
                    break;
                }
                if at != set && self.deserves_join(at) {
                    self.missing.push(at);
                    break;
                }
                match link.item {
                    Item::Reader(step) => self.found.push(step),
                    Item::Set(inner) => self.walk.push(inner),
                }
                at = link.older;
            }
        }
    }

    fn deserves_join(&self, set: SetId) -> bool {
        let link = &self.links[set as usize];
        link.owners > 1 && link.len > SHORT
    }

    fn link(&mut self, older: SetId, item: Item, len: u32) -> SetId {
        let len = len + if older == NONE { 0 } else { self.links[older as usize].len };
        let link = Link { older, item, owners: 1, len, join: NONE };
        if let Some(at) = self.free.pop() {
            self.links[at as usize] = link;
            return at;
        }
        self.links.push(link);
        super::number(self.links.len() - 1)
    }
}
