//! Barriers, warp operations, atomics, special registers, waiting for the host.

use dacapo_sim::exec::{Fault, Grid, Outcome};
use dacapo_sim::memory::Kind;

use crate::harness::{Arg, Bench, Ticks, kernel_file};

const ONE: [u32; 3] = [1, 1, 1];

fn warp(body: &str, threads: u32) -> (Vec<u32>, Vec<String>) {
    let text = format!(
        ".reg .pred %p, %q; .reg .b32 %t, %i, %n, %v, %w; .reg .b64 %o, %x;
         mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;
         {body} st.global.u32 [%o], %v; ret;"
    );
    let mut b = Bench::kernel(".param .u64 out", &text);
    let out = b.upload(&vec![0u32; threads as usize], "out");
    let launch = b.launch("k", ONE, [threads, 1, 1], 0, &[Arg::U64(out)]);
    assert!(matches!(b.run(launch), Outcome::Done));
    (b.download(out, threads as usize), b.findings.iter().map(ToString::to_string).collect())
}

#[track_caller]
fn quiet(body: &str, threads: u32) -> Vec<u32> {
    let (out, findings) = warp(body, threads);
    assert!(findings.is_empty(), "{}", findings[0]);
    out
}

#[test]
fn shuffles_move_values_and_say_what_was_in_range() {
    // The sum over a warp, as `__shfl_xor_sync` does it.
    let sum = quiet(
        "mov.u32 %v, %t;
         shfl.sync.bfly.b32 %w|%p, %v, 16, 31, -1; add.u32 %v, %v, %w;
         shfl.sync.bfly.b32 %w|%p, %v, 8, 31, -1; add.u32 %v, %v, %w;
         shfl.sync.bfly.b32 %w|%p, %v, 4, 31, -1; add.u32 %v, %v, %w;
         shfl.sync.bfly.b32 %w|%p, %v, 2, 31, -1; add.u32 %v, %v, %w;
         shfl.sync.bfly.b32 %w|%p, %v, 1, 31, -1; add.u32 %v, %v, %w;",
        32,
    );
    assert_eq!(sum, [496; 32]);
    let range = |mode: &str, b: u32, c: u32| {
        quiet(
            &format!("shfl.sync.{mode}.b32 %w|%p, %t, {b}, {c}, -1; selp.u32 %v, 256, 0, %p; add.u32 %v, %v, %w;"),
            32,
        )
    };
    // Down by 3 in segments of 8: mask 0x18 in the upper part, clamp 7... packed as (0x18 << 8) | 0x1f.
    let down = range("down", 3, 0x181f);
    let up = range("up", 3, 0x1800);
    let idx = range("idx", 2, 0x181f);
    for lane in 0..32u32 {
        let in_segment = lane % 8;
        assert_eq!(down[lane as usize], if in_segment + 3 < 8 { 256 + lane + 3 } else { lane });
        assert_eq!(up[lane as usize], if in_segment >= 3 { 256 + lane - 3 } else { lane });
        assert_eq!(idx[lane as usize], 256 + lane / 8 * 8 + 2);
    }
}

