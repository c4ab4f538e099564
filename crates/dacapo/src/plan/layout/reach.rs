//! Which ops come before which, by any path.
//!
//! Only ops that touch temps are asked about. Each is a *moment*: a number that grows with the step.

use super::super::{NONE, Order, What, number};
use super::chains::Chains;
use super::{Limits, TempUse};

/// All that come before each moment.
pub(super) enum Reach {
    /// Each op comes after the one before it; a moment is the number of an op.
    Line,
    /// For each step a row of bits, one for each moment.
    Bits(Bits),
    /// For each step how far along some chains.
    Chains(Chains),
}

pub(super) struct Bits {
    words: usize,
    rows: Vec<u64>,
    moments: Moments,
}

/// The ops that are asked about.
pub(super) struct Moments {
    /// The moment of each step, or `NONE`.
    pub of_step: Vec<u32>,
    /// The step of each moment.
    pub steps: Vec<u32>,
    /// The moment of each op, or `NONE`.
    of_op: Vec<u32>,
    /// For each moment the longest path that leads to it, and one to the end, counted backwards: two ways of running
    /// everything, as early as can be and as late as can be.
    depths: [Vec<u32>; 2],
}

impl Reach {
    /// For the ops that touch `temps`.
    pub(super) fn new(order: &Order, temps: &[TempUse<'_>], limits: Limits) -> Reach {
        let steps = order.steps().len();
        if (1..steps).all(|step| order.after(step).last() == Some(&(step as u32 - 1))) {
            return Reach::Line;
        }
        let moments = Moments::new(order, temps);
        if moments.steps.len().div_ceil(64).saturating_mul(steps) > limits.words {
            return Reach::Chains(Chains::new(order, moments, limits.chains));
        }
        Reach::Bits(Bits::new(order, moments))
    }

    /// The moment of an op that touches a temp.
    pub(super) fn moment(&self, op: u32) -> u32 {
        match self {
            Reach::Line => op,
            Reach::Bits(Bits { moments, .. }) => moments.of_op[op as usize],
            Reach::Chains(chains) => chains.moments.of_op[op as usize],
        }
    }

    /// Other numbers of moments that grow along every edge: whatever is alive at one of them may be alive together.
    pub(super) fn depths(&self) -> Option<&[Vec<u32>; 2]> {
        match self {
            Reach::Line => None,
            Reach::Bits(Bits { moments, .. }) | Reach::Chains(Chains { moments, .. }) => Some(&moments.depths),
        }
    }

    /// Whether `a` has ended when `b` begins. False also where it is not known.
    pub(super) fn is_before(&self, a: u32, b: u32) -> bool {
        match self {
            Reach::Line => a < b,
            Reach::Bits(bits) => bits.row(b)[a as usize / 64] & 1 << (a % 64) != 0,
            Reach::Chains(chains) => chains.is_before(a, b),
        }
    }

    /// Calls `act` with each moment below `limit` that is not before `b`, until it says that it has enough.
    pub(super) fn for_each_beside(&self, b: u32, limit: u32, act: &mut impl FnMut(u32) -> bool) -> bool {
        match self {
            Reach::Line => true,
            Reach::Bits(bits) => {
                for (word, row) in bits.row(b).iter().enumerate().take((limit as usize).div_ceil(64)) {
                    let mut beside = !row;
                    while beside != 0 {
                        let moment = 64 * number(word) + beside.trailing_zeros();
                        if moment >= limit {
                            break;
                        }
                        if !act(moment) {
                            return false;
                        }
                        beside &= beside - 1;
                    }
                }
                true
            }
            Reach::Chains(chains) => chains.for_each_beside(b, limit, act),
        }
    }
}

impl Bits {
    fn new(order: &Order, moments: Moments) -> Bits {
        let words = moments.steps.len().div_ceil(64);
        // Nothing after the last moment is asked about.
        let steps = moments.steps.last().map_or(0, |last| *last as usize + 1);
        let mut rows = vec![0u64; words * steps];
        for step in 0..steps {
            let (before, own) = rows.split_at_mut(step * words);
            let own = &mut own[..words];
            for &earlier in order.after(step) {
                let earlier = earlier as usize;
                own.iter_mut().zip(&before[earlier * words..][..words]).for_each(|(to, from)| *to |= from);
                let moment = moments.of_step[earlier];
                if moment != NONE {
                    own[moment as usize / 64] |= 1 << (moment % 64);
                }
            }
        }
        Bits { words, rows, moments }
    }

    fn row(&self, moment: u32) -> &[u64] {
        &self.rows[self.moments.steps[moment as usize] as usize * self.words..][..self.words]
    }
}

impl Moments {
    fn new(order: &Order, temps: &[TempUse<'_>]) -> Moments {
        let steps = order.steps();
        // First a mark for each op, then its number.
        let mut of_op = vec![NONE; steps.len()];
        for op in temps.iter().flat_map(|temp| temp.ops) {
            of_op[*op as usize] = 0;
        }
        let mut moments =
            Moments { of_step: vec![NONE; steps.len()], steps: Vec::new(), of_op, depths: [Vec::new(), Vec::new()] };
        for (step, it) in steps.iter().enumerate() {
            let What::Op(op) = it.what else { continue };
            let moment = &mut moments.of_op[op as usize];
            if *moment != NONE {
                *moment = number(moments.steps.len());
                moments.of_step[step] = *moment;
                moments.steps.push(number(step));
            }
        }
        let (early, late) = depths(order);
        moments.depths = [early, late].map(|of| moments.steps.iter().map(|step| of[*step as usize]).collect());
        moments
    }
}

/// For each step how many must come before it, one after another; and a number that falls by how many must come after it.
fn depths(order: &Order) -> (Vec<u32>, Vec<u32>) {
    let steps = order.steps().len();
    let (mut early, mut late) = (vec![0u32; steps], vec![number(steps); steps]);
    for step in 0..steps {
        early[step] = order.after(step).iter().map(|earlier| early[*earlier as usize] + 1).max().unwrap_or(0);
    }
    for step in (0..steps).rev() {
        for &earlier in order.after(step) {
            late[earlier as usize] = late[earlier as usize].min(late[step] - 1);
        }
    }
    (early, late)
}
