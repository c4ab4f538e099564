//! Loads and stores in every space, and what happens to wrong ones. Findings are compared as whole texts.

use dacapo_sim::exec::Fault;

use crate::harness::{Arg, Bench, kernel_file};

const ONE: [u32; 3] = [1, 1, 1];

#[test]
fn sizes_signs_and_vectors() {
    let mut b = Bench::kernel(
        ".param .u64 in, .param .u64 out",
        ".reg .b32 %t, %v<4>; .reg .b16 %h<4>; .reg .b64 %i, %o, %w, %x;
         mov.u32 %t, %tid.x; ld.param.u64 %i, [in]; ld.param.u64 %o, [out];
         mad.wide.u32 %i, %t, 16, %i; mad.wide.u32 %o, %t, 64, %o;
         ld.global.s8 %v0, [%i]; st.global.u32 [%o], %v0;
         ld.global.u8 %h0, [%i]; st.global.u16 [%o+4], %h0;
         ld.global.s16 %v1, [%i+2]; st.global.u32 [%o+8], %v1;
         ld.global.s8 %h1, [%i+1]; st.global.u16 [%o+12], %h1;
         ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%i]; st.global.v2.u32 [%o+16], {%v3, %v2};
         ld.global.v2.u64 {%w, %x}, [%i]; st.global.v2.u64 [%o+32], {%x, %w};
         ld.global.s32 %w, [%i+4]; st.global.u64 [%o+48], %w;
         ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [%i+8]; st.global.v4.u8 [%o+56], {%h3, %h2, %h1, %h0};
         ret;",
    );
    let data: Vec<u8> = (0..32 * 16).map(|i| (i * 37 % 251) as u8 ^ 0x80).collect();
    let input = b.upload(&data, "in");
    let out = b.upload(&vec![0u8; 32 * 64], "out");
    b.go("k", ONE, [32, 1, 1], 0, &[Arg::U64(input), Arg::U64(out)]);
    let out: Vec<u8> = b.download(out, 32 * 64);
    for (source, got) in data.chunks(16).zip(out.chunks(64)) {
        let word = |at: usize| i32::from_le_bytes(got[at..at + 4].try_into().expect("four"));
        assert_eq!(word(0), i32::from(source[0] as i8));
        assert_eq!(got[4..6], u16::from(source[0]).to_le_bytes());
        assert_eq!(word(8), i32::from(i16::from_le_bytes([source[2], source[3]])));
        assert_eq!(got[12..14], (source[1] as i8 as i16).to_le_bytes());
        assert_eq!(got[16..20], source[12..16]);
        assert_eq!(got[20..24], source[8..12]);
        assert_eq!(got[32..40], source[8..16]);
        assert_eq!(got[40..48], source[0..8]);
        let signed = i32::from_le_bytes(source[4..8].try_into().expect("four"));
        assert_eq!(got[48..56], i64::from(signed).to_le_bytes());
        assert_eq!(got[56..60], [source[11], source[10], source[9], source[8]]);
    }
}

