//! Corners of the interpreter that once went wrong, each as the smallest kernel that shows it.

use dacapo_sim::exec::{ExecOptions, Grid, Outcome, Program};

use crate::harness::{Arg, Bench, Ticks, run};

const ONE: [u32; 3] = [1, 1, 1];

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

#[test]
fn polling_host_memory_by_any_instruction_waits_and_does_not_burn_the_budget() {
    let looks = [
        "ld.volatile.global.u32 %v, [%o];",
        "ld.volatile.global.v2.u32 {%v, %w}, [%o];",
        "atom.global.or.b32 %v, [%o], 0;",
        // A look now and then, with a long computation between.
        "mov.u32 %i, 0; D: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 1000; @%p bra D; ld.volatile.global.u32 %v, [%o];",
    ];
    for look in looks {
        let body = format!(
            ".reg .pred %p; .reg .b32 %v, %w, %i; .reg .b64 %o; ld.param.u64 %o, [flag];
             L: {look} setp.eq.u32 %p, %v, 0; @%p bra L; ret;"
        );
        let mut b = Bench::kernel(".param .u64 flag", &body);
        let mut flag = Box::new([0u32, 7]);
        let address = (&raw mut *flag) as u64;
        // SAFETY: the box outlives the bench's use of it, and is touched below only between two runs.
        unsafe { b.memory.map_host(address as *mut u8, 8, dacapo_sim::memory::Kind::HostPinned, "flag") };
        let launch = b.launch("k", ONE, ONE, 0, &[Arg::U64(address)]);
        let mut grid = Grid::new(launch, &ExecOptions { budget: 1 << 20, ..Default::default() });
        let mut clock = Ticks(0);
        let mut waited = 0;
        let outcome = loop {
            match grid.run(&mut b.memory, &mut clock, 1 << 16) {
                Outcome::Yield => {}
                Outcome::Waits => {
                    waited += 1;
                    if waited == 50 {
                        b.memory.write(address, &1u32.to_le_bytes()).expect("mapped");
                    }
                }
                other => break other,
            }
        };
        assert!(matches!(outcome, Outcome::Done), "{look}: {outcome:?}");
        assert!(waited >= 50, "{look}: waited {waited} times");
    }
}

#[test]
fn printf_prints_strings_of_local_and_shared_memory() {
    let mut b = Bench::new(
        ".version 8.4 .target sm_80 .address_size 64
         .global .align 1 .b8 format[7] = {91, 37, 115, 37, 115, 93, 0};
         .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
         .visible .entry k() {
           .local .align 8 .b8 args[16]; .local .align 1 .b8 word[4]; .shared .align 1 .b8 other[4];
           .reg .b64 %f, %a, %l, %s, %g; .reg .b32 %r;
           st.local.u8 [word], 104; st.local.u8 [word+1], 105; st.local.u8 [word+2], 0;
           st.shared.u8 [other], 33; st.shared.u8 [other+1], 0;
           mov.u64 %l, word; cvta.local.u64 %g, %l; st.local.u64 [args], %g;
           mov.u64 %s, other; cvta.shared.u64 %g, %s; st.local.u64 [args+8], %g;
           mov.u64 %f, format; cvta.global.u64 %f, %f; mov.u64 %l, args; cvta.local.u64 %a, %l;
           { .param .b64 p0; .param .b64 p1; .param .b32 r0; st.param.b64 [p0], %f; st.param.b64 [p1], %a;
             call.uni (r0), vprintf, (p0, p1); ld.param.b32 %r, [r0]; }
           ret;
         }",
    );
    b.go("k", ONE, ONE, 0, &[]);
    assert_eq!(b.output, "[hi!]");
}
