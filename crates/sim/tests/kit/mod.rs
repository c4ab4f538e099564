//! A software device for tests of the driver: contexts, kernels by name, memory as words, graphs by few words.
//!
//! Every call that is expected to succeed is asserted to, at the line of the test that makes it. [`world`] has short words
//! for tests of memory.
#![allow(dead_code, reason = "each test file takes what it needs")]

pub mod images;
pub mod ranks;
pub mod world;

use std::ffi::{CString, c_void};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Machine, Options};

pub const OK: CUresult = CUresult::CUDA_SUCCESS;
pub const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
pub const NOT_SUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;

/// A machine with its primary context current on this thread.
pub struct Device {
    pub machine: Machine,
    pub context: CUcontext,
}

impl std::ops::Deref for Device {
    type Target = Machine;
    fn deref(&self) -> &Machine {
        &self.machine
    }
}

/// Asserts that a call succeeded.
#[track_caller]
pub fn ok(code: CUresult) {
    assert_eq!(code, OK);
}

/// The word at an address.
#[track_caller]
pub fn word(machine: &Machine, address: CUdeviceptr) -> u32 {
    let mut word = 0u32;
    // SAFETY: the target is a word of this frame.
    ok(unsafe { machine.cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4) });
    word
}

/// The parameters of a kernel node of one block of one thread.
pub fn one_thread(func: CUfunction, arguments: &mut [*mut c_void]) -> CUDA_KERNEL_NODE_PARAMS {
    CUDA_KERNEL_NODE_PARAMS {
        func,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        kernelParams: arguments.as_mut_ptr(),
        ..Default::default()
    }
}

impl Device {
    pub fn new(options: Options) -> Device {
        let machine = Machine::new(options);
        let mut context = CUcontext::NULL;
        // SAFETY: the out pointer is valid.
        unsafe {
            ok(machine.cuInit(0));
            ok(machine.cuDevicePrimaryCtxRetain(&mut context, 0));
            ok(machine.cuCtxSetCurrent(context));
        }
        Device { machine, context }
    }

    pub fn seeded(seed: u64) -> Device {
        Device::new(Options { seed, ..Options::default() })
    }

    #[track_caller]
    pub fn module(&self, ptx: &str) -> CUmodule {
        let image = CString::new(ptx).expect("no NUL");
        let mut module = CUmodule::NULL;
        // SAFETY: a NUL-terminated text and a valid out pointer.
        ok(unsafe { self.cuModuleLoadData(&mut module, image.as_ptr().cast()) });
        module
    }

    #[track_caller]
    pub fn function(&self, module: CUmodule, name: &str) -> CUfunction {
        let name = CString::new(name).expect("no NUL");
        let mut function = CUfunction::NULL;
        // SAFETY: a NUL-terminated text and a valid out pointer.
        ok(unsafe { self.cuModuleGetFunction(&mut function, module, name.as_ptr()) });
        function
    }

    /// Device memory that nobody has written.
    #[track_caller]
    pub fn buffer(&self, bytes: usize) -> CUdeviceptr {
        let mut address = 0;
        // SAFETY: the out pointer is valid.
        ok(unsafe { self.cuMemAlloc_v2(&mut address, bytes) });
        address
    }

    /// Device memory of `words` zeros of 4 bytes.
    #[track_caller]
    pub fn zeros(&self, words: usize) -> CUdeviceptr {
        let address = self.buffer(4 * words);
        // SAFETY: the set touches what was allocated.
        ok(unsafe { self.cuMemsetD32_v2(address, 0, words) });
        address
    }

    #[track_caller]
    pub fn read(&self, address: CUdeviceptr) -> u32 {
        word(self, address)
    }

    #[track_caller]
    pub fn write(&self, address: CUdeviceptr, word: u32) {
        // SAFETY: the source is a word of this frame.
        ok(unsafe { self.cuMemcpyHtoD_v2(address, (&raw const word).cast(), 4) });
    }

    /// A stream that does not wait for the legacy stream.
    #[track_caller]
    pub fn stream(&self) -> CUstream {
        self.stream_with(CU_STREAM_NON_BLOCKING)
    }

