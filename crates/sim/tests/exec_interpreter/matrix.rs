//! `mma.sync` of bf16 with f32 sums: where each number goes, how near the sums are, and what is refused.

use dacapo_sim::exec::Outcome;

use crate::harness::{Arg, Bench, Random};

const FORM: &str = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
/// The canonical NaN of f32 arithmetic.
const NAN: u32 = 0x7fff_ffff;

/// One product: bits of bf16 by row and column, bits of f32 likewise.
#[derive(Clone)]
struct Product {
    a: [[u16; 16]; 16],
    b: [[u16; 8]; 16],
    c: [[u32; 8]; 16],
}

impl Product {
    fn zero() -> Product {
        Product { a: [[0; 16]; 16], b: [[0; 8]; 16], c: [[0; 8]; 16] }
    }

    /// What the interpreter makes of it, by the manual's figures of which lane holds what.
    fn run(&self) -> [[u32; 8]; 16] {
        let pair = |lo: u16, hi: u16| u32::from(lo) | u32::from(hi) << 16;
        let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
        for lane in 0..32 {
            let (group, member) = (lane / 4, lane % 4);
            // Figure "MMA .m16n8k16 fragment layout for matrix A with .bf16": the row is the group's for a0, a1, a4, a5.
            for i in [0, 2, 4, 6] {
                let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
                let column = member * 2 + if i >= 4 { 8 } else { 0 };
                a.push(pair(self.a[row][column], self.a[row][column + 1]));
            }
            for i in [0, 2] {
                let row = member * 2 + if i >= 2 { 8 } else { 0 };
                b.push(pair(self.b[row][group], self.b[row + 1][group]));
            }
            c.extend((0..4).map(|i| self.c[if i < 2 { group } else { group + 8 }][member * 2 + i % 2]));
        }
        let mut bench = Bench::kernel(".param .u64 a, .param .u64 b, .param .u64 c", &text(FORM));
        let (a, b, c) = (bench.upload(&a, "a"), bench.upload(&b, "b"), bench.upload(&c, "c"));
        let launch = bench.launch("k", [1, 1, 1], [32, 1, 1], 0, &[Arg::U64(a), Arg::U64(b), Arg::U64(c)]);
        assert!(matches!(bench.run(launch), Outcome::Done));
        assert!(bench.findings.is_empty(), "{}", bench.findings[0]);
        let mut out = [[0; 8]; 16];
        for (at, bits) in bench.download::<u32>(c, 128).into_iter().enumerate() {
            let (lane, i) = (at / 4, at % 4);
            out[lane / 4 + if i < 2 { 0 } else { 8 }][lane % 4 * 2 + i % 2] = bits;
        }
        out
    }

    /// The terms of one element, exact in f64: the accumulator, then the products.
    fn terms(&self, row: usize, column: usize) -> Vec<f64> {
        let products = (0..16).map(|k| wide(self.a[row][k]) * wide(self.b[k][column]));
        [f64::from(f32::from_bits(self.c[row][column]))].into_iter().chain(products).collect()
    }
}

fn wide(bits: u16) -> f64 {
    f32::from_bits(u32::from(bits) << 16).into()
}

/// bf16 bits of a number that bf16 has.
fn bf16(x: f32) -> u16 {
    assert_eq!(x.to_bits() & 0xffff, 0, "{x} is no bf16");
    (x.to_bits() >> 16) as u16
}

/// A kernel that multiplies by this form: fragments from `a` and `b`, and `c` in place.
fn text(form: &str) -> String {
    format!(
        ".reg .b32 %t, %a<4>, %b<2>; .reg .f32 %d<4>; .reg .b64 %p, %x, %o;
         mov.u32 %t, %tid.x; ld.param.u64 %p, [a]; mad.wide.u32 %p, %t, 16, %p; ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%p];
         ld.param.u64 %x, [b]; mad.wide.u32 %x, %t, 8, %x; ld.global.v2.u32 {{%b0, %b1}}, [%x];
         ld.param.u64 %o, [c]; mad.wide.u32 %o, %t, 16, %o; ld.global.v4.f32 {{%d0, %d1, %d2, %d3}}, [%o];
         {form} {{%d0, %d1, %d2, %d3}}, {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}}, {{%d0, %d1, %d2, %d3}};
         st.global.v4.f32 [%o], {{%d0, %d1, %d2, %d3}}; ret;"
    )
}

#[test]
fn each_number_goes_where_the_manual_says() {
    // Small whole numbers that are all different by place: sums are exact, and any two lanes that changed places show.
    let mut product = Product::zero();
    for row in 0..16 {
        for k in 0..16 {
            product.a[row][k] = bf16((row * 16 + k) as f32);
        }
    }
    for k in 0..16 {
        for column in 0..8 {
            product.b[k][column] = bf16((k * 8 + column) as f32 - 64.0);
        }
    }
    for row in 0..16 {
        for column in 0..8 {
            product.c[row][column] = (0.5 + (row * 8 + column) as f32).to_bits();
        }
    }
    for (row, got) in product.run().into_iter().enumerate() {
        for (column, got) in got.into_iter().enumerate() {
            let want: f64 = product.terms(row, column).iter().sum();
            assert_eq!(f64::from(f32::from_bits(got)), want, "row {row}, column {column}");
        }
    }
}

