//! Loads that a compiler has widened: `.pragma "used_bytes_mask N"` says which bytes the program looks at, and the
//! others may lie behind the end of an array, or never have been written.

use dacapo_sim::exec::Fault;

use crate::harness::{Arg, Bench};

const ONE: [u32; 3] = [1, 1, 1];

/// A thread loads four words at `in + %tid.x * 16 + shift` and stores them.
fn four(mask: &str) -> Bench {
    Bench::kernel(
        ".param .u64 in, .param .u64 out",
        &format!(
            ".reg .b32 %t, %v<4>; .reg .b64 %i, %o;
             mov.u32 %t, %tid.x; ld.param.u64 %i, [in]; ld.param.u64 %o, [out];
             mad.wide.u32 %i, %t, 16, %i; mad.wide.u32 %o, %t, 16, %o;
             .pragma \"used_bytes_mask {mask}\";
             ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%i];
             st.global.v4.b32 [%o], {{%v0, %v1, %v2, %v3}};
             ret;"
        ),
    )
}

#[test]
fn unused_bytes_may_lie_behind_the_end() {
    for mask in ["0xfff", "4095", "07777"] {
        let mut b = four(mask);
        let words: Vec<u32> = (1..=31).collect();
        let input = b.upload(&words, "in");
        let out = b.upload(&[9u32; 32], "out");
        b.go("k", ONE, [8, 1, 1], 0, &[Arg::U64(input), Arg::U64(out)]);
        // What is not used is what lies there, and nothing lies behind the end.
        let expected: Vec<u32> = (1..=31).chain([0]).collect();
        assert_eq!(b.download::<u32>(out, 32), expected, "{mask}");
    }
}

#[test]
fn one_byte_more_is_out_of_bounds_and_a_pragma_speaks_of_one_load() {
    let mut b = four("0x1fff");
    let input = b.upload(&[1u32; 31], "in");
    let out = b.upload(&[0u32; 32], "out");
    let (fault, text) = b.fault("k", ONE, [8, 1, 1], 0, &[Arg::U64(input), Arg::U64(out)]);
    assert_eq!(fault, Fault::IllegalAddress);
    let what = format!("error[out-of-bounds]: `k` reads 1 byte at {:#x}, right past the end of `in`", input + 124);
    assert!(text.starts_with(&what), "{text}");

    // The load behind the one that has the pragma reads all it says.
    let mut b = Bench::kernel(
        ".param .u64 in",
        ".reg .b32 %v<4>; .reg .b64 %i; ld.param.u64 %i, [in];
         .pragma \"used_bytes_mask 0xfff\";
         ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%i];
         ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%i];
         ret;",
    );
    let input = b.upload(&[1u32; 3], "in");
    let (fault, text) = b.fault("k", ONE, ONE, 0, &[Arg::U64(input)]);
    assert_eq!(fault, Fault::IllegalAddress);
    assert!(text.contains("reads 16 bytes"), "{text}");
}

#[test]
fn unused_bytes_need_not_be_written() {
    let run = |mask: &str| {
        let mut b = four(mask);
        let input = b.alloc(64, "in");
        for row in 0..4u64 {
            b.memory.write(input + row * 16, &[1; 12]).expect("inside");
        }
        let out = b.alloc(64, "out");
        let launch = b.launch("k", ONE, [4, 1, 1], 0, &[Arg::U64(input), Arg::U64(out)]);
        b.run(launch);
        b.findings.iter().map(|f| f.code).collect::<Vec<_>>()
    };
    assert!(run("0xfff").is_empty());
    // A copy may carry padding: a sum may not.
    let sum = |mask: &str| {
        let mut b = Bench::kernel(
            ".param .u64 in, .param .u64 out",
            &format!(
                ".reg .b32 %v<4>; .reg .b64 %i, %o; ld.param.u64 %i, [in]; ld.param.u64 %o, [out];
                 .pragma \"used_bytes_mask {mask}\";
                 ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%i];
                 add.u32 %v0, %v0, %v3; st.global.u32 [%o], %v0; ret;"
            ),
        );
        let input = b.alloc(16, "in");
        b.memory.write(input, &[1; 12]).expect("inside");
        let out = b.alloc(4, "out");
        let launch = b.launch("k", ONE, ONE, 0, &[Arg::U64(input), Arg::U64(out)]);
        b.run(launch);
        b.findings.iter().map(|f| f.code).collect::<Vec<_>>()
    };
    assert!(sum("0xfff").is_empty());
    assert_eq!(sum("0xffff"), ["uninitialised-read"]);
}

#[test]
fn the_whole_must_be_aligned() {
    for space in ["global", "shared"] {
        let base = if space == "global" { "ld.param.u64 %i, [in];" } else { "mov.u64 %i, s;" };
        let mut b = Bench::kernel(
            ".param .u64 in",
            &format!(
                ".shared .align 16 .b8 s[64]; .reg .b32 %v<4>; .reg .b64 %i; {base}
                 .pragma \"used_bytes_mask 0xfff\";
                 ld.{space}.v4.b32 {{%v0, %v1, %v2, %v3}}, [%i+4];
                 ret;"
            ),
        );
        let input = b.upload(&[1u32; 16], "in");
        let (fault, text) = b.fault("k", ONE, ONE, 0, &[Arg::U64(input)]);
        assert_eq!(fault, Fault::MisalignedAddress, "{text}");
        assert!(text.starts_with("error[misaligned]: `k` reads 16 bytes"), "{text}");
    }
}

