//! Which steps come before which, by any path.

use super::super::{Order, What};

/// All that come before each op.
pub(super) enum Reach {
    /// Each op after the one before it.
    Line,
    /// A row of bits for each step.
    Bits { words: usize, rows: Vec<u64>, step_of: Vec<u32> },
}

impl Reach {
    pub(super) fn new(order: &Order) -> Reach {
        let steps = order.steps().len();
        let is_line = (1..steps).all(|step| order.after(step).last() == Some(&(step as u32 - 1)));
        if is_line {
            return Reach::Line;
        }
        let words = steps.div_ceil(64);
        let mut rows = vec![0u64; words * steps];
        let mut step_of = Vec::with_capacity(steps);
        for (number, step) in order.steps().iter().enumerate() {
            if let What::Op(_) = step.what {
                step_of.push(number as u32);
            }
            let (before, own) = rows.split_at_mut(number * words);
            for &earlier in order.after(number) {
                let earlier = earlier as usize;
                own[..words].iter_mut().zip(&before[earlier * words..][..words]).for_each(|(to, from)| *to |= from);
                own[earlier / 64] |= 1 << (earlier % 64);
            }
        }
        Reach::Bits { words, rows, step_of }
    }

    /// Whether op `a` has ended when op `b` begins.
    pub(super) fn is_before(&self, a: u32, b: u32) -> bool {
        match self {
            Reach::Line => a < b,
            Reach::Bits { words, rows, step_of } => {
                let (a, b) = (step_of[a as usize] as usize, step_of[b as usize] as usize);
                rows[b * words + a / 64] & 1 << (a % 64) != 0
            }
        }
    }
}
