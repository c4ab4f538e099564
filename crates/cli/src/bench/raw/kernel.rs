//! A kernel with its geometry and arguments, ready to be launched or to become a node.

use dacapo_driver::types::*;
use dacapo_driver::{Call, Check, Driver, DriverError};

use super::RawStream;

/// The most arguments that a kernel of the benchmark has.
const ARGUMENTS_MAX: usize = 4;

/// One launch of a kernel: blocks in a row, and arguments of at most eight bytes each.
#[derive(Clone, Copy, Debug)]
pub struct KernelCall {
    function: CUfunction,
    blocks: u32,
    threads: u32,
    words: [u64; ARGUMENTS_MAX],
}

impl KernelCall {
    /// The launch of `function`; a little-endian word begins with the bytes of a shorter argument.
    pub fn new(function: CUfunction, blocks: u32, threads: u32, arguments: &[u64]) -> KernelCall {
        assert!(arguments.len() <= ARGUMENTS_MAX, "no kernel of the benchmark has more arguments");
        let mut words = [0; ARGUMENTS_MAX];
        words[..arguments.len()].copy_from_slice(arguments);
        KernelCall { function, blocks, threads, words }
    }

    /// Launches it on a stream, as one does without a graph.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn launch(&self, stream: &RawStream<'_>) -> Result<(), DriverError> {
        self.with_parameters(|node| {
            // SAFETY: `kernelParams` has a pointer for each argument of the kernel, each to eight bytes; the driver
            // copies them before it returns. What the kernel touches lives as long as the measurement that made it.
            unsafe {
                stream.driver().cuLaunchKernel(
                    node.func,
                    node.gridDimX,
                    1,
                    1,
                    node.blockDimX,
                    1,
                    1,
                    0,
                    stream.handle(),
                    node.kernelParams,
                    std::ptr::null_mut(),
                )
            }
            .check(Call::cuLaunchKernel)
        })
    }

    /// Adds it to a graph, behind the nodes of `after`.
    pub(super) fn add_to(
        &self,
        driver: &dyn Driver,
        graph: CUgraph,
        after: &[CUgraphNode],
    ) -> Result<CUgraphNode, DriverError> {
        let mut node = CUgraphNode::NULL;
        self.with_parameters(|parameters| {
            // SAFETY: the graph is its caller's and alive, `after` holds nodes of it, and `node` is valid for the
            // write; the parameters live over the call, which copies them.
            unsafe { driver.cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), parameters) }
                .check(Call::cuGraphAddKernelNode_v2)
        })?;
        Ok(node)
    }

    /// Puts it in the place of a node of an executable graph.
    pub(super) fn set(&self, driver: &dyn Driver, exec: CUgraphExec, node: CUgraphNode) -> Result<(), DriverError> {
        self.with_parameters(|parameters| {
            // SAFETY: the executable graph is alive and was made from the graph that `node` belongs to, which is
            // alive too; the parameters live over the call, which copies them.
            unsafe { driver.cuGraphExecKernelNodeSetParams_v2(exec, node, parameters) }
                .check(Call::cuGraphExecKernelNodeSetParams_v2)
        })
    }

    /// Hands out the parameters as C wants them; the pointers in them are good until `body` returns.
    #[inline]
    fn with_parameters<R>(&self, body: impl FnOnce(&CUDA_KERNEL_NODE_PARAMS) -> R) -> R {
        let mut words = self.words;
        let mut pointers = words.each_mut().map(|word| std::ptr::from_mut(word).cast::<c_void>());
        body(&CUDA_KERNEL_NODE_PARAMS {
            func: self.function,
            gridDimX: self.blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: self.threads,
            blockDimY: 1,
            blockDimZ: 1,
            kernelParams: pointers.as_mut_ptr(),
            ..Default::default()
        })
    }
}
