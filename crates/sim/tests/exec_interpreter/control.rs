//! Branches, loops, calls: what diverges meets again, and nobody starves.

use dacapo_sim::exec::{Fault, Outcome};

use crate::harness::{Arg, Bench, START, kernel_file, run};

const ONE: [u32; 3] = [1, 1, 1];

#[test]
fn both_sides_of_a_branch_run_and_meet() {
    // Behind the branch all lanes are together again: `activemask` sees them.
    let out = run(
        "and.b32 %i, %t, 1; setp.eq.u32 %p, %i, 0; @%p bra EVEN;
         mov.u32 %v, 100; bra MEET;
         EVEN: mov.u32 %v, 200;
         MEET: activemask.b32 %w; popc.b32 %w, %w; add.u32 %v, %v, %w;",
        64,
    );
    for (t, v) in out.iter().enumerate() {
        assert_eq!(*v, if t % 2 == 0 { 232 } else { 132 });
    }
}

#[test]
fn lanes_leave_a_loop_one_by_one_and_meet_behind_it() {
    let out = run(
        "mov.u32 %v, 0; mov.u32 %i, 0;
         LOOP: setp.ge.u32 %p, %i, %t; @%p bra DONE;
         add.u32 %v, %v, %i; add.u32 %i, %i, 1; bra LOOP;
         DONE: activemask.b32 %w; popc.b32 %w, %w; shl.b32 %w, %w, 16; add.u32 %v, %v, %w;",
        32,
    );
    for (t, v) in (0u32..).zip(out) {
        assert_eq!(v, (32 << 16) + t * t.saturating_sub(1) / 2, "{t}");
    }
}

#[test]
fn nested_divergence_and_early_returns() {
    let text = "
        setp.lt.u32 %p, %t, 8; @%p ret;
        rem.u32 %i, %t, 3; mov.u32 %v, 1;
        setp.eq.u32 %p, %i, 0; @%p bra A;
        setp.eq.u32 %q, %i, 1; @%q bra B;
        mov.u32 %v, 30; bra OUT;
        B: and.b32 %w, %t, 1; setp.eq.u32 %p, %w, 0; mov.u32 %v, 20; @%p bra OUT; mov.u32 %v, 21; bra OUT;
        A: mov.u32 %v, 10;
        OUT:";
    let out = run(text, 50);
    for (t, v) in (0u32..).zip(out) {
        let want = match (t, t % 3, t % 2) {
            (0..8, ..) => 0,
            (_, 0, _) => 10,
            (_, 1, 0) => 20,
            (_, 1, _) => 21,
            _ => 30,
        };
        assert_eq!(v, want, "{t}");
    }
}

#[test]
fn an_indexed_branch_groups_lanes_by_target() {
    let text = "
        and.b32 %i, %t, 3;
        tgt: .branchtargets L0, L1, L2, L3;
        brx.idx %i, tgt;
        L0: mov.u32 %v, 7; bra END;
        L1: mov.u32 %v, 17; bra END;
        L2: mov.u32 %v, 27; bra END;
        L3: mov.u32 %v, 37;
        END: activemask.b32 %w; popc.b32 %w, %w; add.u32 %v, %v, %w;";
    for (t, v) in run(text, 32).into_iter().enumerate() {
        assert_eq!(v as usize, 7 + t % 4 * 10 + 32);
    }
}

#[test]
fn an_index_beyond_the_table_is_a_fault() {
    let text = format!("{START} mov.u32 %v, 9; tgt: .branchtargets A, B; brx.idx %v, tgt; A: B: ret;");
    let mut b = Bench::kernel(".param .u64 out", &text);
    let (fault, text) = b.fault("k", ONE, ONE, 0, &[Arg::U64(0)]);
    assert_eq!(fault, Fault::IllegalInstruction);
    assert!(text.starts_with("error[branch-index]: `k` branches by index 9, and there are 2 targets"), "{text}");
}

