//! f16 and bf16: every number where one is taken, special and random ones where two or three are.

use super::inputs::{List, every_half, f32_near_halves, f64_near_halves, half_triples};
use super::{Out, Rule, Single};

pub(super) fn singles() -> Vec<Single> {
    let (every, triples) = (every_half(), half_triples());
    let mut all = Vec::new();
    for ty in ["f16", "bf16"] {
        all.extend(one_source(ty, &every));
        all.extend(two_and_three(ty, &triples));
        all.extend(comparisons(ty, &triples));
        all.extend(conversions(ty, &every));
        all.extend(atomics(ty, &triples));
    }
    all
}

/// The form and, where it has one, its kin on pairs.
fn both(all: &mut Vec<Single>, name: &str, ty: &str, sources: usize, inputs: &List) {
    let halves = ["%ha", "%hb", "%hc"][..sources].join(", ");
    let words = ["%a", "%b", "%c"][..sources].join(", ");
    all.push(Single::new(format!("{name}.{ty}"), format!("{name}.{ty} %hd, {halves};"), Out::H16, inputs));
    all.push(Single::new(format!("{name}.{ty}x2"), format!("{name}.{ty}x2 %d, {words};"), Out::W32, inputs));
}

fn one_source(ty: &str, inputs: &List) -> Vec<Single> {
    let mut all = Vec::new();
    let names: &[&str] = if ty == "f16" { &["neg", "abs", "neg.ftz", "abs.ftz"] } else { &["neg", "abs"] };
    names.iter().for_each(|name| both(&mut all, name, ty, 1, inputs));
    all
}

fn two_and_three(ty: &str, inputs: &List) -> Vec<Single> {
    let mut all = Vec::new();
    let mut two = vec!["add", "sub", "mul", "add.rn", "sub.rn", "mul.rn", "min", "max", "min.NaN", "max.NaN"];
    two.extend(["min.xorsign.abs", "max.NaN.xorsign.abs"]);
    let mut three = vec!["fma.rn", "fma.rn.relu"];
    if ty == "f16" {
        two.extend(["add.ftz", "sub.ftz", "mul.ftz", "add.sat", "sub.sat", "mul.sat", "add.rn.ftz.sat", "mul.ftz.sat"]);
        two.extend(["min.ftz", "max.ftz", "min.ftz.NaN", "max.ftz.xorsign.abs"]);
        three.extend(["fma.rn.ftz", "fma.rn.sat", "fma.rn.ftz.sat", "fma.rn.ftz.relu"]);
    }
    two.iter().for_each(|name| both(&mut all, name, ty, 2, inputs));
    three.iter().for_each(|name| both(&mut all, name, ty, 3, inputs));
    all
}

fn comparisons(ty: &str, inputs: &List) -> Vec<Single> {
    let mut all = Vec::new();
    let flushes: &[&str] = if ty == "f16" { &["", ".ftz"] } else { &[""] };
    for ftz in flushes {
        for test in ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"] {
            let name = format!("setp.{test}{ftz}.{ty}");
            all.push(Single::new(&name, format!("{name} %p, %ha, %hb;"), Out::P, inputs));
        }
        // Both predicates of a pair at once.
        let take = "selp.u32 %d, 1, 0, %p; selp.u32 %e, 2, 0, %q; or.b32 %d, %d, %e;";
        for test in ["lt", "geu"] {
            let name = format!("setp.{test}{ftz}.{ty}x2");
            all.push(Single::new(&name, format!("{name} %p|%q, %a, %b; {take}"), Out::W32, inputs));
            let name = format!("setp.{test}.or{ftz}.{ty}x2");
            let body = format!("setp.lt.u32 %out, %c, 0x80000000; {name} %p|%q, %a, %b, %out; {take}");
            all.push(Single::new(&name, body, Out::W32, inputs));
        }
        let name = format!("set.leu{ftz}.{ty}.{ty}");
        all.push(Single::new(&name, format!("{name} %hd, %ha, %hb;"), Out::H16, inputs));
        let name = format!("set.gt{ftz}.{ty}x2.{ty}x2");
        all.push(Single::new(&name, format!("{name} %d, %a, %b;"), Out::W32, inputs));
        let name = format!("set.ne.and{ftz}.{ty}x2.{ty}x2");
        let body = format!("setp.lt.u32 %p, %c, 0x80000000; {name} %d, %a, %b, %p;");
        all.push(Single::new(&name, body, Out::W32, inputs));
        for to in ["u32", "s32"] {
            let name = format!("set.equ{ftz}.{to}.{ty}x2");
            all.push(Single::new(&name, format!("{name} %d, %a, %b;"), Out::W32, inputs));
            let name = format!("set.lt{ftz}.{to}.{ty}");
            all.push(Single::new(&name, format!("{name} %d, %ha, %hb;"), Out::W32, inputs));
        }
        for to in ["u16", "s16"] {
            let name = format!("set.ltu{ftz}.{to}.{ty}");
            all.push(Single::new(&name, format!("{name} %hd, %ha, %hb;"), Out::H16, inputs));
        }
    }
    for (from, a) in [("f32", "%fa, %fb"), ("s32", "%a, %b"), ("u16", "%ha, %hb"), ("b64", "%A, %B")] {
        let test = if from == "b64" { "eq" } else { "lt" };
        let name = format!("set.{test}.{ty}.{from}");
        all.push(Single::new(&name, format!("{name} %hd, {a};"), Out::H16, inputs));
    }
    all
}

