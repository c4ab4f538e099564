//! The arithmetic of a warp: one operation over 32 lanes.
//!
//! Every function here is a plain loop over columns, written so that the compiler makes vector code of it. A result is
//! computed for all lanes and stored for those in the mask, so nothing here may trap: divisions and the like look at
//! their lanes one by one.

pub(super) mod compare;
pub(super) mod convert;
pub(super) mod dispatch;
pub(super) mod float32;
pub(super) mod float64;
pub(super) mod int32;
pub(super) mod int64;
pub(super) mod moves;
pub(super) mod rare;
pub(super) mod rows;
pub(super) mod steps;
#[cfg(target_arch = "x86_64")]
mod words512;

use super::op::Col;
use crate::memory::mask::eight_lanes;

/// The frame's registers of one warp.
pub(super) struct Regs<'a> {
    pub(super) r32: &'a mut [[u32; 32]],
    pub(super) r64: &'a mut [[u64; 32]],
    pub(super) p: &'a mut [u32],
}

/// Lanes of half a warp.
const HALF: usize = 16;

/// The lanes of the lower half: all that small blocks have. The other half is not computed for them.
pub(super) const LOW: u32 = 0xffff;

/// What a column is made of.
pub(super) trait Blend: Copy {
    /// `new` where `active` has all bits set, itself where it has none.
    fn blend(self, new: Self, active: i32) -> Self;
}

impl Blend for u32 {
    #[inline(always)]
    fn blend(self, new: u32, active: i32) -> u32 {
        self ^ (self ^ new) & active as u32
    }
}

impl Blend for u64 {
    #[inline(always)]
    fn blend(self, new: u64, active: i32) -> u64 {
        self ^ (self ^ new) & i64::from(active) as u64
    }
}

/// Stores the lanes in `mask`.
#[inline(always)]
pub(super) fn put<T: Blend>(target: &mut [T; 32], value: &[T; 32], mask: u32) {
    if mask == u32::MAX {
        *target = *value;
    } else {
        // Arithmetic, and every lane is stored, those outside of the mask as they were: of an `if` the compiler makes
        // 32 branches, and what is written lane by lane stalls whoever reads it as a vector.
        for eight in 0..4 {
            for (lane, active) in eight_lanes(mask, eight).iter().enumerate() {
                let at = 8 * eight + lane;
                target[at] = target[at].blend(value[at], *active);
            }
        }
    }
}

/// Stores a value for each lane of `mask` in a column. The sources may be that column: nothing is stored before all of it is
/// computed.
macro_rules! computed {
    ($self:ident.$file:ident[$d:ident], $mask:ident, |$lane:ident| $value:expr) => {
        if $mask == LOW {
            let mut out = [0; HALF];
            for $lane in 0..HALF {
                out[$lane] = $value;
            }
            $self.$file[$d as usize][..HALF].copy_from_slice(&out);
        } else {
            let mut out = [0; 32];
            for $lane in 0..32 {
                out[$lane] = $value;
            }
            put(&mut $self.$file[$d as usize], &out, $mask);
        }
    };
}

