//! What the tests of graph memory, user objects, virtual memory and pools share: a device with two kernels and a stream,
//! and short words for nodes of memory.

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::Options;

use super::{Device, OK, ok};

pub const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
pub const ILLEGAL_ADDRESS: CUresult = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;

const PTX: &str = ".version 7.0
.target sm_70
.address_size 64
.visible .entry set(.param .u64 p, .param .u32 v) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; st.global.u32 [%rd1], %r1; ret; }
.visible .entry add(.param .u64 p, .param .u32 v) {
  .reg .b64 %rd<2>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
  ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2; ret; }
";

/// A device with a module and a stream.
pub struct World {
    pub m: Device,
    pub stream: CUstream,
    module: CUmodule,
}

impl World {
    pub fn new(options: Options) -> World {
        let m = Device::new(options);
        let (module, stream) = (m.module(PTX), m.stream());
        World { m, stream, module }
    }

    pub fn seeded(seed: u64) -> World {
        World::new(Options { seed, ..Default::default() })
    }

    pub fn kernel(&self, name: &str) -> CUfunction {
        self.m.function(self.module, name)
    }

    /// Adds an allocation node.
    pub fn alloc(&self, graph: CUgraph, after: &[CUgraphNode], bytes: usize) -> Result<(CUgraphNode, u64), CUresult> {
        let mut params = CUDA_MEM_ALLOC_NODE_PARAMS { bytesize: bytes, ..Default::default() };
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location.r#type = CU_MEM_LOCATION_TYPE_DEVICE;
        let mut node = CUgraphNode::NULL;
        // SAFETY: a live graph, an array with its length, valid in and out pointers.
        match unsafe { self.m.cuGraphAddMemAllocNode(&mut node, graph, after.as_ptr(), after.len(), &mut params) } {
            OK => Ok((node, params.dptr)),
            code => Err(code),
        }
    }

    /// Adds a free node.
    pub fn free(&self, graph: CUgraph, after: &[CUgraphNode], address: u64) -> Result<CUgraphNode, CUresult> {
        let mut node = CUgraphNode::NULL;
        // SAFETY: as above.
        match unsafe { self.m.cuGraphAddMemFreeNode(&mut node, graph, after.as_ptr(), after.len(), address) } {
            OK => Ok(node),
            code => Err(code),
        }
    }

    /// Adds a kernel node of one thread.
    #[track_caller]
    pub fn node(&self, graph: CUgraph, after: &[CUgraphNode], name: &str, address: u64, value: u32) -> CUgraphNode {
        self.m.kernel_node(graph, after, self.kernel(name), &[address, u64::from(value)])
    }

    /// Adds a node that copies four bytes.
    pub fn copy(&self, graph: CUgraph, after: &[CUgraphNode], to: u64, from: u64) -> CUgraphNode {
        let mut node = CUgraphNode::NULL;
        let params = CUDA_MEMCPY3D {
            srcMemoryType: CU_MEMORYTYPE_DEVICE,
            srcDevice: from,
            dstMemoryType: CU_MEMORYTYPE_DEVICE,
            dstDevice: to,
            WidthInBytes: 4,
            Height: 1,
            Depth: 1,
            ..Default::default()
        };
        // SAFETY: a live graph and device addresses that the driver checks.
        ok(unsafe {
            self.m.cuGraphAddMemcpyNode(&mut node, graph, after.as_ptr(), after.len(), &params, CUcontext::NULL)
        });
        node
    }

    /// Launches a kernel of one thread on a stream.
    pub fn launch_kernel(&self, stream: CUstream, name: &str, address: u64, value: u32) -> CUresult {
        self.m.launch(self.kernel(name), stream, &[address, u64::from(value)])
    }

    pub fn instantiate(&self, graph: CUgraph, flags: u32) -> Result<CUgraphExec, CUresult> {
        let mut exec = CUgraphExec::NULL;
        // SAFETY: a live graph and a valid out pointer.
        match unsafe { self.m.cuGraphInstantiateWithFlags(&mut exec, graph, u64::from(flags)) } {
            OK => Ok(exec),
            code => Err(code),
        }
    }

    pub fn launch(&self, exec: CUgraphExec) -> CUresult {
        // SAFETY: live handles.
        unsafe { self.m.cuGraphLaunch(exec, self.stream) }
    }

    pub fn sync(&self) -> CUresult {
        // SAFETY: no pointers.
        unsafe { self.m.cuCtxSynchronize() }
    }

    /// The codes of all findings since the last question.
    pub fn found(&self) -> Vec<&'static str> {
        self.m.take_findings().iter().map(|finding| finding.code).collect()
    }
}