#[test]
fn sums_are_the_nearest_f32_and_near_to_sums_in_f32_of_any_order() {
    let mut random = Random(7);
    let mut most = 0.0f64;
    for round in 0..40 {
        // From numbers of one size to numbers of very different ones, with signs that cancel.
        let spread = [1, 4, 12, 40][round % 4];
        let mut draw = || {
            let bits = random.next();
            let exponent = 127 - spread / 2 + (bits >> 32) as u32 % spread;
            (bits as u32 & 0x807f_ffff) | exponent << 23
        };
        let mut product = Product::zero();
        product.a.iter_mut().flatten().for_each(|x| *x = (draw() >> 16) as u16);
        product.b.iter_mut().flatten().for_each(|x| *x = (draw() >> 16) as u16);
        product.c.iter_mut().flatten().for_each(|x| *x = draw());
        let out = product.run();
        for (row, column) in (0..16).flat_map(|row| (0..8).map(move |column| (row, column))) {
            let mut terms = product.terms(row, column);
            let got = f64::from(f32::from_bits(out[row][column]));
            let magnitude: f64 = terms.iter().map(|term| term.abs()).sum();
            // Neumaier's sum: exact but for far less than the bound.
            let (mut sum, mut lost) = (0.0f64, 0.0f64);
            for &term in &terms {
                let next = sum + term;
                lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
                sum = next;
            }
            let exact = sum + lost;
            let half_a_unit = 2f64.powi(-24) * exact.abs();
            let allowed = half_a_unit + 2f64.powi(-48) * magnitude;
            assert!((got - exact).abs() <= allowed, "{got:e} for {exact:e}");
            // Plain f32 sums: as they stand, backwards, the smallest first, the largest first; rounded or cut off.
            for order in 0..4 {
                match order {
                    0 => {}
                    2 => terms.sort_by(|a, b| a.abs().total_cmp(&b.abs())),
                    _ => terms.reverse(),
                }
                for cut in [false, true] {
                    let plain = terms.iter().fold(0.0f32, |sum, term| {
                        let next = f64::from(sum) + term;
                        if cut { toward_zero(next) } else { next as f32 }
                    });
                    let apart = (f64::from(plain) - got).abs() / (16.0 * 2f64.powi(-23) * magnitude);
                    most = most.max(apart);
                    assert!(apart <= 1.0, "{plain:e} and {got:e}: {apart} of the bound");
                }
            }
        }
    }
    assert!(most > 0.01, "the sums hardly differ ({most} of the bound): the test tests nothing");
}

/// The f32 next to a number, on the side of zero.
fn toward_zero(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near).abs() > x.abs() { f32::from_bits(near.to_bits() - 1) } else { near }
}

#[test]
fn numbers_that_are_none_infinite_or_tiny_are_kept() {
    let (inf, nan) = (bf16(f32::INFINITY), 0x7fc1u16);
    let (one, zero, max) = (bf16(1.0), 0u16, 0x7f7fu16);
    // The smallest bf16 there is, 2^-133, and the largest that is not normal.
    let (tiny, subnormal) = (0x0001u16, 0x007fu16);
    let f = f32::to_bits;
    let smallest = f32::from_bits(1);
    for (name, a, b, c, want) in [
        ("a NaN in a", nan, one, f(1.0), NAN),
        ("a NaN in b", one, nan | 0x8000, f(1.0), NAN),
        ("a signalling NaN in c", one, one, 0xffa0_0001, NAN),
        ("∞ times 0", inf, zero, f(1.0), NAN),
        ("∞ less ∞", inf, one, f(f32::NEG_INFINITY), NAN),
        ("∞", inf, one | 0x8000, f(1e30), f(f32::NEG_INFINITY)),
        ("∞ in c", one, one, f(f32::INFINITY), f(f32::INFINITY)),
        ("beyond f32", max, max, f(0.0), f(f32::INFINITY)),
        ("beyond f32, below zero", max, max | 0x8000, f(f32::MAX), f(f32::NEG_INFINITY)),
        ("the smallest bf16", tiny, one, f(0.0), 1 << 16),
        ("a subnormal times a normal", subnormal, bf16(256.0), f(0.0), f(127.0 * 2f32.powi(-125))),
        ("a subnormal result", bf16(2f32.powi(-100)), bf16(2f32.powi(-49)), f(0.0), f(smallest)),
        ("half of the smallest is even, so 0", bf16(2f32.powi(-100)), bf16(2f32.powi(-50)), f(0.0), 0),
        ("a subnormal c", zero, one, f(smallest), f(smallest)),
        ("too small to matter", tiny, tiny, f(smallest), f(smallest)),
    ] {
        // The term stands at another k for each row, so that no place is special.
        let mut product = Product::zero();
        for row in 0..16 {
            product.a[row][row] = a;
            product.b[row] = [b; 8];
            product.c[row] = [c; 8];
        }
        for (row, got) in product.run().into_iter().enumerate() {
            assert_eq!(got, [want; 8], "{name}, row {row}: {got:08x?}, not {want:08x}");
        }
    }
}

#[test]
fn other_shapes_and_types_are_refused_by_name() {
    for form in [
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
        "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    ] {
        assert_eq!(dacapo_ptx::classify(form), dacapo_ptx::Support::Later, "{form}");
        let mut bench = Bench::kernel(".param .u64 a, .param .u64 b, .param .u64 c", &text(form));
        let zeros = [0u32; 128];
        let (a, b, c) = (bench.upload(&zeros, "a"), bench.upload(&zeros, "b"), bench.upload(&zeros, "c"));
        let launch = bench.launch("k", [1, 1, 1], [32, 1, 1], 0, &[Arg::U64(a), Arg::U64(b), Arg::U64(c)]);
        match bench.run(launch) {
            Outcome::Unsupported(finding) => assert!(finding.to_string().contains(form), "{form}: {finding}"),
            other => panic!("{form}: {other:?}"),
        }
    }
    assert_eq!(dacapo_ptx::classify(FORM), dacapo_ptx::Support::Supported);
}
