//! A kernel node as one writes it by hand: geometry, arguments, and the nodes it comes after.

use dacapo_driver::types::*;
use dacapo_driver::{Call, Check, Driver, DriverError};

/// One kernel of a graph; its arguments have at most eight bytes each.
#[derive(Clone, Debug)]
pub struct KernelNode {
    /// The kernel.
    pub function: CUfunction,
    /// Blocks in x, y, z.
    pub blocks: [u32; 3],
    /// Threads of a block, in a row.
    pub threads: u32,
    /// The arguments; a little-endian word begins with the bytes of a shorter one.
    pub words: Vec<u64>,
    /// The nodes before it that it waits for, by number.
    pub after: Vec<usize>,
}

impl KernelNode {
    /// Adds it to a graph, behind these nodes of it.
    pub(super) fn add_to(
        &self,
        driver: &dyn Driver,
        graph: CUgraph,
        after: &[CUgraphNode],
    ) -> Result<CUgraphNode, DriverError> {
        let mut node = CUgraphNode::NULL;
        let mut words = self.words.clone();
        let mut pointers: Vec<*mut c_void> = words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect();
        let [x, y, z] = self.blocks;
        let parameters = CUDA_KERNEL_NODE_PARAMS {
            func: self.function,
            gridDimX: x,
            gridDimY: y,
            gridDimZ: z,
            blockDimX: self.threads,
            blockDimY: 1,
            blockDimZ: 1,
            kernelParams: pointers.as_mut_ptr(),
            ..Default::default()
        };
        // SAFETY: the graph is its caller's and alive, `after` holds nodes of it, and `node` is valid for the write; there
        // is a pointer for each argument of the kernel, each to eight bytes, and the call copies them. What the kernel
        // touches is kept by the measurement that made it.
        unsafe { driver.cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), &parameters) }
            .check(Call::cuGraphAddKernelNode_v2)?;
        Ok(node)
    }

    /// Adds these to a graph, each behind those that it names.
    pub(super) fn add_all(
        nodes: &[KernelNode],
        driver: &dyn Driver,
        graph: CUgraph,
    ) -> Result<Vec<CUgraphNode>, DriverError> {
        let mut added = Vec::with_capacity(nodes.len());
        for node in nodes {
            let after: Vec<CUgraphNode> = node.after.iter().map(|at| added[*at]).collect();
            added.push(node.add_to(driver, graph, &after)?);
        }
        Ok(added)
    }
}
