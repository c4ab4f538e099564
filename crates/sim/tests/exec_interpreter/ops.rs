//! Runs one instruction on many inputs and compares with a reference.
//!
//! Registers by name: `%a %b %c` hold the inputs' low 32 bits, `%A %B %C` all 64, `%ha..` the low 16, `%fa..` and
//! `%ga..` the same as f32 and f64; results go to `%d`, `%D`, `%hd`, `%fd`, `%gd` or the predicate `%p`.

use crate::harness::{Arg, Bench, Random};

/// Which register holds the result.
#[derive(Clone, Copy, Debug)]
pub enum Out {
    W32,
    W64,
    H16,
    F32,
    F64,
    P,
}

/// Results of `instructions` for every triple of inputs, as 64 bits.
#[track_caller]
pub fn results(instructions: &str, out: Out, inputs: &[[u64; 3]]) -> Vec<u64> {
    let take = match out {
        Out::W32 => "cvt.u64.u32 %D, %d;",
        Out::W64 => "",
        Out::H16 => "cvt.u64.u16 %D, %hd;",
        Out::F32 => "mov.b32 %d, %fd; cvt.u64.u32 %D, %d;",
        Out::F64 => "mov.b64 %D, %gd;",
        Out::P => "selp.u64 %D, 1, 0, %p;",
    };
    let body = format!(
        "
        .reg .pred %p, %q, %out; .reg .b32 %a, %b, %c, %d, %e, %i, %n; .reg .b64 %A, %B, %C, %D, %E, %in, %o;
        .reg .b16 %ha, %hb, %hc, %hd; .reg .f32 %fa, %fb, %fc, %fd; .reg .f64 %ga, %gb, %gc, %gd;
        mov.u32 %a, %ctaid.x; mov.u32 %b, %ntid.x; mov.u32 %c, %tid.x; mad.lo.u32 %i, %a, %b, %c;
        ld.param.u32 %n, [count]; setp.ge.u32 %out, %i, %n; @%out bra END;
        ld.param.u64 %in, [input]; ld.param.u64 %o, [output];
        mad.wide.u32 %in, %i, 24, %in; mad.wide.u32 %o, %i, 8, %o;
        ld.global.u64 %A, [%in]; ld.global.u64 %B, [%in+8]; ld.global.u64 %C, [%in+16];
        cvt.u32.u64 %a, %A; cvt.u32.u64 %b, %B; cvt.u32.u64 %c, %C;
        cvt.u16.u64 %ha, %A; cvt.u16.u64 %hb, %B; cvt.u16.u64 %hc, %C;
        mov.b32 %fa, %a; mov.b32 %fb, %b; mov.b32 %fc, %c;
        mov.b64 %ga, %A; mov.b64 %gb, %B; mov.b64 %gc, %C;
        {instructions}
        {take}
        st.global.u64 [%o], %D;
        END: ret;"
    );
    let mut bench = Bench::kernel(".param .u64 input, .param .u64 output, .param .u32 count", &body);
    let flat: Vec<u64> = inputs.iter().flatten().copied().collect();
    let input = bench.upload(&flat, "input");
    let output = bench.alloc(8 * inputs.len() as u64, "output");
    let blocks = inputs.len().div_ceil(64) as u32;
    let args = [Arg::U64(input), Arg::U64(output), Arg::U32(inputs.len() as u32)];
    let launch = bench.launch("k", [blocks, 1, 1], [64, 1, 1], 0, &args);
    match bench.run(launch) {
        dacapo_sim::exec::Outcome::Done => {}
        other => panic!("{instructions}: {other:?}"),
    }
    bench.download(output, inputs.len())
}

/// Compares with a reference, which sees the inputs' 64 bits.
#[track_caller]
pub fn check(instructions: &str, out: Out, inputs: &[[u64; 3]], reference: impl Fn(u64, u64, u64) -> u64) {
    for (input, got) in inputs.iter().zip(results(instructions, out, inputs)) {
        let [a, b, c] = *input;
        let want = reference(a, b, c);
        assert!(got == want, "{instructions} of {a:#x}, {b:#x}, {c:#x} gives {got:#x}, where {want:#x} is right");
    }
}

/// Integers that lie at edges, and others.
pub fn integers() -> Vec<[u64; 3]> {
    let edges = [
        0u64,
        1,
        2,
        31,
        32,
        33,
        63,
        64,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x1_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        u64::MAX,
        u64::MAX - 1,
    ];
    let mut random = Random(5);
    let mut all = Vec::new();
    for a in edges {
        for b in edges {
            all.push([a, b, edges[random.next() as usize % edges.len()]]);
        }
    }
    for _ in 0..500 {
        all.push([random.next(), random.next(), random.next()]);
        all.push([random.next(), random.next() % 70, random.next() % 70]);
    }
    all
}

/// f32 values as bits: special ones in all pairs, random bits, values that cancel, small integers.
pub fn floats() -> Vec<[u64; 3]> {
    let edges = [
        0u32,
        0x8000_0000,
        1,
        0x8000_0001,
        0x007f_ffff,
        0x0080_0000,
        0x8080_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x3f80_0001,
        0x4b7f_ffff,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x7f80_0001,
        0x3eaa_aaab,
        0x7e80_0000,
        0x0d00_0000,
    ];
    let mut random = Random(9);
    let mut all = Vec::new();
    for a in edges {
        for b in edges {
            all.push([a, b, edges[random.next() as usize % edges.len()]].map(u64::from));
            all.push([a, b, edges[random.next() as usize % edges.len()]].map(u64::from));
        }
    }
    for _ in 0..2000 {
        let bits = [random.next() as u32, random.next() as u32, random.next() as u32];
        all.push(bits.map(u64::from));
        let (a, b) = (random.f32() * 8.0, random.f32() * 8.0);
        let c = -(a * b) * (1.0 + random.f32() * 1e-6);
        all.push([a, b, c].map(|x| x.to_bits().into()));
        let small = [random.next() as i8, random.next() as i8, random.next() as i8];
        all.push(small.map(|x| f32::from(x).to_bits().into()));
        // Products and sums near the smallest numbers.
        let (a, b) = (random.f32() * 1e-19, random.f32() * 1e-20);
        all.push([a, b, random.f32() * 1e-38].map(|x| x.to_bits().into()));
    }
    all
}

/// f64 values as bits, in the same spirit.
pub fn doubles() -> Vec<[u64; 3]> {
    let edges = [
        0u64,
        1 << 63,
        1,
        1 << 63 | 1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0xbff0_0000_0000_0001,
        0x4340_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
        0xffef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x3fd5_5555_5555_5555,
        0x36a0_0000_0000_0000,
        0x380f_ffff_ffff_ffff,
        0x47ef_ffff_f000_0000,
    ];
    let mut random = Random(11);
    let mut all = Vec::new();
    for a in edges {
        for b in edges {
            all.push([a, b, edges[random.next() as usize % edges.len()]]);
        }
    }
    for _ in 0..1500 {
        all.push([random.next(), random.next(), random.next()]);
        let (a, b) = (f64::from(random.f32()) * 1.1, f64::from(random.f32()) / 3.0);
        let c = -(a * b) * (1.0 + f64::from(random.f32()) * 1e-15);
        all.push([a, b, c].map(f64::to_bits));
        let (a, b) = (f64::from(random.f32()) * 1e-160, f64::from(random.f32()) * 1e-155);
        all.push([a, b, f64::from(random.f32()) * 1e-310].map(f64::to_bits));
    }
    all
}
