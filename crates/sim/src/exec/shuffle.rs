//! Operations among the lanes of a warp: shuffles, votes, matches, reductions.
//!
//! They run once for all members. A lane that exited, or never existed, has no value to give: reading one is reported, and
//! the reader keeps its own.

use super::access::lanes;
use super::lanes::Regs;
use super::machine::Machine;
use super::op::{NONE, WarpKind, WarpOp};

impl Machine<'_> {
    /// Runs operation `index` for the lanes in `mask`, which are all members that still run.
    pub(super) fn warp_op(&mut self, index: u32, regs: &mut Regs<'_>, pc: u32, mask: u32, live: u32) {
        let op = self.code.warp_ops[index as usize];
        let first = mask.trailing_zeros() as usize & 31;
        let members = regs.r32[op.members as usize][first];
        if members & !live != 0 && op.kind != WarpKind::Sync {
            let what = format!(
                "names lanes {:#010x} as members of a warp operation that have exited or do not exist",
                members & !live
            );
            let help = "take the mask from `__activemask()` or `__ballot_sync` before threads leave the kernel";
            self.note("warp-member-gone", pc, first, &what, help);
        }
        if let Some(races) = &mut self.races {
            races.meet(self.warp, mask, live);
        }
        match op.kind {
            WarpKind::Sync => self.progress.effects += 1,
            WarpKind::ShflUp | WarpKind::ShflDown | WarpKind::ShflBfly | WarpKind::ShflIdx => {
                self.shuffle(&op, regs, pc, mask);
            }
            WarpKind::VoteAll => regs.put_p(op.d, all_ones(regs.p[op.a as usize] & mask == mask), mask),
            WarpKind::VoteAny => regs.put_p(op.d, all_ones(regs.p[op.a as usize] & mask != 0), mask),
            WarpKind::VoteUni => {
                let votes = regs.p[op.a as usize] & mask;
                regs.put_p(op.d, all_ones(votes == 0 || votes == mask), mask);
            }
            WarpKind::Ballot => {
                let votes = regs.p[op.a as usize] & mask;
                regs.put32(op.d, &[votes; 32], mask);
            }
            WarpKind::MatchAny | WarpKind::MatchAny64 | WarpKind::MatchAll | WarpKind::MatchAll64 => {
                matches(&op, regs, mask);
            }
            WarpKind::Mma => super::matrix::multiply(&self.code.mmas[op.a as usize], regs),
            WarpKind::Elect => {
                regs.put32(op.d, &[first as u32; 32], mask);
                if op.p != NONE {
                    regs.put_p(op.p, 1 << first, mask);
                }
            }
            _ => {
                let column = regs.r32[op.a as usize];
                let result = lanes(mask).map(|lane| column[lane]).reduce(|x, y| reduce(op.kind, x, y)).unwrap_or(0);
                regs.put32(op.d, &[result; 32], mask);
            }
        }
    }

    /// `shfl` as the manual's pseudocode defines it: the segment and the clamp come packed in `c`.
    fn shuffle(&mut self, op: &WarpOp, regs: &mut Regs<'_>, pc: u32, mask: u32) {
        let source = regs.r32[op.a as usize];
        let (b, c) = (regs.r32[op.b as usize], regs.r32[op.c as usize]);
        let mut out = source;
        let mut inside = 0;
        let mut missing = None;
        for lane in lanes(mask) {
            let here = lane as i32;
            let amount = (b[lane] & 0x1f) as i32;
            let clamp = (c[lane] & 0x1f) as i32;
            let segment = (c[lane] >> 8 & 0x1f) as i32;
            let highest = (here & segment) | (clamp & !segment);
            let lowest = here & segment;
            let (from, valid) = match op.kind {
                WarpKind::ShflUp => (here - amount, here - amount >= highest),
                WarpKind::ShflDown => (here + amount, here + amount <= highest),
                WarpKind::ShflBfly => (here ^ amount, here ^ amount <= highest),
                _ => {
                    let from = lowest | (amount & !segment);
                    (from, from <= highest)
                }
            };
            let from = if valid { from } else { here };
            if valid {
                inside |= 1 << lane;
            }
            if mask & (1 << (from & 31)) == 0 {
                missing.get_or_insert((lane, from));
            } else {
                out[lane] = source[(from & 31) as usize];
            }
        }
        if let Some((lane, from)) = missing {
            let what = format!("shuffles from lane {from}, which does not take part, to lane {lane}");
            let help = "let every lane that is read take part, or limit the width of the shuffle";
            self.note("shuffle-missing-lane", pc, lane, &what, help);
        }
        regs.put32(op.d, &out, mask);
        if op.p != NONE {
            regs.put_p(op.p, inside, mask);
        }
    }
}

fn all_ones(value: bool) -> u32 {
    if value { u32::MAX } else { 0 }
}

fn reduce(kind: WarpKind, x: u32, y: u32) -> u32 {
    match kind {
        WarpKind::ReduxAnd => x & y,
        WarpKind::ReduxOr => x | y,
        WarpKind::ReduxXor => x ^ y,
        WarpKind::ReduxMinS => (x as i32).min(y as i32) as u32,
        WarpKind::ReduxMinU => x.min(y),
        WarpKind::ReduxMaxS => (x as i32).max(y as i32) as u32,
        WarpKind::ReduxMaxU => x.max(y),
        _ => x.wrapping_add(y),
    }
}

fn matches(op: &WarpOp, regs: &mut Regs<'_>, mask: u32) {
    let wide = matches!(op.kind, WarpKind::MatchAny64 | WarpKind::MatchAll64);
    let value = |regs: &Regs<'_>, lane: usize| {
        if wide { regs.r64[op.a as usize][lane] } else { regs.r32[op.a as usize][lane].into() }
    };
    let mut out = [0; 32];
    for lane in lanes(mask) {
        for other in lanes(mask) {
            if value(regs, lane) == value(regs, other) {
                out[lane] |= 1 << other;
            }
        }
    }
    if matches!(op.kind, WarpKind::MatchAll | WarpKind::MatchAll64) {
        let all = lanes(mask).all(|lane| out[lane] == mask);
        regs.put32(op.d, &[if all { mask } else { 0 }; 32], mask);
        if op.p != NONE {
            regs.put_p(op.p, all_ones(all), mask);
        }
    } else {
        regs.put32(op.d, &out, mask);
    }
}
