//! The kernels of the scenarios, and the shapes they are launched with.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DriverError, LaunchConfig};
use cudarc::nvrtc::Ptx;

/// The PTX of all of them.
pub const PTX: &str = include_str!("kernels.ptx");

/// The kernels, loaded.
pub fn module(context: &Arc<CudaContext>) -> Result<Arc<CudaModule>, DriverError> {
    context.load_module(Ptx::from_src(PTX))
}

/// One kernel; it keeps its module.
pub fn kernel(context: &Arc<CudaContext>, name: &str) -> Result<CudaFunction, DriverError> {
    module(context)?.load_function(name)
}

/// One block.
pub fn one_block(threads: u32) -> LaunchConfig {
    blocks(1, threads)
}

/// Blocks in a row.
pub fn blocks(blocks: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}