#[test]
fn shared_local_const_and_generic() {
    let mut b = Bench::new(
        ".version 8.4 .target sm_80 .address_size 64
         .const .align 4 .b8 c[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
         .global .align 4 .u32 g[2] = {40, 50};
         .global .align 8 .u64 where[2] = {generic(c), g+4};
         .extern .shared .align 16 .b8 pool[];
         .visible .entry k(.param .u64 out) {
             .local .align 8 .b8 depot[32]; .shared .align 4 .b8 s[256];
             .reg .b32 %t, %v, %w; .reg .b64 %o, %x, %y, %SP, %SPL; .reg .pred %p;
             mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;
             mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;
             // A different local element for each lane, through a generic pointer.
             and.b32 %w, %t, 7; mad.wide.u32 %x, %w, 4, %SP; st.u32 [%x], %t;
             add.u32 %w, %w, 1; and.b32 %w, %w, 7; mad.wide.u32 %x, %w, 4, %SPL; mov.u32 %v, 1000; st.local.u32 [%x], %v;
             and.b32 %w, %t, 7; mad.wide.u32 %x, %w, 4, %SPL; ld.local.u32 %v, [%x];
             // Shared: write mine, read my neighbour's, generic and by symbol; the pool lies behind.
             mov.u64 %y, s; mad.wide.u32 %x, %t, 4, %y; st.shared.u32 [%x], %v;
             cvta.shared.u64 %y, %y; xor.b32 %w, %t, 1; mad.wide.u32 %x, %w, 4, %y; bar.sync 0; ld.u32 %v, [%x];
             mov.u64 %y, pool; mad.wide.u32 %x, %t, 4, %y; st.shared.u32 [%x], %v; ld.shared.u32 %v, [%x];
             // Constants: by symbol, and through an initialised pointer.
             ld.const.u32 %w, [c+4]; mad.lo.u32 %v, %w, 1000, %v;
             ld.global.u64 %x, [where]; ld.u32 %w, [%x+8]; mad.lo.u32 %v, %w, 10000, %v;
             ld.global.u64 %x, [where+8]; ld.global.u32 %w, [%x]; mad.lo.u32 %v, %w, 100000, %v;
             isspacep.shared %p, %y; @%p add.u32 %v, %v, 7;
             isspacep.local %p, %SP; @%p add.u32 %v, %v, 1000000000;
             st.global.u32 [%o], %v; ret;
         }",
    );
    let info = b.image.program().info(b.image.program().kernel("k").expect("there")).clone();
    assert_eq!((info.static_shared, info.local_bytes, info.const_bytes, info.param_bytes), (256, 32, 16, 8));
    let out = b.upload(&[0u32; 64], "out");
    b.go("k", ONE, [64, 1, 1], 256, &[Arg::U64(out)]);
    for (t, v) in (0u32..).zip(b.download::<u32>(out, 64)) {
        assert_eq!(v, 1_000_000_000 + 5_000_000 + 30_000 + 2_000 + (t ^ 1), "{t}");
    }
    assert_eq!(b.image.variable("g").map(|(_, bytes)| bytes), Some(8));
    assert_eq!(b.image.variable("s"), None);
}

#[test]
fn a_generic_address_of_a_constant_is_known_as_one() {
    let mut b = Bench::new(
        ".version 8.4 .target sm_80 .address_size 64
         .const .align 4 .u32 c[2] = {1, 2}; .const .align 8 .u64 d; .global .align 4 .u32 g;
         .visible .entry k(.param .u64 out) {
             .reg .b32 %v; .reg .b64 %o, %a, %b, %e; .reg .pred %p, %q; ld.param.u64 %o, [out];
             cvta.const.u64 %a, c; cvta.const.u64 %b, d; cvta.global.u64 %e, g; mov.u32 %v, 0;
             isspacep.const %p, %a; @%p add.u32 %v, %v, 1;
             isspacep.const %p, %b; @%p add.u32 %v, %v, 2;
             isspacep.const %p, %e; @%p add.u32 %v, %v, 4;
             add.u64 %a, %a, 7; isspacep.const %p, %a; @%p add.u32 %v, %v, 8;
             add.u64 %a, %a, 1; isspacep.const %p, %a; @%p add.u32 %v, %v, 16;
             setp.ne.u32 %q, %v, %v; setp.eq.u32 %p, %v, %v; @%q isspacep.const %p, %e; @%p add.u32 %v, %v, 32;
             st.global.u32 [%o], %v; ret;
         }",
    );
    let out = b.upload(&[0u32; 1], "out");
    b.go("k", ONE, [32, 1, 1], 0, &[Arg::U64(out)]);
    assert_eq!(b.download::<u32>(out, 1), [1 + 2 + 8 + 32]);
}

#[test]
fn a_store_to_a_constant_through_a_pointer_is_found() {
    let ptx = |store: &str| {
        format!(
            ".version 8.4 .target sm_80 .address_size 64 .const .align 4 .u32 c[2] = {{1, 2}};
             .visible .entry k(.param .u64 out) {{
                 .reg .b64 %o, %a; ld.param.u64 %o, [out]; cvta.const.u64 %a, c; {store} ret;
             }}"
        )
    };
    let mut b = Bench::new(&ptx("st.u32 [%a+4], 9;"));
    let out = b.upload(&[0u32], "out");
    let launch = b.launch("k", ONE, ONE, 0, &[Arg::U64(out)]);
    assert!(matches!(b.run(launch), dacapo_sim::exec::Outcome::Done));
    let codes: Vec<&str> = b.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["constant-write"]);
    // A store elsewhere, in a kernel that has constants, is none.
    let mut b = Bench::new(&ptx("st.u32 [%o], 9;"));
    let out = b.upload(&[0u32], "out");
    b.go("k", ONE, ONE, 0, &[Arg::U64(out)]);
}