#[test]
fn votes_matches_and_reductions() {
    assert_eq!(quiet("setp.lt.u32 %p, %t, 5; vote.sync.ballot.b32 %v, %p, -1;", 32), [31; 32]);
    assert_eq!(quiet("setp.lt.u32 %p, %t, 5; vote.sync.any.pred %q, %p, -1; selp.u32 %v, 1, 0, %q;", 32), [1; 32]);
    assert_eq!(quiet("setp.lt.u32 %p, %t, 5; vote.sync.all.pred %q, %p, -1; selp.u32 %v, 1, 0, %q;", 32), [0; 32]);
    assert_eq!(quiet("setp.lt.u32 %p, %t, 99; vote.sync.uni.pred %q, %p, -1; selp.u32 %v, 1, 0, %q;", 32), [1; 32]);
    let any = quiet("and.b32 %i, %t, 3; match.any.sync.b32 %v, %i, -1;", 32);
    for (lane, v) in any.iter().enumerate() {
        assert_eq!(*v, 0x1111_1111 << (lane % 4));
    }
    let all = quiet("mov.u32 %i, 9; match.all.sync.b32 %v|%p, %i, -1; selp.u32 %w, 1, 0, %p; sub.u32 %v, %v, %w;", 32);
    assert_eq!(all, [u32::MAX - 1; 32]);
    assert_eq!(quiet("redux.sync.add.s32 %v, %t, -1;", 32), [496; 32]);
    assert_eq!(quiet("sub.s32 %i, %t, 7; redux.sync.min.s32 %v, %i, -1;", 32), [-7i32 as u32; 32]);
    assert_eq!(quiet("sub.s32 %i, %t, 7; redux.sync.max.u32 %v, %i, -1;", 32), [u32::MAX; 32]);
    assert_eq!(quiet("redux.sync.xor.b32 %v, %t, 15;", 4), [0; 4]);
}

#[test]
fn members_that_come_from_different_branches_wait_for_each_other() {
    // Both halves run the same shuffle, reached at different times.
    let out = quiet(
        "setp.lt.u32 %p, %t, 16; mov.u32 %n, %t; @%p bra HALF;
         add.u32 %n, %n, 100;
         HALF: shfl.sync.idx.b32 %v, %n, 20, 31, -1;",
        32,
    );
    assert_eq!(out, [120; 32]);
    // A shuffle inside a branch among the lanes that take it.
    let out = quiet(
        "mov.u32 %v, 0; setp.ge.u32 %p, %t, 8; @%p bra END;
         shfl.sync.down.b32 %v, %t, 1, 0x181f, 255;
         END:",
        32,
    );
    assert_eq!(out[..8], [1, 2, 3, 4, 5, 6, 7, 7]);
    let (_, findings) = warp(
        "mov.u32 %v, 0; setp.ge.u32 %p, %t, 8; @%p bra END;
         shfl.sync.down.b32 %v, %t, 1, 31, 255;
         END:",
        32,
    );
    // With the whole warp as its width, lane 7 reads lane 8, which went elsewhere.
    assert_eq!(findings.len(), 1);
    assert_eq!(
        findings[0],
        "error[shuffle-missing-lane]: `k` shuffles from lane 8, which does not take part, to lane 7\n  \
         --> test.ptx:8:10      `shfl.sync.down.b32`, block (0,0,0), thread (7,0,0)\n\
         help: let every lane that is read take part, or limit the width of the shuffle"
    );
}

#[test]
fn lanes_that_are_gone_are_reported() {
    let (_, findings) = warp("setp.ge.u32 %p, %t, 8; @%p exit; vote.sync.ballot.b32 %v, %p, -1;", 32);
    assert_eq!(findings.len(), 1);
    assert_eq!(
        findings[0],
        "error[warp-member-gone]: `k` names lanes 0xffffff00 as members of a warp operation that have exited or do not exist\n  \
         --> test.ptx:7:43      `vote.sync.ballot.b32`, block (0,0,0), thread (0,0,0)\n\
         help: take the mask from `__activemask()` or `__ballot_sync` before threads leave the kernel"
    );
}

#[test]
fn a_lane_outside_its_own_mask_is_reported() {
    let (_, findings) = warp("mov.u32 %v, 0; bar.warp.sync 1;", 32);
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].starts_with("error[warp-mask-without-self]: `k` runs a warp operation in lane 1"),
        "{}",
        findings[0]
    );
}

#[test]
fn barriers_of_a_block() {
    let mut b = Bench::new(&kernel_file("barriers.ptx"));
    let x: Vec<u32> = (0..256).map(|i| i * 7 % 13).collect();
    let input = b.upload(&x, "x");
    let out = b.upload(&vec![0u32; 1024], "y");
    b.go("barrier_early_exit", ONE, [128, 1, 1], 0, &[Arg::U32(100), Arg::U64(input), Arg::U64(out)]);
}

