//! Matrix products as a user relies on them, on the software device: every type, transpose, bias, activation and addend, against
//! sums in f64; and what is refused.
//!
//! The bound, for each element: with S the sum of the magnitudes of all that is added up (scaled products, C, bias),
//! (k + 4) · 2⁻²⁴ · S for the sum in f32, twice that and 2⁻²⁰ for GELU, and one rounding of the result to its type.
//! Factors in tf32 are rounded on the host as the kernel says it rounds them.
#![cfg(all(feature = "cublaslt", feature = "software"))]

use dacapo::half::{bf16, f16};
use dacapo::interop::cublaslt::{Activation, CublasLt, Matmul, Number};
use dacapo::{Device, ErrorKind, Op, Recorder, Result, baked, copy};

/// A number type as the tests see it.
trait Sample: Number + PartialEq {
    /// Half the distance of two neighbours, beside them.
    const ROUNDING: f64;
    fn of(value: f32) -> Self;
    fn wide(self) -> f64;
    fn tf32(product: Matmul<'_, Self>) -> Matmul<'_, Self> {
        product
    }
}

impl Sample for f32 {
    const ROUNDING: f64 = 5.960464477539063e-8; // 2^-24
    fn of(value: f32) -> f32 {
        value
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
    fn tf32(product: Matmul<'_, f32>) -> Matmul<'_, f32> {
        product.tf32()
    }
}

impl Sample for f16 {
    const ROUNDING: f64 = 4.8828125e-4; // 2^-11
    fn of(value: f32) -> f16 {
        f16::from_f32(value)
    }
    fn wide(self) -> f64 {
        self.to_f64()
    }
}

impl Sample for bf16 {
    const ROUNDING: f64 = 3.90625e-3; // 2^-8
    fn of(value: f32) -> bf16 {
        bf16::from_f32(value)
    }
    fn wide(self) -> f64 {
        self.to_f64()
    }
}

/// Numbers that are even in (-1, 1), the same for the same seed.
struct Draw(u64);

impl Draw {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }

    fn below(&mut self, n: usize) -> usize {
        self.word() as usize % n
    }

    fn numbers<T: Sample>(&mut self, n: usize) -> Vec<T> {
        (0..n).map(|_| T::of((self.word() & 0xffff) as f32 / 32768.0 - 1.0)).collect()
    }
}

/// To 10 bits behind the point, halves away from zero.
fn tf32(x: f64) -> f64 {
    let bits = (x as f32).to_bits();
    f64::from(f32::from_bits((bits + 0x1000) & 0xffff_e000))
}

#[derive(Clone, Copy, Debug)]
struct Case {
    m: usize,
    n: usize,
    k: usize,
    batch: usize,
    a_transposed: bool,
    b_transposed: bool,
    bias: bool,
    activation: Activation,
    addend: u8,
    alpha: f32,
    beta: f32,
    tf32: bool,
    on_device: bool,
}

impl Default for Case {
    fn default() -> Case {
        Case {
            m: 3,
            n: 5,
            k: 7,
            batch: 1,
            a_transposed: false,
            b_transposed: false,
            bias: false,
            activation: Activation::None,
            addend: 0,
            alpha: 1.0,
            beta: 0.0,
            tf32: false,
            on_device: false,
        }
    }
}

/// Runs one product eagerly and as a graph, and compares both with f64.
fn check<T: Sample>(blas: &CublasLt, device: &Device, case: Case, seed: u64) {
    let Case { m, n, k, batch, .. } = case;
    let mut draw = Draw(seed);
    let (a, b) = (draw.numbers::<T>(batch * m * k), draw.numbers::<T>(batch * k * n));
    let (c, bias) = (draw.numbers::<T>(batch * m * n), draw.numbers::<T>(n));
    let stream = device.stream().unwrap();
    let of = |values: &[T]| device.buffer(values).unwrap();
    let (da, db, dc, dbias) = (of(&a), of(&b), of(&c), of(&bias));
    let (alpha, beta) = (device.scalar(case.alpha).unwrap(), device.scalar(case.beta).unwrap());
    let body = |r: &mut Recorder<'_>| -> Result<_> {
        let mut d = r.output::<T>(batch * m * n)?;
        if case.addend == 2 {
            r.run(copy(&dc, &mut d))?;
        }
        let mut product = blas.matmul::<T>(m, n, k).batch(batch).activation(case.activation);
        product = if case.tf32 { T::tf32(product) } else { product };
        product = if case.a_transposed { product.transpose_a() } else { product };
        product = if case.b_transposed { product.transpose_b() } else { product };
        product = if case.bias { product.bias(&dbias) } else { product };
        product = if case.on_device { product.alpha(&*alpha) } else { product.alpha(baked(case.alpha)) };
        product = match (case.addend, case.on_device) {
            (0, _) => product,
            (1, true) => product.add(&dc, &*beta),
            (1, false) => product.add(&dc, baked(case.beta)),
            (_, true) => product.accumulate(&*beta),
            (_, false) => product.accumulate(baked(case.beta)),
        };
        r.run(product.op(&da, &db, &mut d))?;
        Ok(d)
    };
    let eager = stream.read(&stream.run(body).unwrap()).unwrap();
    let mut graph = device.record(body).unwrap();
    let replayed = stream.read(graph.launch_sync(&stream).unwrap()).unwrap();
    assert_eq!(eager, replayed, "{case:?}");
    let factor = |x: T| if case.tf32 { tf32(x.wide()) } else { x.wide() };
    for i in 0..batch * m * n {
        let (set, row, column) = (i / (m * n), i / n % m, i % n);
        let (mut sum, mut size) = (0.0, 0.0);
        for at in 0..k {
            let x = a[set * m * k + if case.a_transposed { at * m + row } else { row * k + at }];
            let y = b[set * k * n + if case.b_transposed { column * k + at } else { at * n + column }];
            sum += factor(x) * factor(y);
            size += (factor(x) * factor(y)).abs();
        }
        let mut want = f64::from(case.alpha) * sum;
        size *= f64::from(case.alpha.abs());
        if case.addend > 0 {
            want += f64::from(case.beta) * c[i].wide();
            size += (f64::from(case.beta) * c[i].wide()).abs();
        }
        if case.bias {
            want += bias[column].wide();
            size += bias[column].wide().abs();
        }
        let mut bound = (k + 4) as f64 * f32::ROUNDING * size;
        match case.activation {
            Activation::None => {}
            Activation::Relu => want = want.max(0.0),
            Activation::Gelu => {
                let y = (2.0 / std::f64::consts::PI).sqrt() * (want + 0.044715 * want.powi(3));
                (want, bound) = (0.5 * want * (1.0 + y.tanh()), 2.0 * bound + 1e-6 * want.abs());
            }
        }
        bound += T::ROUNDING * (want.abs() + bound) + 3e-8;
        let got = replayed[i].wide();
        assert!((got - want).abs() <= bound, "{case:?}: element {i}: got {got}, expected {want} within {bound}");
    }
}

fn blas() -> (Device, CublasLt) {
    let device = Device::software().unwrap();
    let blas = CublasLt::load(&device).unwrap();
    (device, blas)
}

fn every_combination<T: Sample>(tf32: bool) {
    let (device, blas) = blas();
    let mut seed = 1;
    for (a_transposed, b_transposed) in [(false, false), (true, false), (false, true), (true, true)] {
        for bias in [false, true] {
            for activation in [Activation::None, Activation::Relu, Activation::Gelu] {
                for (addend, alpha, beta) in [(0, 1.0, 0.0), (1, -0.5, 2.0), (2, 1.5, 1.0)] {
                    let case =
                        Case { a_transposed, b_transposed, bias, activation, addend, alpha, beta, ..Case::default() };
                    check::<T>(&blas, &device, Case { tf32, on_device: seed % 3 == 0, ..case }, seed);
                    seed += 1;
                }
            }
        }
    }
    assert_eq!(device.findings(), [""; 0]);
}

#[test]
fn f32_with_every_transpose_bias_activation_and_addend() {
    every_combination::<f32>(false);
}

#[test]
fn f16_with_every_transpose_bias_activation_and_addend() {
    every_combination::<f16>(false);
}

#[test]
fn bf16_with_every_transpose_bias_activation_and_addend() {
    every_combination::<bf16>(false);
}

#[test]
fn tf32_with_every_transpose_bias_activation_and_addend() {
    every_combination::<f32>(true);
}

fn any_shape<T: Sample>(seed: u64) {
    const SIZES: [usize; 8] = [0, 1, 2, 3, 7, 16, 33, 65];
    let (device, blas) = blas();
    let mut draw = Draw(seed);
    for round in 0..60 {
        let mut size = || SIZES[draw.below(8)];
        let (m, n, k) = (size(), size(), size());
        let case = Case {
            m,
            n,
            k,
            batch: draw.below(4),
            a_transposed: draw.below(2) == 0,
            b_transposed: draw.below(2) == 0,
            bias: draw.below(2) == 0,
            activation: [Activation::None, Activation::Relu, Activation::Gelu][draw.below(3)],
            addend: draw.below(3) as u8,
            alpha: draw.below(5) as f32 - 2.0,
            beta: draw.below(5) as f32 - 2.0,
            tf32: false,
            on_device: draw.below(2) == 0,
        };
        check::<T>(&blas, &device, case, round);
    }
    assert_eq!(device.findings(), [""; 0]);
}

#[test]
fn any_shape_works_also_with_one_element_an_odd_number_or_none() {
    any_shape::<f32>(1);
    any_shape::<f16>(2);
    any_shape::<bf16>(3);
}

/// Whole numbers, so that nothing is rounded: each batch has its own matrices, and one bias for all.
#[test]
fn batches_lie_one_behind_the_other() {
    let (device, blas) = blas();
    let stream = device.stream().unwrap();
    let a = device.buffer(&[1.0f32, 2.0, 3.0, 4.0]).unwrap(); // two of 1 x 2
    let b = device.buffer(&[1.0f32, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0]).unwrap(); // two of 2 x 2
    let bias = device.buffer(&[10.0f32, 20.0]).unwrap();
    let mut d = device.zeros::<f32>(4).unwrap();
    stream.run(blas.matmul(1, 2, 2).batch(2).bias(&bias).op(&a, &b, &mut d)).unwrap();
    assert_eq!(stream.read(&d).unwrap(), [11.0, 22.0, 16.0, 28.0]);
}

/// Where beta is 0, C is not read; a factor that is no number shows; ReLU lets it through.
#[test]
fn what_is_no_number_shows_where_it_is_read_and_nowhere_else() {
    let (device, blas) = blas();
    let stream = device.stream().unwrap();
    let (nan, one) = (device.buffer(&[f32::NAN]).unwrap(), device.buffer(&[1.0f32]).unwrap());
    let mut d = device.buffer(&[f32::NAN]).unwrap();
    stream.run(blas.matmul(1, 1, 1).add(&nan, baked(0.0)).op(&one, &one, &mut d)).unwrap();
    assert_eq!(stream.read(&d).unwrap(), [1.0]);
    stream.run(blas.matmul(1, 1, 1).relu().op(&nan, &one, &mut d)).unwrap();
    assert!(stream.read(&d).unwrap()[0].is_nan());
    let large = device.buffer(&[f16::from_f32(60000.0)]).unwrap();
    let mut h = device.zeros::<f16>(1).unwrap();
    stream.run(blas.matmul(1, 1, 1).alpha(baked(2.0)).op(&large, &large, &mut h)).unwrap();
    assert_eq!(stream.read(&h).unwrap(), [f16::INFINITY]);
}

/// A scale on the device is read at each replay; one that is baked is frozen.
#[test]
fn a_scale_on_the_device_changes_between_replays() {
    let (device, blas) = blas();
    let stream = device.stream().unwrap();
    let (a, b) = (device.buffer(&[3.0f32]).unwrap(), device.buffer(&[5.0f32]).unwrap());
    let (mut alpha, mut d) = (device.scalar(1.0f32).unwrap(), device.zeros::<f32>(1).unwrap());
    let mut graph = device.record(blas.matmul(1, 1, 1).alpha(&*alpha).op(&a, &b, &mut d)).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&d).unwrap(), [15.0]);
    alpha.set(&stream, -2.0).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&d).unwrap(), [-30.0]);
}

