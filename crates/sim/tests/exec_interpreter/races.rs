//! Races between the threads of a block: what is reported, and what is not.

use dacapo_sim::Detectors;
use dacapo_sim::exec::Outcome;

use crate::harness::{Arg, Bench};

/// Runs a body over `.shared tile[64]` with `threads` threads: the words in brackets of what was found.
fn found(body: &str, threads: u32, detectors: Detectors) -> Vec<String> {
    let text = format!(
        ".shared .align 16 .b8 tile[512]; .shared .align 4 .u32 lock;
         .reg .pred %p, %q; .reg .b16 %h<4>; .reg .b32 %t, %i, %n, %v, %w, %a, %b, %c; .reg .b64 %o, %x;
         mov.u32 %t, %tid.x; mov.u32 %c, tile; mad.lo.u32 %a, %t, 4, %c; mov.u32 %v, 0;
         xor.b32 %w, %t, 1; mad.lo.u32 %b, %w, 4, %c; mov.u32 %w, 0;
         {body}
         mov.u32 %n, %ctaid.x; mov.u32 %w, %ntid.x; mad.lo.u32 %n, %n, %w, %t;
         ld.param.u64 %o, [out]; mad.wide.u32 %o, %n, 4, %o; st.global.u32 [%o], %v; ret;"
    );
    let mut b = Bench::kernel(".param .u64 out", &text);
    b.options.detectors = detectors;
    let out = b.upload(&vec![0u32; 2 * threads as usize], "out");
    let launch = b.launch("k", [2, 1, 1], [threads, 1, 1], 0, &[Arg::U64(out)]);
    let outcome = b.run(launch);
    assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
    b.findings.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn races(body: &str, threads: u32) -> String {
    let found = found(body, threads, Detectors { uninitialised: false, ..Detectors::all() });
    assert_eq!(found.len(), 1, "{found:#?}");
    let off = self::found(body, threads, Detectors::none());
    assert!(off.is_empty(), "switched off: {off:#?}");
    found.into_iter().next().expect("one")
}

#[track_caller]
fn quiet(body: &str, threads: u32) {
    let found = found(body, threads, Detectors::all());
    assert!(found.is_empty(), "{}", found[0]);
}

#[test]
fn a_missing_barrier_is_a_race_with_both_sides() {
    let text = races("st.shared.u32 [%a], %t; ld.shared.u32 %v, [%b];", 64);
    for piece in [
        "error[shared-race]",
        "`k` reads byte 4 of `tile`",
        "thread (0,0,0) reads",
        "thread (1,0,0) writes",
        "__syncwarp()",
    ] {
        assert!(text.contains(piece), "{piece} is not in\n{text}");
    }
    quiet("st.shared.u32 [%a], %t; bar.sync 0; ld.shared.u32 %v, [%b];", 64);
    quiet("st.shared.u32 [%a], %t; bar.warp.sync -1; ld.shared.u32 %v, [%b];", 64);
}

#[test]
fn warps_are_ordered_by_barriers_alone() {
    let across = "sub.u32 %i, 63, %t; mad.lo.u32 %b, %i, 4, %c; st.shared.u32 [%a], %t;";
    let text = races(&format!("{across} bar.warp.sync -1; ld.shared.u32 %v, [%b];"), 64);
    assert!(text.contains("warps 0 and 1") && text.contains("__syncthreads()"), "{text}");
    quiet(&format!("{across} bar.sync 0; ld.shared.u32 %v, [%b];"), 64);
    quiet(&format!("{across} bar.sync 1, 64; ld.shared.u32 %v, [%b];"), 64);
}

#[test]
fn the_second_turn_of_a_loop_needs_its_barrier_too() {
    let turn = |last: &str| {
        format!(
            "mov.u32 %n, 0;
             L: st.shared.u32 [%a], %n; bar.sync 0; ld.shared.u32 %v, [%b]; {last}
             add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 3; @%p bra L;"
        )
    };
    assert!(races(&turn(""), 64).contains("`k` writes"));
    quiet(&turn("bar.sync 0;"), 64);
}

#[test]
fn arriving_lets_go_and_only_waiting_gets() {
    // Warp 0 produces and arrives; warp 1 waits and reads.
    let body = |first: &str| {
        format!(
            "setp.ge.u32 %p, %t, 32; @%p bra READ;
             st.shared.u32 [%a], %t; {first}
             bra.uni DONE;
             READ: bar.sync 1, 64; ld.shared.u32 %v, [%a+-128];
             DONE:"
        )
    };
    quiet(&body("bar.arrive 1, 64;"), 64);
    let text = races(&body("bar.arrive 1, 64; st.shared.u32 [%a], %c;"), 64);
    assert!(text.contains("`k` "), "{text}");
}

#[test]
fn atomics_are_no_race_and_a_lock_orders() {
    quiet(
        "mov.u32 %b, lock; st.shared.u32 [%b], 0; bar.sync 0; atom.shared.add.u32 %v, [%b], 1; bar.sync 0;
         ld.shared.u32 %v, [%b];",
        64,
    );
    assert!(
        races("mov.u32 %b, lock; st.shared.u32 [%b], 0; atom.shared.add.u32 %v, [%b], 1;", 64).contains("shared-race")
    );
    quiet(
        "mov.u32 %b, lock; st.shared.u32 [%b], 0; st.shared.u32 [%c], 0; bar.sync 0;
         TRY: atom.shared.cas.b32 %w, [%b], 0, 1; setp.ne.u32 %p, %w, 0; @%p bra TRY;
         ld.shared.u32 %w, [%c]; add.u32 %w, %w, 1; st.shared.u32 [%c], %w;
         membar.cta; atom.shared.exch.b32 %w, [%b], 0; bar.sync 0; ld.shared.u32 %v, [%c];",
        64,
    );
}

#[test]
fn volatile_accesses_are_strong() {
    quiet("st.volatile.shared.u32 [%c], 7; ld.volatile.shared.u32 %v, [%c];", 64);
    races("st.volatile.shared.u32 [%c], 7; ld.shared.u32 %v, [%c];", 64);
}

#[test]
fn one_store_with_different_values_for_one_word() {
    let text = races("st.shared.u32 [%c], %t;", 32);
    assert!(text.contains("error[same-word]") && text.contains("byte 0 of `tile`"), "{text}");
    // The same value from everybody is fine, also from other warps.
    quiet("st.shared.u32 [%c], 7;", 64);
}

#[test]
fn bytes_and_halves_are_their_own() {
    quiet("add.u32 %a, %c, %t; cvt.u16.u32 %h1, %t; st.shared.u8 [%a], %h1; bar.sync 0; ld.shared.u32 %v, [%c];", 64);
    quiet("mad.lo.u32 %a, %t, 2, %c; cvt.u16.u32 %h1, %t; st.shared.u16 [%a], %h1;", 64);
    races("shr.u32 %w, %t, 1; add.u32 %a, %c, %w; cvt.u16.u32 %h1, %t; st.shared.u8 [%a], %h1;", 64);
}

#[test]
fn counts_of_a_named_barrier_must_agree() {
    let body = "setp.ge.u32 %p, %t, 32; @%p bra B; bar.sync 1, 64; bra.uni D; B: bar.sync 1, 96; D:";
    let text = found(body, 96, Detectors::all());
    assert!(text.iter().any(|t| t.contains("error[barrier-count]") && t.contains("96 threads")), "{text:#?}");
    let off = found(body, 96, Detectors { barriers: false, ..Detectors::all() });
    assert!(off.is_empty(), "{off:#?}");
    let text = found("bar.sync 1, 40;", 64, Detectors::all());
    assert!(text.iter().any(|t| t.contains("multiples of 32")), "{text:#?}");
}

#[test]
fn shuffles_can_be_left_alone() {
    let body = "setp.ge.u32 %p, %t, 16; @%p bra D; shfl.sync.idx.b32 %v, %t, 20, 31, 0xffff; D:";
    let on = found(body, 32, Detectors::default());
    assert!(on.iter().any(|t| t.contains("shuffle-missing-lane")), "{on:#?}");
    assert!(found(body, 32, Detectors { shuffles: false, ..Detectors::default() }).is_empty());
}
