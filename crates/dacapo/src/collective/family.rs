//! The ranks of one communicator that are in this process: when one dies, the others are told.
//!
//! NCCL tells a rank of another one's end where it notices it, which is over the network: between GPUs of one machine it may say
//! nothing, and the others would wait until their timeout. In one process we know better. NCCL in software tells everybody by
//! itself, and more exactly.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::collective::UniqueId;

type Bytes = [u8; UniqueId::LEN];

/// What ranks of one id have in common. A rank holds it from before it joins.
pub(super) struct Family {
    id: Bytes,
    fallen: OnceLock<String>,
    /// What the first rank said that ended it of its own accord.
    said: OnceLock<(usize, String)>,
}

/// Those of which a rank is here.
static FAMILIES: Mutex<Vec<Weak<Family>>> = Mutex::new(Vec::new());

impl Family {
    /// That of this id.
    pub(super) fn of(id: &UniqueId) -> Arc<Family> {
        let id = id.to_bytes();
        let mut all = FAMILIES.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|family| family.strong_count() > 0);
        let there = all.iter().filter_map(Weak::upgrade).find(|family| family.id == id);
        there.unwrap_or_else(|| {
            let family = Arc::new(Family { id, fallen: OnceLock::new(), said: OnceLock::new() });
            all.push(Arc::downgrade(&family));
            family
        })
    }

    /// A rank is about to end it of its own accord.
    pub(super) fn says(&self, rank: usize, why: &str) {
        let _ = self.said.set((rank, why.to_string()));
    }

    /// What another rank than this one said so.
    pub(super) fn said_to(&self, rank: usize) -> Option<&(usize, String)> {
        self.said.get().filter(|(said_by, _)| *said_by != rank)
    }

    /// A rank is dead. The first one counts.
    pub(super) fn falls(&self, rank: usize, why: &str) {
        let _ = self.fallen.set(format!("rank {rank}, in the same process, is dead: {why}"));
    }

    /// Why its ranks cannot go on.
    pub(super) fn fallen(&self) -> Option<&str> {
        self.fallen.get().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_one_id_are_told_and_others_are_not() {
        let [id, other] = [1, 2].map(|byte| UniqueId::from_bytes([byte; UniqueId::LEN]));
        let (here, there, stranger) = (Family::of(&id), Family::of(&id), Family::of(&other));
        here.says(1, "why");
        assert_eq!(there.said_to(0), Some(&(1, "why".to_string())));
        assert_eq!((there.said_to(1), stranger.said_to(0)), (None, None));
        here.falls(1, "it was aborted: why");
        here.falls(0, "rank 1 is gone");
        assert_eq!(there.fallen(), Some("rank 1, in the same process, is dead: it was aborted: why"));
        assert_eq!(stranger.fallen(), None);
        drop((here, there));
        assert_eq!(Family::of(&id).fallen(), None, "an id that nobody has any more is a new one");
    }
}
