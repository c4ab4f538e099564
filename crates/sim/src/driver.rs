//! The list of driver calls that the software driver knows. What is not in it answers `NOT_SUPPORTED` and leaves a
//! finding: what is missing is read here, not discovered.

use std::ffi::{c_char, c_int, c_uint, c_void};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call, Declared, DeclaredOf, Driver};

use crate::calls;
use crate::machine::Machine;
use crate::visit::Needs;

macro_rules! implemented {
    ($($symbol:ident($($arg:ident: $ty:ty),*) => $needs:ident, $function:path;)*) => {
        /// The calls that the software driver knows.
        pub const IMPLEMENTED: &[Call] = &[$(Call::$symbol),*];

        /// What each of them needs.
        #[cfg(test)]
        pub(crate) const NEEDS: &[(Call, Needs)] = &[$((Call::$symbol, Needs::$needs)),*];

        #[allow(non_snake_case)] // C's names
        impl Driver for Machine {
            fn missing(&self, call: Call) -> CUresult {
                self.visit(call, Needs::Always, |visit| {
                    Err(visit.unsupported(format!("{} is not there yet", call.name())))
                })
            }

            fn wants_declared(&self) -> bool {
                self.lock().options.detectors.undeclared
            }

            fn declare(&self, of: DeclaredOf, declared: Option<&Declared<'_>>) {
                self.take_declared(of, declared);
            }

            $(unsafe fn $symbol(&self, $($arg: $ty),*) -> CUresult {
                // SAFETY: the arguments are those of this very call, with the promises that its caller made.
                self.visit(Call::$symbol, Needs::$needs, |visit| unsafe { $function(visit, $($arg),*) })
            })*
        }
    };
}