const FUNCTIONS: &str = "
.version 8.4
.target sm_80
.address_size 64
.func (.param .b32 r) twice(.param .b32 x) {
    .reg .b32 %a; ld.param.b32 %a, [x]; shl.b32 %a, %a, 1; st.param.b32 [r], %a; ret;
}
.func (.param .b32 r) plus_ten(.param .b32 x) {
    .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, 10; st.param.b32 [r], %a; ret;
}
.func (.param .b32 r) fact(.param .b32 x) {
    .reg .b32 %a, %b; .reg .pred %p;
    ld.param.b32 %a, [x]; setp.gt.u32 %p, %a, 1; @%p bra MORE;
    mov.u32 %b, 1; st.param.b32 [r], %b; ret;
    MORE: sub.u32 %b, %a, 1;
    { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %b; call.uni (r0), fact, (p0); ld.param.b32 %b, [r0]; }
    mul.lo.u32 %b, %b, %a; st.param.b32 [r], %b; ret;
}
.func (.param .b32 r) down(.param .b32 x) {
    .reg .b32 %a;
    ld.param.b32 %a, [x];
    { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %a; call.uni (r0), down, (p0); ld.param.b32 %a, [r0]; }
    st.param.b32 [r], %a; ret;
}
.global .u64 table[2] = {twice, plus_ten};
.visible .entry direct(.param .u64 out) {
    .reg .b32 %t, %v, %w; .reg .b64 %o; .reg .pred %p;
    mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;
    setp.lt.u32 %p, %t, 5; mov.u32 %v, %t; @%p bra SKIP;
    { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %t; call.uni (r0), twice, (p0); ld.param.b32 %v, [r0]; }
    SKIP: activemask.b32 %w; popc.b32 %w, %w; mad.lo.u32 %v, %w, 1000, %v;
    st.global.u32 [%o], %v; ret;
}
.visible .entry recursive(.param .u64 out) {
    .reg .b32 %t, %v; .reg .b64 %o;
    mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;
    { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %t; call.uni (r0), fact, (p0); ld.param.b32 %v, [r0]; }
    st.global.u32 [%o], %v; ret;
}
.visible .entry endless(.param .u64 out) {
    .reg .b32 %v; mov.u32 %v, 1;
    { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %v; call.uni (r0), down, (p0); ld.param.b32 %v, [r0]; }
    ret;
}
.visible .entry indirect(.param .u64 out) {
    .reg .b32 %t, %v, %w; .reg .b64 %o, %f, %g;
    mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;
    and.b32 %w, %t, 1; mov.u64 %g, table; mad.wide.u32 %f, %w, 8, %g; ld.global.u64 %f, [%f];
    { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %t;
      proto : .callprototype (.param .b32 _) _ (.param .b32 _);
      call (r0), %f, (p0), proto; ld.param.b32 %v, [r0]; }
    activemask.b32 %w; popc.b32 %w, %w; mad.lo.u32 %v, %w, 1000, %v;
    st.global.u32 [%o], %v; ret;
}
";

fn call(kernel: &str, threads: u32) -> Vec<u32> {
    let mut b = Bench::new(FUNCTIONS);
    let out = b.upload(&vec![0u32; threads as usize], "out");
    b.go(kernel, ONE, [threads, 1, 1], 0, &[Arg::U64(out)]);
    b.download(out, threads as usize)
}

#[test]
fn functions_return_values_also_to_some_lanes_only() {
    for (t, v) in (0u32..).zip(call("direct", 32)) {
        assert_eq!(v, 32_000 + if t < 5 { t } else { 2 * t });
    }
}

#[test]
fn recursion_has_frames_of_its_own() {
    for (t, v) in (0u32..).zip(call("recursive", 12)) {
        assert_eq!(v, (1..=t).product::<u32>());
    }
}

#[test]
fn endless_recursion_overflows_the_stack() {
    let mut b = Bench::new(FUNCTIONS);
    let (fault, text) = b.fault("endless", ONE, ONE, 0, &[Arg::U64(0)]);
    assert_eq!(fault, Fault::HardwareStack);
    assert!(text.starts_with("error[stack-overflow]: `endless` calls functions 257 deep"), "{text}");
}

#[test]
fn calls_through_pointers_group_lanes_by_callee() {
    for (t, v) in (0u32..).zip(call("indirect", 32)) {
        assert_eq!(v, 32_000 + if t % 2 == 0 { 2 * t } else { t + 10 });
    }
}

#[test]
fn lanes_that_spin_on_a_lock_let_its_owner_run() {
    let mut b = Bench::new(&kernel_file("atomics.ptx"));
    let (lock, counter) = (b.upload(&[0u32], "lock"), b.upload(&[0u32], "counter"));
    b.go("spin_lock_per_lane", [3, 1, 1], [64, 1, 1], 0, &[Arg::U64(lock), Arg::U64(counter)]);
    assert_eq!(b.download::<u32>(counter, 1), [192]);
    assert_eq!(b.download::<u32>(lock, 1), [0]);
}

/// The form that a stack of reconvergence points can never finish: the winner waits behind the loop for the losers.
#[test]
fn a_plain_spin_loop_ends_within_one_warp() {
    let mut b = Bench::kernel(
        ".param .u64 lock, .param .u64 counter",
        ".reg .pred %p; .reg .b32 %v; .reg .b64 %l, %c;
         ld.param.u64 %l, [lock]; ld.param.u64 %c, [counter];
         SPIN: atom.global.cas.b32 %v, [%l], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra SPIN;
         ld.volatile.global.u32 %v, [%c]; add.u32 %v, %v, 1; st.volatile.global.u32 [%c], %v;
         membar.gl; atom.global.exch.b32 %v, [%l], 0;
         ret;",
    );
    let (lock, counter) = (b.upload(&[0u32], "lock"), b.upload(&[0u32], "counter"));
    b.go("k", [2, 1, 1], [96, 1, 1], 0, &[Arg::U64(lock), Arg::U64(counter)]);
    assert_eq!(b.download::<u32>(counter, 1), [192]);
}

