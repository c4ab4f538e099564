//! What the manual leaves open or says in passing, settled by asking: NaNs, zeros, flushing, shifts, bit fields,
//! divisions by zero, clamping, carry chains. docs/ptx.md tells what came out.

use super::inputs::{List, f32_triples, f64_triples, integers};
use super::{Out, Rule, Single};

pub(super) fn singles() -> Vec<Single> {
    [f32s(), f64s(), conversions(), integer_forms(), chains(), fused()].into_iter().flatten().collect()
}

/// A form with its operands: the result's register, then the sources.
fn form(name: &str, operands: &str, out: Out, inputs: &List) -> Single {
    Single::new(name, format!("{name} {operands};"), out, inputs)
}

fn f32s() -> Vec<Single> {
    let inputs = f32_triples();
    let mut all = Vec::new();
    for name in
        ["neg", "abs", "rcp.rn", "sqrt.rn", "cvt.f32", "cvt.sat.f32", "cvt.rni.f32", "cvt.rzi.f32", "cvt.rmi.f32"]
    {
        all.push(form(&format!("{name}.f32"), "%fd, %fa", Out::F32, &inputs));
    }
    for name in ["neg.ftz", "abs.ftz", "rcp.rn.ftz", "sqrt.rn.ftz", "cvt.ftz.f32", "cvt.ftz.sat.f32", "cvt.rni.ftz.f32"]
    {
        all.push(form(&format!("{name}.f32"), "%fd, %fa", Out::F32, &inputs));
    }
    for name in
        ["add", "sub", "mul", "div.rn", "min", "max", "min.NaN", "max.NaN", "min.xorsign.abs", "max.xorsign.abs"]
    {
        all.push(form(&format!("{name}.f32"), "%fd, %fa, %fb", Out::F32, &inputs));
    }
    for name in [
        "add.ftz",
        "sub.ftz",
        "mul.ftz",
        "div.rn.ftz",
        "min.ftz",
        "max.ftz",
        "min.ftz.NaN",
        "add.sat",
        "sub.sat",
        "mul.sat",
        "mul.ftz.sat",
        "add.rz",
        "add.rm",
        "add.rp",
        "mul.rz.ftz",
        "mul.rm",
        "mul.rp.ftz",
        "min.NaN.xorsign.abs",
        "max.ftz.NaN.xorsign.abs",
        "copysign",
    ] {
        all.push(form(&format!("{name}.f32"), "%fd, %fa, %fb", Out::F32, &inputs));
    }
    for name in ["fma.rn", "fma.rn.ftz", "fma.rn.sat", "fma.rz", "fma.rm.ftz", "fma.rp"] {
        all.push(form(&format!("{name}.f32"), "%fd, %fa, %fb, %fc", Out::F32, &inputs));
    }
    for test in ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"] {
        all.push(form(&format!("setp.{test}.f32"), "%p, %fa, %fb", Out::P, &inputs));
        all.push(form(&format!("setp.{test}.ftz.f32"), "%p, %fa, %fb", Out::P, &inputs));
    }
    for test in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"] {
        all.push(form(&format!("testp.{test}.f32"), "%p, %fa", Out::P, &inputs));
    }
    for name in ["slct.f32.f32", "slct.ftz.f32.f32"] {
        all.push(form(name, "%fd, %fa, %fb, %fc", Out::F32, &inputs));
    }
    let body = "st.global.u64 [%o], %A; atom.global.add.f32 %fe, [%o], %fb; ld.global.f32 %fd, [%o];";
    all.push(Single::new("atom.global.add.f32", body, Out::F32, &inputs));
    let body = ".shared .align 4 .b8 cell[512]; mov.u32 %e, %tid.x; mov.u32 %f, cell; mad.lo.u32 %e, %e, 4, %f;
        st.shared.f32 [%e], %fa; atom.shared.add.f32 %fe, [%e], %fb; ld.shared.f32 %fd, [%e];";
    all.push(Single::new("atom.shared.add.f32", body, Out::F32, &inputs));
    all
}