#[test]
fn a_barrier_in_half_of_a_block_is_a_deadlock() {
    let mut b = Bench::kernel(
        "",
        ".reg .pred %p; .reg .b32 %t; mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 32; @%p bra A;
         bar.sync 1; ret;
         A: bar.sync 0; ret;",
    );
    let (fault, text) = b.fault("k", [2, 1, 1], [64, 1, 1], 0, &[]);
    assert_eq!(fault, Fault::Timeout);
    assert_eq!(
        text,
        "error[deadlock]: `k` cannot go on: all 64 threads of block (0,0,0) that have not exited wait\n  \
         --> test.ptx:6:10      `bar.sync`, block (0,0,0), thread (32,0,0)\n  \
         --> test.ptx:7:13      `bar.sync`, block (0,0,0), thread (0,0,0)\n\
         note: 32 threads wait at barrier 1 there\n\
         note: 32 threads wait at barrier 0 there\n\
         help: let all threads that a barrier or a mask names come to it: move it out of the branch"
    );
}

#[test]
fn two_barriers_of_one_warp_at_the_same_time_are_reported() {
    let (out, findings) = warp(
        "and.b32 %i, %t, 1; setp.eq.u32 %p, %i, 0; mov.u32 %v, 3; @%p bra A;
         bar.sync 0; bra B;
         A: bar.sync 0;
         B:",
        32,
    );
    assert_eq!(out, [3; 32]);
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].starts_with("error[barrier-divergence]: `k` has threads of one warp at different"),
        "{}",
        findings[0]
    );
}

#[test]
fn named_barriers_count_warps() {
    // A producer warp arrives, a consumer warp waits for both.
    let mut b = Bench::kernel(
        ".param .u64 out",
        ".reg .pred %p; .reg .b32 %t, %v; .reg .b64 %o; .shared .b32 s;
         mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; setp.ge.u32 %p, %t, 32; @%p bra PRODUCE;
         bar.sync 3, 64; ld.shared.u32 %v, [s]; mad.wide.u32 %o, %t, 4, %o; st.global.u32 [%o], %v; ret;
         PRODUCE: mov.u32 %v, 77; st.shared.u32 [s], %v; bar.arrive 3, 64; ret;",
    );
    let out = b.upload(&[0u32; 32], "out");
    b.go("k", ONE, [64, 1, 1], 0, &[Arg::U64(out)]);
    assert_eq!(b.download::<u32>(out, 32), [77; 32]);
}

#[test]
fn barriers_reduce_predicates() {
    let red = |op: &str, take: &str| quiet(&format!("setp.lt.u32 %p, %t, 40; {op} {take}"), 96);
    assert_eq!(red("bar.red.popc.u32 %v, 0, %p;", ""), [40; 96]);
    assert_eq!(red("bar.red.and.pred %q, 0, %p;", "selp.u32 %v, 1, 0, %q;"), [0; 96]);
    assert_eq!(red("bar.red.or.pred %q, 0, %p;", "selp.u32 %v, 1, 0, %q;"), [1; 96]);
    assert_eq!(red("bar.red.or.pred %q, 0, !%p;", "selp.u32 %v, 1, 0, %q;"), [1; 96]);
}