#[test]
fn a_block_may_wait_for_a_later_one() {
    // Block 0 spins for what block 1 writes: the other way round from the usual order.
    let mut b = Bench::kernel(
        ".param .u64 flag",
        ".reg .pred %p; .reg .b32 %v, %b; .reg .b64 %f;
         ld.param.u64 %f, [flag]; mov.u32 %b, %ctaid.x; setp.ne.u32 %p, %b, 0; @%p bra WRITE;
         SPIN: ld.acquire.gpu.global.u32 %v, [%f]; setp.eq.u32 %p, %v, 0; @%p bra SPIN;
         add.u32 %v, %v, 1; st.global.u32 [%f+4], %v; ret;
         WRITE: mov.u32 %v, 41; st.release.gpu.global.u32 [%f], %v; ret;",
    );
    let flag = b.upload(&[0u32, 0], "flag");
    b.go("k", [2, 1, 1], ONE, 0, &[Arg::U64(flag)]);
    assert_eq!(b.download::<u32>(flag, 2), [41, 42]);
}

#[test]
fn an_endless_loop_is_found() {
    let mut b = Bench::kernel("", "LOOP: bra LOOP;");
    b.options.budget = 100_000;
    let (fault, text) = b.fault("k", [2, 1, 1], ONE, 0, &[]);
    assert_eq!(fault, Fault::Timeout);
    assert!(text.starts_with("error[endless-loop]: `k` is still running after "), "{text}");
    assert!(text.contains("\n  --> test.ptx:5:7      `bra`, block ("), "{text}");
    assert!(
        text.ends_with("help: look for a loop whose condition never changes, or raise the instruction budget"),
        "{text}"
    );
}

#[test]
fn exit_in_a_function_ends_the_thread() {
    let mut b = Bench::new(
        ".version 8.4 .target sm_80 .address_size 64
         .func leave(.param .b32 x) {
             .reg .pred %p; .reg .b32 %x; ld.param.b32 %x, [x]; setp.lt.u32 %p, %x, 3; @%p exit; ret;
         }
         .visible .entry k(.param .u64 out) {
             .reg .b32 %t; .reg .b64 %o; mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;
             { .param .b32 p0; st.param.b32 [p0], %t; call.uni leave, (p0); }
             st.global.u32 [%o], 1; ret;
         }",
    );
    let out = b.upload(&[0u32; 8], "out");
    b.go("k", ONE, [8, 1, 1], 0, &[Arg::U64(out)]);
    assert_eq!(b.download::<u32>(out, 8), [0, 0, 0, 1, 1, 1, 1, 1]);
}

#[test]
fn unsupported_code_ends_a_kernel_only_when_reached() {
    let body = "
        .reg .pred %p; .reg .b32 %v, %r<4>; .reg .b64 %s;
        ld.param.u32 %v, [which]; setp.eq.u32 %p, %v, 0; @%p bra FINE;
        mov.u64 %s, 0; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%s];
        FINE: ret;";
    let mut b = Bench::kernel(".param .u32 which", body);
    b.go("k", ONE, ONE, 0, &[Arg::U32(0)]);
    let launch = b.launch("k", ONE, ONE, 0, &[Arg::U32(1)]);
    let Outcome::Unsupported(finding) = b.run(launch) else { panic!("it should not run") };
    let text = finding.to_string();
    assert!(text.starts_with("unsupported: `ldmatrix"), "{text}");
    assert!(text.contains("ldmatrix"), "{text}");
    assert!(text.contains("test.ptx:8:24"), "{text}");
}

#[test]
fn results_depend_neither_on_the_quantum_nor_on_the_seed() {
    let text = kernel_file("functions.ptx");
    let x: Vec<u32> = (0..300u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
    let mut seen: Option<Vec<u32>> = None;
    for (quantum, seed, slice) in
        [(4096, 0, 1 << 40), (1, 0, 1 << 40), (7, 5, 1 << 40), (100, 99, 3), (4096, 1234, 1), (64, 0, 17)]
    {
        let mut b = Bench::new(&text);
        b.options.quantum = quantum;
        b.options.seed = seed;
        b.quantum = slice;
        let input = b.upload(&x, "x");
        let out = b.upload(&vec![0u32; 300], "y");
        b.go("divergent_loop", [3, 1, 1], [128, 1, 1], 0, &[Arg::U32(300), Arg::U64(input), Arg::U64(out)]);
        let got = b.download::<u32>(out, 300);
        match &seen {
            None => seen = Some(got),
            Some(first) => assert_eq!(first, &got, "quantum {quantum}, seed {seed}, slice {slice}"),
        }
    }
}
