//! Corners of the interpreter that once went wrong, each as the smallest kernel that shows it.

use dacapo_sim::exec::{ExecOptions, Grid, Outcome, Program};

use crate::harness::{Arg, Bench, Ticks};

const ONE: [u32; 3] = [1, 1, 1];

const START: &str = "
    .reg .pred %p; .reg .b32 %t, %i, %v; .reg .b64 %o;
    mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;";

fn run(body: &str, threads: u32) -> Vec<u32> {
    let mut b = Bench::kernel(".param .u64 out", &format!("{START} {body} st.global.u32 [%o], %v; ret;"));
    let out = b.upload(&vec![0u32; threads as usize], "out");
    b.go("k", ONE, [threads, 1, 1], 0, &[Arg::U64(out)]);
    b.download(out, threads as usize)
}

#[test]
fn lanes_meet_at_bar_warp_sync_wherever_they_come_to_it() {
    let out = run(
        "setp.lt.u32 %p, %t, 16; @%p bra LOW;
         mov.u32 %v, 2; bar.warp.sync -1; bra MEET;
         LOW: mov.u32 %v, 1; bar.warp.sync -1;
         MEET: add.u32 %v, %v, 10;",
        32,
    );
    assert_eq!(out[0..16], [11; 16]);
    assert_eq!(out[16..32], [12; 16]);
}

#[test]
fn lanes_of_one_warp_may_go_to_two_barriers() {
    // Each half of both warps goes to its own barrier; a count of 64 lets a half warp count as a whole one.
    let out = run("and.b32 %i, %t, 1; add.u32 %i, %i, 1; mov.u32 %v, 5; barrier.sync %i, 32; add.u32 %v, %v, %i;", 64);
    for (t, v) in out.iter().enumerate() {
        assert_eq!(*v, 6 + t as u32 % 2);
    }
}

#[test]
fn a_warp_of_fewer_lanes_counts_as_whole_with_its_last_lane() {
    let out = run(
        "and.b32 %i, %t, 1; setp.eq.u32 %p, %i, 0; @%p bra EVEN;
         barrier.sync 1, 64; mov.u32 %v, 1; bra MEET;
         EVEN: barrier.sync 1, 64; mov.u32 %v, 2;
         MEET: add.u32 %v, %v, 0;",
        48,
    );
    assert_eq!(out, (0..48).map(|t| 2 - t % 2).collect::<Vec<u32>>());
}

#[test]
fn integers_saturate_to_one_when_they_become_floats() {
    let mut b = Bench::kernel(
        ".param .u64 out",
        ".reg .b32 %r; .reg .f32 %f; .reg .b64 %o; ld.param.u64 %o, [out];
         mov.u32 %r, 5; cvt.rn.sat.f32.s32 %f, %r; st.global.f32 [%o], %f;
         mov.u32 %r, -5; cvt.rn.sat.f32.s32 %f, %r; st.global.f32 [%o+4], %f; ret;",
    );
    let out = b.upload(&[9f32; 2], "out");
    b.go("k", ONE, ONE, 0, &[Arg::U64(out)]);
    assert_eq!(b.download::<f32>(out, 2), [1.0, 0.0]);
}

#[test]
fn a_block_that_spins_lets_the_next_one_in_whatever_the_quantum() {
    // Block 0 waits for what block 1 writes.
    let body = "
        .reg .pred %p; .reg .b32 %b, %v; .reg .b64 %o; ld.param.u64 %o, [out]; mov.u32 %b, %ctaid.x;
        setp.ne.u32 %p, %b, 0; @%p bra WRITE;
        SPIN: ld.volatile.global.u32 %v, [%o]; setp.eq.u32 %p, %v, 0; @%p bra SPIN; ret;
        WRITE: st.volatile.global.u32 [%o], 1; ret;";
    for quantum in [1, 100, 5000, 1 << 20] {
        let mut b = Bench::kernel(".param .u64 out", body);
        let out = b.upload(&[0u32], "flag");
        let launch = b.launch("k", [2, 1, 1], ONE, 0, &[Arg::U64(out)]);
        let mut grid = Grid::new(launch, &ExecOptions { budget: 1 << 22, ..Default::default() });
        let mut clock = Ticks(0);
        let outcome = loop {
            match grid.run(&mut b.memory, &mut clock, quantum) {
                Outcome::Yield => {}
                other => break other,
            }
        };
        assert!(matches!(outcome, Outcome::Done), "quantum {quantum}: {outcome:?}");
    }
}

#[test]
fn an_offset_beyond_any_frame_is_out_of_bounds() {
    let mut b = Bench::kernel(
        ".param .u64 out",
        ".local .align 4 .b8 a[16]; .reg .b32 %r; ld.local.u32 %r, [a+4294967296]; ret;",
    );
    let (_, text) = b.fault("k", ONE, ONE, 0, &[Arg::U64(0)]);
    assert!(text.starts_with("error[out-of-bounds]"), "{text}");
}

#[test]
fn a_long_chain_of_functions_and_large_constants_load() {
    let mut text = String::from(".version 7.0 .target sm_70 .address_size 64 .func f0() { ret; }\n");
    for i in 1..20_000 {
        text += &format!(".func f{i}() {{ call.uni f{}; ret; }}\n", i - 1);
    }
    text += ".visible .entry k() { call.uni f19999; ret; }\n";
    let module = dacapo_ptx::parse(&text).expect("the text is good");
    let program = Program::new(module, "chain");
    assert!(program.kernel("k").is_some());

    let text = ".version 7.0 .target sm_70 .address_size 64 .const .b8 x[4294967295]; .const .b8 y[2]; .visible .entry k() { ret; }";
    let module = dacapo_ptx::parse(text).expect("the text is good");
    let program = Program::new(module, "large");
    let (_, info) = program.kernels().next().expect("one kernel");
    assert_eq!(info.const_bytes, u32::MAX);
}