    #[track_caller]
    pub fn stream_with(&self, flags: u32) -> CUstream {
        let mut stream = CUstream::NULL;
        // SAFETY: the out pointer is valid.
        ok(unsafe { self.cuStreamCreate(&mut stream, flags) });
        stream
    }

    #[track_caller]
    pub fn graph(&self) -> CUgraph {
        let mut graph = CUgraph::NULL;
        // SAFETY: the out pointer is valid.
        ok(unsafe { self.cuGraphCreate(&mut graph, 0) });
        graph
    }

    /// A kernel node of one block of one thread; `args` are its 8-byte arguments.
    #[track_caller]
    pub fn kernel_node(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        function: CUfunction,
        args: &[u64],
    ) -> CUgraphNode {
        let mut pointers: Vec<*mut c_void> = args.iter().map(|arg| std::ptr::from_ref(arg).cast_mut().cast()).collect();
        let params = one_thread(function, &mut pointers);
        let mut node = CUgraphNode::NULL;
        // SAFETY: the arrays are as long as said, and each argument is 8 bytes.
        ok(unsafe { self.cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), &params) });
        node
    }

    /// A condition of a graph, with its value at the begin of each launch.
    #[track_caller]
    pub fn condition(&self, graph: CUgraph, default: Option<u32>) -> u64 {
        let mut handle = 0;
        let flags = u32::from(default.is_some());
        // SAFETY: the out pointer is valid.
        ok(unsafe {
            self.cuGraphConditionalHandleCreate(&mut handle, graph, self.context, default.unwrap_or(0), flags)
        });
        handle
    }

    /// A conditional node: its handle and its bodies.
    pub fn try_conditional(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        handle: u64,
        kind: u32,
        size: u32,
    ) -> Result<(CUgraphNode, Vec<CUgraph>), CUresult> {
        let asked = CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            r#type: kind,
            size,
            phGraph_out: std::ptr::null_mut(),
            ctx: self.context,
        };
        // SAFETY: the struct of this type of node.
        let mut params = unsafe { CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_CONDITIONAL, asked) };
        let mut node = CUgraphNode::NULL;
        // SAFETY: the arrays are as long as said; the parameters are of the type they name.
        let code = unsafe {
            self.cuGraphAddNode_v2(&mut node, graph, after.as_ptr(), std::ptr::null(), after.len(), &mut params)
        };
        if code != OK {
            return Err(code);
        }
        // SAFETY: the driver has left an array of `size` graphs, which lives as long as the node.
        let bodies = unsafe {
            let answer = params.read::<CUDA_CONDITIONAL_NODE_PARAMS>();
            (0..size as usize).map(|at| answer.phGraph_out.add(at).read()).collect()
        };
        Ok((node, bodies))
    }

    #[track_caller]
    pub fn conditional(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        handle: u64,
        kind: u32,
        size: u32,
    ) -> (CUgraphNode, Vec<CUgraph>) {
        self.try_conditional(graph, after, handle, kind, size).expect("a conditional node can be added")
    }

    #[track_caller]
    pub fn instantiate(&self, graph: CUgraph) -> CUgraphExec {
        let mut exec = CUgraphExec::NULL;
        // SAFETY: the out pointer is valid.
        ok(unsafe { self.cuGraphInstantiateWithFlags(&mut exec, graph, 0) });
        exec
    }

    /// Launches and waits.
    #[track_caller]
    pub fn run(&self, exec: CUgraphExec, stream: CUstream) {
        // SAFETY: no pointers.
        unsafe {
            ok(self.cuGraphLaunch(exec, stream));
            ok(self.cuStreamSynchronize(stream));
        }
    }

    /// Launches one block of one thread; `args` are its 8-byte arguments.
    pub fn launch(&self, function: CUfunction, stream: CUstream, args: &[u64]) -> CUresult {
        let mut pointers: Vec<*mut c_void> = args.iter().map(|arg| std::ptr::from_ref(arg).cast_mut().cast()).collect();
        let none = std::ptr::null_mut();
        // SAFETY: each argument is 8 bytes, and the kernel takes that many.
        unsafe { self.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, pointers.as_mut_ptr(), none) }
    }

    /// The words in brackets of what was found.
    pub fn found(&self) -> Vec<&'static str> {
        self.findings().iter().map(|finding| finding.code).collect()
    }
}