implemented! {
    cuInit(Flags: c_uint) => Nothing, calls::general::init;
    cuDriverGetVersion(driverVersion: *mut c_int) => Nothing, calls::general::driver_get_version;
    cuGetErrorName(error: CUresult, pStr: *mut *const c_char) => Nothing, calls::general::get_error_name;
    cuGetErrorString(error: CUresult, pStr: *mut *const c_char) => Nothing, calls::general::get_error_string;
    cuDeviceGet(device: *mut CUdevice, ordinal: c_int) => Always, calls::device::get;
    cuDeviceGetCount(count: *mut c_int) => Always, calls::device::get_count;
    cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) => Always, calls::device::get_name;
    cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) => Always, calls::device::total_mem;
    cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) => Always, calls::device::get_uuid;
    cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) => Always, calls::device::get_uuid;
    cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, dev: CUdevice) => Always, calls::device::compute_capability;
    cuDeviceGetAttribute(pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice) => Always, calls::device::get_attribute;
    cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) => Init, calls::device::primary_retain;
    cuDevicePrimaryCtxRelease_v2(dev: CUdevice) => Always, calls::device::primary_release;
    cuDevicePrimaryCtxReset_v2(dev: CUdevice) => Always, calls::device::primary_reset;
    cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int) => Always, calls::device::primary_get_state;
    cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) => Always, calls::device::primary_set_flags;
    cuCtxCreate_v2(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice) => Init, calls::context::create;
    cuCtxCreate_v4(pctx: *mut CUcontext, ctxCreateParams: *mut CUctxCreateParams, flags: c_uint, dev: CUdevice) => Init, calls::context::create_v4;
    cuCtxDestroy_v2(ctx: CUcontext) => Always, calls::context::destroy;
    cuCtxGetCurrent(pctx: *mut CUcontext) => Always, calls::context::get_current;
    cuCtxSetCurrent(ctx: CUcontext) => Always, calls::context::set_current;
    cuCtxPushCurrent_v2(ctx: CUcontext) => Always, calls::context::push_current;
    cuCtxPopCurrent_v2(pctx: *mut CUcontext) => Always, calls::context::pop_current;
    cuCtxGetDevice(device: *mut CUdevice) => Always, calls::context::get_device;
    cuCtxGetFlags(flags: *mut c_uint) => Always, calls::context::get_flags;
    cuCtxSetFlags(flags: c_uint) => Context, calls::context::set_flags;
    cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache) => Context, calls::context::get_cache_config;
    cuCtxSetCacheConfig(config: CUfunc_cache) => Context, calls::context::set_cache_config;
    cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) => Always, calls::context::get_api_version;
    cuCtxGetId(ctx: CUcontext, ctxId: *mut u64) => Always, calls::context::get_id;
    cuCtxSynchronize() => Context, calls::context::synchronize;
    cuCtxGetStreamPriorityRange(leastPriority: *mut c_int, greatestPriority: *mut c_int) => Context, calls::context::get_stream_priority_range;
    cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit) => Context, calls::context::get_limit;
    cuCtxSetLimit(limit: CUlimit, value: usize) => Context, calls::context::set_limit;
    cuCtxRecordEvent(hCtx: CUcontext, hEvent: CUevent) => Context, calls::context::record_event;
    cuCtxWaitEvent(hCtx: CUcontext, hEvent: CUevent) => Context, calls::context::wait_event;
    cuModuleLoad(module: *mut CUmodule, fname: *const c_char) => Context, calls::module::load;
    cuModuleLoadData(module: *mut CUmodule, image: *const c_void) => Context, calls::module::load_data;
    cuModuleLoadDataEx(module: *mut CUmodule, image: *const c_void, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void) => Context, calls::module::load_data_ex;
    cuModuleUnload(hmod: CUmodule) => Context, calls::module::unload;
    cuModuleGetFunction(hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char) => Context, calls::module::get_function;
    cuModuleGetGlobal_v2(dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const c_char) => Context, calls::module::get_global;
    cuModuleGetFunctionCount(count: *mut c_uint, module: CUmodule) => Context, calls::module::get_function_count;
    cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode) => Always, calls::module::get_loading_mode;
    cuLibraryLoadData(library: *mut CUlibrary, code: *const c_void, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint) => Context, calls::library::load_data;
    cuLibraryUnload(library: CUlibrary) => Context, calls::library::unload_library;
    cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary) => Context, calls::library::get_module;
    cuLibraryGetKernel(pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char) => Context, calls::library::get_kernel;
    cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel) => Context, calls::library::kernel_get_function;
    cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel) => Context, calls::function::kernel_get_name;
    cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction) => Context, calls::function::get_name;
    cuFuncGetParamInfo(func: CUfunction, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) => Context, calls::function::get_param_info;
    cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction) => Context, calls::function::get_module;
    cuFuncIsLoaded(state: *mut CUfunctionLoadingState, function: CUfunction) => Context, calls::function::is_loaded;
    cuFuncLoad(function: CUfunction) => Context, calls::function::load;
    cuFuncGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, hfunc: CUfunction) => Context, calls::function::get_attribute;
    cuFuncSetAttribute(hfunc: CUfunction, attrib: CUfunction_attribute, value: c_int) => Context, calls::function::set_attribute;
    cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache) => Context, calls::function::set_cache_config;
    cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize) => Context, calls::memory::alloc;
    cuMemAllocPitch_v2(dptr: *mut CUdeviceptr, pPitch: *mut usize, WidthInBytes: usize, Height: usize, ElementSizeBytes: c_uint) => Context, calls::memory::alloc_pitch;
    cuMemFree_v2(dptr: CUdeviceptr) => Context, calls::memory::free;
    cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize) => Context, calls::memory::alloc_host;
    cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, Flags: c_uint) => Context, calls::memory::host_alloc;
    cuMemFreeHost(p: *mut c_void) => Context, calls::memory::free_host;
    cuMemHostRegister_v2(p: *mut c_void, bytesize: usize, Flags: c_uint) => Context, calls::memory::host_register;
    cuMemHostUnregister(p: *mut c_void) => Context, calls::memory::host_unregister;
    cuMemHostGetDevicePointer_v2(pdptr: *mut CUdeviceptr, p: *mut c_void, Flags: c_uint) => Context, calls::memory::host_get_device_pointer;
    cuMemHostGetFlags(pFlags: *mut c_uint, p: *mut c_void) => Context, calls::memory::host_get_flags;
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) => Context, calls::memory::get_info;
    cuMemGetAddressRange_v2(pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr) => Context, calls::memory::get_address_range;
    cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream) => Stream, calls::pool::alloc_async;
    cuMemAllocFromPoolAsync(dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream) => Stream, calls::pool::alloc_from_pool_async;
    cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) => Stream, calls::pool::free_async;
    cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, dev: CUdevice) => Always, calls::pool::get_default;
    cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) => Always, calls::pool::get_current;
    cuMemPoolCreate(pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps) => Context, calls::pool::create;
    cuMemPoolDestroy(pool: CUmemoryPool) => Context, calls::pool::destroy;
    cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize) => Context, calls::pool::trim_to;
    cuMemPoolGetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) => Always, calls::pool::get_attribute;
    cuMemPoolSetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) => Always, calls::pool::set_attribute;
    cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr) => Always, calls::pointer::get_attribute;
    cuPointerGetAttributes(numAttributes: c_uint, attributes: *mut CUpointer_attribute, data: *mut *mut c_void, ptr: CUdeviceptr) => Always, calls::pointer::get_attributes;
    cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) => Stream, calls::copy::unified;
    cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream) => Stream, calls::copy::unified_async;
    cuMemcpyHtoD_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize) => Stream, calls::copy::h_to_d;
    cuMemcpyDtoH_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize) => Stream, calls::copy::d_to_h;
    cuMemcpyDtoD_v2(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize) => Stream, calls::copy::d_to_d;
    cuMemcpyHtoDAsync_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) => Stream, calls::copy::h_to_d_async;
    cuMemcpyDtoHAsync_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) => Stream, calls::copy::d_to_h_async;
    cuMemcpyDtoDAsync_v2(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) => Stream, calls::copy::d_to_d_async;
    cuMemcpyPeerAsync(dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize, hStream: CUstream) => Stream, calls::copy::peer_async;
    cuMemcpy2D_v2(pCopy: *const CUDA_MEMCPY2D) => Stream, calls::copy::two_d;
    cuMemcpy2DUnaligned_v2(pCopy: *const CUDA_MEMCPY2D) => Stream, calls::copy::two_d;
    cuMemcpy2DAsync_v2(pCopy: *const CUDA_MEMCPY2D, hStream: CUstream) => Stream, calls::copy::two_d_async;
    cuMemcpy3D_v2(pCopy: *const CUDA_MEMCPY3D) => Stream, calls::copy::three_d;
    cuMemcpy3DAsync_v2(pCopy: *const CUDA_MEMCPY3D, hStream: CUstream) => Stream, calls::copy::three_d_async;
    cuMemsetD8_v2(dstDevice: CUdeviceptr, uc: u8, N: usize) => Stream, calls::set::d8;
    cuMemsetD16_v2(dstDevice: CUdeviceptr, us: u16, N: usize) => Stream, calls::set::d16;
    cuMemsetD32_v2(dstDevice: CUdeviceptr, ui: c_uint, N: usize) => Stream, calls::set::d32;
    cuMemsetD8Async(dstDevice: CUdeviceptr, uc: u8, N: usize, hStream: CUstream) => Stream, calls::set::d8_async;
    cuMemsetD16Async(dstDevice: CUdeviceptr, us: u16, N: usize, hStream: CUstream) => Stream, calls::set::d16_async;
    cuMemsetD32Async(dstDevice: CUdeviceptr, ui: c_uint, N: usize, hStream: CUstream) => Stream, calls::set::d32_async;
    cuMemsetD2D8_v2(dstDevice: CUdeviceptr, dstPitch: usize, uc: u8, Width: usize, Height: usize) => Stream, calls::set::d2d8;
    cuMemsetD2D16_v2(dstDevice: CUdeviceptr, dstPitch: usize, us: u16, Width: usize, Height: usize) => Stream, calls::set::d2d16;
    cuMemsetD2D32_v2(dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize) => Stream, calls::set::d2d32;
    cuMemsetD2D8Async(dstDevice: CUdeviceptr, dstPitch: usize, uc: u8, Width: usize, Height: usize, hStream: CUstream) => Stream, calls::set::d2d8_async;
    cuMemsetD2D16Async(dstDevice: CUdeviceptr, dstPitch: usize, us: u16, Width: usize, Height: usize, hStream: CUstream) => Stream, calls::set::d2d16_async;
    cuMemsetD2D32Async(dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize, hStream: CUstream) => Stream, calls::set::d2d32_async;
    cuStreamCreate(phStream: *mut CUstream, Flags: c_uint) => Context, calls::stream::create;
    cuStreamCreateWithPriority(phStream: *mut CUstream, flags: c_uint, priority: c_int) => Context, calls::stream::create_with_priority;
    cuStreamDestroy_v2(hStream: CUstream) => Context, calls::stream::destroy;
    cuStreamSynchronize(hStream: CUstream) => Context, calls::stream::synchronize;
    cuStreamQuery(hStream: CUstream) => Stream, calls::stream::query;
    cuStreamGetPriority(hStream: CUstream, priority: *mut c_int) => Context, calls::stream::get_priority;
    cuStreamGetFlags(hStream: CUstream, flags: *mut c_uint) => Context, calls::stream::get_flags;
    cuStreamGetId(hStream: CUstream, streamId: *mut u64) => Context, calls::stream::get_id;
    cuStreamGetCtx(hStream: CUstream, pctx: *mut CUcontext) => Context, calls::stream::get_ctx;
    cuStreamGetDevice(hStream: CUstream, device: *mut CUdevice) => Context, calls::stream::get_device;
    cuStreamSetAttribute(hStream: CUstream, attr: CUstreamAttrID, value: *const CUstreamAttrValue) => Context, calls::stream::set_attribute;
    cuStreamAddCallback(hStream: CUstream, callback: CUstreamCallback, userData: *mut c_void, flags: c_uint) => Stream, calls::stream::add_callback;
    cuStreamAttachMemAsync(hStream: CUstream, dptr: CUdeviceptr, length: usize, flags: c_uint) => Context, calls::stream::attach_mem_async;
    cuMemPrefetchAsync_v2(devPtr: CUdeviceptr, count: usize, location: CUmemLocation, flags: c_uint, hStream: CUstream) => Context, calls::stream::prefetch_async;
    cuMemPrefetchAsync(devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream) => Context, calls::stream::prefetch_async_v1;
    cuStreamBeginCapture_v2(hStream: CUstream, mode: CUstreamCaptureMode) => Stream, calls::capture::begin;
    cuStreamBeginCaptureToGraph(hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, mode: CUstreamCaptureMode) => Stream, calls::capture::begin_to_graph;
    cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) => Stream, calls::capture::end;
    cuStreamIsCapturing(hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus) => Stream, calls::capture::is_capturing;
    cuStreamGetCaptureInfo_v3(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, edgeData_out: *mut *const CUgraphEdgeData, numDependencies_out: *mut usize) => Stream, calls::capture::get_info;
    cuStreamGetCaptureInfo_v2(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, numDependencies_out: *mut usize) => Stream, calls::capture::get_info_v2;
    cuStreamUpdateCaptureDependencies_v2(hStream: CUstream, dependencies: *mut CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, flags: c_uint) => Stream, calls::capture::update_dependencies;
    cuStreamUpdateCaptureDependencies(hStream: CUstream, dependencies: *mut CUgraphNode, numDependencies: usize, flags: c_uint) => Stream, calls::capture::update_dependencies_v1;
    cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) => Always, calls::capture::exchange_mode;
    cuEventCreate(phEvent: *mut CUevent, Flags: c_uint) => Context, calls::event::create;
    cuEventDestroy_v2(hEvent: CUevent) => Always, calls::event::destroy;
    cuEventRecord(hEvent: CUevent, hStream: CUstream) => Stream, calls::event::record;
    cuEventRecordWithFlags(hEvent: CUevent, hStream: CUstream, flags: c_uint) => Stream, calls::event::record_with_flags;
    cuEventQuery(hEvent: CUevent) => Context, calls::event::query;
    cuEventSynchronize(hEvent: CUevent) => Context, calls::event::synchronize;
    cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) => Context, calls::event::elapsed_time;
    cuEventElapsedTime_v2(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) => Context, calls::event::elapsed_time;
    cuStreamWaitEvent(hStream: CUstream, hEvent: CUevent, Flags: c_uint) => Stream, calls::event::stream_wait;
    cuLaunchKernel(f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) => Stream, calls::launch::kernel;
    cuLaunchKernelEx(config: *const CUlaunchConfig, f: CUfunction, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) => Stream, calls::launch::kernel_ex;
    cuLaunchCooperativeKernel(f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void) => Stream, calls::launch::cooperative;
    cuLaunchHostFunc(hStream: CUstream, func: CUhostFn, userData: *mut c_void) => Stream, calls::stream::launch_host_func;
    cuGraphCreate(phGraph: *mut CUgraph, flags: c_uint) => Always, calls::graph::create;
    cuGraphDestroy(hGraph: CUgraph) => Always, calls::graph::destroy;
    cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph) => Context, calls::graph::clone;
    cuGraphNodeFindInClone(phNode: *mut CUgraphNode, hOriginalNode: CUgraphNode, hClonedGraph: CUgraph) => Always, calls::graph::find_in_clone;
    cuGraphGetNodes(hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize) => Always, calls::graph::get_nodes;
    cuGraphGetRootNodes(hGraph: CUgraph, rootNodes: *mut CUgraphNode, numRootNodes: *mut usize) => Always, calls::graph::get_roots;
    cuGraphGetEdges_v2(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numEdges: *mut usize) => Always, calls::graph::get_edges;
    cuGraphGetEdges(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize) => Always, calls::graph::get_edges_v1;
    cuGraphNodeGetDependencies_v2(hNode: CUgraphNode, dependencies: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependencies: *mut usize) => Always, calls::graph::get_dependencies;
    cuGraphNodeGetDependencies(hNode: CUgraphNode, dependencies: *mut CUgraphNode, numDependencies: *mut usize) => Always, calls::graph::get_dependencies_v1;
    cuGraphNodeGetDependentNodes_v2(hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependentNodes: *mut usize) => Always, calls::graph::get_dependents;
    cuGraphNodeGetDependentNodes(hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, numDependentNodes: *mut usize) => Always, calls::graph::get_dependents_v1;
    cuGraphAddDependencies_v2(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize) => Always, calls::graph::add_dependencies;
    cuGraphAddDependencies(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize) => Always, calls::graph::add_dependencies_v1;
    cuGraphRemoveDependencies_v2(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize) => Always, calls::graph::remove_dependencies;
    cuGraphRemoveDependencies(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize) => Always, calls::graph::remove_dependencies_v1;
    cuGraphDestroyNode(hNode: CUgraphNode) => Always, calls::graph::destroy_node;
    cuGraphNodeGetType(hNode: CUgraphNode, r#type: *mut CUgraphNodeType) => Always, calls::graph::node_get_type;
    cuGraphDebugDotPrint(hGraph: CUgraph, path: *const c_char, flags: c_uint) => Always, calls::graph::debug_dot_print;
    cuGraphAddKernelNode_v2(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) => Context, calls::graph_node::add_kernel;
    cuGraphAddMemcpyNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext) => Context, calls::graph_node::add_copy;
    cuGraphAddMemsetNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext) => Context, calls::graph_node::add_set;
    cuGraphAddHostNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_HOST_NODE_PARAMS) => Context, calls::graph_node::add_host;
    cuGraphAddEmptyNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize) => Always, calls::graph_node::add_empty;
    cuGraphAddChildGraphNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, childGraph: CUgraph) => Context, calls::graph_node::add_child;
    cuGraphAddEventRecordNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent) => Context, calls::graph_node::add_event_record;
    cuGraphAddEventWaitNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent) => Context, calls::graph_node::add_event_wait;
    cuGraphAddNode_v2(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams) => Context, calls::graph_node::add_any;
    cuGraphAddNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUgraphNodeParams) => Context, calls::graph_node::add_any_v1;
    cuGraphChildGraphNodeGetGraph(hNode: CUgraphNode, phGraph: *mut CUgraph) => Always, calls::graph_node::child_get_graph;
    cuGraphKernelNodeGetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS) => Always, calls::graph_node::kernel_get_params;
    cuGraphKernelNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) => Context, calls::graph_node::kernel_set_params;
    cuGraphKernelNodeGetAttribute(hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue) => Always, calls::graph_node::kernel_get_attribute;
    cuGraphKernelNodeSetAttribute(hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue) => Context, calls::graph_node::kernel_set_attribute;
    cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D) => Context, calls::graph_node::copy_set_params;
    cuGraphMemsetNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS) => Context, calls::graph_node::set_set_params;
    cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS) => Always, calls::graph_node::set_get_params;
    cuGraphHostNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS) => Context, calls::graph_node::host_set_params;
    cuGraphEventRecordNodeSetEvent(hNode: CUgraphNode, event: CUevent) => Context, calls::graph_node::record_set_event;
    cuGraphEventWaitNodeSetEvent(hNode: CUgraphNode, event: CUevent) => Context, calls::graph_node::wait_set_event;
    cuGraphInstantiateWithFlags(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: u64) => Context, calls::graph_exec::instantiate;
    cuGraphInstantiateWithParams(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS) => Context, calls::graph_exec::instantiate_with_params;
    cuGraphExecDestroy(hGraphExec: CUgraphExec) => Always, calls::graph_exec::destroy;
    cuGraphExecGetFlags(hGraphExec: CUgraphExec, flags: *mut u64) => Always, calls::graph_exec::get_flags;
    cuGraphUpload(hGraphExec: CUgraphExec, hStream: CUstream) => OwnStream, calls::graph_exec::upload;
    cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream) => OwnStream, calls::graph_exec::launch;
    cuGraphExecUpdate_v2(hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo) => Context, calls::graph_exec::update;
    cuGraphExecKernelNodeSetParams_v2(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) => Context, calls::graph_exec::kernel_set_params;
    cuGraphExecMemcpyNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext) => Context, calls::graph_exec::copy_set_params;
    cuGraphExecMemsetNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext) => Context, calls::graph_exec::set_set_params;
    cuGraphExecHostNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS) => Context, calls::graph_exec::host_set_params;
    cuGraphExecChildGraphNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph) => Context, calls::graph_exec::child_set_params;
    cuGraphExecEventRecordNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent) => Context, calls::graph_exec::record_set_event;
    cuGraphExecEventWaitNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent) => Context, calls::graph_exec::wait_set_event;
    cuGraphNodeSetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: c_uint) => Always, calls::graph_exec::set_enabled;
    cuGraphNodeGetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut c_uint) => Always, calls::graph_exec::get_enabled;
    cuStreamWriteValue32_v2(stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) => Stream, calls::stream_values::write_32;
    cuStreamWriteValue64_v2(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) => Stream, calls::stream_values::write_64;
    cuStreamWaitValue32_v2(stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) => Stream, calls::stream_values::wait_32;
    cuStreamWaitValue64_v2(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) => Stream, calls::stream_values::wait_64;
    cuStreamBatchMemOp_v2(stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint) => Stream, calls::stream_values::batch;
    cuGraphAddBatchMemOpNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) => Context, calls::stream_values::add_node;
    cuGraphBatchMemOpNodeGetParams(hNode: CUgraphNode, nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS) => Always, calls::stream_values::node_get_params;
    cuGraphBatchMemOpNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) => Context, calls::stream_values::node_set_params;
    cuGraphExecBatchMemOpNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) => Context, calls::stream_values::exec_set_params;
    cuGraphConditionalHandleCreate(pHandle_out: *mut CUgraphConditionalHandle, hGraph: CUgraph, ctx: CUcontext, defaultLaunchValue: c_uint, flags: c_uint) => Context, calls::conditional::handle_create;
    cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) => Always, calls::pool::set_current;
    cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize) => Always, calls::pool::set_access;
    cuMemPoolGetAccess(flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation) => Always, calls::pool::get_access;
    cuGraphAddMemAllocNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS) => Context, calls::graph_memory::add_alloc;
    cuGraphAddMemFreeNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, dptr: CUdeviceptr) => Context, calls::graph_memory::add_free;
    cuGraphMemAllocNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS) => Always, calls::graph_memory::alloc_get_params;
    cuGraphMemFreeNodeGetParams(hNode: CUgraphNode, dptr_out: *mut CUdeviceptr) => Always, calls::graph_memory::free_get_params;
    cuDeviceGraphMemTrim(device: CUdevice) => Always, calls::graph_memory::trim;
    cuDeviceGetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void) => Always, calls::graph_memory::get_attribute;
    cuDeviceSetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void) => Always, calls::graph_memory::set_attribute;
    cuUserObjectCreate(object_out: *mut CUuserObject, ptr: *mut c_void, destroy: CUhostFn, initialRefcount: c_uint, flags: c_uint) => Always, calls::user_object::create;
    cuUserObjectRetain(object: CUuserObject, count: c_uint) => Always, calls::user_object::retain;
    cuUserObjectRelease(object: CUuserObject, count: c_uint) => Always, calls::user_object::release;
    cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint) => Always, calls::user_object::graph_retain;
    cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint) => Always, calls::user_object::graph_release;
    cuMemGetAllocationGranularity(granularity: *mut usize, prop: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags) => Always, calls::virtual_memory::get_granularity;
    cuMemCreate(handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: u64) => Init, calls::virtual_memory::create;
    cuMemRelease(handle: CUmemGenericAllocationHandle) => Always, calls::virtual_memory::release;
    cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void) => Always, calls::virtual_memory::retain;
    cuMemGetAllocationPropertiesFromHandle(prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle) => Always, calls::virtual_memory::get_properties;
    cuMemAddressReserve(ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: u64) => Init, calls::virtual_memory::reserve;
    cuMemAddressFree(ptr: CUdeviceptr, size: usize) => Always, calls::virtual_memory::address_free;
    cuMemMap(ptr: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64) => Context, calls::virtual_memory::map;
    cuMemUnmap(ptr: CUdeviceptr, size: usize) => Context, calls::virtual_memory::unmap;
    cuMemSetAccess(ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize) => Context, calls::virtual_memory::set_access;
    cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D) => Always, calls::node_params::copy_get_params;
    cuGraphHostNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS) => Always, calls::node_params::host_get_params;
    cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) => Always, calls::node_params::record_get_event;
    cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) => Always, calls::node_params::wait_get_event;
    cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode) => Context, calls::node_params::kernel_copy_attributes;
    cuGraphNodeSetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) => Context, calls::node_params::set_params;
    cuGraphExecNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) => Context, calls::node_params::exec_set_params;
    cuDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, dev: CUdevice) => Always, calls::device::get_pci_bus_id;
    cuDeviceGetByPCIBusId(dev: *mut CUdevice, pciBusId: *const c_char) => Always, calls::device::get_by_pci_bus_id;
    cuDeviceCanAccessPeer(canAccessPeer: *mut c_int, dev: CUdevice, peerDev: CUdevice) => Always, calls::device::can_access_peer;
    cuCtxResetPersistingL2Cache() => Context, calls::context::reset_persisting_cache;
    cuModuleEnumerateFunctions(functions: *mut CUfunction, numFunctions: c_uint, module: CUmodule) => Context, calls::module::enumerate_functions;
    cuKernelGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice) => Context, calls::library::kernel_get_attribute;
    cuKernelSetAttribute(attrib: CUfunction_attribute, val: c_int, kernel: CUkernel, dev: CUdevice) => Context, calls::library::kernel_set_attribute;
    cuKernelGetParamInfo(kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) => Context, calls::library::kernel_get_param_info;
    cuLibraryGetKernelCount(count: *mut c_uint, lib: CUlibrary) => Context, calls::library::get_kernel_count;
    cuLibraryEnumerateKernels(kernels: *mut CUkernel, numKernels: c_uint, lib: CUlibrary) => Context, calls::library::enumerate_kernels;
    cuLibraryGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) => Context, calls::library::get_global;
    cuLibraryLoadFromFile(library: *mut CUlibrary, fileName: *const c_char, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint) => Context, calls::library::load_from_file;
    cuStreamGetAttribute(hStream: CUstream, attr: CUstreamAttrID, value_out: *mut CUstreamAttrValue) => Context, calls::stream::get_attribute;
    cuStreamCopyAttributes(dst: CUstream, src: CUstream) => Context, calls::stream::copy_attributes;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize) => Context, calls::occupancy::max_active_blocks;
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize, flags: c_uint) => Context, calls::occupancy::max_active_blocks_with_flags;
    cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize: *mut usize, func: CUfunction, numBlocks: c_int, blockSize: c_int) => Context, calls::occupancy::available_shared;
    cuOccupancyMaxPotentialBlockSize(minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: c_int) => Context, calls::occupancy::potential_block;
    cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: c_int, flags: c_uint) => Context, calls::occupancy::potential_block_with_flags;
    cuProfilerStart() => Context, calls::general::profiler;
    cuProfilerStop() => Context, calls::general::profiler;
}
