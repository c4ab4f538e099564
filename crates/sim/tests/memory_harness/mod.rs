//! What the tests of graph memory, user objects, virtual memory and pools share: a machine, kernels, and short words for calls.
#![allow(dead_code)] // each test file uses its part

use std::ffi::{CString, c_void};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Machine, Options};

pub const OK: CUresult = CUresult::CUDA_SUCCESS;
pub const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
pub const NOT_SUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
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

/// A machine with a current context, a module and a stream.
pub struct World {
    pub m: Machine,
    pub stream: CUstream,
    module: CUmodule,
}

impl World {
    pub fn new(options: Options) -> World {
        let m = Machine::new(options);
        let (mut context, mut module, mut stream) = (CUcontext::NULL, CUmodule::NULL, CUstream::NULL);
        let image = CString::new(PTX).expect("no NUL");
        // SAFETY: a NUL-terminated text and valid out pointers.
        unsafe {
            assert_eq!(m.cuInit(0), OK);
            assert_eq!(m.cuDevicePrimaryCtxRetain(&mut context, 0), OK);
            assert_eq!(m.cuCtxSetCurrent(context), OK);
            assert_eq!(m.cuModuleLoadData(&mut module, image.as_ptr().cast()), OK);
            assert_eq!(m.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING), OK);
        }
        World { m, stream, module }
    }

    pub fn seeded(seed: u64) -> World {
        World::new(Options { seed, ..Default::default() })
    }

    pub fn kernel(&self, name: &str) -> CUfunction {
        let (name, mut function) = (CString::new(name).expect("no NUL"), CUfunction::NULL);
        // SAFETY: a NUL-terminated name and a valid out pointer.
        assert_eq!(unsafe { self.m.cuModuleGetFunction(&mut function, self.module, name.as_ptr()) }, OK);
        function
    }

    /// Another stream.
    pub fn another_stream(&self) -> CUstream {
        let mut stream = CUstream::NULL;
        // SAFETY: a valid out pointer.
        assert_eq!(unsafe { self.m.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING) }, OK);
        stream
    }

    pub fn buffer(&self, bytes: usize) -> CUdeviceptr {
        let mut address = 0;
        // SAFETY: a valid out pointer.
        assert_eq!(unsafe { self.m.cuMemAlloc_v2(&mut address, bytes) }, OK);
        address
    }

    pub fn graph(&self) -> CUgraph {
        let mut graph = CUgraph::NULL;
        // SAFETY: a valid out pointer.
        assert_eq!(unsafe { self.m.cuGraphCreate(&mut graph, 0) }, OK);
        graph
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
    pub fn node(&self, graph: CUgraph, after: &[CUgraphNode], name: &str, address: u64, value: u32) -> CUgraphNode {
        let (mut p, mut v, mut node) = (address, value, CUgraphNode::NULL);
        let mut args = [(&raw mut p).cast::<c_void>(), (&raw mut v).cast()];
        let params = CUDA_KERNEL_NODE_PARAMS {
            func: self.kernel(name),
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            kernelParams: args.as_mut_ptr(),
            ..Default::default()
        };
        // SAFETY: the two parameters are as the kernel declares them.
        let code = unsafe { self.m.cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), &params) };
        assert_eq!(code, OK);
        node
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
        let code = unsafe {
            self.m.cuGraphAddMemcpyNode(&mut node, graph, after.as_ptr(), after.len(), &params, CUcontext::NULL)
        };
        assert_eq!(code, OK);
        node
    }

    /// Launches a kernel of one thread on a stream.
    pub fn launch_kernel(&self, stream: CUstream, name: &str, address: u64, value: u32) -> CUresult {
        let (mut p, mut v) = (address, value);
        let mut args = [(&raw mut p).cast::<c_void>(), (&raw mut v).cast()];
        let none = std::ptr::null_mut();
        // SAFETY: the two parameters are as the kernel declares them.
        unsafe { self.m.cuLaunchKernel(self.kernel(name), 1, 1, 1, 1, 1, 1, 0, stream, args.as_mut_ptr(), none) }
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

    /// The word at an address.
    pub fn word(&self, address: u64) -> u32 {
        let mut value = 0u32;
        // SAFETY: the target is four bytes.
        assert_eq!(unsafe { self.m.cuMemcpyDtoH_v2((&raw mut value).cast(), address, 4) }, OK);
        value
    }

    /// The codes of all findings since the last question.
    pub fn found(&self) -> Vec<&'static str> {
        self.m.take_findings().iter().map(|finding| finding.code).collect()
    }
}
