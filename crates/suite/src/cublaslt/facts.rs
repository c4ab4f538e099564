//! What the library does where its documentation is silent, as it was seen on this device.

use dacapo::interop::cublaslt::CublasLt;
use dacapo::{Device, Result};

const SIDE: usize = 16;

/// Sentences, each an observation.
///
/// # Errors
///
/// - What a product failed with.
pub fn facts(device: &Device) -> Result<Vec<String>> {
    let blas = CublasLt::load(device)?;
    Ok(vec![
        nan_through_relu(device, &blas)?,
        tf32_rounding(device, &blas)?,
        gelu_formula(device, &blas)?,
        zero_alpha(device, &blas)?,
    ])
}

/// The identity, so that a product is its first factor.
fn identity(scale: f32) -> Vec<f32> {
    (0..SIDE * SIDE).map(|i| if i % (SIDE + 1) == 0 { scale } else { 0.0 }).collect()
}

fn nan_through_relu(device: &Device, blas: &CublasLt) -> Result<String> {
    let mut a = vec![1.0f32; SIDE * SIDE];
    a[0] = f32::NAN;
    let (a, b, mut d) = (device.buffer(&a)?, device.buffer(&identity(1.0))?, device.zeros::<f32>(SIDE * SIDE)?);
    let stream = device.stream()?;
    stream.run(blas.matmul(SIDE, SIDE, SIDE).relu().op(&a, &b, &mut d))?;
    Ok(format!("ReLU of what is no number: {}", stream.read(&d)?[0]))
}

fn tf32_rounding(device: &Device, blas: &CublasLt) -> Result<String> {
    // Two neighbours in tf32 are 1 and 1 + 2^-10; three quarters between them tell rounding from cutting.
    let a = vec![1.0 + 0.75 / 1024.0; SIDE * SIDE];
    let (a, b, mut d) = (device.buffer(&a)?, device.buffer(&identity(1.0))?, device.zeros::<f32>(SIDE * SIDE)?);
    let stream = device.stream()?;
    stream.run(blas.matmul(SIDE, SIDE, SIDE).tf32().op(&a, &b, &mut d))?;
    let got = stream.read(&d)?[0];
    let how = match got {
        1.0 => "cut to 10 bits",
        x if x == 1.0 + 1.0 / 1024.0 => "rounded to 10 bits",
        _ => "taken as it is",
    };
    Ok(format!("1 + 0.75 * 2^-10 as a factor in tf32: {got} ({how})"))
}

fn gelu_formula(device: &Device, blas: &CublasLt) -> Result<String> {
    let values: Vec<f32> = (0..SIDE * SIDE).map(|i| i as f32 / 32.0 - 4.0).collect();
    let (a, b, mut d) = (device.buffer(&values)?, device.buffer(&identity(1.0))?, device.zeros::<f32>(SIDE * SIDE)?);
    let stream = device.stream()?;
    stream.run(blas.matmul(SIDE, SIDE, SIDE).gelu().op(&a, &b, &mut d))?;
    let (mut tanh, mut erf) = (0f64, 0f64);
    for (x, got) in values.iter().zip(stream.read(&d)?) {
        let (x, got) = (f64::from(*x), f64::from(got));
        let y = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        tanh = tanh.max((got - 0.5 * x * (1.0 + y.tanh())).abs());
        erf = erf.max((got - x * normal(x)).abs());
    }
    Ok(format!("GELU from -4 to 4 in f32: within {tanh:.1e} of the formula by tanh, {erf:.1e} of the one by erf"))
}

/// The distribution of normal numbers, by its series.
fn normal(x: f64) -> f64 {
    let (mut sum, mut term) = (x, x);
    for i in 1..200 {
        term *= x * x / f64::from(2 * i + 1);
        sum += term;
    }
    0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

fn zero_alpha(device: &Device, blas: &CublasLt) -> Result<String> {
    let (a, b) = (device.buffer(&vec![f32::NAN; SIDE * SIDE])?, device.buffer(&identity(1.0))?);
    let (zero, mut d) = (device.scalar(0.0f32)?, device.zeros::<f32>(SIDE * SIDE)?);
    let stream = device.stream()?;
    stream.run(blas.matmul(SIDE, SIDE, SIDE).alpha(dacapo::baked(0.0)).op(&a, &b, &mut d))?;
    let baked = stream.read(&d)?[0];
    stream.run(blas.matmul(SIDE, SIDE, SIDE).alpha(&*zero).op(&a, &b, &mut d))?;
    Ok(format!(
        "factors that are no numbers with alpha = 0: {baked} with alpha baked, {} with alpha on the device",
        stream.read(&d)?[0]
    ))
}