fn f64s() -> Vec<Single> {
    let inputs = f64_triples();
    let mut all = Vec::new();
    for name in ["neg", "abs", "rcp.rn", "sqrt.rn", "cvt.rni.f64", "cvt.sat.f64"] {
        all.push(form(&format!("{name}.f64"), "%gd, %ga", Out::F64, &inputs));
    }
    for name in ["add", "sub", "mul", "div.rn", "min", "max", "add.rz", "add.rm", "mul.rp", "copysign"] {
        all.push(form(&format!("{name}.f64"), "%gd, %ga, %gb", Out::F64, &inputs));
    }
    all.push(form("fma.rn.f64", "%gd, %ga, %gb, %gc", Out::F64, &inputs));
    all.push(form("fma.rz.f64", "%gd, %ga, %gb, %gc", Out::F64, &inputs));
    for test in ["eq", "ne", "ltu", "num", "nan"] {
        all.push(form(&format!("setp.{test}.f64"), "%p, %ga, %gb", Out::P, &inputs));
    }
    all.push(form("testp.subnormal.f64", "%p, %ga", Out::P, &inputs));
    all.push(form("testp.normal.f64", "%p, %ga", Out::P, &inputs));
    let body = "st.global.u64 [%o], %A; atom.global.add.f64 %gd, [%o], %gb; ld.global.f64 %gd, [%o];";
    all.push(Single::new("atom.global.add.f64", body, Out::F64, &inputs));
    for name in ["cvt.rn.f32.f64", "cvt.rn.ftz.f32.f64", "cvt.rz.f32.f64", "cvt.rp.ftz.f32.f64", "cvt.rn.sat.f32.f64"] {
        all.push(form(name, "%fd, %ga", Out::F32, &inputs));
    }
    all
}

fn conversions() -> Vec<Single> {
    let (narrow, wide) = (f32_triples(), f64_triples());
    let mut all = Vec::new();
    for (to, d, out) in [
        ("u8", "%d", Out::W32),
        ("s8", "%d", Out::W32),
        ("u16", "%hd", Out::H16),
        ("s16", "%hd", Out::H16),
        ("u32", "%d", Out::W32),
        ("s32", "%d", Out::W32),
        ("u64", "%D", Out::W64),
        ("s64", "%D", Out::W64),
    ] {
        all.push(form(&format!("cvt.rzi.{to}.f32"), &format!("{d}, %fa"), out, &narrow));
        all.push(form(&format!("cvt.rni.ftz.{to}.f32"), &format!("{d}, %fa"), out, &narrow));
        all.push(form(&format!("cvt.rzi.{to}.f64"), &format!("{d}, %ga"), out, &wide));
    }
    all.push(form("cvt.f64.f32", "%gd, %fa", Out::F64, &narrow));
    all.push(form("cvt.ftz.f64.f32", "%gd, %fa", Out::F64, &narrow));
    all.push(form("cvt.sat.f64.f32", "%gd, %fa", Out::F64, &narrow));
    all
}

fn integer_forms() -> Vec<Single> {
    let inputs = integers();
    let mut all = Vec::new();
    let mut push = |name: &str, operands: &str, out: Out| all.push(form(name, operands, out, &inputs));
    for sign in ["u", "s"] {
        push(&format!("bfe.{sign}32"), "%d, %a, %b, %c", Out::W32);
        push(&format!("bfe.{sign}64"), "%D, %A, %b, %c", Out::W64);
        for code in ["div", "rem"] {
            push(&format!("{code}.{sign}16"), "%hd, %ha, %hb", Out::H16);
            push(&format!("{code}.{sign}32"), "%d, %a, %b", Out::W32);
            push(&format!("{code}.{sign}64"), "%D, %A, %B", Out::W64);
        }
        push(&format!("shr.{sign}16"), "%hd, %ha, %b", Out::H16);
        push(&format!("shr.{sign}32"), "%d, %a, %b", Out::W32);
        push(&format!("shr.{sign}64"), "%D, %A, %b", Out::W64);
        push(&format!("bfind.{sign}32"), "%d, %a", Out::W32);
        push(&format!("bfind.shiftamt.{sign}64"), "%d, %A", Out::W32);
        push(&format!("mul24.hi.{sign}32"), "%d, %a, %b", Out::W32);
        push(&format!("mul24.lo.{sign}32"), "%d, %a, %b", Out::W32);
        push(&format!("sad.{sign}16"), "%hd, %ha, %hb, %hc", Out::H16);
        push(&format!("sad.{sign}64"), "%D, %A, %B, %C", Out::W64);
    }
    push("bfi.b32", "%d, %a, %b, %c, %b", Out::W32);
    push("bfi.b64", "%D, %A, %B, %b, %c", Out::W64);
    push("shl.b16", "%hd, %ha, %b", Out::H16);
    push("shl.b32", "%d, %a, %b", Out::W32);
    push("shl.b64", "%D, %A, %b", Out::W64);
    for mode in ["l.wrap", "l.clamp", "r.wrap", "r.clamp"] {
        push(&format!("shf.{mode}.b32"), "%d, %a, %b, %c", Out::W32);
    }
    push("prmt.b32", "%d, %a, %b, %c", Out::W32);
    for mode in ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"] {
        push(&format!("prmt.b32.{mode}"), "%d, %a, %b, %c", Out::W32);
    }
    push("bmsk.clamp.b32", "%d, %a, %b", Out::W32);
    push("bmsk.wrap.b32", "%d, %a, %b", Out::W32);
    push("fns.b32", "%d, %a, %b, %c", Out::W32);
    push("abs.s32", "%d, %a", Out::W32);
    push("neg.s64", "%D, %A", Out::W64);
    push("min.relu.s32", "%d, %a, %b", Out::W32);
    push("max.relu.s32", "%d, %a, %b", Out::W32);
    push("mad.hi.sat.s32", "%d, %a, %b, %c", Out::W32);
    push("mad24.hi.sat.s32", "%d, %a, %b, %c", Out::W32);
    push("add.sat.s32", "%d, %a, %b", Out::W32);
    push("sub.sat.s32", "%d, %a, %b", Out::W32);
    push("slct.u32.s32", "%d, %a, %b, %c", Out::W32);
    push("cnot.b64", "%D, %A", Out::W64);
    all
}

