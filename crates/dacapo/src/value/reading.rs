//! One reading of every slot that a recording uses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::kernel::ToArg;

/// A slot's value; most are a number.
#[doc(hidden)]
pub type SlotBytes = SmallVec<[u8; 16]>;

/// A slot, whatever its type. Named by the expansion of `kernels!`, and nowhere else outside.
#[doc(hidden)]
pub trait ReadSlot: Send + Sync {
    /// Changes whenever the value may have changed.
    fn version(&self) -> u64;
    /// The value, and the version that it is of.
    fn read(&self) -> (u64, SlotBytes);
}

/// Where a slot lives: its identity.
fn identity(slot: &Arc<dyn ReadSlot>) -> usize {
    Arc::as_ptr(slot).cast::<()>().addr()
}

struct Reading {
    slot: Arc<dyn ReadSlot>,
    version: u64,
    bytes: SlotBytes,
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
    pub(crate) fn enter(&mut self, slot: &Arc<dyn ReadSlot>) -> u32 {
        if let Some(found) = self.find(identity(slot)) {
            return found;
        }
        let (version, bytes) = slot.read();
        self.list.push(Reading { slot: slot.clone(), version, bytes });
        let number = u32::try_from(self.list.len() - 1).expect("fewer than 2^32 slots");
        if self.list.len() == MANY {
            self.index = self.list.iter().enumerate().map(|(i, r)| (identity(&r.slot), i as u32)).collect();
        } else if self.list.len() > MANY {
            self.index.insert(identity(slot), number);
        }
        number
    }

    fn find(&self, identity_: usize) -> Option<u32> {
        if self.list.len() >= MANY {
            return self.index.get(&identity_).copied();
        }
        self.list.iter().position(|r| identity(&r.slot) == identity_).map(|i| i as u32)
    }

    /// Reads again what changed since; `changed` is told the numbers of the slots that have another value now.
    pub(crate) fn refresh(&mut self, mut changed: impl FnMut(u32)) {
        for (number, reading) in self.list.iter_mut().enumerate() {
            if reading.slot.version() == reading.version {
                continue;
            }
            let (version, bytes) = reading.slot.read();
            reading.version = version;
            if bytes != reading.bytes {
                reading.bytes = bytes;
                changed(number as u32);
            }
        }
    }

    /// The slot of this number.
    pub(crate) fn slot(&self, number: u32) -> Arc<dyn ReadSlot> {
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

/// What a recipe sees: one reading of the slots, and where in their memory its slices begin.
#[doc(hidden)]
pub struct Snapshot<'a> {
    readings: &'a Readings,
    starts: &'a [u64],
    /// Where a report collects the arguments as texts, in order; none for a value that is an address.
    texts: Option<&'a RefCell<Vec<Option<String>>>>,
}

impl<'a> Snapshot<'a> {
    pub(crate) fn new(readings: &'a Readings, starts: &'a [u64]) -> Snapshot<'a> {
        Snapshot { readings, starts, texts: None }
    }

    /// The same, for a report.
    pub(crate) fn telling(mut self, texts: &'a RefCell<Vec<Option<String>>>) -> Snapshot<'a> {
        self.texts = Some(texts);
        self
    }

    /// Tells a report the arguments, if there is one.
    pub fn tell(&self, args: &[&dyn ToArg]) {
        if let Some(texts) = self.texts {
            texts.borrow_mut().extend(args.iter().map(|arg| arg.text()));
        }
    }

    pub(crate) fn slot(&self, identity: usize) -> Option<&[u8]> {
        self.readings.find(identity).map(|number| &self.readings.list[number as usize].bytes[..])
    }

    /// The byte at which the slice of this access begins, counted from an address that is a multiple of 256.
    pub(crate) fn start(&self, access: usize) -> u64 {
        self.starts[access]
    }
}
