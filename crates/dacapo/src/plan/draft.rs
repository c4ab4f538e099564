//! Takes steps down as they come, with every join that might be of use; `finish` keeps those that pay.
//!
//! A join of a steps that b steps wait for pays when a x b edges are many more than a + b. Only at the end is b known, so
//! the others are dissolved then: whoever waits for one waits for what it stood for. Most recordings have no joins at all:
//! steps before the first one are as they will stay, at once.

use super::lines::Lines;
use super::{NONE, Order, What, number};
use std::ops::Range;

/// A join that stands for no more edges than this is dissolved: a node more in a graph costs more than they do.
const PAIRS: usize = 64;

/// Steps so far, and what the next op waits for.
pub(super) struct Draft {
    /// The steps before the first join, in the end all of them.
    order: Order,
    /// The steps from the first join on. They are counted behind those of the order.
    rough: Vec<Rough>,
    /// What each rough step waits for, one step's after another's; in any order, perhaps twice.
    before: Vec<u32>,
    next: Vec<u32>,
    ops: u32,
    reduction: Reduction,
    lines: Lines,
}

struct Rough {
    what: What,
    /// Where its part of `before` ends.
    end: u32,
    /// How many wait for it.
    uses: u32,
}

impl Draft {
    /// Room for so many ops.
    pub(super) fn with_capacity(ops: usize) -> Draft {
        Draft {
            order: Order { steps: Vec::with_capacity(ops), after: Vec::with_capacity(ops) },
            rough: Vec::new(),
            before: Vec::new(),
            next: Vec::new(),
            ops: 0,
            reduction: Reduction::default(),
            lines: Lines::default(),
        }
    }

    /// The op being drafted waits for `steps`.
    pub(super) fn wait_for(&mut self, steps: &[u32]) {
        self.next.extend_from_slice(steps);
    }

    /// The same of one.
    #[inline]
    pub(super) fn wait_for_one(&mut self, step: u32) {
        self.next.push(step);
    }

    /// A join of `steps`. It comes before the op being drafted.
    pub(super) fn join(&mut self, steps: &[u32]) -> u32 {
        self.push_rough(What::Join, steps)
    }

    /// The op being drafted is complete.
    #[inline]
    pub(super) fn op(&mut self) -> u32 {
        let what = What::Op(self.ops);
        self.ops += 1;
        if !self.rough.is_empty() {
            return self.rough_op(what);
        }
        if self.next.len() > 1 {
            self.reduction.reduce(&mut self.next, &self.order);
            self.lines.reduce(&mut self.next, &self.order);
        }
        self.order.push(what, &self.next);
        self.next.clear();
        number(self.order.steps.len() - 1)
    }

    fn rough_op(&mut self, what: What) -> u32 {
        let waits = std::mem::take(&mut self.next);
        let step = self.push_rough(what, &waits);
        self.next = waits;
        self.next.clear();
        step
    }

    fn push_rough(&mut self, what: What, waits: &[u32]) -> u32 {
        let first = self.order.steps.len();
        self.before.extend_from_slice(waits);
        for rough in waits.iter().filter_map(|source| (*source as usize).checked_sub(first)) {
            self.rough[rough].uses += 1;
        }
        self.rough.push(Rough { what, end: number(self.before.len()), uses: 0 });
        number(first + self.rough.len() - 1)
    }

    /// The order: with the joins that pay, and without edges that are seen to be implied.
    pub(super) fn finish(self) -> Order {
        let Draft { mut order, rough, before, mut reduction, mut lines, .. } = self;
        let first = order.steps.len();
        let mut fates = Vec::with_capacity(rough.len());
        // What dissolved joins stood for.
        let mut dissolved = Vec::new();
        let (mut waits, mut open) = (Vec::new(), Vec::new());
        let mut begin = 0;
        for step in &rough {
            let own = begin..step.end as usize;
            begin = own.end;
            let uses = step.uses as usize;
            if step.what == What::Join && uses < 2 {
                // Whoever waits for it takes over its part as it is. Often a join of joins of joins: sorting each would
                // cost a logarithm more.
                fates.push(Fate::Inlined(own));
                continue;
            }
            waits.clear();
            open.push(own);
            while let Some(part) = open.pop() {
                for source in &before[part] {
                    match (*source as usize).checked_sub(first).map(|rough| &fates[rough]) {
                        None => waits.push(*source),
                        Some(Fate::Kept(step)) => waits.push(*step),
                        Some(Fate::Dissolved(part)) => waits.extend_from_slice(&dissolved[part.clone()]),
                        Some(Fate::Inlined(part)) => open.push(part.clone()),
                    }
                }
            }
            reduction.reduce(&mut waits, &order);
            lines.reduce(&mut waits, &order);
            let pays = waits.len() > 1 && waits.len().saturating_mul(uses) > PAIRS;
            if step.what == What::Join && !pays {
                let from = dissolved.len();
                dissolved.extend_from_slice(&waits);
                fates.push(Fate::Dissolved(from..dissolved.len()));
            } else {
                fates.push(Fate::Kept(number(order.steps.len())));
                order.push(step.what, &waits);
            }
        }
        order
    }
}

/// What became of a rough step.
enum Fate {
    /// It is this step of the order.
    Kept(u32),
    /// It stood for this part of what dissolved joins stood for.
    Dissolved(Range<usize>),
    /// It stood for this part of the draft's own list, which only one step asks for.
    Inlined(Range<usize>),
}

/// Drops what is there twice, and what is implied.
#[derive(Default)]
struct Reduction {
    /// For each step the round in which it was last asked about, if it is still wanted.
    round_of: Vec<u32>,
    round: u32,
}

impl Reduction {
    /// Sorts `waits`; leaves out a step that another one of them waits for.
    fn reduce(&mut self, waits: &mut Vec<u32>, order: &Order) {
        if waits.len() < 2 {
            return;
        }
        waits.sort_unstable();
        waits.dedup();
        self.round += 1;
        self.round_of.resize(order.steps.len(), NONE);
        for step in &*waits {
            self.round_of[*step as usize] = self.round;
        }
        let first = waits[0];
        // A bound for hubs: where much meets much, an edge too many is cheaper than looking for it.
        let mut effort = 64 + 8 * waits.len();
        // From the end: what implies is late, and so is looked at while there is effort left.
        for step in waits[1..].iter().rev() {
            let before = order.after(*step as usize);
            if before.last().is_none_or(|last| *last < first) {
                continue;
            }
            // Through the shorter of the two lists.
            let cost = before.len().min(4 * waits.len());
            if cost > effort {
                break;
            }
            effort -= cost;
            if before.len() <= 4 * waits.len() {
                before.iter().for_each(|one| self.drop_step(*one));
            } else {
                waits.iter().filter(|one| before.binary_search(one).is_ok()).for_each(|one| self.drop_step(*one));
            }
        }
        waits.retain(|step| self.round_of[*step as usize] == self.round);
    }

    fn drop_step(&mut self, step: u32) {
        if self.round_of[step as usize] == self.round {
            self.round_of[step as usize] = NONE;
        }
    }
}
