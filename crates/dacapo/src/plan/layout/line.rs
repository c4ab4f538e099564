//! Lays lives out in the order of time where ops run one after another: what is over is free for all, so that free bytes
//! can be merged and found by their size. Near-linear.

use super::Found;
use super::lives::Lives;
use std::collections::{BTreeMap, BTreeSet};

/// From the first on.
pub(super) fn forward(lives: &Lives) -> Found {
    let all = lives.all();
    let begins: Vec<u32> = (0..all.len() as u32).collect();
    let mut ends = begins.clone();
    ends.sort_by_key(|life| all[*life as usize].last);
    run(lives, &begins, &ends, |ended, life| all[ended as usize].last < all[life as usize].first)
}

/// From the last on: the same problem with time reversed.
pub(super) fn backward(lives: &Lives) -> Found {
    let all = lives.all();
    let ends: Vec<u32> = (0..all.len() as u32).rev().collect();
    let mut begins = ends.clone();
    begins.sort_by_key(|life| std::cmp::Reverse(all[*life as usize].last));
    run(lives, &begins, &ends, |ended, life| all[ended as usize].first > all[life as usize].last)
}

/// Places `begins` one after another; before each, frees those of `ends` that are over.
fn run(lives: &Lives, begins: &[u32], ends: &[u32], is_over: impl Fn(u32, u32) -> bool) -> Found {
    let all = lives.all();
    let mut offsets = vec![0; all.len()];
    let mut free = Free::default();
    let mut ended = ends.iter().peekable();
    for &life in begins {
        while let Some(&over) = ended.next_if(|over| is_over(**over, life)) {
            free.give_back(offsets[over as usize], all[over as usize].bytes);
        }
        offsets[life as usize] = free.take(all[life as usize].bytes);
    }
    Found { offsets, bytes: free.top }
}

/// Free bytes below the top: no two pieces touch.
#[derive(Default)]
struct Free {
    by_start: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    top: u64,
}

impl Free {
    /// From the tightest piece that is large enough, or else from the top, with what is free below it.
    fn take(&mut self, bytes: u64) -> u64 {
        if let Some(&(size, start)) = self.by_size.range((bytes, 0)..).next() {
            self.remove(start, size);
            if size > bytes {
                self.insert(start + bytes, size - bytes);
            }
            return start;
        }
        let start = match self.by_start.last_key_value() {
            Some((&start, &size)) if start + size == self.top => {
                self.remove(start, size);
                start
            }
            _ => self.top,
        };
        self.top = start + bytes;
        start
    }

    fn give_back(&mut self, mut start: u64, mut bytes: u64) {
        if let Some((&below, &size)) = self.by_start.range(..start).next_back()
            && below + size == start
        {
            self.remove(below, size);
            (start, bytes) = (below, bytes + size);
        }
        if let Some(&size) = self.by_start.get(&(start + bytes)) {
            self.remove(start + bytes, size);
            bytes += size;
        }
        self.insert(start, bytes);
    }

    fn insert(&mut self, start: u64, size: u64) {
        self.by_start.insert(start, size);
        self.by_size.insert((size, start));
    }

    fn remove(&mut self, start: u64, size: u64) {
        self.by_start.remove(&start);
        self.by_size.remove(&(size, start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_piece_is_free_and_pieces_that_touch_become_one() {
        let mut free = Free::default();
        assert_eq!((free.take(1024), free.take(256)), (0, 1024));
        free.give_back(0, 1024);
        assert_eq!((free.take(256), free.take(512), free.take(256), free.top), (0, 256, 768, 1280));
        free.give_back(256, 512);
        free.give_back(768, 256);
        free.give_back(0, 256);
        assert_eq!((free.take(1024), free.top), (0, 1280));
        // The last one is at the top: what comes next takes its place, however large.
        free.give_back(1024, 256);
        assert_eq!((free.take(512), free.top), (1024, 1536));
    }
}
