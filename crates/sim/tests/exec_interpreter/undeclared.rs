//! Accesses outside of what a launch was declared to touch: every kind of access, and what is left alone.

use dacapo_driver::{DeclaredMode, DeclaredSlice};
use dacapo_sim::Detectors;
use dacapo_sim::exec::Outcome;

use crate::harness::{Arg, Bench};

/// Runs a body with `%x` and `%y`, buffers of 256 words of 1. Of each, these words are declared: the findings.
fn found(body: &str, x: std::ops::Range<u64>, y: std::ops::Range<u64>) -> Vec<String> {
    let text = format!(
        ".version 8.4\n.target sm_80\n.address_size 64
         .global .align 4 .u32 count; .const .align 4 .u32 limit = 7;
         .visible .entry k(.param .u64 px, .param .u64 py) {{
         .shared .align 16 .b8 tile[512];
         .reg .pred %p; .reg .b32 %t, %v, %w, %a, %c; .reg .b64 %x, %y, %o; .reg .f32 %f<5>;
         ld.param.u64 %x, [px]; ld.param.u64 %y, [py]; mov.u32 %t, %tid.x; mov.u32 %c, tile; mov.u32 %v, 0;
         {body}
         ret; }}"
    );
    let mut b = Bench::new(&text);
    let (px, py) = (b.upload(&[1u32; 256], "x"), b.upload(&[1u32; 256], "y"));
    let slice = |name, base: u64, words: std::ops::Range<u64>, mode| DeclaredSlice {
        name,
        address: base + 4 * words.start,
        bytes: 4 * (words.end - words.start),
        mode,
        early: true,
    };
    b.declared = Some(vec![slice("x", px, x, DeclaredMode::Read), slice("y", py, y, DeclaredMode::Write)]);
    let launch = b.launch("k", [1, 1, 1], [32, 1, 1], 0, &[Arg::U64(px), Arg::U64(py)]);
    assert!(matches!(b.run(launch), Outcome::Done));
    let with = (b.download::<u32>(px, 256), b.download::<u32>(py, 256));
    // A detector changes no result.
    let mut off = Bench::new(&text);
    off.options.detectors = Detectors::none();
    let (px, py) = (off.upload(&[1u32; 256], "x"), off.upload(&[1u32; 256], "y"));
    let launch = off.launch("k", [1, 1, 1], [32, 1, 1], 0, &[Arg::U64(px), Arg::U64(py)]);
    assert!(matches!(off.run(launch), Outcome::Done) && off.findings.is_empty());
    assert_eq!(with, (off.download::<u32>(px, 256), off.download::<u32>(py, 256)));
    b.findings.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn says(found: &[String], word: &str, parts: &[&str]) {
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with(&format!("error[{word}]")), "{}", found[0]);
    for part in parts {
        assert!(found[0].contains(part), "{part} is not in\n{}", found[0]);
    }
}

#[track_caller]
fn quiet(found: &[String]) {
    assert!(found.is_empty(), "{}", found[0]);
}

/// Each lane reads word `t + at` of x.
fn load(at: u32) -> String {
    format!("mad.wide.u32 %o, %t, 4, %x; ld.global.u32 %v, [%o+{}];", 4 * at)
}

#[test]
fn a_whole_warp_that_is_partly_outside_is_told_lane_by_lane() {
    quiet(&found(&load(8), 8..40, 0..1));
    says(&found(&load(9), 8..40, 0..1), "undeclared-access", &["right past the end of `x`", "thread (31,0,0)"]);
    says(
        &found(&load(6), 8..40, 0..1),
        "undeclared-access",
        &["8 bytes before `x`", "thread (0,0,0)", "2 of the 32 threads"],
    );
}

#[test]
fn stores_and_updates_are_writes() {
    let store = "mad.wide.u32 %o, %t, 4, %y; st.global.u32 [%o], %t;";
    quiet(&found(store, 0..1, 0..32));
    says(&found(store, 0..1, 0..31), "undeclared-access", &["writes 4 bytes", "past the end of `y`"]);
    let update = "mad.wide.u32 %o, %t, 4, %y; red.global.add.u32 [%o], 1;";
    quiet(&found(update, 0..1, 0..32));
    says(&found(update, 0..1, 0..31), "undeclared-access", &["updates 4 bytes", "thread (31,0,0)"]);
    let into_read = "red.global.add.u32 [%x+4], 1;";
    says(&found(into_read, 0..4, 0..1), "undeclared-write", &["byte 4 of `x` (16 bytes", "given to read"]);
}

#[test]
fn vectors_and_generic_addresses_are_held_to_the_byte() {
    // Four words at a slice that does not begin at a multiple of 16 bytes.
    let four = "mad.wide.u32 %o, %t, 16, %x; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%o+16];";
    quiet(&found(four, 3..132, 0..1));
    says(&found(four, 3..131, 0..1), "undeclared-access", &["reads 16 bytes", "across the end of `x`"]);
    let generic = "mad.wide.u32 %o, %t, 4, %x; cvta.global.u64 %o, %o; ld.u32 %v, [%o];";
    quiet(&found(generic, 0..32, 0..1));
    says(&found(generic, 0..31, 0..1), "undeclared-access", &["right past the end of `x`"]);
    let bytes = "cvt.u64.u32 %o, %t; add.u64 %o, %o, %x; ld.global.u8 %v, [%o];";
    quiet(&found(bytes, 0..8, 0..1));
    says(&found(bytes, 0..7, 0..1), "undeclared-access", &["reads 1 byte", "thread (28,0,0)"]);
}

#[test]
fn copies_to_shared_memory_read() {
    let copy = "mad.lo.u32 %a, %t, 4, %c; mad.wide.u32 %o, %t, 4, %x; cp.async.ca.shared.global [%a], [%o], 4;
                cp.async.wait_all;";
    quiet(&found(copy, 0..32, 0..1));
    says(&found(copy, 0..20, 0..1), "undeclared-access", &["reads 4 bytes", "thread (20,0,0)"]);
}

#[test]
fn lanes_in_different_slices_are_fine() {
    let either = "and.b32 %w, %t, 1; setp.eq.u32 %p, %w, 0; selp.b64 %o, %x, %y, %p; mad.wide.u32 %o, %t, 4, %o;
                  ld.global.u32 %v, [%o];";
    quiet(&found(either, 0..32, 0..32));
    says(&found(either, 0..30, 0..32), "undeclared-access", &["thread (30,0,0)", "past the end of `x`"]);
}

#[test]
fn variables_of_the_module_may_be_read_and_must_be_named_to_be_written() {
    quiet(&found("ld.global.u32 %v, [count]; ld.const.u32 %w, [limit];", 0..1, 0..1));
    says(&found("st.global.u32 [count], %t;", 0..1, 0..1), "undeclared-write", &["`count`", "`state: count;`"]);
    says(&found("red.global.add.u32 [count], 1;", 0..1, 0..1), "undeclared-write", &["`count`"]);
}
