//! All formats, transposes, epilogues and addends: the library beside the kernels that stand in for it.
//!
//! The tolerance, for each element, with S the sum of the magnitudes of all that is added up and u = 2⁻²⁴:
//!
//! - 4 · (k + 4) · u · S: two sums in f32 in different orders, one of them by tensor cores, which cut off where a processor
//!   rounds;
//! - for tf32 also 3 · 2⁻¹⁰ · S: a factor may be cut to 10 bits or rounded, and ours is rounded;
//! - for GELU twice that, and 10⁻⁶;
//! - two roundings of the result to its type;
//! - in f16 and bf16, where something follows the product, also what is rounded on the way if the library works in the type
//!   of the result: twice what product and C give, and for GELU four times what it is given. The share without this
//!   allowance is shown, too.

use dacapo::half::{bf16, f16};
use dacapo::interop::cublaslt::{Activation, CublasLt};
use dacapo::{Device, Error, ErrorKind, Recorder, Result, Slice, baked, copy};

use super::{Sample, numbers};

/// One row of the comparison: all transposes, addends and shapes of one format with one epilogue.
#[derive(Clone, Debug)]
pub struct Row {
    /// `bf16, bias, gelu`.
    pub what: String,
    /// How many products were compared.
    pub products: usize,
    /// How many of them had a workspace.
    pub with_workspace: usize,
    /// How many the library has no algorithm for.
    pub unsupported: usize,
    /// The largest difference.
    pub difference_max: f64,
    /// The largest difference as a share of its tolerance: above 1 is a failure.
    pub share_max: f64,
    /// The same without the allowance for what is rounded on the way.
    pub strict_max: f64,
    /// The product that it was in.
    pub worst: String,
}

impl Row {
    /// Whether everything was within its tolerance, and supported.
    pub fn holds(&self) -> bool {
        self.share_max <= 1.0 && self.unsupported == 0
    }
}

/// Sizes m, n, k, batch, and elements by which every matrix is set off from an aligned address.
type Shape = (usize, usize, usize, usize, usize);

/// What a GPU is asked: tiles, odd numbers, one row, one column, long sums that are split, batches, odd addresses.
pub const SHAPES: &[Shape] = &[
    (64, 96, 128, 1, 0),
    (33, 65, 17, 1, 0),
    (1, 256, 512, 1, 0),
    (256, 1, 64, 1, 0),
    (64, 64, 16384, 1, 0),
    (24, 40, 56, 5, 0),
    (64, 64, 64, 1, 1),
];

/// What the software device is asked.
pub const SMALL: &[Shape] = &[(4, 6, 8, 1, 0), (3, 5, 7, 2, 1)];

/// Compares every combination.
///
/// # Errors
///
/// - What a product failed with, other than that the library does not support it, which is counted.
pub fn compare(device: &Device, shapes: &[Shape]) -> Result<Vec<Row>> {
    let blas = CublasLt::load(device)?;
    let mut rows = Vec::new();
    for bias in [false, true] {
        for activation in [Activation::None, Activation::Relu, Activation::Gelu] {
            let epilogue = Epilogue { bias, activation };
            rows.push(row::<f32>(device, &blas, shapes, "f32", false, epilogue)?);
            rows.push(row::<f32>(device, &blas, shapes, "tf32", true, epilogue)?);
            rows.push(row::<f16>(device, &blas, shapes, "f16", false, epilogue)?);
            rows.push(row::<bf16>(device, &blas, shapes, "bf16", false, epilogue)?);
        }
    }
    Ok(rows)
}

#[derive(Clone, Copy)]
struct Epilogue {
    bias: bool,
    activation: Activation,
}

/// How one product is made of its operands.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: Shape,
    a_transposed: bool,
    b_transposed: bool,
    /// 0: none; 1: C; 2: D upon itself.
    addend: u8,
    on_device: bool,
    tf32: bool,
}

const ALPHA: f32 = 0.75;
const BETA: f32 = -1.5;

fn row<T: Sample>(
    device: &Device,
    blas: &CublasLt,
    shapes: &[Shape],
    name: &str,
    tf32: bool,
    epilogue: Epilogue,
) -> Result<Row> {
    let bias = if epilogue.bias { "bias" } else { "no bias" };
    let what = format!("{name}, {bias}, {:?}", epilogue.activation).to_lowercase();
    let mut row = Row {
        what,
        products: 0,
        with_workspace: 0,
        unsupported: 0,
        difference_max: 0.0,
        share_max: 0.0,
        strict_max: 0.0,
        worst: String::new(),
    };
    for &shape in shapes {
        for (a_transposed, b_transposed) in [(false, false), (true, false), (false, true), (true, true)] {
            for (addend, on_device) in [(0, false), (1, false), (2, false), (1, true)] {
                let case = Case { shape, a_transposed, b_transposed, addend, on_device, tf32 };
                one::<T>(device, blas, case, epilogue, &mut row)?;
            }
        }
    }
    Ok(row)
}