/// Two layers with a temp between them; the order comes from the data.
#[test]
fn products_order_themselves_by_what_they_touch() {
    let (device, blas) = blas();
    let stream = device.stream().unwrap();
    let x = device.buffer(&[1.0f32, -1.0]).unwrap();
    let w = device.buffer(&[2.0f32, 0.0, 0.0, 2.0]).unwrap();
    let mut graph = device
        .record(|r: &mut Recorder<'_>| {
            let (mut hidden, mut y) = (r.alloc::<f32>(2)?, r.output::<f32>(2)?);
            r.run(blas.matmul(1, 2, 2).relu().op(&x, &w, &mut hidden).label("first"))?;
            r.run(blas.matmul(1, 2, 2).op(&hidden, &w, &mut y).label("second"))?;
            Ok(y)
        })
        .unwrap();
    assert_eq!(graph.inspect().nodes[1].name, "matmul");
    assert_eq!(graph.inspect().edges.len(), 1);
    assert_eq!(stream.read(graph.launch_sync(&stream).unwrap()).unwrap(), [4.0, 0.0]);
}

/// The kind of error that recording this product gives, and its words.
fn refused(device: &Device, op: impl Op<Out = ()>) -> (ErrorKind, String) {
    let error = device.record(op).unwrap_err();
    (error.kind().clone(), error.to_string())
}