#[test]
fn atomics_give_the_old_value_in_lane_order() {
    let mut b = Bench::kernel(
        ".param .u64 cells, .param .u64 out",
        ".reg .b32 %t, %v, %w; .reg .b64 %c, %o, %x; .reg .f32 %f; .reg .f64 %g; .shared .b32 s;
         mov.u32 %t, %tid.x; ld.param.u64 %c, [cells]; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;
         atom.global.add.u32 %v, [%c], 2; st.global.u32 [%o], %v;
         red.global.max.s32 [%c+4], %t;
         atom.inc.u32 %v, [%c+8], 9;
         red.global.add.f32 [%c+12], 0f3F000000;
         atom.global.cas.b32 %w, [%c+16], %t, 100;
         red.global.add.u64 [%c+24], 5000000000;
         red.global.add.f64 [%c+32], 0d3FD0000000000000;
         atom.global.exch.b32 %w, [%c+40], %t;
         red.global.xor.b32 [%c+44], %t;
         ret;",
    );
    let cells = b.upload(&[0u32; 16], "cells");
    let out = b.upload(&[0u32; 64], "out");
    b.go("k", ONE, [64, 1, 1], 0, &[Arg::U64(cells), Arg::U64(out)]);
    let old: Vec<u32> = (0..64).map(|i| 2 * i).collect();
    assert_eq!(b.download::<u32>(out, 64), old);
    let cells: Vec<u32> = b.download(cells, 16);
    assert_eq!(cells[0], 128);
    assert_eq!(cells[1], 63);
    assert_eq!(cells[2], 4, "64 steps from 0 to 9 and round again");
    assert_eq!(f32::from_bits(cells[3]), 32.0);
    assert_eq!(cells[4], 100);
    assert_eq!(u64::from(cells[6]) | u64::from(cells[7]) << 32, 320_000_000_000);
    assert_eq!(f64::from_bits(u64::from(cells[8]) | u64::from(cells[9]) << 32), 16.0);
    assert_eq!(cells[10], 63);
    assert_eq!(cells[11], 0);
}

#[test]
fn special_registers_tell_the_shape() {
    let mut b = Bench::kernel(
        ".param .u64 out",
        ".reg .b32 %x, %y, %z, %n, %v; .reg .b64 %o;
         mov.u32 %x, %ctaid.x; mov.u32 %n, %nctaid.x; mov.u32 %y, %ctaid.y; mad.lo.u32 %x, %y, %n, %x;
         mov.u32 %n, %ntid.x; mul.lo.u32 %x, %x, %n; mov.u32 %n, %ntid.y; mul.lo.u32 %x, %x, %n;
         mov.u32 %y, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %x, %y, %n, %x; mov.u32 %y, %tid.x; add.u32 %x, %x, %y;
         ld.param.u64 %o, [out]; mad.wide.u32 %o, %x, 4, %o;
         mov.u32 %v, %laneid; mov.u32 %z, %warpid; mad.lo.u32 %v, %z, 100, %v; mov.u32 %z, %lanemask_lt; popc.b32 %z, %z;
         mad.lo.u32 %v, %z, 10000, %v; st.global.u32 [%o], %v; ret;",
    );
    let out = b.upload(&[u32::MAX; 6 * 40], "out");
    b.go("k", [3, 2, 1], [8, 5, 1], 0, &[Arg::U64(out)]);
    let out: Vec<u32> = b.download(out, 240);
    for (i, v) in out.iter().enumerate() {
        let (lane, warp) = (i % 40 % 32, i % 40 / 32);
        assert_eq!(*v as usize, lane * 10000 + warp * 100 + lane, "{i}");
    }
}

