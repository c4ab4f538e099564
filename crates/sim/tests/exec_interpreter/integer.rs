//! Integer arithmetic, logic, shifts, bit fields, carries.

use crate::ops::{Out, check, integers};

fn s32(x: u64) -> i32 {
    x as u32 as i32
}

fn s64(x: u64) -> i64 {
    x as i64
}

/// A 32-bit result as the harness gives it.
fn w(x: u32) -> u64 {
    x.into()
}

#[test]
fn sums_and_products() {
    let i = integers();
    check("add.s32 %d, %a, %b;", Out::W32, &i, |a, b, _| w((a as u32).wrapping_add(b as u32)));
    check("sub.u32 %d, %a, %b;", Out::W32, &i, |a, b, _| w((a as u32).wrapping_sub(b as u32)));
    check("add.sat.s32 %d, %a, %b;", Out::W32, &i, |a, b, _| w(s32(a).saturating_add(s32(b)) as u32));
    check("sub.sat.s32 %d, %a, %b;", Out::W32, &i, |a, b, _| w(s32(a).saturating_sub(s32(b)) as u32));
    check("add.s64 %D, %A, %B;", Out::W64, &i, |a, b, _| a.wrapping_add(b));
    check("sub.s64 %D, %A, %B;", Out::W64, &i, |a, b, _| a.wrapping_sub(b));
    check("add.s16 %hd, %ha, %hb;", Out::H16, &i, |a, b, _| u64::from((a as u16).wrapping_add(b as u16)));
    check("mul.lo.s32 %d, %a, %b;", Out::W32, &i, |a, b, _| w((a as u32).wrapping_mul(b as u32)));
    check("mul.hi.s32 %d, %a, %b;", Out::W32, &i, |a, b, _| w(((i64::from(s32(a)) * i64::from(s32(b))) >> 32) as u32));
    check("mul.hi.u32 %d, %a, %b;", Out::W32, &i, |a, b, _| ((a & 0xffff_ffff) * (b & 0xffff_ffff)) >> 32);
    check("mul.wide.s32 %D, %a, %b;", Out::W64, &i, |a, b, _| (i64::from(s32(a)) * i64::from(s32(b))) as u64);
    check("mul.wide.u32 %D, %a, %b;", Out::W64, &i, |a, b, _| (a & 0xffff_ffff) * (b & 0xffff_ffff));
    check("mul.lo.s64 %D, %A, %B;", Out::W64, &i, |a, b, _| a.wrapping_mul(b));
    check("mul.hi.s64 %D, %A, %B;", Out::W64, &i, |a, b, _| ((i128::from(s64(a)) * i128::from(s64(b))) >> 64) as u64);
    check("mul.hi.u64 %D, %A, %B;", Out::W64, &i, |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64);
    check("mul.lo.s16 %hd, %ha, %hb;", Out::H16, &i, |a, b, _| u64::from((a as u16).wrapping_mul(b as u16)));
    check("mul.hi.s16 %hd, %ha, %hb;", Out::H16, &i, |a, b, _| {
        u64::from(((i32::from(a as i16) * i32::from(b as i16)) >> 16) as u16)
    });
    check("mul.wide.s16 %d, %ha, %hb;", Out::W32, &i, |a, b, _| w((i32::from(a as i16) * i32::from(b as i16)) as u32));
    check("mul.wide.u16 %d, %ha, %hb;", Out::W32, &i, |a, b, _| w(u32::from(a as u16) * u32::from(b as u16)));
    check("mad.lo.s32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| {
        w((a as u32).wrapping_mul(b as u32).wrapping_add(c as u32))
    });
    check("mad.hi.u32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| {
        w((((a & 0xffff_ffff) * (b & 0xffff_ffff)) >> 32) as u32).wrapping_add(c) & 0xffff_ffff
    });
    check("mad.wide.u32 %D, %a, %b, %C;", Out::W64, &i, |a, b, c| {
        ((a & 0xffff_ffff) * (b & 0xffff_ffff)).wrapping_add(c)
    });
    check("mad.wide.s32 %D, %a, %b, %C;", Out::W64, &i, |a, b, c| {
        (i64::from(s32(a)) * i64::from(s32(b))).wrapping_add(c as i64) as u64
    });
    check("mad.lo.s64 %D, %A, %B, %C;", Out::W64, &i, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    check("mul24.lo.u32 %d, %a, %b;", Out::W32, &i, |a, b, _| ((a & 0xff_ffff) * (b & 0xff_ffff)) & 0xffff_ffff);
    check("sad.s32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| w((c as u32).wrapping_add(s32(a).abs_diff(s32(b)))));
    check("sad.u32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| w((c as u32).wrapping_add((a as u32).abs_diff(b as u32))));
    check("neg.s32 %d, %a;", Out::W32, &i, |a, _, _| w((a as u32).wrapping_neg()));
    check("abs.s32 %d, %a;", Out::W32, &i, |a, _, _| w(s32(a).wrapping_abs() as u32));
    check("abs.s64 %D, %A;", Out::W64, &i, |a, _, _| s64(a).wrapping_abs() as u64);
    check("neg.s16 %hd, %ha;", Out::H16, &i, |a, _, _| u64::from((a as u16).wrapping_neg()));
}

#[test]
fn extremes_and_quotients() {
    let i = integers();
    check("min.s32 %d, %a, %b;", Out::W32, &i, |a, b, _| w(s32(a).min(s32(b)) as u32));
    check("max.u32 %d, %a, %b;", Out::W32, &i, |a, b, _| w((a as u32).max(b as u32)));
    check("min.s64 %D, %A, %B;", Out::W64, &i, |a, b, _| s64(a).min(s64(b)) as u64);
    check("max.u64 %D, %A, %B;", Out::W64, &i, |a, b, _| a.max(b));
    check("min.s16 %hd, %ha, %hb;", Out::H16, &i, |a, b, _| u64::from((a as i16).min(b as i16) as u16));
    check("max.u16 %hd, %ha, %hb;", Out::H16, &i, |a, b, _| u64::from((a as u16).max(b as u16)));
    check("div.s32 %d, %a, %b;", Out::W32, &i, |a, b, _| {
        if b as u32 == 0 { w(u32::MAX) } else { w(s32(a).wrapping_div(s32(b)) as u32) }
    });
    check("div.u32 %d, %a, %b;", Out::W32, &i, |a, b, _| w((a as u32).checked_div(b as u32).unwrap_or(u32::MAX)));
    check("rem.s32 %d, %a, %b;", Out::W32, &i, |a, b, _| {
        if b as u32 == 0 { w(u32::MAX) } else { w(s32(a).wrapping_rem(s32(b)) as u32) }
    });
    check("rem.u32 %d, %a, %b;", Out::W32, &i, |a, b, _| w((a as u32).checked_rem(b as u32).unwrap_or(u32::MAX)));
    check(
        "div.s64 %D, %A, %B;",
        Out::W64,
        &i,
        |a, b, _| {
            if b == 0 { u64::MAX } else { s64(a).wrapping_div(s64(b)) as u64 }
        },
    );
    check("div.u64 %D, %A, %B;", Out::W64, &i, |a, b, _| a.checked_div(b).unwrap_or(u64::MAX));
    check("rem.u64 %D, %A, %B;", Out::W64, &i, |a, b, _| a.checked_rem(b).unwrap_or(u64::MAX));
}

#[test]
fn logic_and_shifts() {
    let i = integers();
    check("and.b32 %d, %a, %b;", Out::W32, &i, |a, b, _| a & b & 0xffff_ffff);
    check("or.b64 %D, %A, %B;", Out::W64, &i, |a, b, _| a | b);
    check("xor.b16 %hd, %ha, %hb;", Out::H16, &i, |a, b, _| (a ^ b) & 0xffff);
    check("not.b16 %hd, %ha;", Out::H16, &i, |a, _, _| !a & 0xffff);
    check("not.b64 %D, %A;", Out::W64, &i, |a, _, _| !a);
    check("cnot.b32 %d, %a;", Out::W32, &i, |a, _, _| u64::from(a as u32 == 0));
    check("shl.b32 %d, %a, %b;", Out::W32, &i, |a, b, _| w((a as u32).checked_shl(b as u32).unwrap_or(0)));
    check("shr.u32 %d, %a, %b;", Out::W32, &i, |a, b, _| w((a as u32).checked_shr(b as u32).unwrap_or(0)));
    check("shr.s32 %d, %a, %b;", Out::W32, &i, |a, b, _| w((s32(a) >> (b as u32).min(31)) as u32));
    check("shl.b64 %D, %A, %b;", Out::W64, &i, |a, b, _| a.checked_shl(b as u32).unwrap_or(0));
    check("shr.u64 %D, %A, %b;", Out::W64, &i, |a, b, _| a.checked_shr(b as u32).unwrap_or(0));
    check("shr.s64 %D, %A, %b;", Out::W64, &i, |a, b, _| (s64(a) >> (b as u32).min(63)) as u64);
    check("shl.b16 %hd, %ha, %b;", Out::H16, &i, |a, b, _| u64::from((a as u16).checked_shl(b as u32).unwrap_or(0)));
    check("shr.s16 %hd, %ha, %b;", Out::H16, &i, |a, b, _| u64::from(((a as i16) >> (b as u32).min(15)) as u16));
    check("shr.u16 %hd, %ha, %b;", Out::H16, &i, |a, b, _| u64::from((a as u16).checked_shr(b as u32).unwrap_or(0)));
    for table in [0x00u32, 0x80, 0x96, 0xe8, 0xca, 0xff, 0x1b] {
        check(&format!("lop3.b32 %d, %a, %b, %c, {table};"), Out::W32, &i, |a, b, c| {
            let mut out = 0;
            for bit in 0..32 {
                let index = (a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1);
                out |= u64::from(table >> index & 1) << bit;
            }
            out
        });
    }
    let both = |a: u64, b: u64| (b & 0xffff_ffff) << 32 | a & 0xffff_ffff;
    check("shf.l.wrap.b32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| (both(a, b) << (c & 31)) >> 32);
    check("shf.r.wrap.b32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| both(a, b) >> (c & 31) & 0xffff_ffff);
    check("shf.r.clamp.b32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| both(a, b) >> (c as u32).min(32) & 0xffff_ffff);
    check("shf.l.clamp.b32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| {
        let n = (c as u32).min(32);
        if n == 32 { a & 0xffff_ffff } else { (both(a, b) << n) >> 32 }
    });
}

#[test]
fn bits() {
    let i = integers();
    check("popc.b32 %d, %a;", Out::W32, &i, |a, _, _| (a as u32).count_ones().into());
    check("popc.b64 %d, %A;", Out::W32, &i, |a, _, _| a.count_ones().into());
    check("clz.b32 %d, %a;", Out::W32, &i, |a, _, _| (a as u32).leading_zeros().into());
    check("clz.b64 %d, %A;", Out::W32, &i, |a, _, _| a.leading_zeros().into());
    check("brev.b32 %d, %a;", Out::W32, &i, |a, _, _| (a as u32).reverse_bits().into());
    check("brev.b64 %D, %A;", Out::W64, &i, |a, _, _| a.reverse_bits());
    check("bfind.u32 %d, %a;", Out::W32, &i, |a, _, _| w((a as u32).checked_ilog2().unwrap_or(u32::MAX)));
    check("bfind.s32 %d, %a;", Out::W32, &i, |a, _, _| {
        let x = if s32(a) < 0 { !(a as u32) } else { a as u32 };
        w(x.checked_ilog2().unwrap_or(u32::MAX))
    });
    check("bfind.shiftamt.u32 %d, %a;", Out::W32, &i, |a, _, _| {
        w((a as u32).checked_ilog2().map_or(u32::MAX, |n| 31 - n))
    });
    check("bfind.u64 %d, %A;", Out::W32, &i, |a, _, _| w(a.checked_ilog2().unwrap_or(u32::MAX)));
    check("fns.b32 %d, %a, 0, 3;", Out::W32, &i, |a, _, _| {
        let mut seen = 0;
        for bit in 0..32 {
            seen += a >> bit & 1;
            if seen == 3 {
                return bit;
            }
        }
        w(u32::MAX)
    });
}

/// The manual's loops, bit by bit.
#[test]
fn fields() {
    let i = integers();
    let field = |x: u64, position: u64, len: u64, top: u64, signed: bool| {
        let cut = if top == 31 { 0xff } else { 0xffff_ffff };
        let (position, len) = (position & cut, len & cut);
        let sign = if !signed || len == 0 { 0 } else { x >> (position + len - 1).min(top) & 1 };
        let mut out = 0;
        for i in 0..=top {
            let bit = if i < len && position + i <= top { x >> (position + i) & 1 } else { sign };
            out |= bit << i;
        }
        out
    };
    check("bfe.u32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| field(a & 0xffff_ffff, b, c, 31, false));
    check("bfe.s32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| field(a & 0xffff_ffff, b, c, 31, true));
    check("bfe.u64 %D, %A, %b, %c;", Out::W64, &i, |a, b, c| field(a, b, c, 63, false));
    check("bfe.s64 %D, %A, %b, %c;", Out::W64, &i, |a, b, c| field(a, b, c, 63, true));
    let insert = |x: u64, y: u64, position: u64, len: u64, top: u64| {
        let cut = if top == 31 { 0xff } else { 0xffff_ffff };
        let (position, len) = (position & cut, len & cut);
        let mut out = y;
        for i in 0..len.min(64) {
            if position + i <= top {
                out = out & !(1 << (position + i)) | (x >> i & 1) << (position + i);
            }
        }
        out
    };
    check("mov.u32 %e, 13; bfi.b32 %d, %a, %b, %c, %e;", Out::W32, &i, |a, b, c| {
        insert(a & 0xffff_ffff, b & 0xffff_ffff, c, 13, 31)
    });
    check("bfi.b64 %D, %A, %B, %c, 40;", Out::W64, &i, |a, b, c| insert(a, b, c, 40, 63));
    check("bfi.b32 %d, %a, %b, 7, %c;", Out::W32, &i, |a, b, c| insert(a & 0xffff_ffff, b & 0xffff_ffff, 7, c, 31));
}

#[test]
fn bytes() {
    let i = integers();
    check("prmt.b32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| {
        let bytes = (b & 0xffff_ffff) << 32 | a & 0xffff_ffff;
        (0..4).fold(0, |out, n| {
            let selector = c >> (4 * n) & 0xf;
            let byte = bytes >> (8 * (selector & 7)) & 0xff;
            let byte = if selector & 8 == 0 {
                byte
            } else if byte & 0x80 != 0 {
                0xff
            } else {
                0
            };
            out | byte << (8 * n)
        })
    });
    check("dp4a.u32.u32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| {
        (0..4).fold(c & 0xffff_ffff, |sum, n| sum + (a >> (8 * n) & 0xff) * (b >> (8 * n) & 0xff)) & 0xffff_ffff
    });
    check("dp4a.s32.s32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| {
        let sum = (0..4)
            .fold(i64::from(s32(c)), |sum, n| sum + i64::from((a >> (8 * n)) as i8) * i64::from((b >> (8 * n)) as i8));
        w(sum as u32)
    });
}

#[test]
fn carries_chain() {
    let i = integers();
    let low = |x: u64| x & 0xffff_ffff;
    // 64-bit sums of 32-bit halves.
    check(
        "mov.b64 {%a, %b}, %A; mov.b64 {%c, %d}, %B; add.cc.u32 %a, %a, %c; addc.u32 %b, %b, %d; mov.b64 %D, {%a, %b};",
        Out::W64,
        &i,
        |a, b, _| a.wrapping_add(b),
    );
    check(
        "mov.b64 {%a, %b}, %A; mov.b64 {%c, %d}, %B; sub.cc.u32 %a, %a, %c; subc.u32 %b, %b, %d; mov.b64 %D, {%a, %b};",
        Out::W64,
        &i,
        |a, b, _| a.wrapping_sub(b),
    );
    // The whole product of two 64-bit numbers, upper half, as compilers chain it.
    check(
        "mov.b64 {%a, %b}, %A; mov.b64 {%c, %d}, %B;
         .reg .b32 %x<8>;
         mul.lo.u32 %x0, %a, %c; mul.hi.u32 %x1, %a, %c;
         mad.lo.cc.u32 %x1, %a, %d, %x1; madc.hi.u32 %x2, %a, %d, 0;
         mad.lo.cc.u32 %x1, %b, %c, %x1; madc.hi.cc.u32 %x2, %b, %c, %x2; addc.u32 %x3, 0, 0;
         mad.lo.cc.u32 %x2, %b, %d, %x2; madc.hi.u32 %x3, %b, %d, %x3;
         mov.b64 %D, {%x2, %x3};",
        Out::W64,
        &i,
        |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64,
    );
    check("add.cc.u64 %D, %A, %B; addc.u64 %D, 0, 0;", Out::W64, &i, |a, b, _| u64::from(a.checked_add(b).is_none()));
    check(
        "sub.cc.u32 %d, %a, %b; subc.u32 %d, 0, 0;",
        Out::W32,
        &i,
        |a, b, _| {
            if low(a) < low(b) { w(u32::MAX) } else { 0 }
        },
    );
}

#[test]
fn comparisons_and_selections() {
    let i = integers();
    let bit = u64::from;
    check("setp.lt.s32 %p, %a, %b;", Out::P, &i, |a, b, _| bit(s32(a) < s32(b)));
    check("setp.lo.u32 %p, %a, %b;", Out::P, &i, |a, b, _| bit((a as u32) < b as u32));
    check("setp.hs.s32 %p, %a, %b;", Out::P, &i, |a, b, _| bit(a as u32 >= b as u32));
    check("setp.ge.s64 %p, %A, %B;", Out::P, &i, |a, b, _| bit(s64(a) >= s64(b)));
    check("setp.ne.b64 %p, %A, %B;", Out::P, &i, |a, b, _| bit(a != b));
    check("setp.gt.s16 %p, %ha, %hb;", Out::P, &i, |a, b, _| bit(a as i16 > b as i16));
    check("setp.le.u16 %p, %ha, %hb;", Out::P, &i, |a, b, _| bit(a as u16 <= b as u16));
    check("setp.eq.u32 %q, %c, 0; setp.lt.and.s32 %p, %a, %b, !%q;", Out::P, &i, |a, b, c| {
        bit(s32(a) < s32(b) && c as u32 != 0)
    });
    check("setp.eq.u32 %q, %c, 0; setp.lt.xor.s32 %q|%p, %a, %b, %q;", Out::P, &i, |a, b, c| {
        bit((s32(a) >= s32(b)) != (c as u32 == 0))
    });
    check("setp.lt.s32 %p, %a, %b; selp.b32 %d, %b, %c, %p;", Out::W32, &i, |a, b, c| {
        if s32(a) < s32(b) { b & 0xffff_ffff } else { c & 0xffff_ffff }
    });
    check(
        "setp.lt.s32 %p, %a, %b; selp.b64 %D, 7, %C, %p;",
        Out::W64,
        &i,
        |a, b, c| {
            if s32(a) < s32(b) { 7 } else { c }
        },
    );
    check("slct.s32.s32 %d, %a, %b, %c;", Out::W32, &i, |a, b, c| if s32(c) >= 0 { a as u32 } else { b as u32 }.into());
    check("set.lt.u32.s32 %d, %a, %b;", Out::W32, &i, |a, b, _| if s32(a) < s32(b) { w(u32::MAX) } else { 0 });
    check(
        "setp.lt.s32 %p, %a, %b; setp.eq.s32 %q, %b, %c; or.pred %p, %p, %q; not.pred %p, %p;",
        Out::P,
        &i,
        |a, b, c| bit(!(s32(a) < s32(b) || b as u32 == c as u32)),
    );
    check(
        "setp.lt.s32 %p, %a, %b; mov.u32 %d, 5; @%p mov.u32 %d, 6; @!%p add.s32 %d, %d, 10;",
        Out::W32,
        &i,
        |a, b, _| {
            if s32(a) < s32(b) { 6 } else { 15 }
        },
    );
}

#[test]
fn packing() {
    let i = integers();
    check("mov.b64 %D, {%b, %a};", Out::W64, &i, |a, b, _| b & 0xffff_ffff | a << 32);
    check("mov.b64 {%c, %d}, %A;", Out::W32, &i, |a, _, _| a >> 32);
    check("mov.b32 %d, {%ha, %hb};", Out::W32, &i, |a, b, _| a & 0xffff | (b & 0xffff) << 16);
    check("mov.b32 {%hc, %hd}, %a;", Out::H16, &i, |a, _, _| a >> 16 & 0xffff);
    check("mov.b64 %D, {%ha, %hb, %hc, %ha};", Out::W64, &i, |a, b, c| {
        a & 0xffff | (b & 0xffff) << 16 | (c & 0xffff) << 32 | a << 48
    });
    check("mov.b64 {_, %d}, %A;", Out::W32, &i, |a, _, _| a >> 32);
}

#[test]
fn conversions_of_integers() {
    let i = integers();
    check("cvt.s64.s32 %D, %a;", Out::W64, &i, |a, _, _| i64::from(s32(a)) as u64);
    check("cvt.u64.u32 %D, %a;", Out::W64, &i, |a, _, _| a & 0xffff_ffff);
    check("cvt.s16.s8 %hd, %ha;", Out::H16, &i, |a, _, _| u64::from(a as i8 as u16));
    check("cvt.s32.s16 %d, %ha;", Out::W32, &i, |a, _, _| w(a as i16 as u32));
    check("cvt.u8.u32 %d, %a;", Out::W32, &i, |a, _, _| a & 0xff);
    check("cvt.s8.s32 %d, %a;", Out::W32, &i, |a, _, _| w(a as i8 as u32));
    check("cvt.sat.u8.s32 %d, %a;", Out::W32, &i, |a, _, _| s32(a).clamp(0, 255) as u64);
    check("cvt.sat.s16.s32 %hd, %a;", Out::H16, &i, |a, _, _| s32(a).clamp(-32768, 32767) as u16 as u64);
    check("cvt.sat.s32.s64 %d, %A;", Out::W32, &i, |a, _, _| {
        w(s64(a).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32)
    });
    check("cvt.sat.u32.u64 %d, %A;", Out::W32, &i, |a, _, _| a.min(0xffff_ffff));
}
