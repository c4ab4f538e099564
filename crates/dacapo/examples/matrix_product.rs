//! A matrix product by cuBLASLt inside a graph; by a kernel of our own on the software device.
//!
//! `cargo run -p dacapo --features cublaslt --example matrix_product`

use dacapo::interop::cublaslt::CublasLt;
use dacapo::{Device, Result};

/// relu(A B + bias), its workspace planned with the graph's other temps.
pub fn main() -> Result<()> {
    let device = Device::best()?;
    let stream = device.stream()?;
    let blas = CublasLt::load(&device)?; // looked for at run time; needs no library on the software device

    let a = device.buffer(&[1.0f32, 2.0, 3.0, 4.0])?; // 2 x 2, row by row
    let b = device.buffer(&[1.0f32, 0.0, 0.0, -1.0])?;
    let bias = device.buffer(&[10.0f32, 0.0])?;
    let mut d = device.zeros::<f32>(4)?;
    let mut graph = device.record(blas.matmul(2, 2, 2).bias(&bias).relu().op(&a, &b, &mut d))?;
    graph.launch(&stream)?;
    assert_eq!(stream.read(&d)?, [11.0, 0.0, 13.0, 0.0]);
    Ok(())
}
