//! The table of forms against the list of every form that NVRTC 12.4 and 13.0 were seen to emit.

use dacapo_ptx::{Support, classify, decode_text, supported_forms};

/// Forms of `ptx_forms.txt` with the family whose heading they stand under.
fn listed() -> Vec<(&'static str, &'static str)> {
    let text = include_str!("ptx_forms.txt");
    let mut family = "";
    let mut forms = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("== ") {
            // Behind the forms come other lists, whose headings have no count of forms.
            family = heading.split_once(": ").map_or("", |(family, _)| family);
        } else if !family.is_empty() && !line.trim().is_empty() && !line.starts_with('#') {
            forms.push((family, line.split_whitespace().next().unwrap_or("")));
        }
    }
    forms
}

#[test]
fn every_form_that_nvrtc_emits_is_decoded() {
    let forms = listed();
    assert_eq!(forms.len(), 612);
    let unknown: Vec<_> = forms.iter().filter(|(_, form)| classify(form) == Support::Unknown).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn a_form_prints_as_it_was_written() {
    for (_, text) in listed() {
        let form = decode_text(text).expect(text);
        assert_eq!(form.to_string(), text);
        assert_eq!(decode_text(&form.to_string()), Some(form), "{text}");
    }
}

#[test]
fn what_is_left_for_later_is_what_we_say() {
    for (family, form) in listed() {
        let multiplies = form == "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
        let later = family == "tensor/async" && !multiplies || form.starts_with("barrier.cluster");
        let expected = if later { Support::Later } else { Support::Supported };
        assert_eq!(classify(form), expected, "{form}");
    }
}

#[test]
fn modifiers_come_in_any_order_but_types_do_not() {
    assert_eq!(decode_text("add.f32.rn").map(|f| f.to_string()), Some("add.rn.f32".into()));
    assert_eq!(decode_text("ld.v2.global.f32").map(|f| f.to_string()), Some("ld.global.v2.f32".into()));
    assert_eq!(decode_text("cvt.ftz.rn.f32.f64").map(|f| f.to_string()), Some("cvt.rn.ftz.f32.f64".into()));
    // Without rounding `cvt.f32.f64` does not exist, and must not be taken for `cvt.f64.f32`.
    assert_eq!(decode_text("cvt.f32.f64"), None);
    assert!(decode_text("cvt.f64.f32").is_some());
}

#[test]
fn siblings_of_what_nvrtc_emits_are_supported() {
    for form in [
        "add.u16",
        "add.sat.s32",
        "mul.hi.s16",
        "mad.wide.s16",
        "setp.hs.u64",
        "set.ltu.and.ftz.f32.f32",
        "sub.rp.f64",
        "div.full.ftz.f32",
        "cvt.sat.u8.s64",
        "cvt.rzi.sat.s8.f64",
        "mad.rn.f32",
        "fma.rz.f64",
        "ld.const.v4.b8",
        "st.weak.shared::cta.u64",
        "atom.acquire.sys.shared.exch.b64",
        "red.release.cta.xor.b64",
        "barrier.red.popc.aligned.u32",
        "bar.cta.arrive",
        "shr.b16",
        "cnot.b64",
        "prefetchu.L1",
        "ret.uni",
        "ld.global.L1::no_allocate.L2::128B.v4.f32",
        "isspacep.local",
        "dp2a.lo.s32.u32",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    ] {
        assert_eq!(classify(form), Support::Supported, "{form}");
    }
}

#[test]
fn what_does_not_exist_is_unknown() {
    for form in [
        "",
        "add",
        "add.f8",
        "add.rn.s32",
        "fma.f32",
        "setp.f32",
        "mul.s32",
        "ld.global",
        "bra.foo",
        "and.f32",
        "shl.s32",
        "cvt.rn.f32",
        "selp.pred",
        "add.f32.f32",
        "wgmma.fence.sync.aligned",
        "tld4.r.2d.v4.f32.f32",
    ] {
        assert_eq!(classify(form), Support::Unknown, "{form}");
    }
}

#[test]
fn every_row_can_be_read_and_has_a_section() {
    let rows = supported_forms();
    assert!(rows.len() > 150);
    for row in rows {
        assert!(row.section.starts_with("9.7."), "{row:?}");
        assert!(!row.pattern.is_empty());
    }
}
