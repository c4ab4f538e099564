//! Temps as the moments between which they are alive.
//!
//! A life begins in the moments that no other of its own comes before, and ends in those that come before no other. With
//! one writer and a line of readers, each is one. One life is over before another begins if all its ends come before all
//! the other's beginnings; so lives are ordered as ops are, and in part.

use super::reach::Reach;
use super::{TempUse, rounded};
use std::ops::Range;

/// Ends beyond these are not compared with each other any more: one too many is only asked about in vain.
const COMPARED: usize = 32;

/// What takes room, sorted by first moment.
pub(super) struct Lives {
    lives: Vec<Life>,
    /// Beginnings and ends that are several.
    several: Vec<u32>,
    bound: u64,
    sum: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Life {
    /// Rounded up.
    pub bytes: u64,
    /// Its lowest moment: a beginning.
    pub first: u32,
    /// Its highest moment: an end.
    pub last: u32,
    temp: u32,
    /// Where the other beginnings and ends are.
    begins: Range<u32>,
    ends: Range<u32>,
}

impl Lives {
    pub(super) fn new(reach: &Reach, temps: &[TempUse<'_>]) -> Lives {
        let mut lives = Lives { lives: Vec::with_capacity(temps.len()), several: Vec::new(), bound: 0, sum: 0 };
        let mut moments = Vec::new();
        for (number, temp) in temps.iter().enumerate() {
            let [first, .., last] = *temp.ops else {
                if let ([only], true) = (temp.ops, temp.bytes > 0) {
                    let only = reach.moment(*only);
                    lives.push(number, temp.bytes, only, only, 0..0, 0..0);
                }
                continue;
            };
            if temp.bytes == 0 {
                continue;
            }
            let (first, last) = (reach.moment(first), reach.moment(last));
            let (mut begins, mut ends) = (0..0, 0..0);
            if !matches!(reach, Reach::Line) {
                moments.clear();
                moments.extend(temp.ops.iter().map(|op| reach.moment(*op)));
                begins = lives.extremes(moments.iter().copied(), |a, b| reach.is_before(a, b));
                ends = lives.extremes(moments.iter().rev().copied(), |a, b| reach.is_before(b, a));
            }
            lives.push(number, temp.bytes, first, last, begins, ends);
        }
        lives.lives.sort_by_key(|life| life.first);
        lives.sum = lives.lives.iter().fold(0, |sum, life| sum.saturating_add(life.bytes));
        // As recorded, and where there are branches also with each op as early or as late as can be.
        lives.bound = lives.most_alive(|life| (life.first, life.last));
        for depth in reach.depths().into_iter().flatten() {
            let of = |moments: &mut dyn Iterator<Item = u32>, least: bool| {
                let depths = moments.map(|moment| depth[moment as usize]);
                if least { depths.min() } else { depths.max() }.unwrap_or(0)
            };
            let span = |life: &Life| (of(&mut lives.begins(life), true), of(&mut lives.ends(life), false));
            lives.bound = lives.bound.max(lives.most_alive(span));
        }
        lives
    }

    fn push(&mut self, temp: usize, bytes: u64, first: u32, last: u32, begins: Range<u32>, ends: Range<u32>) {
        self.lives.push(Life { bytes: rounded(bytes), first, last, temp: temp as u32, begins, ends });
    }

    /// Takes down, but for the first, those of `moments` that no other one implies. A moment may only be implied by those
    /// that come before it in `moments`.
    fn extremes(&mut self, mut moments: impl Iterator<Item = u32>, implies: impl Fn(u32, u32) -> bool) -> Range<u32> {
        let from = self.several.len();
        let Some(first) = moments.next() else { return 0..0 };
        for moment in moments {
            let known = &self.several[from..];
            let is_implied = implies(first, moment) || known.iter().take(COMPARED).any(|one| implies(*one, moment));
            if !is_implied {
                self.several.push(moment);
            }
        }
        from as u32..self.several.len() as u32
    }

    /// The most that is alive at one time, where `span` says when each life begins and ends in some run that the order
    /// allows. No layout is smaller: lives that meet in one such run are not ordered.
    fn most_alive(&self, span: impl Fn(&Life) -> (u32, u32)) -> u64 {
        let mut begins: Vec<(u32, u64)> = Vec::with_capacity(self.lives.len());
        let mut ends: Vec<(u32, u64)> = Vec::with_capacity(self.lives.len());
        for life in &self.lives {
            let (begin, end) = span(life);
            begins.push((begin, life.bytes));
            ends.push((end, life.bytes));
        }
        begins.sort_unstable_by_key(|(at, _)| *at);
        ends.sort_unstable_by_key(|(at, _)| *at);
        let mut ended = ends.iter().peekable();
        let (mut live, mut most) = (0u64, 0);
        for (begin, bytes) in begins {
            while let Some((_, bytes)) = ended.next_if(|(end, _)| *end < begin) {
                live = live.saturating_sub(*bytes);
            }
            live = live.saturating_add(bytes);
            most = most.max(live);
        }
        most
    }

    pub(super) fn all(&self) -> &[Life] {
        &self.lives
    }

    /// No layout is smaller than this.
    pub(super) fn bound(&self) -> u64 {
        self.bound
    }

    /// All one after another.
    pub(super) fn sum(&self) -> u64 {
        self.sum
    }

    /// Which temp a life is.
    pub(super) fn temp(&self, life: usize) -> usize {
        self.lives[life].temp as usize
    }

    pub(super) fn begins(&self, life: &Life) -> impl Iterator<Item = u32> + Clone + use<'_> {
        std::iter::once(life.first)
            .chain(self.several[life.begins.start as usize..life.begins.end as usize].iter().copied())
    }

    pub(super) fn ends(&self, life: &Life) -> impl Iterator<Item = u32> + Clone + use<'_> {
        std::iter::once(life.last).chain(self.several[life.ends.start as usize..life.ends.end as usize].iter().copied())
    }

    /// Whether `a` is over when `b` begins.
    pub(super) fn is_before(&self, reach: &Reach, a: &Life, b: &Life) -> bool {
        // Cheap, and often the answer.
        if a.last >= b.first || !reach.is_before(a.last, b.first) {
            return false;
        }
        a.ends.is_empty() && b.begins.is_empty()
            || self.ends(a).all(|end| self.begins(b).all(|begin| reach.is_before(end, begin)))
    }
}
