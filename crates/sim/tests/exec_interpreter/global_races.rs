//! Races between the blocks of a kernel in global memory: what is reported, and what orders blocks.

use dacapo_sim::Detectors;
use dacapo_sim::exec::Outcome;

use crate::harness::{Arg, Bench};

/// Runs a body with `%x`, a buffer of 256 words of 0, `%f`, four words of 0, and the block and thread in `%b` and `%t`; in
/// four blocks of 64 threads. The findings.
fn found_in(body: &str, cooperative: bool, detectors: Detectors) -> (Vec<String>, Vec<u32>) {
    let text = format!(
        ".shared .align 4 .u32 word;
         .reg .pred %p, %q; .reg .b16 %h<4>; .reg .b32 %b, %t, %i, %n, %v, %w, %a; .reg .b64 %x, %f, %o, %s, %e;
         ld.param.u64 %x, [px]; ld.param.u64 %f, [pf]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;
         {body}
         END: ret;"
    );
    let mut b = Bench::kernel(".param .u64 px, .param .u64 pf", &text);
    b.options.detectors = detectors;
    let (x, f) = (b.upload(&[0u32; 256], "x"), b.upload(&[0u32; 4], "f"));
    let mut launch = b.launch("k", [4, 1, 1], [64, 1, 1], 0, &[Arg::U64(x), Arg::U64(f)]);
    launch.cooperative = cooperative;
    let outcome = b.run(launch);
    assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
    (b.findings.iter().map(ToString::to_string).collect(), b.download(x, 256))
}

fn found(body: &str, cooperative: bool) -> Vec<String> {
    let on = Detectors { global_races: true, ..Detectors::none() };
    let (found, with) = found_in(body, cooperative, on);
    let (nothing, without) = found_in(body, cooperative, Detectors::none());
    assert!(nothing.is_empty() && with == without, "a detector changes no result");
    found
}

#[track_caller]
fn races(body: &str, parts: &[&str]) {
    let found = found(body, false);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("error[global-race]"), "{}", found[0]);
    for part in parts {
        assert!(found[0].contains(part), "{part} is not in\n{}", found[0]);
    }
}

#[track_caller]
fn quiet(body: &str) {
    let found = found(body, false);
    assert!(found.is_empty(), "{}", found[0]);
}

/// Only thread 0 of each block goes on.
const FIRST: &str = "setp.ne.u32 %p, %t, 0; @%p bra END;";

/// All threads of block 0 write a word each; `by` tells block 1, which reads the words of another warp.
fn handed_over(before: &str, tell: &str, look: &str, behind: &str) -> String {
    format!(
        "mad.wide.u32 %o, %t, 4, %x; setp.gt.u32 %p, %b, 1; @%p bra END; setp.eq.u32 %p, %b, 1; @%p bra READER;
         st.global.u32 [%o], %t; {before}
         setp.ne.u32 %p, %t, 0; @%p bra END; {tell} bra END;
         READER: setp.ne.u32 %p, %t, 0; @%p bra MEET;
         WAIT: {look} setp.eq.u32 %q, %v, 0; @%q bra WAIT; {behind}
         MEET: bar.sync 0; sub.u32 %i, 63, %t; mad.wide.u32 %o, %i, 4, %x; ld.global.u32 %v, [%o];"
    )
}

#[test]
fn plain_accesses_of_two_blocks_race_and_those_of_one_do_not() {
    races(
        &format!("{FIRST} st.global.u32 [%x], %b;"),
        &["writes byte 0 of `x`", "in two blocks", "block (1,0,0), thread (0,0,0)", "block (0,0,0), thread (0,0,0)"],
    );
    quiet("mad.wide.u32 %o, %b, 4, %x; st.global.u32 [%o], %t;");
    quiet("ld.global.u32 %v, [%x];");
}

#[test]
fn both_threads_are_named() {
    // Thread 5 of block 1 reads what thread 40 of block 0 wrote.
    let body = "mad.wide.u32 %o, %t, 4, %x; setp.eq.u32 %p, %b, 0; @%p st.global.u32 [%o], %t; setp.ne.u32 %q, %b, 1;
                @%q bra END; setp.ne.u32 %p, %t, 5; @%p bra END; ld.global.u32 %v, [%x+160];";
    races(body, &["byte 160 of `x`", "block (1,0,0), thread (5,0,0) reads", "block (0,0,0), thread (40,0,0) writes"]);
}

