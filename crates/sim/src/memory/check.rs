//! What always holds of a [`Memory`]; for tests.
//!
//! - Each start names a slot, with a record that agrees with it and as many bytes behind it; no two overlap.
//! - What is in no use is vacant, once.
//! - What is counted as used is what the slots hold, and what was charged for memory that lies nowhere yet.
//! - No device's memory is used beyond what it has.

use super::{Backing, Kind, Memory};

impl Memory {
    /// What is broken, each with its rule; `charged` is what lives apart from its addresses, by device.
    pub(crate) fn broken(&self, charged: &[u64], mut tell: impl FnMut(&'static str, String)) {
        let mut used = charged.to_vec();
        let mut by_graphs = vec![0; used.len()];
        let mut end_before = 0;
        if self.slots.len() != self.records.len() || self.slots.len() != self.by_base.len() + self.vacant.len() {
            tell("memory-slots", "slots, records, starts and vacancies do not add up".into());
        }
        for (base, index) in &self.by_base {
            let (Some(slot), Some(Some(record))) = (self.slots.get(*index as usize), self.records.get(*index as usize))
            else {
                tell("memory-records", format!("nothing is known of the allocation at {base:#x}"));
                continue;
            };
            if (slot.base, slot.bytes) != (record.base, record.bytes) || slot.base != *base {
                tell("memory-records", format!("slot and record of {base:#x} disagree"));
            }
            if *base < end_before {
                tell("memory-overlap", format!("the allocation at {base:#x} begins in the one before it"));
            }
            end_before = base.saturating_add(slot.bytes);
            match &slot.backing {
                Backing::Device(region) => {
                    if region.len() as u64 != slot.bytes {
                        tell("memory-backing", format!("{} bytes stand behind {base:#x}", region.len()));
                    }
                    used[slot.home.device] += if record.kind == Kind::Mapped { 0 } else { slot.bytes };
                    by_graphs[slot.home.device] += if record.kind == Kind::Graph { slot.bytes } else { 0 };
                }
                Backing::Lent(_) => tell("memory-backing", format!("{base:#x} is still lent, and nobody runs on it")),
                Backing::Host(_) if matches!(record.kind, Kind::HostPinned | Kind::HostRegistered | Kind::Managed) => {}
                Backing::Host(_) => tell("memory-backing", format!("{base:#x} is host memory and says otherwise")),
            }
        }
        let mut vacant = self.vacant.clone();
        vacant.sort_unstable();
        vacant.dedup();
        let is_vacant = |index: &u32| {
            self.records.get(*index as usize).is_some_and(Option::is_none)
                && self.slots.get(*index as usize).is_some_and(|slot| slot.bytes == 0)
        };
        if vacant.len() != self.vacant.len() || !vacant.iter().all(is_vacant) {
            tell("memory-vacant", "a slot is vacant twice, or in use".into());
        }
        if used != self.used || by_graphs != self.used_by_graphs {
            let (says, graphs) = (&self.used, &self.used_by_graphs);
            tell(
                "memory-used",
                format!("{used:?} bytes ({by_graphs:?} of graphs) are used, {says:?} ({graphs:?}) counted"),
            );
        }
        for used in self.used.iter().filter(|used| **used > self.capacity) {
            tell("memory-capacity", format!("{used} bytes are used of {}", self.capacity));
        }
    }

    /// The live allocation that begins here: size and kind.
    pub(crate) fn begins_at(&self, base: u64) -> Option<(u64, Kind)> {
        let record = self.records.get(*self.by_base.get(&base)? as usize)?.as_ref()?;
        Some((record.bytes, record.kind))
    }

    /// Every live allocation: start, size, kind.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, u64, Kind)> + '_ {
        self.records.iter().flatten().map(|record| (record.base, record.bytes, record.kind))
    }
}
