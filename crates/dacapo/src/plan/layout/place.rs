//! Lays lives out in orders other than that of time, each into the lowest gap that those near it leave.
//!
//! First some orders that are often good. Then, from the best of them on: whoever finds no place below the best so far is
//! moved forward, and again. Stops when nothing smaller is possible, or when the effort is spent.

use super::Found;
use super::lives::Lives;
use super::near::Near;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// So many rounds after the first orders, for each life, but not more than ...
const ROUNDS: usize = 4;
/// ... these.
const ROUNDS_MOST: usize = 400;
/// So many looks at a near life, for each life: small recordings shall cost little.
const LOOKS: usize = 1000;

/// The search, and the best so far.
pub(super) struct Places<'l> {
    lives: &'l Lives,
    near: &'l Near,
    best: Found,
    /// The order that gave it.
    best_order: Vec<u32>,
    /// Nothing smaller is possible.
    bound: u64,
    /// The offsets of the round; `NOWHERE` for what is not placed yet.
    offsets: Vec<u64>,
    taken: Vec<(u64, u64)>,
    /// So many looks at a near life are left, for all rounds together.
    looks: usize,
}

const NOWHERE: u64 = u64::MAX;

/// Why there is nothing more to do.
enum Stop {
    /// Nothing smaller is possible.
    Optimal,
    /// The effort is spent.
    Spent,
}

impl<'l> Places<'l> {
    pub(super) fn new(lives: &'l Lives, near: &'l Near, best: Found, looks: usize) -> Places<'l> {
        let looks = looks.min(LOOKS.saturating_mul(lives.all().len()));
        let (offsets, taken, best_order) = (Vec::new(), Vec::new(), Vec::new());
        Places { lives, near, best, best_order, bound: lives.bound(), offsets, taken, looks }
    }

    pub(super) fn search(mut self) -> Found {
        let (Ok(()) | Err(Stop::Optimal | Stop::Spent)) = self.try_all();
        self.best
    }

    fn try_all(&mut self) -> Result<(), Stop> {
        let all = self.lives.all();
        let span = |life: u32| u64::from(all[life as usize].last - all[life as usize].first + 1);
        let bytes = |life: u32| all[life as usize].bytes;
        let crowd: Vec<u64> =
            (0..all.len() as u32).map(|life| self.near.of(life).iter().map(|other| bytes(*other)).sum()).collect();
        let keys: [&dyn Fn(u32) -> (u64, u64); 5] = [
            &|life| (bytes(life), span(life)),
            &|life| (crowd[life as usize] + bytes(life), bytes(life)),
            &|life| (bytes(life).saturating_mul(span(life)), bytes(life)),
            &|life| (span(life), bytes(life)),
            &|life| (1 << (63 - bytes(life).leading_zeros()), span(life)),
        ];
        for key in keys {
            let mut order: Vec<u32> = (0..all.len() as u32).collect();
            order.sort_by_key(|life| Reverse(key(*life)));
            self.raise_bound(&order);
            let built = self.built_up(&order)?;
            self.place(&built)?;
            self.place(&order)?;
        }
        self.squeeze()
    }

    /// A heavy set of lives that are all near each other, by taking them in this order: no layout is smaller.
    fn raise_bound(&mut self, order: &[u32]) {
        let all = self.lives.all();
        // Of those chosen, how many are near each life.
        let mut near = vec![0u32; all.len()];
        let (mut chosen, mut bytes) = (0, 0);
        for &life in order {
            if near[life as usize] == chosen {
                chosen += 1;
                bytes += all[life as usize].bytes;
                self.near.of(life).iter().for_each(|other| near[*other as usize] += 1);
            }
        }
        self.bound = self.bound.max(bytes);
    }

    /// Whoever can lie lowest comes next; of several, the first in `order`.
    fn built_up(&mut self, order: &[u32]) -> Result<Vec<u32>, Stop> {
        let all = self.lives.all();
        // For each life, on top of what it would lie; `NOWHERE` once it lies there.
        let mut floor = vec![0u64; all.len()];
        let mut lowest: BinaryHeap<Reverse<(u64, u32)>> = (0..all.len() as u32).map(|at| Reverse((0, at))).collect();
        let mut built = Vec::with_capacity(all.len());
        while let Some(Reverse((height, at))) = lowest.pop() {
            let life = order[at as usize];
            if floor[life as usize] != height {
                lowest.push(Reverse((floor[life as usize], at)));
                continue;
            }
            floor[life as usize] = NOWHERE;
            built.push(life);
            let top = height + all[life as usize].bytes;
            for other in self.near_of(life)? {
                let floor = &mut floor[*other as usize];
                *floor = (*floor).max(top);
            }
        }
        Ok(built)
    }

    /// Moves whoever finds no place forward, again and again.
    fn squeeze(&mut self) -> Result<(), Stop> {
        // Without one, all of them lost to a sweep by far.
        let mut order = self.best_order.clone();
        // How far, as numbers that look random and are always the same.
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..(ROUNDS * order.len()).min(ROUNDS_MOST) {
            if let Some(at) = self.place(&order)? {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let to = if state >> 63 == 0 { 0 } else { (state >> 33) as usize % (at + 1) };
                order[to..=at].rotate_right(1);
            }
        }
        Ok(())
    }

    /// Places all in this order, and keeps it if it is smaller than the best so far; else at which of them it was not.
    fn place(&mut self, order: &[u32]) -> Result<Option<usize>, Stop> {
        let all = self.lives.all();
        self.offsets.clear();
        self.offsets.resize(all.len(), NOWHERE);
        let mut most = 0;
        for (at, &life) in order.iter().enumerate() {
            self.taken.clear();
            for &other in self.near_of(life)? {
                let start = self.offsets[other as usize];
                if start != NOWHERE {
                    self.taken.push((start, start + all[other as usize].bytes));
                }
            }
            self.taken.sort_unstable();
            let bytes = all[life as usize].bytes;
            let mut offset = 0;
            for (start, end) in &self.taken {
                if *start >= offset + bytes {
                    break;
                }
                offset = offset.max(*end);
            }
            self.offsets[life as usize] = offset;
            most = most.max(offset + bytes);
            if most >= self.best.bytes {
                return Ok(Some(at));
            }
        }
        self.best.offsets.clone_from(&self.offsets);
        self.best.bytes = most;
        self.best_order.clear();
        self.best_order.extend_from_slice(order);
        if most <= self.bound { Err(Stop::Optimal) } else { Ok(None) }
    }

    /// Those near a life, and counts the looks at them.
    fn near_of(&mut self, life: u32) -> Result<&'l [u32], Stop> {
        let near: &'l [u32] = self.near.of(life);
        self.looks = self.looks.checked_sub(near.len()).ok_or(Stop::Spent)?;
        Ok(near)
    }
}