#[test]
fn bytes_and_halves_are_their_own() {
    quiet(&format!(
        "{FIRST} mul.wide.u32 %o, %b, 2; add.s64 %o, %o, %x; cvt.u16.u32 %h1, %b; st.global.u16 [%o], %h1;"
    ));
    quiet(&format!("{FIRST} cvt.u64.u32 %o, %b; add.s64 %o, %o, %x; st.global.u8 [%o], %b;"));
    races(
        &format!("{FIRST} mul.wide.u32 %o, %b, 2; add.s64 %o, %o, %x; st.global.u8 [%o], %b; ld.global.u8 %v, [%x+4];"),
        &["byte 4 of `x`"],
    );
}

#[test]
fn atomics_are_no_race_with_each_other_and_are_with_plain_accesses() {
    quiet(&format!("{FIRST} red.global.add.u32 [%x], 1;"));
    quiet(&format!("{FIRST} atom.global.add.u32 %v, [%x], 1; ld.volatile.global.u32 %v, [%x];"));
    let read = format!("{FIRST} red.global.add.u32 [%x], 1; ld.global.u32 %v, [%x];");
    let both = found(&read, false);
    assert!(!both.is_empty() && both[0].contains("updates") && both[0].contains("use atomics for both"), "{both:#?}");
    races(&format!("{FIRST} red.relaxed.cta.global.add.u32 [%x], 1;"), &["the scope `.cta`"]);
}

#[test]
fn a_flag_orders_with_fences_on_both_sides_and_a_barrier_before() {
    let (tell, look) = ("membar.gl; st.volatile.global.u32 [%f], 1;", "ld.volatile.global.u32 %v, [%f];");
    quiet(&handed_over("bar.sync 0;", tell, look, "membar.gl;"));
    quiet(&handed_over("bar.sync 0;", tell, look, "fence.acq_rel.gpu;"));
    quiet(&handed_over("membar.gl; bar.sync 0;", "atom.global.exch.b32 %w, [%f], 1;", look, "membar.sys;"));
    races(&handed_over("bar.sync 0;", "st.volatile.global.u32 [%f], 1;", look, "membar.gl;"), &["reads", "writes"]);
    races(&handed_over("bar.sync 0;", tell, look, ""), &["reads", "writes"]);
    races(&handed_over("bar.sync 0;", tell, look, "membar.cta;"), &["reads", "writes"]);
    // The other warp's words were written by threads that nobody waited for.
    races(&handed_over("", tell, look, "membar.gl;"), &["thread (63,0,0) writes"]);
}

#[test]
fn release_and_acquire_order_by_themselves() {
    let look = "ld.acquire.gpu.global.u32 %v, [%f];";
    quiet(&handed_over("bar.sync 0;", "st.release.gpu.global.u32 [%f], 1;", look, ""));
    quiet(&handed_over("bar.sync 0;", "red.release.gpu.global.add.u32 [%f], 1;", look, ""));
    quiet(&handed_over("bar.sync 0;", "atom.acq_rel.gpu.global.exch.b32 %w, [%f], 1;", look, ""));
    quiet(&handed_over(
        "bar.sync 0;",
        "st.release.gpu.global.u32 [%f], 1;",
        "atom.acquire.gpu.global.or.b32 %v, [%f], 0;",
        "",
    ));
    races(&handed_over("bar.sync 0;", "st.relaxed.gpu.global.u32 [%f], 1;", look, ""), &["reads"]);
    races(
        &handed_over("bar.sync 0;", "st.release.gpu.global.u32 [%f], 1;", "ld.relaxed.gpu.global.u32 %v, [%f];", ""),
        &[],
    );
}

#[test]
fn a_lock_orders_its_owners() {
    let locked = |take: &str, give: &str| {
        format!(
            "{FIRST} SPIN: atom.global.cas.b32 %v, [%f], 0, 1; setp.ne.u32 %q, %v, 0; @%q bra SPIN; {take}
             ld.global.u32 %w, [%x]; add.u32 %w, %w, 1; st.global.u32 [%x], %w; {give}
             atom.global.exch.b32 %v, [%f], 0;"
        )
    };
    quiet(&locked("membar.gl;", "membar.gl;"));
    assert!(!found(&locked("", "membar.gl;"), false).is_empty());
    assert!(!found(&locked("membar.gl;", ""), false).is_empty());
}

