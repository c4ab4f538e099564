//! What a report says of a decision: what is compared with what, in the order in which the kernel's memory is listed.

use crate::flow::operand::{Side, Word};
use crate::value::{Snapshot, Told};

/// The arguments of one decision, for reports.
#[derive(Default)]
pub(super) struct Listing(Vec<Entry>);

enum Entry {
    /// The next of the node's accesses, by its own name.
    Memory,
    Value(&'static str, Word),
    /// The condition, in the names of what it compares.
    Condition(String),
}

impl Listing {
    pub(super) fn memory(&mut self) {
        self.0.push(Entry::Memory);
    }

    /// One side of a comparison, or a bound. Memory is named as the value would be.
    pub(super) fn side(&mut self, name: &'static str, side: &mut Side) {
        match side {
            Side::Element(access) => {
                access.name = name;
                self.memory();
            }
            Side::Value(word) => self.0.push(Entry::Value(name, word.clone())),
        }
    }

    pub(super) fn condition(&mut self, text: String) {
        self.0.push(Entry::Condition(text));
    }

    /// The same, and then those of another.
    pub(super) fn then(mut self, other: Listing) -> Listing {
        self.0.extend(other.0);
        self
    }

    #[cold]
    pub(super) fn tell(&self, snapshot: &Snapshot<'_>) {
        snapshot.tell(&mut self.0.iter().map(|entry| match entry {
            Entry::Memory => Told::Memory,
            Entry::Value(name, word) => {
                Told::Named { name, text: word.value.text(snapshot), is_slot: word.slot.is_some() }
            }
            Entry::Condition(text) => Told::Computed { name: "condition", text: text.clone() },
        }));
    }
}
