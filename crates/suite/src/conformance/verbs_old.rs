//! Verbs of calls by the signatures that they had in older versions, and of a few that came late.

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::case::Case;
use super::names::{Handle, Told};
use super::verbs::{Kernel, acts, asks, makes};

acts! {
    fn old_begin(stream: CUstream) = cuStreamBeginCapture(stream);
    fn old_write32(stream: CUstream, at: u64, value: u32) = cuStreamWriteValue32(stream, at, value, 0);
    fn old_write64(stream: CUstream, at: u64, value: u64) = cuStreamWriteValue64(stream, at, value, 0);
    fn old_wait32(stream: CUstream, at: u64, value: u32) = cuStreamWaitValue32(stream, at, value, 0);
    fn old_wait64(stream: CUstream, at: u64, value: u64) = cuStreamWaitValue64(stream, at, value, 0);
    fn old_push(context: CUcontext) = cuCtxPushCurrent(context);
    fn old_destroy_context(context: CUcontext) = cuCtxDestroy(context);
    fn old_destroy_stream(stream: CUstream) = cuStreamDestroy(stream);
    fn old_destroy_event(event: CUevent) = cuEventDestroy(event);
    fn old_free(at: u32) = cuMemFree(at);
    fn old_set8(at: u32, value: u8, count: u32) = cuMemsetD8(at, value, count);
    fn old_set32(at: u32, value: u32, count: u32) = cuMemsetD32(at, value, count);
    fn old_d_to_d(to: u32, from: u32, bytes: u32) = cuMemcpyDtoD(to, from, bytes);
    fn detach_context(context: CUcontext) = cuCtxDetach(context);
    fn sync_of(context: CUcontext) = cuCtxSynchronize_v2(context);
    fn enable_peer(context: CUcontext, flags: u32) = cuCtxEnablePeerAccess(context, flags);
    fn disable_peer(context: CUcontext) = cuCtxDisablePeerAccess(context);
    fn set_banks(config: u32) = cuCtxSetSharedMemConfig(config);
    fn set_banks_of(function: CUfunction, config: u32) = cuFuncSetSharedMemConfig(function, config);
    fn set_function(function: CUfunction, attribute: u32, value: i32) = cuFuncSetAttribute(function, attribute, value);
}

makes! {
    fn create_v3(flags: u32) -> context: CUcontext = cuCtxCreate_v3(&mut context, std::ptr::null_mut(), 0, flags, 0);
    fn create_v1(flags: u32) -> context: CUcontext = cuCtxCreate(&mut context, flags, 0);
}

asks! {
    fn attach_context(flags: u32) -> context: CUcontext = cuCtxAttach(&mut context, flags);
    fn old_pop() -> context: CUcontext = cuCtxPopCurrent(&mut context);
    fn device_of(context: CUcontext) -> device: i32 = cuCtxGetDevice_v2(&mut device, context);
    fn banks() -> config: u32 = cuCtxGetSharedMemConfig(&mut config);
    fn function_attribute(function: CUfunction, attribute: u32) -> value: i32 = cuFuncGetAttribute(&mut value, attribute, function);
    fn affinity_support(kind: u32) -> value: i32 = cuDeviceGetExecAffinitySupport(&mut value, kind, 0);
    fn p2p(attribute: u32, from: i32, to: i32) -> value: i32 = cuDeviceGetP2PAttribute(&mut value, attribute, from, to);
    fn texture_width(format: u32, channels: u32) -> width: usize = cuDeviceGetTexture1DLinearMaxWidth(&mut width, format, channels, 0);
    fn old_alloc(bytes: u32) -> at: u32 = cuMemAlloc(&mut at, bytes);
    fn old_host_pointer(host: u64) -> at: u32 = cuMemHostGetDevicePointer(&mut at, host as usize as *mut c_void, 0);
    fn old_total() -> bytes: u32 = cuDeviceTotalMem(&mut bytes, 0);
}

/// The parameters of a node as CUDA 10 had them.
fn old_params(p: &CUDA_KERNEL_NODE_PARAMS) -> CUDA_KERNEL_NODE_PARAMS_v1 {
    CUDA_KERNEL_NODE_PARAMS_v1 {
        func: p.func,
        gridDimX: p.gridDimX,
        gridDimY: p.gridDimY,
        gridDimZ: p.gridDimZ,
        blockDimX: p.blockDimX,
        blockDimY: p.blockDimY,
        blockDimZ: p.blockDimZ,
        sharedMemBytes: p.sharedMemBytes,
        kernelParams: p.kernelParams,
        extra: p.extra,
    }
}