#[test]
fn every_mask_of_every_shape_reads_those_bytes_and_no_others() {
    let data: Vec<u8> = (0..16).map(|i| 0x81 + i * 7).collect();
    for (shape, regs, store) in [
        ("v4.b32", ".reg .b32 %v<4>;", "st.global.v4.b32 [%o], {%v0, %v1, %v2, %v3};"),
        ("v2.b64", ".reg .b64 %v<2>;", "st.global.v2.b64 [%o], {%v0, %v1};"),
        ("v2.u32", ".reg .b32 %v<2>;", "st.global.v2.b32 [%o], {%v0, %v1};"),
        ("b64", ".reg .b64 %v<1>;", "st.global.b64 [%o], %v0;"),
        ("b32", ".reg .b32 %v<1>;", "st.global.b32 [%o], %v0;"),
        ("v4.u16", ".reg .b16 %v<4>;", "st.global.v4.b16 [%o], {%v0, %v1, %v2, %v3};"),
        ("v2.b16", ".reg .b16 %v<2>;", "st.global.v2.b16 [%o], {%v0, %v1};"),
    ] {
        let target = store.rsplit_once(", ").map_or("", |(_, t)| t).trim_end_matches(';');
        let target =
            if shape.starts_with('v') { &store[store.find('{').expect("a vector")..store.len() - 1] } else { target };
        for mask in 0..1u32 << 8 {
            let mask = mask | (mask.reverse_bits() >> 16);
            let body = format!(
                "{regs} .reg .b64 %i, %o; ld.param.u64 %i, [in]; ld.param.u64 %o, [out];
                 .pragma \"used_bytes_mask {mask:#x}\"; ld.global.{shape} {target}, [%i]; {store} ret;"
            );
            let mut b = Bench::kernel(".param .u64 in, .param .u64 out", &body);
            let input = b.alloc(16, "in");
            for (k, byte) in data.iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1) {
                b.memory.write(input + k as u64, &[*byte]).expect("inside");
            }
            let out = b.upload(&[0u8; 16], "out");
            b.go("k", ONE, ONE, 0, &[Arg::U64(input), Arg::U64(out)]);
            let (kind, bits) = shape.rsplit_once(['b', 'u']).expect("a type");
            let lanes: usize = if kind.starts_with("v4") {
                4
            } else if kind.starts_with("v2") {
                2
            } else {
                1
            };
            let total = lanes * bits.parse::<usize>().expect("bits") / 8;
            let expected: Vec<u8> =
                (0..16).map(|k| if k < total && mask >> k & 1 == 1 { data[k] } else { 0 }).collect();
            assert_eq!(b.download::<u8>(out, 16), expected, "{shape} {mask:#x}");
        }
    }
}

#[test]
fn the_address_register_may_be_a_target_and_a_guard_holds() {
    let mut b = Bench::kernel(
        ".param .u64 in, .param .u64 out",
        ".reg .b64 %i, %j, %o; .reg .pred %p; .reg .b32 %t; ld.param.u64 %i, [in]; ld.param.u64 %o, [out];
         mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 1; mad.wide.u32 %o, %t, 16, %o; mov.u64 %j, 5;
         .pragma \"used_bytes_mask 0x3f0f\";
         @%p ld.global.v2.b64 {%i, %j}, [%i];
         @!%p mov.u64 %i, 6;
         st.global.v2.b64 [%o], {%i, %j}; ret;",
    );
    let input = b.upload(&[0x1111_1111_1111_1111u64, 0x2222_2222_2222_2222], "in");
    let out = b.upload(&[0u64; 4], "out");
    b.go("k", ONE, [2, 1, 1], 0, &[Arg::U64(input), Arg::U64(out)]);
    assert_eq!(b.download::<u64>(out, 4), [6, 5, 0x1111_1111_1111_1111, 0x2222_2222_2222_2222]);
}

#[test]
fn elements_of_arrays_have_addresses() {
    let mut b = Bench::new(
        ".version 8.4 .target sm_80 .address_size 64
         .global .align 4 .u32 g[8] = {10, 11, 12, 13, 14, 15, 16, 17};
         .global .align 16 .v4 .f32 quads[2];
         .visible .entry k(.param .u64 out) {
             .shared .align 8 .u64 s[4]; .reg .b64 %o, %a, %b; .reg .b32 %v;
             ld.param.u64 %o, [out];
             mov.u64 %a, g[3]; ld.global.u32 %v, [%a]; st.global.u32 [%o], %v;
             mov.u64 %a, g+12; ld.global.u32 %v, [%a]; st.global.u32 [%o+4], %v;
             cvta.global.u64 %a, g[1+1]; ld.u32 %v, [%a]; st.global.u32 [%o+8], %v;
             mov.u32 %v, s[3]; st.global.u32 [%o+12], %v;
             mov.u64 %a, quads[2]; mov.u64 %b, quads; sub.u64 %a, %a, %b; cvt.u32.u64 %v, %a; st.global.u32 [%o+16], %v;
             ret;
         }",
    );
    let out = b.upload(&[0u32; 5], "out");
    b.go("k", ONE, ONE, 0, &[Arg::U64(out)]);
    // An index counts elements of the type as written; of a vector, too, as NVIDIA's assembler has it.
    assert_eq!(b.download::<u32>(out, 5), [13, 13, 12, 24, 8]);
}
