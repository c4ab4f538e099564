//! Memory shared with cudarc, whose loading and CUDA version this crate chooses.

use cudarc::driver::CudaContext;
use dacapo::{Buffer, Device, Result, baked, fill};

/// Memory of cudarc's in a graph, and back.
pub fn shared() -> Result<Vec<f32>> {
    let context = CudaContext::new(0)?;
    let theirs = context.default_stream();
    let device = Device::from_cudarc(&context)?;
    let mut buffer = Buffer::from_cudarc(&device, theirs.alloc_zeros::<f32>(4)?)?;
    let mut graph = device.record(fill(&mut buffer, baked(2.0)))?;
    graph.launch(&device.stream()?)?;
    drop(graph);
    let slice = buffer.into_cudarc(&theirs)?;
    Ok(theirs.clone_dtoh(&slice)?)
}