impl Regs<'_> {
    #[inline(always)]
    pub(super) fn put32(&mut self, d: Col, value: &[u32; 32], mask: u32) {
        put(&mut self.r32[d as usize], value, mask);
    }

    #[inline(always)]
    pub(super) fn put64(&mut self, d: Col, value: &[u64; 32], mask: u32) {
        put(&mut self.r64[d as usize], value, mask);
    }

    #[inline(always)]
    pub(super) fn put_p(&mut self, d: Col, value: u32, mask: u32) {
        let p = &mut self.p[d as usize];
        *p = *p & !mask | value & mask;
    }

    #[inline(always)]
    pub(super) fn map1(&mut self, d: Col, a: Col, mask: u32, f: impl Fn(u32) -> u32) {
        let x = &self.r32[a as usize];
        computed!(self.r32[d], mask, |lane| f(x[lane]));
    }

    #[inline(always)]
    pub(super) fn map2(&mut self, d: Col, a: Col, b: Col, mask: u32, f: impl Fn(u32, u32) -> u32) {
        let (x, y) = (&self.r32[a as usize], &self.r32[b as usize]);
        computed!(self.r32[d], mask, |lane| f(x[lane], y[lane]));
    }

    #[inline(always)]
    pub(super) fn map3(&mut self, d: Col, a: Col, b: Col, c: Col, mask: u32, f: impl Fn(u32, u32, u32) -> u32) {
        let (x, y, z) = (&self.r32[a as usize], &self.r32[b as usize], &self.r32[c as usize]);
        computed!(self.r32[d], mask, |lane| f(x[lane], y[lane], z[lane]));
    }

    #[inline(always)]
    pub(super) fn widen1(&mut self, d: Col, a: Col, mask: u32, f: impl Fn(u32) -> u64) {
        let x = &self.r32[a as usize];
        computed!(self.r64[d], mask, |lane| f(x[lane]));
    }

    #[inline(always)]
    pub(super) fn widen2(&mut self, d: Col, a: Col, b: Col, mask: u32, f: impl Fn(u32, u32) -> u64) {
        let (x, y) = (&self.r32[a as usize], &self.r32[b as usize]);
        computed!(self.r64[d], mask, |lane| f(x[lane], y[lane]));
    }

    /// Of a 64-bit column and a 32-bit one: shifts.
    #[inline(always)]
    pub(super) fn wide_by(&mut self, d: Col, a: Col, b: Col, mask: u32, f: impl Fn(u64, u32) -> u64) {
        let (x, y) = (&self.r64[a as usize], &self.r32[b as usize]);
        computed!(self.r64[d], mask, |lane| f(x[lane], y[lane]));
    }

    #[inline(always)]
    pub(super) fn wide1(&mut self, d: Col, a: Col, mask: u32, f: impl Fn(u64) -> u64) {
        let x = &self.r64[a as usize];
        computed!(self.r64[d], mask, |lane| f(x[lane]));
    }

    #[inline(always)]
    pub(super) fn wide2(&mut self, d: Col, a: Col, b: Col, mask: u32, f: impl Fn(u64, u64) -> u64) {
        let (x, y) = (&self.r64[a as usize], &self.r64[b as usize]);
        computed!(self.r64[d], mask, |lane| f(x[lane], y[lane]));
    }

    #[inline(always)]
    pub(super) fn wide3(&mut self, d: Col, a: Col, b: Col, c: Col, mask: u32, f: impl Fn(u64, u64, u64) -> u64) {
        let (x, y, z) = (&self.r64[a as usize], &self.r64[b as usize], &self.r64[c as usize]);
        computed!(self.r64[d], mask, |lane| f(x[lane], y[lane], z[lane]));
    }
}

/// The bits of the lanes for which `f` holds.
#[inline(always)]
pub(super) fn lanes_where(f: impl Fn(usize) -> bool) -> u32 {
    // A byte for each lane first: comparing is vector code then, and so is gathering the bits.
    let mut flags = [0u8; 32];
    #[allow(clippy::needless_range_loop, reason = "lanes are counted, as everywhere here")]
    for lane in 0..32 {
        flags[lane] = if f(lane) { 0xff } else { 0 };
    }
    gathered(&flags)
}

/// The top bits of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn gathered(flags: &[u8; 32]) -> u32 {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
    // SAFETY: every processor of this architecture has SSE2, and a half of the flags is 16 bytes.
    let half = |half: &[u8; 16]| unsafe { _mm_movemask_epi8(_mm_loadu_si128(half.as_ptr().cast())) as u32 };
    let (halves, _) = flags.as_chunks::<16>();
    half(&halves[0]) | half(&halves[1]) << 16
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn gathered(flags: &[u8; 32]) -> u32 {
    (0..32).fold(0, |all, lane| all | u32::from(flags[lane] >> 7) << lane)
}