#[test]
fn kernel_parameters_have_a_generic_address() {
    let mut b = Bench::kernel(
        ".param .u64 out, .param .align 4 .b8 s[16]",
        ".reg .b32 %v, %w; .reg .b64 %o, %x, %y;
         ld.param.u64 %o, [out]; mov.b64 %x, s; cvta.param.u64 %y, %x; ld.u32 %v, [%y+8]; ld.param.u32 %w, [s+12];
         add.u32 %v, %v, %w; ld.param.u32 %w, [%x+4]; add.u32 %v, %v, %w; st.global.u32 [%o], %v; ret;",
    );
    let out = b.upload(&[0u32], "out");
    let mut launch = b.launch("k", ONE, ONE, 0, &[Arg::U64(out)]);
    for (i, n) in [1u32, 20, 300, 4000].iter().enumerate() {
        launch.params[8 + 4 * i..12 + 4 * i].copy_from_slice(&n.to_le_bytes());
    }
    assert!(matches!(b.run(launch), dacapo_sim::exec::Outcome::Done));
    assert_eq!(b.download::<u32>(out, 1), [4320]);
}

#[test]
fn out_of_bounds_names_everything() {
    let mut b = Bench::new(&kernel_file("saxpy.ptx"));
    let (x, y) = (b.upload(&[1f32; 100], "x"), b.upload(&[1f32; 100], "y"));
    let args = [Arg::U32(128), Arg::F32(2.0), Arg::U64(x), Arg::U64(y)];
    let (fault, text) = b.fault("saxpy_f32", [2, 1, 1], [64, 1, 1], 0, &args);
    assert_eq!(fault, Fault::IllegalAddress);
    let end = x + 400;
    assert_eq!(
        text,
        format!(
            "error[out-of-bounds]: `saxpy_f32` reads 4 bytes at {end:#x}, right past the end of `x` (400 bytes at {x:#x})\n  \
             --> kernels/saxpy.cu:7:5      block (1,0,0), thread (36,0,0)\n  \
             --> test.ptx:48:2      `ld.global.nc.f32`\n\
             note: 28 of the 32 threads that run here together do so\n\
             help: compare the index with the length before the access: `if (i < n)`"
        )
    );
}

fn poke(body: &str) -> Bench {
    let text = format!(
        ".reg .b32 %t, %v; .reg .b64 %a, %x; .reg .pred %p; .shared .align 16 .b8 s[64]; .local .align 4 .b8 l[8];
         mov.u32 %t, %tid.x; ld.param.u64 %a, [a]; mov.u32 %v, 0;\n{body}\nret;"
    );
    Bench::kernel(".param .u64 a", &text)
}

#[test]
fn freed_memory_null_and_misaligned() {
    let mut b = poke("st.global.u32 [%a+4], %v;");
    let a = b.upload(&[1u32; 4], "weights");
    b.memory.free(a);
    let (fault, text) = b.fault("k", ONE, ONE, 0, &[Arg::U64(a)]);
    assert_eq!(fault, Fault::IllegalAddress);
    assert_eq!(
        text,
        format!(
            "error[use-after-free]: `k` writes 4 bytes at {:#x}, inside `weights` (16 bytes at {a:#x}), freed\n  \
             --> test.ptx:7:1      `st.global.u32`, block (0,0,0), thread (0,0,0)\n\
             help: free the memory after the last kernel that uses it has finished",
            a + 4
        )
    );
    let mut b = poke("ld.global.u32 %v, [%a+12];");
    let (fault, text) = b.fault("k", ONE, [2, 1, 1], 0, &[Arg::U64(0)]);
    assert_eq!(fault, Fault::IllegalAddress);
    assert_eq!(
        text,
        "error[null-pointer]: `k` reads 4 bytes at 0xc, a null pointer plus 12 bytes\n  \
         --> test.ptx:7:1      `ld.global.u32`, block (0,0,0), thread (0,0,0)\n\
         note: 2 of the 2 threads that run here together do so\n\
         help: pass a device pointer for this parameter"
    );
    let mut b = poke("ld.global.v2.u32 {%v, %t}, [%a+4];");
    let a = b.upload(&[1u32; 4], "x");
    let (fault, text) = b.fault("k", ONE, ONE, 0, &[Arg::U64(a)]);
    assert_eq!(fault, Fault::MisalignedAddress);
    assert_eq!(
        text,
        format!(
            "error[misaligned]: `k` reads 8 bytes at {:#x}, not a multiple of 8: byte 4 of `x` (16 bytes at {a:#x})\n  \
             --> test.ptx:7:1      `ld.global.v2.u32`, block (0,0,0), thread (0,0,0)\n\
             help: the address must be a multiple of the access's size: look at casts to wider or vector types",
            a + 4
        )
    );
    let mut b = poke("atom.global.add.u32 %v, [%a+64], 1;");
    let a = b.upload(&[1u32; 4], "x");
    let (fault, text) = b.fault("k", ONE, ONE, 0, &[Arg::U64(a)]);
    assert_eq!(fault, Fault::IllegalAddress);
    assert!(
        text.starts_with(&format!("error[out-of-bounds]: `k` updates 4 bytes at {:#x}, 48 bytes past", a + 64)),
        "{text}"
    );
}

