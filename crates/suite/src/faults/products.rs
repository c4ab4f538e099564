//! Matrix products, by the kernels that stand in for cuBLASLt.

use dacapo::interop::cublaslt::CublasLt;
use dacapo::{Recorder, Result, baked};

use super::{Bench, right, scenarios};

scenarios!("matmul": loaded_and_recorded, eager_and_scaled);

/// The kernels are loaded, two products recorded with a temp between them, and all but the graph dropped.
fn loaded_and_recorded(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let blas = CublasLt::load(device)?;
    let (x, w) = (device.buffer(&[1.0f32, 2.0, 3.0, 4.0])?, device.buffer(&[0.0f32, 1.0, 1.0, 0.0])?);
    let mut scratch = device.zeros::<u8>(256)?;
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        let (mut t, mut y) = (r.alloc::<f32>(4)?, r.output::<f32>(4)?);
        r.run(blas.matmul(2, 2, 2).workspace(&mut scratch).op(&x, &w, &mut t))?;
        r.run(blas.matmul(2, 2, 2).accumulate(baked(1.0)).op(&t, &w, &mut y))?;
        Ok(y)
    })?;
    drop((blas, x, w, scratch));
    graph.launch(stream)?;
    right("y", stream.read(graph.launch_sync(stream)?)?, [2.0, 4.0, 6.0, 8.0])
}

/// Eagerly, with one scale on the device.
fn eager_and_scaled(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let blas = CublasLt::load(device)?;
    let (x, alpha) = (device.buffer(&[1.0f32; 4])?, device.scalar(3.0f32)?);
    let mut y = device.zeros::<f32>(4)?;
    stream.run(blas.matmul(2, 2, 2).alpha(&*alpha).add(&x, baked(-1.0)).op(&x, &x, &mut y))?;
    right("y", stream.read(&y)?, [5.0; 4])
}