#[test]
fn a_kernel_that_polls_host_memory_waits_for_the_host() {
    let mut b = Bench::kernel(
        ".param .u64 flag, .param .u64 out",
        ".reg .pred %p; .reg .b32 %v; .reg .b64 %f, %o;
         ld.param.u64 %f, [flag]; ld.param.u64 %o, [out];
         SPIN: ld.volatile.global.u32 %v, [%f]; setp.eq.u32 %p, %v, 0; @%p bra SPIN;
         st.global.u32 [%o], %v; ret;",
    );
    b.options.budget = 10_000;
    let mut flag = vec![0u32; 1];
    // SAFETY: `flag` outlives the memory's use of it: the mapping is freed below.
    unsafe { b.memory.map_host(flag.as_mut_ptr().cast(), 4, Kind::HostPinned, "flag") };
    let address = flag.as_mut_ptr() as u64;
    let out = b.upload(&[0u32], "out");
    let launch = b.launch("k", [2, 1, 1], [64, 1, 1], 0, &[Arg::U64(address), Arg::U64(out)]);
    let mut grid = Grid::new(launch, &b.options);
    for _ in 0..1000 {
        // The budget does not run while it only waits.
        assert!(matches!(grid.run(&mut b.memory, &mut Ticks(0), 1 << 30), Outcome::Waits));
    }
    b.memory.write(address, &7u32.to_le_bytes()).expect("mapped");
    assert!(matches!(grid.run(&mut b.memory, &mut Ticks(0), 1 << 30), Outcome::Done));
    assert_eq!(b.download::<u32>(out, 1), [7]);
    b.memory.free(address);
}

#[test]
fn a_kernel_that_spins_on_the_clock_waits_and_ends() {
    let mut b = Bench::kernel(
        "",
        ".reg .pred %p; .reg .b64 %s, %n;
         mov.u64 %s, %clock64;
         SPIN: mov.u64 %n, %clock64; sub.u64 %n, %n, %s; setp.lt.u64 %p, %n, 1000; @%p bra SPIN; ret;",
    );
    b.options.budget = 5_000;
    b.go("k", ONE, ONE, 0, &[]);
}

#[test]
fn conditionals_of_graphs_are_handed_out() {
    let mut b = Bench::new(
        ".version 8.4 .target sm_80 .address_size 64
         .extern .func cudaGraphSetConditional (.param .b64 a, .param .b32 b);
         .visible .entry k(.param .u64 handle, .param .u32 value) {
             .reg .b64 %h; .reg .b32 %v; ld.param.u64 %h, [handle]; ld.param.u32 %v, [value];
             { .param .b64 p0; st.param.b64 [p0], %h; .param .b32 p1; st.param.b32 [p1], %v;
               call.uni cudaGraphSetConditional, (p0, p1); }
             ret;
         }",
    );
    b.go("k", ONE, ONE, 0, &[Arg::U64(0x1234_5678_9abc), Arg::U32(3)]);
    assert_eq!(b.conditionals, [(0x1234_5678_9abc, 3)]);
}

#[test]
fn kernels_print() {
    let mut b = Bench::new(
        ".version 8.4 .target sm_80 .address_size 64
         .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
         .global .align 1 .b8 text[20] = {116, 37, 117, 58, 32, 37, 46, 49, 102, 32, 37, 115, 10, 0};
         .global .align 1 .b8 word[3] = {111, 107, 0};
         .visible .entry k(.param .u64 out) {
             .local .align 8 .b8 depot[24];
             .reg .b64 %SP, %SPL, %f, %w, %o; .reg .b32 %t, %r; .reg .f64 %g;
             mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL; mov.u32 %t, %tid.x;
             st.local.u32 [%SPL], %t; cvt.rn.f64.u32 %g, %t; add.f64 %g, %g, 0d3FE0000000000000; st.local.f64 [%SPL+8], %g;
             mov.u64 %w, word; st.local.u64 [%SPL+16], %w; mov.u64 %f, text;
             { .param .b64 p0; st.param.b64 [p0], %f; .param .b64 p1; st.param.b64 [p1], %SP; .param .b32 r0;
               call.uni (r0), vprintf, (p0, p1); ld.param.b32 %r, [r0]; }
             ld.param.u64 %o, [out]; st.global.u32 [%o], %r; ret;
         }",
    );
    let out = b.upload(&[0u32], "out");
    b.go("k", ONE, [3, 1, 1], 0, &[Arg::U64(out)]);
    assert_eq!(b.output, "t0: 0.5 ok\nt1: 1.5 ok\nt2: 2.5 ok\n");
    assert_eq!(b.download::<u32>(out, 1), [3]);
}