#[test]
fn other_spaces_have_bounds_too() {
    let mut b = poke("mov.u64 %x, s; mad.wide.u32 %x, %t, 4, %x; st.shared.u32 [%x], %v;");
    let (fault, text) = b.fault("k", ONE, [32, 1, 1], 16, &[Arg::U64(0)]);
    assert_eq!(fault, Fault::IllegalAddress);
    assert_eq!(
        text,
        "error[out-of-bounds]: `k` writes 4 bytes at byte 80 of shared memory, which has 80 bytes (64 static, 16 dynamic)\n  \
         --> test.ptx:7:44      `st.shared.u32`, block (0,0,0), thread (20,0,0)\n\
         note: 12 of the 32 threads that run here together do so\n\
         help: make the shared array larger, or pass the size of dynamic shared memory at the launch"
    );
    let mut b = poke("mov.u64 %x, l; st.local.u32 [%x+4096], %v;");
    let (_, text) = b.fault("k", ONE, ONE, 0, &[Arg::U64(0)]);
    assert!(text.starts_with("error[out-of-bounds]: `k` writes 4 bytes at byte 4096 of local memory"), "{text}");
    let mut b = poke("mov.u64 %x, s; cvta.shared.u64 %x, %x; st.global.u32 [%x], %v;");
    let (fault, text) = b.fault("k", ONE, ONE, 0, &[Arg::U64(0)]);
    assert_eq!(fault, Fault::InvalidAddressSpace);
    assert!(text.starts_with("error[wrong-space]: `k` writes 4 bytes through an address of another space"), "{text}");
    let mut b = poke("ld.shared.u32 %v, [%a];");
    let a = b.upload(&[1u32; 4], "x");
    let (fault, text) = b.fault("k", ONE, ONE, 0, &[Arg::U64(a)]);
    assert_eq!(fault, Fault::IllegalInstruction);
    assert!(text.contains("is not in shared memory"), "{text}");
}

#[test]
fn lanes_of_one_load_may_touch_different_allocations() {
    let mut b = Bench::kernel(
        ".param .u64 p, .param .u64 q, .param .u64 out",
        ".reg .b32 %t, %v; .reg .b64 %a, %b, %o; .reg .pred %p;
         mov.u32 %t, %tid.x; ld.param.u64 %a, [p]; ld.param.u64 %b, [q]; ld.param.u64 %o, [out];
         setp.lt.u32 %p, %t, 9; selp.b64 %a, %a, %b, %p; mad.wide.u32 %a, %t, 4, %a; mad.wide.u32 %o, %t, 4, %o;
         ld.global.u32 %v, [%a]; st.global.u32 [%o], %v; ret;",
    );
    let p = b.upload(&(0..32u32).collect::<Vec<_>>(), "p");
    let q = b.upload(&(100..132u32).collect::<Vec<_>>(), "q");
    let out = b.upload(&[0u32; 32], "out");
    b.go("k", ONE, [32, 1, 1], 0, &[Arg::U64(p), Arg::U64(q), Arg::U64(out)]);
    for (t, v) in (0u32..).zip(b.download::<u32>(out, 32)) {
        assert_eq!(v, if t < 9 { t } else { 100 + t });
    }
}

#[test]
fn uninitialised_reads_are_reported_once_and_do_not_end_the_kernel() {
    let mut b =
        poke("mad.wide.u32 %x, %t, 4, %a; ld.global.u32 %v, [%x]; ld.shared.u32 %v, [s+8]; ld.local.u32 %v, [l];");
    let a = b.alloc(256, "scratch");
    b.memory.write(a, &[1; 40]).expect("inside");
    let launch = b.launch("k", [2, 1, 1], [64, 1, 1], 0, &[Arg::U64(a)]);
    assert!(matches!(b.run(launch), dacapo_sim::exec::Outcome::Done));
    let texts: Vec<String> = b.findings.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 3, "{texts:#?}");
    assert_eq!(
        texts[0],
        format!(
            "error[uninitialised-read]: `k` reads 4 bytes that nothing has written, at {:#x}, byte 40 of `scratch` (256 bytes at {a:#x})\n  \
             --> test.ptx:7:29      `ld.global.u32`, block (0,0,0), thread (10,0,0)\n\
             note: 22 threads of this warp do so\n\
             help: write the memory first: a memset, a copy, or a store by this kernel",
            a + 40
        )
    );
    assert!(texts[1].starts_with(
        "error[uninitialised-read]: `k` reads 4 bytes that nothing has written, at byte 8 of shared memory"
    ));
    assert!(texts[2].starts_with(
        "error[uninitialised-read]: `k` reads 4 bytes that nothing has written, at byte 0 of local memory"
    ));
}

