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

use super::op::Col;

/// The frame's registers of one warp.
pub(super) struct Regs<'a> {
    pub(super) r32: &'a mut [[u32; 32]],
    pub(super) r64: &'a mut [[u64; 32]],
    pub(super) p: &'a mut [u32],
}

/// Stores the lanes in `mask`.
#[inline(always)]
pub(super) fn put<T: Copy>(target: &mut [T; 32], value: &[T; 32], mask: u32) {
    if mask == u32::MAX {
        *target = *value;
    } else {
        // Every lane is stored, those outside of the mask as they were: that is vector code, 32 branches are not.
        for lane in 0..32 {
            target[lane] = if mask & (1 << lane) != 0 { value[lane] } else { target[lane] };
        }
    }
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
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = f(x[lane]);
        }
        self.put32(d, &out, mask);
    }

    #[inline(always)]
    pub(super) fn map2(&mut self, d: Col, a: Col, b: Col, mask: u32, f: impl Fn(u32, u32) -> u32) {
        let (x, y) = (&self.r32[a as usize], &self.r32[b as usize]);
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = f(x[lane], y[lane]);
        }
        self.put32(d, &out, mask);
    }

    #[inline(always)]
    pub(super) fn map3(&mut self, d: Col, a: Col, b: Col, c: Col, mask: u32, f: impl Fn(u32, u32, u32) -> u32) {
        let (x, y, z) = (&self.r32[a as usize], &self.r32[b as usize], &self.r32[c as usize]);
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = f(x[lane], y[lane], z[lane]);
        }
        self.put32(d, &out, mask);
    }

    #[inline(always)]
    pub(super) fn widen1(&mut self, d: Col, a: Col, mask: u32, f: impl Fn(u32) -> u64) {
        let x = &self.r32[a as usize];
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = f(x[lane]);
        }
        self.put64(d, &out, mask);
    }

    #[inline(always)]
    pub(super) fn widen2(&mut self, d: Col, a: Col, b: Col, mask: u32, f: impl Fn(u32, u32) -> u64) {
        let (x, y) = (&self.r32[a as usize], &self.r32[b as usize]);
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = f(x[lane], y[lane]);
        }
        self.put64(d, &out, mask);
    }

    /// Of a 64-bit column and a 32-bit one: shifts.
    #[inline(always)]
    pub(super) fn wide_by(&mut self, d: Col, a: Col, b: Col, mask: u32, f: impl Fn(u64, u32) -> u64) {
        let (x, y) = (&self.r64[a as usize], &self.r32[b as usize]);
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = f(x[lane], y[lane]);
        }
        self.put64(d, &out, mask);
    }

    #[inline(always)]
    pub(super) fn wide1(&mut self, d: Col, a: Col, mask: u32, f: impl Fn(u64) -> u64) {
        let x = &self.r64[a as usize];
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = f(x[lane]);
        }
        self.put64(d, &out, mask);
    }

    #[inline(always)]
    pub(super) fn wide2(&mut self, d: Col, a: Col, b: Col, mask: u32, f: impl Fn(u64, u64) -> u64) {
        let (x, y) = (&self.r64[a as usize], &self.r64[b as usize]);
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = f(x[lane], y[lane]);
        }
        self.put64(d, &out, mask);
    }

    #[inline(always)]
    pub(super) fn wide3(&mut self, d: Col, a: Col, b: Col, c: Col, mask: u32, f: impl Fn(u64, u64, u64) -> u64) {
        let (x, y, z) = (&self.r64[a as usize], &self.r64[b as usize], &self.r64[c as usize]);
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = f(x[lane], y[lane], z[lane]);
        }
        self.put64(d, &out, mask);
    }
}

/// The bits of the lanes for which `f` holds.
#[inline(always)]
pub(super) fn lanes_where(f: impl Fn(usize) -> bool) -> u32 {
    // A byte for each lane first: comparing is vector code then, and so is gathering the bits.
    let mut flags = [0u8; 32];
    for lane in 0..32 {
        flags[lane] = if f(lane) { 0xff } else { 0 };
    }
    gathered(&flags)
}

/// The top bits of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn gathered(flags: &[u8; 32]) -> u32 {
    use std::arch::x86_64::{_mm_movemask_epi8, _mm_set_epi64x};
    let (words, _) = flags.as_chunks::<8>();
    let half = |low: usize| {
        let [low, high] = [words[low], words[low + 1]].map(i64::from_le_bytes);
        // SAFETY: every processor of this architecture has SSE2.
        unsafe { _mm_movemask_epi8(_mm_set_epi64x(high, low)) as u32 }
    };
    half(0) | half(2) << 16
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn gathered(flags: &[u8; 32]) -> u32 {
    (0..32).fold(0, |all, lane| all | u32::from(flags[lane] >> 7) << lane)
}