#[test]
fn a_length_that_does_not_fit_is_refused_with_the_numbers() {
    let (device, blas) = blas();
    let x = device.zeros::<f32>(64).unwrap();
    let mut d = device.zeros::<f32>(64).unwrap();
    let (kind, text) = refused(&device, blas.matmul(2, 3, 4).op(&x[..8], &x[..12], &mut d[..7]));
    assert!(matches!(kind, ErrorKind::Requires { condition: "d.len() == batch * m * n", .. }), "{text}");
    assert!(text.contains("`matmul`") && text.contains("d.len() = 7, m = 2, n = 3, k = 4, batch = 1"), "{text}");
    let (kind, text) = refused(&device, blas.matmul(2, 3, 4).op(&x[..9], &x[..12], &mut d[..6]));
    assert!(matches!(kind, ErrorKind::Requires { condition: "a.len() == batch * m * k", .. }), "{text}");
    let (kind, text) = refused(&device, blas.matmul(2, 3, 4).op(&x[..8], &x[..11], &mut d[..6]));
    assert!(matches!(kind, ErrorKind::Requires { condition: "b.len() == batch * k * n", .. }), "{text}");
    let (kind, text) = refused(&device, blas.matmul(2, 3, 4).bias(&x[..2]).op(&x[..8], &x[..12], &mut d[..6]));
    assert!(matches!(kind, ErrorKind::Requires { condition: "bias.len() == n", .. }), "{text}");
    let (kind, text) =
        refused(&device, blas.matmul(2, 3, 4).add(&x[..5], baked(1.0)).op(&x[..8], &x[..12], &mut d[..6]));
    assert!(matches!(kind, ErrorKind::Requires { condition: "c.len() == batch * m * n", .. }), "{text}");
    let (kind, text) = refused(&device, blas.matmul(1 << 31, 0, 0).op(&x[..0], &x[..0], &mut d[..0]));
    assert!(matches!(kind, ErrorKind::Requires { .. }) && text.contains("2147483648"), "{text}");
    // The product of the sizes would not fit in a word.
    let huge = (1 << 31) - 1;
    let (kind, _) = refused(&device, blas.matmul(huge, huge, huge).op(&x[..1], &x[..1], &mut d[..1]));
    assert!(matches!(kind, ErrorKind::Requires { .. }));
}

