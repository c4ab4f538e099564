//! Where each temp lies in the one allocation that a graph or a run takes for all of them.
//!
//! What one can rely on:
//!
//! - two temps share bytes only if every op of one comes before every op of the other, by edges of the order: what may
//!   overlap in time never overlaps in memory. No edge is added for memory's sake;
//! - every offset is a multiple of [`ALIGNMENT`]; `bytes` is where the last temp ends, rounded up to it;
//! - a temp of no bytes, or that no op touches, takes no room: its offset is 0;
//! - the same order and temps give the same layout, always;
//! - the effort is bounded: near-linear where there is much, and where little is left to gain, next to nothing.
//!
//! Not promised: the smallest layout, which is a hard problem. What is left on the table is measured by the committed
//! traces (`cargo xtask planner`).
//!
//! How, in reading order: `reach` knows which ops come before which (`chains` where there are too many to say it for each
//! pair); `lives` are the temps as their first and last ops; `line` and `sweep` lay them out in the order of time; `near`
//! lists for each life those it must not meet, and with it `place` tries other orders, as long as it pays.

mod chains;
mod line;
mod lives;
mod near;
mod place;
mod reach;
mod sweep;

use super::Order;
use lives::Lives;
use near::Near;
use place::Places;
use reach::Reach;

/// What every offset is a multiple of, as every address that the driver allocates.
pub(crate) const ALIGNMENT: u64 = 256;

/// A temp as the layout sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TempUse<'a> {
    /// How many it has.
    pub bytes: u64,
    /// The ops that touch it, ascending.
    pub ops: &'a [u32],
}

/// An offset for each temp.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    /// In the order of the temps.
    pub offsets: Vec<u64>,
    /// What all of them need together.
    pub bytes: u64,
}

/// How much is done for a layout before less is said with less.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Words of bits that say which ops come before which; above, chains do.
    pub words: usize,
    /// Chains, at most.
    pub chains: usize,
    /// Places that a sweep looks at.
    pub swept: usize,
    /// Pairs of lives that must not meet, listed; above, there are only sweeps.
    pub pairs: usize,
    /// Looks at such a pair in all rounds together.
    pub looks: usize,
}

/// 10,000 temps take less than 100 ms (`cargo bench -p dacapo --bench plan`).
pub(crate) const LIMITS: Limits = Limits { words: 1 << 22, chains: 64, swept: 1 << 20, pairs: 1 << 19, looks: 1 << 20 };

/// Lays temps out.
pub(crate) fn layout(order: &Order, temps: &[TempUse<'_>]) -> Layout {
    layout_within(order, temps, LIMITS)
}

/// As [`layout`], with other limits: so that tests reach what only large recordings do.
pub(crate) fn layout_within(order: &Order, temps: &[TempUse<'_>], limits: Limits) -> Layout {
    let takes_room = |temp: &&TempUse<'_>| temp.bytes > 0 && !temp.ops.is_empty();
    let mut offsets = vec![0; temps.len()];
    if temps.iter().filter(takes_room).nth(1).is_none() {
        let bytes = temps.iter().find(takes_room).map_or(0, |temp| rounded(temp.bytes));
        return Layout { offsets, bytes };
    }
    let reach = Reach::new(order, temps, limits);
    let lives = Lives::new(&reach, temps);
    let found = search(&reach, &lives, limits);
    for (life, offset) in found.offsets.iter().enumerate() {
        offsets[lives.temp(life)] = *offset;
    }
    Layout { offsets, bytes: found.bytes }
}

/// An offset for each life.
#[derive(Clone)]
struct Found {
    offsets: Vec<u64>,
    bytes: u64,
}

impl Found {
    /// Whichever is smaller.
    fn or(self, other: Found) -> Found {
        if other.bytes < self.bytes { other } else { self }
    }
}

/// The smallest that is found with bounded effort: the cheap ways first.
fn search(reach: &Reach, lives: &Lives, limits: Limits) -> Found {
    // More than there is anywhere: nobody will allocate it, and below this no sum overflows.
    if lives.bound() == lives.sum() || lives.sum() > 1 << 60 {
        return sweep::stacked(lives);
    }
    let mut best = match reach {
        Reach::Line => line::forward(lives),
        _ => sweep::forward(reach, lives, limits.swept),
    };
    if best.bytes <= lives.bound() {
        return best;
    }
    best = best.or(match reach {
        Reach::Line => line::backward(lives),
        _ => sweep::backward(reach, lives, limits.swept / 2),
    });
    if best.bytes <= lives.bound() {
        return best;
    }
    match Near::new(reach, lives, limits.pairs) {
        Some(near) => Places::new(lives, &near, best, limits.looks).search(),
        // Too many that must not meet: then there is little room to find.
        None => best,
    }
}

/// Up to the next multiple of the alignment.
fn rounded(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX - (ALIGNMENT - 1))
}
