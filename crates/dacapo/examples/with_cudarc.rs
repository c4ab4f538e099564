//! Memory and streams shared with the crate cudarc, in both directions.
//!
//! `cargo run -p dacapo --features cudarc,cudarc/dynamic-loading,cudarc/cuda-13000 --example with_cudarc`. cudarc loads
//! NVIDIA's driver by itself: without a GPU, `dacapo run -- PROGRAM` lends it the software one.

use cudarc::driver::CudaContext;
use dacapo::{Buffer, Device, Result, baked, fill};

/// cudarc's memory in a graph of ours, and back.
pub fn main() -> Result<()> {
    let context = CudaContext::new(0)?;
    let theirs = context.default_stream();
    let device = Device::from_cudarc(&context)?;
    let stream = device.stream()?;

    let slice = theirs.alloc_zeros::<f32>(4)?;
    let mut buffer = Buffer::from_cudarc(&device, slice)?; // ours from here on
    let mut graph = device.record(fill(&mut buffer, baked(2.0)))?;
    graph.launch(&stream)?;
    drop(graph);
    let slice = buffer.into_cudarc(&theirs)?; // waits for the launch
    assert_eq!(theirs.clone_dtoh(&slice)?, [2.0; 4]);
    Ok(())
}