fn conversions(ty: &str, every: &List) -> Vec<Single> {
    let mut all = Vec::new();
    let mut push = |name: String, operands: &str, out: Out, inputs: &List| {
        all.push(Single::new(&name, format!("{name} {operands};"), out, inputs));
    };
    push(format!("cvt.f32.{ty}"), "%fd, %ha", Out::F32, every);
    push(format!("cvt.ftz.f32.{ty}"), "%fd, %ha", Out::F32, every);
    if ty == "f16" {
        // The assembler knows neither saturation nor bytes for bf16.
        push(format!("cvt.sat.f32.{ty}"), "%fd, %ha", Out::F32, every);
        push(format!("cvt.sat.{ty}.{ty}"), "%hd, %ha", Out::H16, every);
        push(format!("cvt.rzi.u8.{ty}"), "%d, %ha", Out::W32, every);
        push(format!("cvt.rzi.s8.{ty}"), "%d, %ha", Out::W32, every);
        push(format!("cvt.rn.{ty}.u8"), "%hd, %ha", Out::H16, every);
        push(format!("cvt.rz.{ty}.s8"), "%hd, %ha", Out::H16, every);
    }
    push(format!("cvt.f64.{ty}"), "%gd, %ha", Out::F64, every);
    for round in ["rni", "rzi", "rmi", "rpi"] {
        push(format!("cvt.{round}.{ty}.{ty}"), "%hd, %ha", Out::H16, every);
        push(format!("cvt.{round}.s32.{ty}"), "%d, %ha", Out::W32, every);
    }
    for (to, d, out) in [
        ("u16", "%hd", Out::H16),
        ("s16", "%hd", Out::H16),
        ("u32", "%d", Out::W32),
        ("u64", "%D", Out::W64),
        ("s64", "%D", Out::W64),
    ] {
        push(format!("cvt.rzi.{to}.{ty}"), &format!("{d}, %ha"), out, every);
    }
    let other = if ty == "f16" { "bf16" } else { "f16" };
    push(format!("cvt.rn.{other}.{ty}"), "%hd, %ha", Out::H16, every);
    for (from, a) in [("u16", "%ha"), ("s16", "%ha"), ("u32", "%b"), ("s64", "%C")] {
        push(format!("cvt.rn.{ty}.{from}"), &format!("%hd, {a}"), Out::H16, every);
        push(format!("cvt.rz.{ty}.{from}"), &format!("%hd, {a}"), Out::H16, every);
    }
    push(format!("cvt.rp.{ty}.s32"), "%hd, %b", Out::H16, every);
    push(format!("cvt.rm.{ty}.u64"), "%hd, %C", Out::H16, every);
    let near = f32_near_halves();
    for name in ["cvt.rn", "cvt.rz", "cvt.rm", "cvt.rp", "cvt.rn.relu", "cvt.rn.satfinite", "cvt.rz.relu.satfinite"] {
        push(format!("{name}.{ty}.f32"), "%hd, %fa", Out::H16, &near);
    }
    push(format!("cvt.rn.ftz.{ty}.f32"), "%hd, %fa", Out::H16, &near);
    if ty == "f16" {
        push(format!("cvt.rn.sat.{ty}.f32"), "%hd, %fa", Out::H16, &near);
    }
    for name in ["cvt.rn", "cvt.rz", "cvt.rn.relu", "cvt.rz.satfinite"] {
        push(format!("{name}.{ty}x2.f32"), "%d, %fa, %fb", Out::W32, &near);
    }
    let wide = f64_near_halves();
    for round in ["rn", "rz", "rm", "rp"] {
        push(format!("cvt.{round}.{ty}.f64"), "%hd, %ga", Out::H16, &wide);
    }
    if ty == "f16" {
        for small in ["e4m3", "e5m2"] {
            push(format!("cvt.rn.f16x2.{small}x2"), "%d, %ha", Out::W32, every);
            push(format!("cvt.rn.relu.f16x2.{small}x2"), "%d, %ha", Out::W32, every);
            push(format!("cvt.rn.satfinite.{small}x2.f16x2"), "%hd, %a", Out::H16, every);
            push(format!("cvt.rn.satfinite.relu.{small}x2.f32"), "%hd, %fa, %fb", Out::H16, &near);
            push(format!("cvt.rn.satfinite.{small}x2.f32"), "%hd, %fa, %fb", Out::H16, &near);
        }
    }
    all
}

const UPPER_HALF: &str = "recorded on an H200 with driver 580.159.04: of lanes that have a word each and add different numbers, all but one of \
                          a warp leave the upper half as it was; with equal numbers both halves are added. Not understood; the \
                          manual says that both are";

fn atomics(ty: &str, inputs: &List) -> Vec<Single> {
    let body = |ty: &str, b: &str, e: &str| {
        format!("st.global.u64 [%o], %A; atom.global.add.noftz.{ty} {e}, [%o], {b}; ld.global.u32 %d, [%o];")
    };
    let shared = |ty: &str, b: &str, e: &str| {
        format!(
            ".shared .align 4 .b8 cell[512]; mov.u32 %e, %tid.x; mov.u32 %f, cell; mad.lo.u32 %f, %e, 4, %f;
             st.shared.u32 [%f], %a; atom.shared.add.noftz.{ty} {e}, [%f], {b}; ld.shared.u32 %d, [%f];"
        )
    };
    let pair = format!("{ty}x2");
    vec![
        Single::new(format!("atom.global.add.noftz.{ty}"), body(ty, "%hb", "%he"), Out::W32, inputs),
        Single::new(format!("atom.global.add.noftz.{pair}"), body(&pair, "%b", "%e"), Out::W32, inputs),
        Single::new(format!("atom.shared.add.noftz.{ty}"), shared(ty, "%hb", "%he"), Out::W32, inputs),
        Single::new(format!("atom.shared.add.noftz.{pair}"), shared(&pair, "%b", "%e"), Out::W32, inputs)
            .under(Rule::Apart(UPPER_HALF)),
    ]
}