/// Scratch memory of the caller's is held by the graph like any other; it is aligned, and nothing else of the op overlaps it.
#[test]
fn a_workspace_of_ones_own_may_be_dropped() {
    let (device, blas) = blas();
    let stream = device.stream().unwrap();
    let (x, mut d) = (device.buffer(&[1.0f32; 4]).unwrap(), device.zeros::<f32>(4).unwrap());
    let mut scratch = device.zeros::<u8>(1024).unwrap();
    let (kind, text) = refused(&device, blas.matmul(2, 2, 2).workspace(&mut scratch[8..]).op(&x, &x, &mut d));
    assert!(matches!(kind, ErrorKind::Requires { condition: "workspace.aligned(256)", .. }), "{text}");
    let mut graph = device.record(blas.matmul(2, 2, 2).workspace(&mut scratch[256..]).op(&x, &x, &mut d)).unwrap();
    let held = device.counters().allocations;
    drop(scratch);
    device.synchronize().unwrap();
    assert_eq!(device.counters().allocations, held, "the graph holds it");
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&d).unwrap(), [2.0; 4]);
    assert_eq!(graph.memory().temps(), 0);
}

#[test]
fn temps_stand_ins_and_other_devices_are_refused_as_for_every_op() {
    let (device, blas) = blas();
    let (x, mut d) = (device.zeros::<f32>(4).unwrap(), device.zeros::<f32>(4).unwrap());
    let unwritten = device.record(|r: &mut Recorder<'_>| {
        let t = r.alloc::<f32>(4)?;
        r.run(blas.matmul(2, 2, 2).op(&t, &x, &mut d))
    });
    assert!(matches!(unwritten.unwrap_err().kind(), ErrorKind::UninitTemp { .. }));
    let frozen = device.graph().record_into(&x[..], &mut d[..], |r, x, d| r.run(blas.matmul(2, 2, 2).op(x, x, d)));
    assert!(matches!(frozen.unwrap_err().kind(), ErrorKind::NoMemoryYet { call: "matmul" }));
    // A kernel of ours is told its addresses at each launch.
    let own =
        device.graph().record_into(&x[..], &mut d[..], |r, x, d| r.run(blas.matmul(2, 2, 2).reference().op(x, x, d)));
    own.unwrap();
    let other = Device::software().unwrap();
    let (y, mut z) = (other.zeros::<f32>(4).unwrap(), other.zeros::<f32>(4).unwrap());
    let error = other.record(blas.matmul(2, 2, 2).op(&y, &y, &mut z)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WrongDevice { .. }), "{error:?}");
    let error = device.record(blas.matmul(2, 2, 2).op(&x, &y, &mut d)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WrongDevice { .. }), "{error:?}");
}

