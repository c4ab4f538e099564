//! Lays lives out in the order of time: each into what those that are over have left.
//!
//! It is enough to know who had each byte last: whoever had it before that was over when the last one began, and so is over
//! now. That makes a sweep cheap, without a list of who must not meet whom.

use super::Found;
use super::lives::{Life, Lives};
use super::reach::Reach;
use std::ops::Range;

/// All one after another.
pub(super) fn stacked(lives: &Lives) -> Found {
    let mut bytes = 0u64;
    let mut offsets = Vec::with_capacity(lives.all().len());
    for life in lives.all() {
        offsets.push(bytes);
        bytes = bytes.saturating_add(life.bytes);
    }
    Found { offsets, bytes }
}

/// From the first on. `looks`: how many places are looked at for all lives together; then what comes goes on top.
pub(super) fn forward(reach: &Reach, lives: &Lives, looks: usize) -> Found {
    let all = lives.all();
    sweep(lives, looks, 0..all.len() as u32, |owner, life| lives.is_before(reach, owner, life))
}

/// From the last on: the same problem with time reversed.
pub(super) fn backward(reach: &Reach, lives: &Lives, looks: usize) -> Found {
    let mut order: Vec<u32> = (0..lives.all().len() as u32).collect();
    order.sort_by_key(|life| std::cmp::Reverse(lives.all()[*life as usize].last));
    sweep(lives, looks, order.into_iter(), |owner, life| lives.is_before(reach, life, owner))
}

/// Bytes that one life had last.
struct Held {
    end: u64,
    owner: u32,
}

/// `order` goes with time, forwards or backwards; `is_free`: whether what the first had may be taken by the second.
fn sweep(
    lives: &Lives,
    mut looks: usize,
    order: impl Iterator<Item = u32>,
    is_free: impl Fn(&Life, &Life) -> bool,
) -> Found {
    let all = lives.all();
    let mut offsets = vec![0; all.len()];
    // All bytes so far, ascending, without gaps.
    let mut held: Vec<Held> = Vec::new();
    for number in order {
        let life = &all[number as usize];
        let place = fit(&held, life.bytes, &mut looks, |owner| is_free(&all[owner as usize], life));
        let start = if place.start == 0 { 0 } else { held[place.start - 1].end };
        let end = start + life.bytes;
        offsets[number as usize] = start;
        // What is left of the last one it covers stays with its owner.
        let is_whole = place.end == 0 || held[place.end - 1].end <= end;
        let replaced = place.start..if is_whole { place.end } else { place.end - 1 };
        held.splice(replaced, [Held { end, owner: number }]);
    }
    Found { offsets, bytes: held.last().map_or(0, |last| last.end) }
}

/// After the first gap that is large enough, so many places more are looked at for a tighter one.
const MORE: usize = 64;

/// Which of `held` a life of `bytes` shall cover: a tight gap that is large enough, or else the top, with what is free
/// below it.
fn fit(held: &[Held], bytes: u64, looks: &mut usize, is_free: impl Fn(u32) -> bool) -> Range<usize> {
    let mut best: Option<(u64, Range<usize>)> = None;
    // The gap being looked at: from which one on, from which byte on, and up to which.
    let (mut first, mut start, mut end) = (0, 0, 0);
    let mut until = held.len().min(*looks);
    let mut looked = 0;
    let consider = |best: &mut Option<(u64, Range<usize>)>, first: usize, start: u64, end: u64| {
        let gap = end - start;
        if gap >= bytes && best.as_ref().is_none_or(|(size, _)| gap < *size) {
            let covered = held[first..].partition_point(|one| one.end < start + bytes);
            *best = Some((gap, first..first + covered + 1));
        }
    };
    while looked < until {
        let one = &held[looked];
        looked += 1;
        if is_free(one.owner) {
            end = one.end;
            continue;
        }
        if first < looked - 1 {
            let is_first = best.is_none();
            consider(&mut best, first, start, end);
            if is_first && best.is_some() {
                until = until.min(looked + MORE);
            }
        }
        (first, start, end) = (looked, one.end, one.end);
    }
    *looks -= looked;
    if first < looked {
        consider(&mut best, first, start, end);
    }
    match best {
        Some((_, place)) => place,
        // Only what was looked at is known to be free.
        None if looked == held.len() => first..held.len(),
        None => held.len()..held.len(),
    }
}
