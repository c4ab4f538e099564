//! Handles: numbers that name an object of one kind, and not another one later (until a slot has been used 2^24 times).
//!
//! A handle carries a tag for its kind and a generation, so that a stale, a foreign and a garbage handle are told
//! apart from a live one without following anything. Its top byte makes it no valid address: a program that
//! follows a handle of ours faults at once.

use std::fmt;
use std::marker::PhantomData;

// Below 0x80: Python clients keep handles in `intptr_t`, and a negative one ends in an error of theirs.
const MARK: u64 = 0x5a << 56;

/// Names a `T` in a [`Table`].
pub(crate) struct Key<T> {
    index: u32,
    generation: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Key<T> {}
impl<T> PartialEq for Key<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.index, self.generation) == (other.index, other.generation)
    }
}
impl<T> Eq for Key<T> {}
impl<T> std::hash::Hash for Key<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.index, self.generation).hash(state);
    }
}
impl<T> PartialOrd for Key<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Key<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.index, self.generation).cmp(&(other.index, other.generation))
    }
}
impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}.{}", self.index, self.generation)
    }
}

/// What a handle turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup<T> {
    /// A live object.
    Live(Key<T>),
    /// It named an object of this kind that is gone.
    Stale,
    /// Null, garbage, or of another kind.
    Foreign,
}

struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

/// Objects of one kind.
pub(crate) struct Table<T> {
    tag: u8,
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
}

impl<T> Table<T> {
    pub(crate) fn new(tag: u8) -> Table<T> {
        Table { tag, entries: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn insert(&mut self, value: T) -> Key<T> {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry { generation: 0, value: None });
            (self.entries.len() - 1) as u32
        });
        let entry = &mut self.entries[index as usize];
        entry.generation = entry.generation.wrapping_add(1);
        entry.value = Some(value);
        Key { index, generation: entry.generation, of: PhantomData }
    }

    pub(crate) fn remove(&mut self, key: Key<T>) -> Option<T> {
        let entry = self.entries.get_mut(key.index as usize).filter(|e| e.generation == key.generation)?;
        let value = entry.value.take()?;
        self.free.push(key.index);
        Some(value)
    }

    pub(crate) fn get(&self, key: Key<T>) -> Option<&T> {
        self.entries.get(key.index as usize).filter(|e| e.generation == key.generation)?.value.as_ref()
    }

    pub(crate) fn get_mut(&mut self, key: Key<T>) -> Option<&mut T> {
        self.entries.get_mut(key.index as usize).filter(|e| e.generation == key.generation)?.value.as_mut()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key<T>, &T)> {
        self.entries.iter().enumerate().filter_map(|(index, entry)| {
            let key = Key { index: index as u32, generation: entry.generation, of: PhantomData };
            entry.value.as_ref().map(|value| (key, value))
        })
    }

    pub(crate) fn keys(&self) -> Vec<Key<T>> {
        self.iter().map(|(key, _)| key).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// What is wrong with the table itself: an entry is live or free, and its handle names it.
    pub(crate) fn broken(&self) -> Option<String> {
        let mut is_free = vec![false; self.entries.len()];
        for index in &self.free {
            match is_free.get_mut(*index as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Some(format!("slot {index} is free twice, or there is no such slot")),
            }
        }
        for (index, entry) in self.entries.iter().enumerate() {
            if entry.value.is_some() == is_free[index] {
                return Some(format!("slot {index} is neither live nor free, or both"));
            }
        }
        let lies =
            |(key, _): &(Key<T>, &T)| !matches!(self.look_up(self.handle(*key)), Lookup::Live(found) if found == *key);
        self.iter().find(lies).map(|(key, _)| format!("the handle of {key:?} does not name it"))
    }

    /// The number a C program holds for `key`.
    pub(crate) fn handle(&self, key: Key<T>) -> u64 {
        MARK | u64::from(self.tag) << 48
            | u64::from(key.generation & 0xff_ffff) << 24
            | u64::from(key.index & 0xff_ffff)
    }

    /// What a number held by a C program names.
    pub(crate) fn look_up(&self, handle: u64) -> Lookup<T> {
        if handle >> 48 != (MARK >> 48) | u64::from(self.tag) {
            return Lookup::Foreign;
        }
        let (index, generation) = ((handle & 0xff_ffff) as usize, (handle >> 24 & 0xff_ffff) as u32);
        match self.entries.get(index) {
            Some(entry) if entry.generation & 0xff_ffff == generation && entry.value.is_some() => {
                Lookup::Live(Key { index: index as u32, generation: entry.generation, of: PhantomData })
            }
            Some(entry) if generation != 0 && generation <= entry.generation => Lookup::Stale,
            _ => Lookup::Foreign,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_never_names_a_later_object() {
        let mut table = Table::new(3);
        let first = table.insert("first");
        let handle = table.handle(first);
        assert_eq!(table.look_up(handle), Lookup::Live(first));
        table.remove(first);
        assert_eq!(table.look_up(handle), Lookup::Stale);
        let second = table.insert("second");
        assert_eq!(table.look_up(handle), Lookup::Stale);
        assert_ne!(table.handle(second), handle);
        assert_eq!(table.remove(first), None);
    }

    #[test]
    fn a_handle_is_positive_for_clients_that_count_with_a_sign() {
        for tag in [0, 3, u8::MAX] {
            let mut table = Table::new(tag);
            let key = table.insert(());
            assert!(table.handle(key).cast_signed() > 0);
        }
    }

    #[test]
    fn null_garbage_and_other_kinds_are_foreign() {
        let mut table = Table::new(3);
        let mut other = Table::new(4);
        table.insert(1);
        let key = other.insert(1);
        for handle in [0, 1, 2, 3, u64::MAX, 0x7fff_0000_1000, other.handle(key), table.handle(table.keys()[0]) + 1] {
            assert_eq!(table.look_up(handle), Lookup::Foreign, "{handle:#x}");
        }
    }
}