/// Flags that pass from one instruction to the next, and forms with two results.
fn chains() -> Vec<Single> {
    let inputs = integers();
    let mut all = Vec::new();
    let mut push = |name: &str, body: &str, out: Out| all.push(Single::new(name, body, out, &inputs));
    for code in ["add", "sub"] {
        push(
            &format!("{code}.cc.u32 {code}c.u32"),
            &format!("{code}.cc.u32 %d, %a, %b; {code}c.u32 %d, %c, %a;"),
            Out::W32,
        );
        push(
            &format!("{code}.cc.s64 {code}c.cc.s64 {code}c.s64"),
            &format!("{code}.cc.s64 %D, %A, %B; {code}c.cc.s64 %D, %C, %A; {code}c.s64 %D, %D, %B;"),
            Out::W64,
        );
    }
    // Whether a subtraction's borrow is an addition's carry.
    push("sub.cc.u32 addc.u32", "sub.cc.u32 %d, %a, %b; addc.u32 %d, %c, 0;", Out::W32);
    push("add.cc.u32 subc.u32", "add.cc.u32 %d, %a, %b; subc.u32 %d, %c, 0;", Out::W32);
    push("mad.lo.cc.u32 madc.hi.u32", "mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %d, %a, %b, %c;", Out::W32);
    push(
        "mad.lo.cc.s32 madc.hi.cc.s32 addc.s32",
        "mad.lo.cc.s32 %e, %a, %b, %c; madc.hi.cc.s32 %d, %a, %b, %c; addc.s32 %d, %d, %e;",
        Out::W32,
    );
    push("mad.lo.cc.u64 madc.hi.u64", "mad.lo.cc.u64 %D, %A, %B, %C; madc.hi.u64 %D, %A, %B, %C;", Out::W64);
    push("mad.hi.cc.u32 addc.u32", "mad.hi.cc.u32 %d, %a, %b, %c; addc.u32 %d, %d, 0;", Out::W32);
    push("setp.lt.and.s32 p|q", "setp.lt.s32 %p, %b, %c; setp.lt.and.s32 %q|%p, %a, %b, %p;", Out::P);
    push(
        "lop3.or.b32 d|p",
        "setp.lt.s32 %q, %b, %c; lop3.or.b32 %d|%p, %a, %b, %c, 0x96, %q; selp.u32 %d, %d, 77, %p;",
        Out::W32,
    );
    push("lop3.and.b32 _|p", "setp.lt.s32 %q, %b, %c; lop3.and.b32 _|%p, %a, %b, %c, 0x80, %q;", Out::P);
    push(
        "brx.idx",
        "and.b32 %e, %a, 3; mov.u32 %d, 5; TS: .branchtargets L0, L1, L2, L1; brx.idx %e, TS;
         L0: add.u32 %d, %d, %b; bra M; L1: mul.lo.u32 %d, %c, 3; L2: xor.b32 %d, %d, %b; M: add.u32 %d, %d, 1;",
        Out::W32,
    );
    push(
        "elect.sync",
        "mov.u32 %f, %laneid; setp.lt.u32 %q, %f, 16; @%q bra LOW;
         elect.sync %d|%p, 0xffff0000; bra MEET; LOW: elect.sync %d|%p, 0x0000ffff; MEET: selp.u32 %e, 100, 0, %p; add.u32 %d, %d, %e;",
        Out::W32,
    );
    all
}

const CONTRACTION: &str = "PTX ISA, `add` and `mul`: without a rounding they may be fused, and NVIDIA's assembler does";

/// Products and sums without a rounding: the assembler may fuse them, and does.
fn fused() -> Vec<Single> {
    let inputs = f32_triples();
    let body = |rn: &str| format!("mul{rn}.f32 %fd, %fa, %fb; add{rn}.f32 %fd, %fd, %fc;");
    vec![
        Single::new("mul.f32 add.f32", body(""), Out::F32, &inputs).under(Rule::Apart(CONTRACTION)),
        Single::new("mul.rn.f32 add.rn.f32", body(".rn"), Out::F32, &inputs),
    ]
}