/// On a device that is not the software one the library is wanted, and what was tried is told.
#[test]
fn a_missing_library_is_an_error_that_says_what_was_tried() {
    let machine = Device::software().unwrap().machine().unwrap().clone();
    // SAFETY: it is the machine itself.
    let device = unsafe { Device::from_driver(std::sync::Arc::new(machine), 0) }.unwrap();
    // SAFETY: there is no such file.
    let error = unsafe { CublasLt::load_from(&device, "/no/such/folder/libcublasLt.so.13") }.unwrap_err();
    let ErrorKind::NoLibrary { library, variable, tried } = error.kind() else { panic!("{error:?}") };
    assert_eq!((*library, *variable, tried.len()), ("cuBLASLt", "DACAPO_LIBCUBLASLT", 1));
    assert!(tried[0].starts_with("/no/such/folder/libcublasLt.so.13: "), "{tried:?}");
    let report = format!("{error:?}");
    assert!(
        report.contains("tried: /no/such/folder/") && report.contains("help: install the CUDA toolkit"),
        "{report}"
    );
}

/// Loads are the same thing; nothing is left when the device goes.
#[test]
fn it_is_loaded_once_a_device() {
    let (device, blas) = blas();
    let again = CublasLt::load(&device).unwrap();
    assert_eq!(device.counters().modules, 1);
    assert_eq!((blas.version(), again.path()), (None, None));
    let machine = device.machine().unwrap().clone();
    drop((blas, again, device));
    assert_eq!(machine.findings().iter().map(|finding| finding.to_string()).collect::<Vec<_>>(), [""; 0]);
}
