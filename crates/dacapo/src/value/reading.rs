//! One reading of every slot that a recording uses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::memory::Access;
use crate::value::slot::Cell;

/// A slot, whatever its type. Named by the expansion of `kernels!`, and nowhere else outside.
#[doc(hidden)]
pub type AnySlot = Cell;

/// Where a slot lives: its identity.
fn identity(slot: &Arc<AnySlot>) -> usize {
    Arc::as_ptr(slot).addr()
}

/// One slot as it was read. What a launch looks at for each slot is here, and in the slot's word.
struct Reading {
    slot: Arc<AnySlot>,
    word: u64,
    /// The ops whose recipes read it.
    readers: SmallVec<[u32; 2]>,
    /// The bytes of a value that does not fit in a word.
    large: Option<Box<[u8]>>,
}

/// The slots of a recording in the order of their first use, each read once.
#[derive(Default)]
pub(crate) struct Readings {
    list: Vec<Reading>,
    /// Only when there are many; a search through a few words is faster than any map.
    index: HashMap<usize, u32>,
}

/// From this many slots on a map is kept.
const MANY: usize = 12;

impl Readings {
    /// The number of this slot; read now if it is new.
    pub(crate) fn enter(&mut self, slot: &Arc<AnySlot>) -> u32 {
        if let Some(found) = self.find(identity(slot)) {
            return found as u32;
        }
        let (word, large) = match slot.read_large() {
            None => (slot.word(), None),
            Some((count, bytes)) => (count, Some(bytes.into_boxed_slice())),
        };
        self.list.push(Reading { slot: slot.clone(), word, readers: SmallVec::new(), large });
        let number = u32::try_from(self.list.len() - 1).expect("fewer than 2^32 slots");
        if self.list.len() == MANY {
            self.index = self.list.iter().enumerate().map(|(i, r)| (identity(&r.slot), i as u32)).collect();
        } else if self.list.len() > MANY {
            self.index.insert(identity(slot), number);
        }
        number
    }

    #[inline]
    fn find(&self, identity_: usize) -> Option<usize> {
        if self.list.len() >= MANY {
            return self.find_among_many(identity_);
        }
        self.list.iter().position(|r| identity(&r.slot) == identity_)
    }

    #[inline(never)]
    fn find_among_many(&self, identity: usize) -> Option<usize> {
        self.index.get(&identity).map(|&number| number as usize)
    }

    fn reading(&self, identity: usize) -> &Reading {
        &self.list[self.find(identity).expect("every slot of a recipe is among its node's")]
    }

    /// Remembers that the recipe of this op reads this slot.
    pub(crate) fn read_by(&mut self, slot: u32, op: u32) {
        self.list[slot as usize].readers.push(op);
    }

    /// Whether no slot was set since it was read.
    #[inline]
    pub(crate) fn are_current(&self) -> bool {
        self.list.iter().all(|reading| reading.slot.word() == reading.word)
    }

    /// Reads again what changed since, if all of it is in words, and read by one and the same op: which. None, and nothing
    /// was read, if it is anything else.
    #[inline]
    pub(crate) fn refresh_one(&mut self) -> Option<u32> {
        let mut reader = None;
        for reading in self.list.iter().filter(|reading| reading.slot.word() != reading.word) {
            match (reader, &reading.readers[..], &reading.large) {
                (None, [op], None) => reader = Some(*op),
                (Some(one), [op], None) if one == *op => {}
                _ => return None,
            }
        }
        let reader = reader?;
        for reading in self.list.iter_mut().filter(|reading| reading.readers[..] == [reader]) {
            if reading.large.is_none() {
                reading.word = reading.slot.word();
            }
        }
        Some(reader)
    }

    /// Reads again what changed since; `changed` is told the readers of each slot that has another value now.
    #[inline]
    pub(crate) fn refresh(&mut self, mut changed: impl FnMut(&[u32])) {
        for reading in &mut self.list {
            let word = reading.slot.word();
            if word == reading.word {
                continue;
            }
            let differs = match reading.large {
                None => {
                    reading.word = word;
                    true
                }
                // It was set, but perhaps to what it was.
                Some(_) => reading.refresh_large(),
            };
            if differs {
                changed(&reading.readers);
            }
        }
    }

    /// The slot of this number.
    pub(crate) fn slot(&self, number: u32) -> Arc<AnySlot> {
        self.list[number as usize].slot.clone()
    }

    /// Whether there are no slots.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many slots there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

impl Reading {
    /// Reads the bytes again; whether they are others.
    #[cold]
    fn refresh_large(&mut self) -> bool {
        let Some((count, bytes)) = self.slot.read_large() else { return false };
        self.word = count;
        let same = self.large.as_deref() == Some(&*bytes);
        self.large = Some(bytes.into_boxed_slice());
        !same
    }
}

/// What a recipe sees: one reading of the slots, and where in their memory its slices begin.
#[doc(hidden)]
pub struct Snapshot<'a> {
    readings: &'a Readings,
    starts: Starts<'a>,
    /// Where a report collects the arguments, in order.
    texts: Option<&'a RefCell<Vec<Told>>>,
}

/// An argument as a report is told it.
pub(crate) enum Told {
    /// An address: the next of the node's accesses.
    Memory,
    /// A value, whose name and kind the declaration knows.
    Value(String),
    /// A value of a kernel without a declaration.
    Named { name: &'static str, text: String, is_slot: bool },
    /// What such a kernel makes of the others.
    Computed { name: &'static str, text: String },
}

impl From<Option<String>> for Told {
    fn from(text: Option<String>) -> Told {
        text.map_or(Told::Memory, Told::Value)
    }
}

/// Where the slices of a recipe begin.
#[derive(Clone, Copy)]
enum Starts<'a> {
    Recorded(&'a [Access]),
    Bound(&'a [u64]),
}

impl<'a> Snapshot<'a> {
    /// With the slices where they were recorded.
    pub(crate) fn new(readings: &'a Readings, access: &'a [Access]) -> Snapshot<'a> {
        Snapshot { readings, starts: Starts::Recorded(access), texts: None }
    }

    /// The same, with the slices where a launch has bound them.
    pub(crate) fn bound(mut self, starts: &'a [u64]) -> Snapshot<'a> {
        self.starts = Starts::Bound(starts);
        self
    }

    /// The same, for a report.
    pub(crate) fn telling(mut self, texts: &'a RefCell<Vec<Told>>) -> Snapshot<'a> {
        self.texts = Some(texts);
        self
    }

    /// Whether a report wants to be told the arguments.
    #[inline]
    pub fn wants_texts(&self) -> bool {
        self.texts.is_some()
    }

    /// Tells a report the arguments, if there is one.
    #[cold]
    pub(crate) fn tell(&self, arguments: &mut dyn Iterator<Item = Told>) {
        if let Some(texts) = self.texts {
            texts.borrow_mut().extend(arguments);
        }
    }

    /// The value of a slot that fits in a word.
    #[inline]
    pub(crate) fn word(&self, identity: usize) -> u64 {
        self.readings.reading(identity).word
    }

    /// The bytes of a slot that does not.
    pub(crate) fn large(&self, identity: usize) -> &[u8] {
        self.readings.reading(identity).large.as_deref().expect("it does not fit in a word")
    }

    /// The byte at which the slice of this access begins, counted from an address that is a multiple of 256.
    pub(crate) fn start(&self, access: usize) -> u64 {
        match self.starts {
            Starts::Recorded(list) => list[access].place.start as u64,
            Starts::Bound(starts) => starts[access],
        }
    }
}
