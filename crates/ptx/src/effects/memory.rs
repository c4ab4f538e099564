//! What is stored in local variables and in the parameters of device functions.
//!
//! Whatever was ever stored to a place may be loaded from it: nothing is forgotten, so the order of stores does not
//! matter. A place is an offset in one variable where that is known, else the variable.

use std::collections::BTreeMap;

use super::value::{ANYWHERE, Factor, NOTHING, Origin, Value, Values};

/// The variables of all calls of one kernel.
#[derive(Default)]
pub(super) struct Objects {
    /// By variable, offset and width.
    stored: BTreeMap<(u32, Option<i64>, u32), Value>,
    /// Whether the address of each was given away.
    escaped: Vec<bool>,
    /// What was stored to local memory nobody knows where.
    lost: Option<Value>,
}

impl Objects {
    /// A new variable.
    pub(super) fn add(&mut self) -> u32 {
        self.escaped.push(false);
        self.escaped.len() as u32 - 1
    }

    /// Stores; whether that changed anything.
    pub(super) fn store(
        &mut self,
        values: &mut Values,
        object: u32,
        offset: Option<i64>,
        bytes: u32,
        value: Value,
    ) -> bool {
        let place = self.stored.entry((object, offset, bytes)).or_insert(NOTHING);
        let joined = values.join(*place, value);
        std::mem::replace(place, joined) != joined
    }

    /// Stores to an unknown place; whether that changed anything.
    pub(super) fn lose(&mut self, values: &mut Values, value: Value) -> bool {
        let value = values.mixed(value);
        let joined = values.join(self.lost.unwrap_or(NOTHING), value);
        self.lost.replace(joined) != Some(joined)
    }

    /// What a load of one variable may give.
    pub(super) fn load(&self, values: &mut Values, object: u32, offset: Option<i64>, bytes: u32) -> Value {
        let mut loaded = self.lost.unwrap_or(NOTHING);
        for (&(_, start, width), &value) in self.stored.range((object, None, 0)..=(object, Some(i64::MAX), u32::MAX)) {
            let apart = match (start, offset) {
                (Some(start), Some(offset)) => {
                    start.saturating_add(width.into()) <= offset || offset.saturating_add(bytes.into()) <= start
                }
                _ => false,
            };
            if apart {
                continue;
            }
            // PTX wants accesses aligned to their width, so two of one width are the same place or apart.
            let same = width == bytes && (start == offset || start.is_none() || offset.is_none());
            let value = if same { value } else { values.mixed(value) };
            loaded = values.join(loaded, value);
        }
        if self.escaped[object as usize] {
            let memory = values.of(Origin::Memory(ANYWHERE), Factor::Once, None);
            loaded = values.join(loaded, memory);
        }
        loaded
    }

    /// What a load from an unknown place of local memory may give.
    pub(super) fn load_any(&self, values: &mut Values) -> Value {
        let mut loaded = self.lost.unwrap_or(NOTHING);
        for &value in self.stored.values() {
            let value = values.mixed(value);
            loaded = values.join(loaded, value);
        }
        let memory = values.of(Origin::Memory(ANYWHERE), Factor::Mixed, None);
        values.join(loaded, memory)
    }

    pub(super) fn is_escaped(&self, object: u32) -> bool {
        self.escaped[object as usize]
    }

    /// Notes that the address of a variable is known elsewhere; gives what is in it, if that is new.
    pub(super) fn escape(&mut self, object: u32) -> Option<Vec<Value>> {
        if std::mem::replace(&mut self.escaped[object as usize], true) {
            return None;
        }
        let all = self.stored.range((object, None, 0)..=(object, Some(i64::MAX), u32::MAX));
        Some(all.map(|(_, value)| *value).collect())
    }
}