#[test]
fn division_by_zero_is_reported() {
    let mut b = poke("div.s32 %v, %t, %v;");
    let launch = b.launch("k", ONE, ONE, 0, &[Arg::U64(0)]);
    assert!(matches!(b.run(launch), dacapo_sim::exec::Outcome::Done));
    assert_eq!(
        b.findings[0].to_string(),
        "error[division-by-zero]: `k` divides an integer by zero\n  \
         --> test.ptx:7:1      `div.s32`, block (0,0,0), thread (0,0,0)\n\
         help: compare the divisor with zero first; a GPU gives all ones and says nothing"
    );
}

#[test]
fn traps_and_assertions() {
    let mut b = poke("setp.eq.u32 %p, %t, 3; @%p trap;");
    let (fault, text) = b.fault("k", ONE, [32, 1, 1], 0, &[Arg::U64(0)]);
    assert_eq!(fault, Fault::Trap);
    assert!(text.contains("error[trap]: `k` executes `trap`"), "{text}");
    assert!(text.contains("thread (3,0,0)"), "{text}");
    let mut b = Bench::new(
        ".version 8.4 .target sm_80 .address_size 64
         .global .align 1 .b8 message[6] = {105, 32, 60, 32, 110, 0};
         .global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
         .global .align 1 .b8 name[2] = {107, 0};
         .extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
         .visible .entry k() {
             .reg .b64 %m, %f, %n; .reg .b32 %l;
             mov.u64 %m, message; cvta.global.u64 %m, %m; mov.u64 %f, file; mov.u64 %n, name; mov.u32 %l, 12;
             { .param .b64 p0; st.param.b64 [p0], %m; .param .b64 p1; st.param.b64 [p1], %f; .param .b32 p2;
               st.param.b32 [p2], %l; .param .b64 p3; st.param.b64 [p3], %n; .param .b64 p4; st.param.b64 [p4], 1;
               call.uni __assertfail, (p0, p1, p2, p3, p4); }
             ret;
         }",
    );
    let (fault, text) = b.fault("k", ONE, ONE, 0, &[]);
    assert_eq!(fault, Fault::Assert);
    assert!(text.starts_with("error[assert]: `k` fails an assertion: `i < n` (a.cu:12, in `k`)"), "{text}");
}

#[test]
fn asynchronous_copies_fill_with_zeros() {
    let mut b = Bench::kernel(
        ".param .u64 in, .param .u64 out",
        ".reg .b32 %t, %v<4>, %n, %s; .reg .b64 %i, %o, %x; .shared .align 16 .b8 s[512];
         mov.u32 %t, %tid.x; ld.param.u64 %i, [in]; ld.param.u64 %o, [out];
         mad.wide.u32 %i, %t, 16, %i; mad.wide.u32 %o, %t, 16, %o;
         mov.u64 %x, s; cvt.u32.u64 %s, %x; mad.lo.u32 %s, %t, 16, %s; and.b32 %n, %t, 15;
         cp.async.ca.shared.global [%s], [%i], 16, %n; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
         ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%s]; st.global.v4.u32 [%o], {%v0, %v1, %v2, %v3}; ret;",
    );
    let data: Vec<u8> = (0..512).map(|i| (i % 255) as u8 + 1).collect();
    let input = b.upload(&data, "in");
    let out = b.upload(&[0u8; 512], "out");
    b.go("k", ONE, [32, 1, 1], 0, &[Arg::U64(input), Arg::U64(out)]);
    let got: Vec<u8> = b.download(out, 512);
    for (i, (got, source)) in got.iter().zip(&data).enumerate() {
        let copied = i % 16 < i / 16 % 16;
        assert_eq!(*got, if copied { *source } else { 0 }, "{i}");
    }
}

#[test]
fn too_much_local_memory_is_not_run() {
    let mut b = Bench::kernel("", ".local .align 4 .b8 l[1073741824]; ret;");
    let launch = b.launch("k", ONE, ONE, 0, &[]);
    let dacapo_sim::exec::Outcome::Unsupported(finding) = b.run(launch) else { panic!("it should not run") };
    assert!(finding.what.contains("local arrays of 1073741824 bytes"), "{finding}");
}