fn one<T: Sample>(device: &Device, blas: &CublasLt, case: Case, epilogue: Epilogue, row: &mut Row) -> Result<()> {
    let (m, n, k, batch, off) = case.shape;
    let stream = device.stream()?;
    let sizes = [batch * m * k, batch * k * n, batch * m * n, n];
    let values: Vec<Vec<T>> = (0..4).map(|i| numbers(sizes[i] + off, i as u64 + 11)).collect();
    let (alpha, beta) = (device.scalar(ALPHA)?, device.scalar(BETA)?);
    let [a, b, c, v] = [0, 1, 2, 3].map(|i| device.buffer(&values[i]));
    let (a, b, c, v) = (a?, b?, c?, v?);
    let by = |reference: bool| -> Result<(Vec<T>, usize)> {
        let mut d = device.zeros::<T>(sizes[2] + off)?;
        let mut graph = device.record(|r: &mut Recorder<'_>| {
            if case.addend == 2 {
                r.run(copy(&c, &mut d))?;
            }
            let mut product = T::described(blas.matmul::<T>(m, n, k), case.tf32).batch(batch);
            product = product.activation(epilogue.activation);
            product = if case.a_transposed { product.transpose_a() } else { product };
            product = if case.b_transposed { product.transpose_b() } else { product };
            product = if epilogue.bias { product.bias(&v[off..]) } else { product };
            product = if reference { product.reference() } else { product };
            product = if case.on_device { product.alpha(&*alpha) } else { product.alpha(baked(ALPHA)) };
            product = match (case.addend, case.on_device) {
                (0, _) => product,
                (1, true) => product.add(&c[off..], &*beta),
                (1, false) => product.add(&c[off..], baked(BETA)),
                _ => product.accumulate(baked(BETA)),
            };
            r.run(product.op(&a[off..], &b[off..], &mut d[off..]))
        })?;
        graph.launch(&stream)?;
        Ok((stream.read(&d[off..])?, graph.memory().workspaces))
    };
    let (got, workspace) = match by(false) {
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported { .. }) => {
            row.unsupported += 1;
            row.worst = format!("{case:?}");
            return Ok(());
        }
        answered => answered?,
    };
    let (want, _) = by(true)?;
    // By our own kernel in f32: what is there before bias and activation, and the sum of all magnitudes.
    let in_f32 = |magnitudes: bool| -> Result<Vec<f32>> {
        let sign = |value: f32| if magnitudes { value.abs() } else { value };
        let wide = |i: usize| device.buffer(&values[i].iter().map(|value| sign(value.wide())).collect::<Vec<f32>>());
        let (a, b, c, v) = (wide(0)?, wide(1)?, wide(2)?, wide(3)?);
        let mut d = device.zeros::<f32>(sizes[2])?;
        let mut product = blas.matmul::<f32>(m, n, k).batch(batch).reference().alpha(baked(sign(ALPHA)));
        product = if case.a_transposed { product.transpose_a() } else { product };
        product = if case.b_transposed { product.transpose_b() } else { product };
        product = if epilogue.bias && magnitudes { product.bias(&v[off..]) } else { product };
        product = if case.addend > 0 { product.add(&c[off..], baked(sign(BETA))) } else { product };
        let (a, b): (&Slice<f32>, &Slice<f32>) = (&a[off..], &b[off..]);
        stream.run(product.op(a, b, &mut d))?;
        stream.read(&d)
    };
    let (before, sums) = (in_f32(false)?, in_f32(true)?);
    let followed = epilogue.bias || epilogue.activation != Activation::None;
    if got.len() != want.len() {
        return Err(Error::msg("as many elements as asked for"));
    }
    row.products += 1;
    row.with_workspace += usize::from(workspace > 0);
    for (i, (((got, want), sum), before)) in got.iter().zip(&want).zip(sums).zip(before).enumerate() {
        let (got, want, sum) = (f64::from(got.wide()), f64::from(want.wide()), f64::from(sum));
        let mut tolerance = 4.0 * (k + 4) as f64 * f32::ROUNDING * sum;
        tolerance += if case.tf32 { 3.0 / 1024.0 * sum } else { 0.0 };
        let mut on_the_way = if followed { 2.0 * T::ROUNDING * f64::from(before.abs()) } else { 0.0 };
        if epilogue.activation == Activation::Gelu {
            let bias = if epilogue.bias { values[3][off + i % n].wide() } else { 0.0 };
            tolerance = 2.0 * tolerance + 1e-6;
            on_the_way = 2.0 * on_the_way + 4.0 * T::ROUNDING * f64::from((before + bias).abs());
        }
        tolerance += 2.0 * T::ROUNDING * (want.abs() + tolerance);
        let difference = (got - want).abs();
        // What is no number is beyond every tolerance.
        let of = |tolerance: f64| {
            if difference.is_nan() { f64::INFINITY } else { difference / tolerance.max(f64::MIN_POSITIVE) }
        };
        let (share, strict) = (of(tolerance + on_the_way), of(tolerance));
        row.strict_max = row.strict_max.max(strict);
        row.difference_max = row.difference_max.max(difference);
        if share > row.share_max {
            let worst =
                format!("{case:?}, element {i}: {got} by the library, {want} by ours, {before} before the rest");
            (row.share_max, row.worst) = (share, worst);
        }
    }
    Ok(())
}