impl Case<'_> {
    /// `cuGraphAddKernelNode`
    pub(super) fn old_add_kernel(&mut self, graph: CUgraph, after: &[CUgraphNode], kernel: &Kernel) -> CUgraphNode {
        let told = vec![graph.told(&mut self.names), after.told(&mut self.names), kernel.told(&mut self.names)];
        let (mut values, mut pointers, mut node) = (kernel.values(), Vec::new(), CUgraphNode::NULL);
        let params = old_params(&kernel.node(&mut values, &mut pointers));
        // SAFETY: the parameters and what they point to outlive the call.
        let code = unsafe {
            self.driver.cuGraphAddKernelNode(&mut node, graph, after.as_ptr(), after.len(), &raw const params)
        };
        let name = if code.is_success() { self.names.new_handle("node", node.bits()) } else { String::new() };
        self.said("cuGraphAddKernelNode of CUDA 10", &told, code, &name);
        node
    }

    /// `cuGraphKernelNodeSetParams`
    pub(super) fn old_node_kernel(&mut self, node: CUgraphNode, kernel: &Kernel) -> CUresult {
        let told = vec![node.told(&mut self.names), kernel.told(&mut self.names)];
        let (mut values, mut pointers) = (kernel.values(), Vec::new());
        let params = old_params(&kernel.node(&mut values, &mut pointers));
        // SAFETY: as above.
        let code = unsafe { self.driver.cuGraphKernelNodeSetParams(node, &raw const params) };
        self.said("cuGraphKernelNodeSetParams of CUDA 10", &told, code, "")
    }

    /// `cuGraphExecKernelNodeSetParams`
    pub(super) fn old_exec_kernel(&mut self, exec: CUgraphExec, node: CUgraphNode, kernel: &Kernel) -> CUresult {
        let told = vec![exec.told(&mut self.names), node.told(&mut self.names), kernel.told(&mut self.names)];
        let (mut values, mut pointers) = (kernel.values(), Vec::new());
        let params = old_params(&kernel.node(&mut values, &mut pointers));
        // SAFETY: as above.
        let code = unsafe { self.driver.cuGraphExecKernelNodeSetParams(exec, node, &raw const params) };
        self.said("cuGraphExecKernelNodeSetParams of CUDA 10", &told, code, "")
    }

    /// `cuGraphKernelNodeGetParams`: shape, and that nothing behind the struct is written.
    pub(super) fn old_kernel_params(&mut self, node: CUgraphNode) {
        let told = vec![node.told(&mut self.names)];
        let mut room = [CUDA_KERNEL_NODE_PARAMS_v1::default(), CUDA_KERNEL_NODE_PARAMS_v1::default()];
        room[1].sharedMemBytes = 0x5555_5555;
        // SAFETY: room for two of them.
        let code = unsafe { self.driver.cuGraphKernelNodeGetParams(node, room.as_mut_ptr()) };
        let p = &room[0];
        let kept = room[1].func.is_null() && room[1].sharedMemBytes == 0x5555_5555;
        let gave = format!("<{}, {}, {}> kept {kept}", p.gridDimX, p.blockDimX, p.sharedMemBytes);
        self.said("cuGraphKernelNodeGetParams of CUDA 10", &told, code, &gave);
    }

    /// `cuGraphInstantiate`, by its first or its second name.
    pub(super) fn old_instantiate(&mut self, graph: CUgraph, second: bool) -> CUgraphExec {
        let told = vec![graph.told(&mut self.names)];
        let (mut exec, mut node, mut log) = (CUgraphExec::NULL, CUgraphNode::NULL, [b'x' as c_char; 16]);
        // SAFETY: all are valid for the write, and the buffer has as many bytes as it says.
        let code = unsafe {
            let log = log.as_mut_ptr();
            match second {
                true => self.driver.cuGraphInstantiate_v2(&mut exec, graph, &mut node, log, 16),
                false => self.driver.cuGraphInstantiate(&mut exec, graph, &mut node, log, 16),
            }
        };
        let name = if code.is_success() { self.keep(exec) } else { String::new() };
        self.said(if second { "cuGraphInstantiate_v2" } else { "cuGraphInstantiate of CUDA 10" }, &told, code, &name);
        let node = node.told(&mut self.names);
        self.say(format!("in the way {node}, log empty {}", log[0] == 0));
        exec
    }

    /// `cuGraphExecUpdate`
    pub(super) fn old_update(&mut self, exec: CUgraphExec, graph: CUgraph) -> CUresult {
        let told = vec![exec.told(&mut self.names), graph.told(&mut self.names)];
        let (mut node, mut result) = (CUgraphNode::NULL, 99);
        // SAFETY: both are valid for the write.
        let code = unsafe { self.driver.cuGraphExecUpdate(exec, graph, &mut node, &mut result) };
        self.said("cuGraphExecUpdate of CUDA 10", &told, code, "");
        let node = node.told(&mut self.names);
        self.say(format!("result {result}, {node}"));
        code
    }

    /// `cuStreamGetCaptureInfo`
    pub(super) fn old_capture_info(&mut self, stream: CUstream) {
        let told = vec![stream.told(&mut self.names)];
        let (mut status, mut id) = (9, 77);
        // SAFETY: both are valid for the write.
        let code = unsafe { self.driver.cuStreamGetCaptureInfo(stream, &mut status, &mut id) };
        self.said("cuStreamGetCaptureInfo of CUDA 10", &told, code, &format!("{status}, id given {}", id != 77));
    }

    /// `cuStreamGetCtx_v2`
    pub(super) fn context_and_green(&mut self, stream: CUstream) {
        let told = vec![stream.told(&mut self.names)];
        let (mut context, mut green) = (CUcontext::NULL, CUgreenCtx::from_bits(1));
        // SAFETY: both are valid for the write.
        let code = unsafe { self.driver.cuStreamGetCtx_v2(stream, &mut context, &mut green) };
        let gave = format!("{}, green {}", context.told(&mut self.names), !green.is_null());
        self.said("cuStreamGetCtx_v2", &told, code, &gave);
    }

    /// `cuCtxCreate_v3` with parameters of affinity.
    pub(super) fn create_with_affinity(&mut self, kind: u32, multiprocessors: u32) -> CUresult {
        let mut params = CUexecAffinityParam { r#type: kind, param: multiprocessors };
        let mut context = CUcontext::NULL;
        // SAFETY: one parameter, and a place for the handle.
        let code = unsafe { self.driver.cuCtxCreate_v3(&mut context, &mut params, 1, 0, 0) };
        self.said("cuCtxCreate_v3", &[kind.to_string(), multiprocessors.to_string()], code, "")
    }

    /// `cuCtxGetExecAffinity`
    pub(super) fn affinity(&mut self, kind: u32) -> CUresult {
        let mut params = CUexecAffinityParam::default();
        // SAFETY: valid for the write.
        let code = unsafe { self.driver.cuCtxGetExecAffinity(&mut params, kind) };
        self.said("cuCtxGetExecAffinity", &[kind.to_string()], code, &params.param.to_string())
    }

    /// `cuDeviceGetProperties`
    pub(super) fn properties(&mut self) {
        let mut p = CUdevprop::default();
        // SAFETY: valid for the write.
        let code = unsafe { self.driver.cuDeviceGetProperties(&mut p, 0) };
        let gave = format!(
            "{} {:?} {:?} {} {} {} {} {} {}",
            p.maxThreadsPerBlock,
            p.maxThreadsDim,
            p.maxGridSize,
            p.sharedMemPerBlock,
            p.totalConstantMemory,
            p.SIMDWidth,
            p.memPitch,
            p.regsPerBlock,
            p.textureAlign
        );
        self.said("cuDeviceGetProperties", &[], code, &gave);
    }

    /// An old call has destroyed it.
    pub(super) fn forget<H: Handle>(&mut self, handle: H) {
        self.gone(H::KIND, handle.number());
    }

    /// Functions that are null, asked about.
    pub(super) fn null_functions(&mut self) {
        let (mut name, mut module, mut value) = (std::ptr::null(), CUmodule::NULL, 0);
        // SAFETY: all are valid for the write.
        unsafe {
            let code = self.driver.cuFuncGetName(&mut name, CUfunction::NULL);
            self.said("cuFuncGetName", &["null".to_string()], code, "");
            let code = self.driver.cuKernelGetName(&mut name, CUkernel::NULL);
            self.said("cuKernelGetName", &["null".to_string()], code, "");
            let code = self.driver.cuFuncGetModule(&mut module, CUfunction::NULL);
            self.said("cuFuncGetModule", &["null".to_string()], code, "");
            let code = self.driver.cuFuncGetAttribute(&mut value, 0, CUfunction::NULL);
            self.said("cuFuncGetAttribute", &["null".to_string()], code, "");
        }
    }
}
