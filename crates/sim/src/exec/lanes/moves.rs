//! Moves, packing, selection, logic on predicates.

use super::super::op::{Col, MoveOp, NONE, Window};
use super::super::window;
use super::{Regs, lanes_where, put};

/// Runs one instruction.
#[inline(always)]
pub(crate) fn run(r: &mut Regs<'_>, op: &MoveOp, mask: u32) {
    match *op {
        MoveOp::Mov32 { d, a } => {
            let x = r.r32[a as usize];
            r.put32(d, &x, mask);
        }
        MoveOp::Mov64 { d, a } => {
            let x = r.r64[a as usize];
            r.put64(d, &x, mask);
        }
        MoveOp::MovP { d, a } => r.put_p(d, r.p[a as usize], mask),
        MoveOp::ConstP { d, value } => r.put_p(d, if value { u32::MAX } else { 0 }, mask),
        MoveOp::NotP { d, a } => r.put_p(d, !r.p[a as usize], mask),
        MoveOp::AndP { d, a, b } => r.put_p(d, r.p[a as usize] & r.p[b as usize], mask),
        MoveOp::OrP { d, a, b } => r.put_p(d, r.p[a as usize] | r.p[b as usize], mask),
        MoveOp::XorP { d, a, b } => r.put_p(d, r.p[a as usize] ^ r.p[b as usize], mask),
        MoveOp::Sel32 { d, a, b, p } => select32(r, [d, a, b], p, mask),
        MoveOp::Sel64 { d, a, b, p } => {
            let mut out = r.r64[b as usize];
            put(&mut out, &r.r64[a as usize], r.p[p as usize]);
            r.put64(d, &out, mask);
        }
        MoveOp::Pack64 { d, lo, hi } => {
            let (x, y) = (&r.r32[lo as usize], &r.r32[hi as usize]);
            let mut out = [0; 32];
            for lane in 0..32 {
                out[lane] = u64::from(x[lane]) | u64::from(y[lane]) << 32;
            }
            r.put64(d, &out, mask);
        }
        MoveOp::Pack32 { d, lo, hi } => r.map2(d, lo, hi, mask, |x, y| x & 0xffff | y << 16),
        MoveOp::Unpack64 { lo, hi, a } => {
            let x = r.r64[a as usize];
            let mut out = [0; 32];
            if lo != NONE {
                for lane in 0..32 {
                    out[lane] = x[lane] as u32;
                }
                r.put32(lo, &out, mask);
            }
            if hi != NONE {
                for lane in 0..32 {
                    out[lane] = (x[lane] >> 32) as u32;
                }
                r.put32(hi, &out, mask);
            }
        }
        MoveOp::Unpack32 { lo, hi, a } => {
            let x = r.r32[a as usize];
            let mut out = [0; 32];
            if lo != NONE {
                for lane in 0..32 {
                    out[lane] = x[lane] & 0xffff;
                }
                r.put32(lo, &out, mask);
            }
            if hi != NONE {
                for lane in 0..32 {
                    out[lane] = x[lane] >> 16;
                }
                r.put32(hi, &out, mask);
            }
        }
        MoveOp::IsSpace { d, a, window } => r.put_p(d, lanes_in(window, &r.r64[a as usize]), mask),
    }
}

/// Of each lane the first source where the predicate holds, else the second.
#[inline(always)]
pub(super) fn select32(r: &mut Regs<'_>, [d, a, b]: [Col; 3], p: Col, mask: u32) {
    let mut out = r.r32[b as usize];
    put(&mut out, &r.r32[a as usize], r.p[p as usize]);
    r.put32(d, &out, mask);
}

/// The lanes whose generic address is in a space.
#[inline(always)]
fn lanes_in(space: Window, addresses: &[u64; 32]) -> u32 {
    let start = match space {
        Window::Shared => window::SHARED,
        Window::Local => window::LOCAL,
        Window::Param => window::PARAM,
        Window::Global => return lanes_where(|lane| addresses[lane] < window::GLOBAL_END),
    };
    lanes_where(|lane| addresses[lane].wrapping_sub(start) < window::SPAN)
}