#[test]
fn the_last_block_may_read_what_all_have_written() {
    let last = |fence: &str, behind: &str| {
        format!(
            "{FIRST} mad.wide.u32 %o, %b, 4, %x; st.global.u32 [%o], %b; {fence} atom.global.inc.u32 %v, [%f], 3; {behind}
             setp.ne.u32 %q, %v, 3; @%q bra END; ld.global.v4.u32 {{%v, %w, %n, %i}}, [%x]; st.global.u32 [%x+64], %w;"
        )
    };
    quiet(&last("membar.gl;", "membar.gl;"));
    races(&last("", "membar.gl;"), &["reads", "block (3,0,0)"]);
    races(&last("membar.gl;", ""), &["reads", "block (3,0,0)"]);
}

#[test]
fn the_barrier_of_cooperative_groups_orders_the_grid() {
    // As grid_group::sync does it: in the workspace of the launch, the first block adds what is missing to the top bit.
    let sync = "bar.sync 0; setp.ne.u32 %p, %t, 0; @%p bra MEET;
        mov.u32 %v, %envreg1; mov.u32 %w, %envreg2; cvt.u64.u32 %s, %v; shl.b64 %s, %s, 32; cvt.u64.u32 %e, %w;
        or.b64 %s, %s, %e; setp.eq.u32 %q, %b, 0; selp.b32 %n, 0x7ffffffd, 1, %q;
        fence.acq_rel.gpu; atom.add.u32 %v, [%s+4], %n;
        WAIT: ld.volatile.u32 %w, [%s+4]; xor.b32 %w, %w, %v; setp.gt.s32 %q, %w, -1; @%q bra WAIT;
        fence.acq_rel.gpu; MEET: bar.sync 0;";
    let body = |sync: &str| {
        format!(
            "mad.lo.u32 %i, %b, 64, %t; mad.wide.u32 %o, %i, 4, %x; st.global.u32 [%o], %i; {sync}
             sub.u32 %i, 255, %i; mad.wide.u32 %o, %i, 4, %x; ld.global.u32 %v, [%o];"
        )
    };
    let with = found(&body(sync), true);
    assert!(with.is_empty(), "{}", with[0]);
    assert!(!found(&body(""), true).is_empty(), "without it");
    // A second round needs its own barrier before it writes again.
    let own = "mad.lo.u32 %i, %b, 64, %t; mad.wide.u32 %o, %i, 4, %x; st.global.u32 [%o], %v;";
    let again = format!("{} {own}", body(sync));
    assert!(!found(&again, true).is_empty(), "written while another block may read");
}

#[test]
fn warps_may_tell_each_other_by_shared_memory() {
    // Warp 1 writes; warp 0 learns of it by an atomic in shared memory, and tells the other block.
    let body = "mad.wide.u32 %o, %t, 4, %x; setp.gt.u32 %p, %b, 1; @%p bra END; setp.eq.u32 %p, %b, 1; @%p bra READER;
        setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [word], 0; bar.sync 0;
        setp.ne.u32 %p, %t, 32; @%p bra TELL; st.global.u32 [%x], 7; membar.gl; atom.shared.exch.b32 %v, [word], 1; bra END;
        TELL: setp.ne.u32 %p, %t, 0; @%p bra END;
        SPIN: atom.shared.or.b32 %v, [word], 0; setp.eq.u32 %q, %v, 0; @%q bra SPIN;
        membar.gl; atom.global.exch.b32 %v, [%f], 1; bra END;
        READER: setp.ne.u32 %p, %t, 0; @%p bra END;
        WAIT: atom.global.or.b32 %v, [%f], 0; setp.eq.u32 %q, %v, 0; @%q bra WAIT; membar.gl; ld.global.u32 %v, [%x];";
    quiet(body);
}

#[test]
fn copies_to_shared_memory_read() {
    let copy = "mov.u32 %a, word; cp.async.ca.shared.global [%a], [%x], 4; cp.async.wait_all;";
    quiet(&format!("{FIRST} {copy}"));
    races(
        &format!("{FIRST} setp.eq.u32 %q, %b, 0; @%q st.global.u32 [%x], %b; @%q bra END; {copy}"),
        &["reads", "`cp.async.ca.shared.global`"],
    );
}
