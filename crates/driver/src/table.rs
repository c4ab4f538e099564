//! The table: one row for each symbol of the CUDA driver API that Dacapo knows.
//!
//! What NVIDIA's header says we say here, once. `trait Driver`, [`Call`](crate::Call), the loader, the hooks, the
//! exports of the software `libcuda.so.1` and docs/driver-calls.md are expansions of it.
//!
//! A row reads
//!
//! ```text
//! symbol [documented name, family, since, on, beside, per-thread twin] (arguments);
//! ```
//!
//! - *symbol*: what the library exports and what a program links against. A name with two signatures has two rows.
//! - *documented name*: what the manual and `cuGetProcAddress` call it. (`cuGraphInstantiateWithFlags` is `cuGraphInstantiate`
//!   in manuals since 12.0; `cuGetProcAddress` goes on giving the older signature for that name, as observed.)
//! - *since*: the CUDA version that brought this signature, as `cuDriverGetVersion` counts (12_040 is 12.4).
//! - *on*: what the call does when its stream is capturing: [`OnCapturing`](crate::OnCapturing).
//! - *beside*: what it does while another stream captures: [`BesideCapturing`](crate::BesideCapturing).
//! - *per-thread twin*: `Ptsz` or `Ptds` where the library also exports the symbol with that suffix, for which the
//!   null stream means the calling thread's own stream.
//!
//! The capture columns are observations on an H200 (driver 580.159.04), not quotations of the manual. Seven rows were not
//! tried and stand in the class of their nearest kin: `cuMemHostAlloc`, `cuMemHostUnregister`, `cuMemPoolDestroy`,
//! `cuLibraryUnload`, `cuGraphInstantiateWithParams`, `cuMemcpy3DPeer` and `cuMemcpy3DPeerAsync` (as `cuMemAllocHost`,
//! `cuMemFreeHost`, `cuMemPoolCreate`, `cuModuleUnload`, `cuGraphInstantiate`, `cuMemcpy3D` and `cuMemcpy3DAsync`). `Free` for a call that no stream could harm, such as a query of a device, was
//! not tried one by one either.

/// Hands every row of the table to the macro `$consume`.
#[macro_export]
macro_rules! for_each_call {
    ($consume:path) => {
        $consume! {
        // General
        cuDriverGetVersion [cuDriverGetVersion, General, 2_020, NoStream, Free, None] (driverVersion: *mut c_int);
        cuGetErrorName [cuGetErrorName, General, 6_000, NoStream, Free, None] (error: CUresult, pStr: *mut *const c_char);
        cuGetErrorString [cuGetErrorString, General, 6_000, NoStream, Free, None] (error: CUresult, pStr: *mut *const c_char);
        cuGetExportTable [cuGetExportTable, General, 3_000, NoStream, Free, None] (ppExportTable: *mut *const c_void, pExportTableId: *const CUuuid);
        cuGetProcAddress [cuGetProcAddress, General, 11_030, NoStream, Free, None] (symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: u64);
        cuGetProcAddress_v2 [cuGetProcAddress, General, 12_000, NoStream, Free, None] (symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: u64, symbolStatus: *mut CUdriverProcAddressQueryResult);
        cuInit [cuInit, General, 2_000, NoStream, Free, None] (Flags: c_uint);
        // Device
        cuDeviceCanAccessPeer [cuDeviceCanAccessPeer, Device, 4_000, NoStream, Free, None] (canAccessPeer: *mut c_int, dev: CUdevice, peerDev: CUdevice);
        cuDeviceComputeCapability [cuDeviceComputeCapability, Device, 2_000, NoStream, Free, None] (major: *mut c_int, minor: *mut c_int, dev: CUdevice);
        cuDeviceGet [cuDeviceGet, Device, 2_000, NoStream, Free, None] (device: *mut CUdevice, ordinal: c_int);
        cuDeviceGetAttribute [cuDeviceGetAttribute, Device, 2_000, NoStream, Free, None] (pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice);
        cuDeviceGetByPCIBusId [cuDeviceGetByPCIBusId, Device, 4_010, NoStream, Free, None] (dev: *mut CUdevice, pciBusId: *const c_char);
        cuDeviceGetCount [cuDeviceGetCount, Device, 2_000, NoStream, Free, None] (count: *mut c_int);
        cuDeviceGetExecAffinitySupport [cuDeviceGetExecAffinitySupport, Device, 11_040, NoStream, Free, None] (pi: *mut c_int, r#type: CUexecAffinityType, dev: CUdevice);
        cuDeviceGetName [cuDeviceGetName, Device, 2_000, NoStream, Free, None] (name: *mut c_char, len: c_int, dev: CUdevice);
        cuDeviceGetP2PAttribute [cuDeviceGetP2PAttribute, Device, 8_000, NoStream, Free, None] (value: *mut c_int, attrib: CUdevice_P2PAttribute, srcDevice: CUdevice, dstDevice: CUdevice);
        cuDeviceGetPCIBusId [cuDeviceGetPCIBusId, Device, 4_010, NoStream, Free, None] (pciBusId: *mut c_char, len: c_int, dev: CUdevice);
        cuDeviceGetProperties [cuDeviceGetProperties, Device, 2_000, NoStream, Free, None] (prop: *mut CUdevprop, dev: CUdevice);
        cuDeviceGetTexture1DLinearMaxWidth [cuDeviceGetTexture1DLinearMaxWidth, Device, 11_010, NoStream, Free, None] (maxWidthInElements: *mut usize, format: CUarray_format, numChannels: c_uint, dev: CUdevice);
        cuDeviceGetUuid [cuDeviceGetUuid, Device, 9_020, NoStream, Free, None] (uuid: *mut CUuuid, dev: CUdevice);
        cuDeviceGetUuid_v2 [cuDeviceGetUuid, Device, 11_040, NoStream, Free, None] (uuid: *mut CUuuid, dev: CUdevice);
        cuDevicePrimaryCtxGetState [cuDevicePrimaryCtxGetState, Device, 7_000, NoStream, Free, None] (dev: CUdevice, flags: *mut c_uint, active: *mut c_int);
        cuDevicePrimaryCtxRelease [cuDevicePrimaryCtxRelease, Device, 7_000, NoStream, Free, None] (dev: CUdevice);
        cuDevicePrimaryCtxRelease_v2 [cuDevicePrimaryCtxRelease, Device, 11_000, NoStream, Free, None] (dev: CUdevice);
        cuDevicePrimaryCtxReset [cuDevicePrimaryCtxReset, Device, 7_000, NoStream, Free, None] (dev: CUdevice);
        cuDevicePrimaryCtxReset_v2 [cuDevicePrimaryCtxReset, Device, 11_000, NoStream, Free, None] (dev: CUdevice);
        cuDevicePrimaryCtxRetain [cuDevicePrimaryCtxRetain, Device, 7_000, NoStream, Free, None] (pctx: *mut CUcontext, dev: CUdevice);
        cuDevicePrimaryCtxSetFlags [cuDevicePrimaryCtxSetFlags, Device, 7_000, NoStream, Free, None] (dev: CUdevice, flags: c_uint);
        cuDevicePrimaryCtxSetFlags_v2 [cuDevicePrimaryCtxSetFlags, Device, 11_000, NoStream, Free, None] (dev: CUdevice, flags: c_uint);
        cuDeviceTotalMem [cuDeviceTotalMem, Device, 2_000, NoStream, Free, None] (bytes: *mut c_uint, dev: CUdevice);
        cuDeviceTotalMem_v2 [cuDeviceTotalMem, Device, 3_020, NoStream, Free, None] (bytes: *mut usize, dev: CUdevice);
        // Context
        cuCtxAttach [cuCtxAttach, Context, 2_000, NoStream, Free, None] (pctx: *mut CUcontext, flags: c_uint);
        cuCtxCreate [cuCtxCreate, Context, 2_000, NoStream, Free, None] (pctx: *mut CUcontext, flags: c_uint, dev: CUdevice);
        cuCtxCreate_v2 [cuCtxCreate, Context, 3_020, NoStream, Free, None] (pctx: *mut CUcontext, flags: c_uint, dev: CUdevice);
        cuCtxCreate_v3 [cuCtxCreate, Context, 11_040, NoStream, Free, None] (pctx: *mut CUcontext, paramsArray: *mut CUexecAffinityParam, numParams: c_int, flags: c_uint, dev: CUdevice);
        cuCtxCreate_v4 [cuCtxCreate, Context, 12_050, NoStream, Free, None] (pctx: *mut CUcontext, ctxCreateParams: *mut CUctxCreateParams, flags: c_uint, dev: CUdevice);
        cuCtxDestroy [cuCtxDestroy, Context, 2_000, NoStream, Free, None] (ctx: CUcontext);
        cuCtxDestroy_v2 [cuCtxDestroy, Context, 4_000, NoStream, Free, None] (ctx: CUcontext);
        cuCtxDetach [cuCtxDetach, Context, 2_000, NoStream, Free, None] (ctx: CUcontext);
        cuCtxDisablePeerAccess [cuCtxDisablePeerAccess, Context, 4_000, NoStream, Free, None] (peerContext: CUcontext);
        cuCtxEnablePeerAccess [cuCtxEnablePeerAccess, Context, 4_000, NoStream, Free, None] (peerContext: CUcontext, Flags: c_uint);
        cuCtxGetApiVersion [cuCtxGetApiVersion, Context, 3_020, NoStream, Free, None] (ctx: CUcontext, version: *mut c_uint);
        cuCtxGetCacheConfig [cuCtxGetCacheConfig, Context, 3_020, NoStream, Free, None] (pconfig: *mut CUfunc_cache);
        cuCtxGetCurrent [cuCtxGetCurrent, Context, 4_000, NoStream, Free, None] (pctx: *mut CUcontext);
        cuCtxGetDevice [cuCtxGetDevice, Context, 2_000, NoStream, Free, None] (device: *mut CUdevice);
        cuCtxGetDevice_v2 [cuCtxGetDevice, Context, 13_000, NoStream, Free, None] (device: *mut CUdevice, ctx: CUcontext);
        cuCtxGetExecAffinity [cuCtxGetExecAffinity, Context, 11_040, NoStream, Free, None] (pExecAffinity: *mut CUexecAffinityParam, r#type: CUexecAffinityType);
        cuCtxGetFlags [cuCtxGetFlags, Context, 7_000, NoStream, Free, None] (flags: *mut c_uint);
        cuCtxGetId [cuCtxGetId, Context, 12_000, NoStream, Free, None] (ctx: CUcontext, ctxId: *mut u64);
        cuCtxGetLimit [cuCtxGetLimit, Context, 3_010, NoStream, Free, None] (pvalue: *mut usize, limit: CUlimit);
        cuCtxGetSharedMemConfig [cuCtxGetSharedMemConfig, Context, 4_020, NoStream, Free, None] (pConfig: *mut CUsharedconfig);
        cuCtxGetStreamPriorityRange [cuCtxGetStreamPriorityRange, Context, 5_050, NoStream, Free, None] (leastPriority: *mut c_int, greatestPriority: *mut c_int);
        cuCtxPopCurrent [cuCtxPopCurrent, Context, 2_000, NoStream, Free, None] (pctx: *mut CUcontext);
        cuCtxPopCurrent_v2 [cuCtxPopCurrent, Context, 4_000, NoStream, Free, None] (pctx: *mut CUcontext);
        cuCtxPushCurrent [cuCtxPushCurrent, Context, 2_000, NoStream, Free, None] (ctx: CUcontext);
        cuCtxPushCurrent_v2 [cuCtxPushCurrent, Context, 4_000, NoStream, Free, None] (ctx: CUcontext);
        cuCtxRecordEvent [cuCtxRecordEvent, Context, 12_050, NoStream, Refused, None] (hCtx: CUcontext, hEvent: CUevent);
        cuCtxResetPersistingL2Cache [cuCtxResetPersistingL2Cache, Context, 11_000, NoStream, Free, None] ();
        cuCtxSetCacheConfig [cuCtxSetCacheConfig, Context, 3_020, NoStream, Free, None] (config: CUfunc_cache);
        cuCtxSetCurrent [cuCtxSetCurrent, Context, 4_000, NoStream, Free, None] (ctx: CUcontext);
        cuCtxSetFlags [cuCtxSetFlags, Context, 12_010, NoStream, Free, None] (flags: c_uint);
        cuCtxSetLimit [cuCtxSetLimit, Context, 3_010, NoStream, Unsafe, None] (limit: CUlimit, value: usize);
        cuCtxSetSharedMemConfig [cuCtxSetSharedMemConfig, Context, 4_020, NoStream, Free, None] (config: CUsharedconfig);
        cuCtxSynchronize [cuCtxSynchronize, Context, 2_000, NoStream, Refused, None] ();
        cuCtxSynchronize_v2 [cuCtxSynchronize, Context, 13_000, NoStream, Refused, None] (ctx: CUcontext);
        cuCtxWaitEvent [cuCtxWaitEvent, Context, 12_050, NoStream, Refused, None] (hCtx: CUcontext, hEvent: CUevent);
        // Module
        cuModuleEnumerateFunctions [cuModuleEnumerateFunctions, Module, 12_040, NoStream, Free, None] (functions: *mut CUfunction, numFunctions: c_uint, module: CUmodule);
        cuModuleGetFunction [cuModuleGetFunction, Module, 2_000, NoStream, Free, None] (hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char);
        cuModuleGetFunctionCount [cuModuleGetFunctionCount, Module, 12_040, NoStream, Free, None] (count: *mut c_uint, module: CUmodule);
        cuModuleGetGlobal [cuModuleGetGlobal, Module, 2_000, NoStream, Free, None] (dptr: *mut CUdeviceptr_v1, bytes: *mut c_uint, hmod: CUmodule, name: *const c_char);
        cuModuleGetGlobal_v2 [cuModuleGetGlobal, Module, 3_020, NoStream, Free, None] (dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const c_char);
        cuModuleGetLoadingMode [cuModuleGetLoadingMode, Module, 11_070, NoStream, Free, None] (mode: *mut CUmoduleLoadingMode);
        cuModuleLoad [cuModuleLoad, Module, 2_000, NoStream, Free, None] (module: *mut CUmodule, fname: *const c_char);
        cuModuleLoadData [cuModuleLoadData, Module, 2_000, NoStream, Free, None] (module: *mut CUmodule, image: *const c_void);
        cuModuleLoadDataEx [cuModuleLoadDataEx, Module, 2_010, NoStream, Free, None] (module: *mut CUmodule, image: *const c_void, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void);
        cuModuleLoadFatBinary [cuModuleLoadFatBinary, Module, 2_000, NoStream, Free, None] (module: *mut CUmodule, fatCubin: *const c_void);
        cuModuleUnload [cuModuleUnload, Module, 2_000, NoStream, Unsafe, None] (hmod: CUmodule);
        // Library
        cuKernelGetAttribute [cuKernelGetAttribute, Library, 12_000, NoStream, Free, None] (pi: *mut c_int, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice);
        cuKernelGetFunction [cuKernelGetFunction, Library, 12_000, NoStream, Free, None] (pFunc: *mut CUfunction, kernel: CUkernel);
        cuKernelGetLibrary [cuKernelGetLibrary, Library, 12_050, NoStream, Free, None] (pLib: *mut CUlibrary, kernel: CUkernel);
        cuKernelGetName [cuKernelGetName, Library, 12_030, NoStream, Free, None] (name: *mut *const c_char, hfunc: CUkernel);
        cuKernelGetParamInfo [cuKernelGetParamInfo, Library, 12_040, NoStream, Free, None] (kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize);
        cuKernelSetAttribute [cuKernelSetAttribute, Library, 12_000, NoStream, Free, None] (attrib: CUfunction_attribute, val: c_int, kernel: CUkernel, dev: CUdevice);
        cuKernelSetCacheConfig [cuKernelSetCacheConfig, Library, 12_000, NoStream, Free, None] (kernel: CUkernel, config: CUfunc_cache, dev: CUdevice);
        cuLibraryEnumerateKernels [cuLibraryEnumerateKernels, Library, 12_040, NoStream, Free, None] (kernels: *mut CUkernel, numKernels: c_uint, lib: CUlibrary);
        cuLibraryGetGlobal [cuLibraryGetGlobal, Library, 12_000, NoStream, Free, None] (dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
        cuLibraryGetKernel [cuLibraryGetKernel, Library, 12_000, NoStream, Free, None] (pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char);
        cuLibraryGetKernelCount [cuLibraryGetKernelCount, Library, 12_040, NoStream, Free, None] (count: *mut c_uint, lib: CUlibrary);
        cuLibraryGetManaged [cuLibraryGetManaged, Library, 12_000, NoStream, Free, None] (dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
        cuLibraryGetModule [cuLibraryGetModule, Library, 12_000, NoStream, Free, None] (pMod: *mut CUmodule, library: CUlibrary);
        cuLibraryGetUnifiedFunction [cuLibraryGetUnifiedFunction, Library, 12_000, NoStream, Free, None] (fptr: *mut *mut c_void, library: CUlibrary, symbol: *const c_char);
        cuLibraryLoadData [cuLibraryLoadData, Library, 12_000, NoStream, Free, None] (library: *mut CUlibrary, code: *const c_void, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint);
        cuLibraryLoadFromFile [cuLibraryLoadFromFile, Library, 12_000, NoStream, Free, None] (library: *mut CUlibrary, fileName: *const c_char, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint);
        cuLibraryUnload [cuLibraryUnload, Library, 12_000, NoStream, Unsafe, None] (library: CUlibrary);
        // Link
        cuLinkAddData [cuLinkAddData, Link, 5_050, NoStream, Free, None] (state: CUlinkState, r#type: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void);
        cuLinkAddData_v2 [cuLinkAddData, Link, 6_050, NoStream, Free, None] (state: CUlinkState, r#type: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void);
        cuLinkAddFile [cuLinkAddFile, Link, 5_050, NoStream, Free, None] (state: CUlinkState, r#type: CUjitInputType, path: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void);
        cuLinkAddFile_v2 [cuLinkAddFile, Link, 6_050, NoStream, Free, None] (state: CUlinkState, r#type: CUjitInputType, path: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void);
        cuLinkComplete [cuLinkComplete, Link, 5_050, NoStream, Free, None] (state: CUlinkState, cubinOut: *mut *mut c_void, sizeOut: *mut usize);
        cuLinkCreate [cuLinkCreate, Link, 5_050, NoStream, Free, None] (numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState);
        cuLinkCreate_v2 [cuLinkCreate, Link, 6_050, NoStream, Free, None] (numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState);
        cuLinkDestroy [cuLinkDestroy, Link, 5_050, NoStream, Free, None] (state: CUlinkState);
        // Function
        cuFuncGetAttribute [cuFuncGetAttribute, Function, 2_020, NoStream, Free, None] (pi: *mut c_int, attrib: CUfunction_attribute, hfunc: CUfunction);
        cuFuncGetModule [cuFuncGetModule, Function, 11_000, NoStream, Free, None] (hmod: *mut CUmodule, hfunc: CUfunction);
        cuFuncGetName [cuFuncGetName, Function, 12_030, NoStream, Free, None] (name: *mut *const c_char, hfunc: CUfunction);
        cuFuncGetParamInfo [cuFuncGetParamInfo, Function, 12_040, NoStream, Free, None] (func: CUfunction, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize);
        cuFuncIsLoaded [cuFuncIsLoaded, Function, 12_040, NoStream, Free, None] (state: *mut CUfunctionLoadingState, function: CUfunction);
        cuFuncLoad [cuFuncLoad, Function, 12_040, NoStream, Free, None] (function: CUfunction);
        cuFuncSetAttribute [cuFuncSetAttribute, Function, 9_000, NoStream, Free, None] (hfunc: CUfunction, attrib: CUfunction_attribute, value: c_int);
        cuFuncSetCacheConfig [cuFuncSetCacheConfig, Function, 3_000, NoStream, Free, None] (hfunc: CUfunction, config: CUfunc_cache);
        cuFuncSetSharedMemConfig [cuFuncSetSharedMemConfig, Function, 4_020, NoStream, Free, None] (hfunc: CUfunction, config: CUsharedconfig);
        // Memory
        cuMemAdvise [cuMemAdvise, Memory, 8_000, NoStream, Free, None] (devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice);
        cuMemAdvise_v2 [cuMemAdvise, Memory, 12_020, NoStream, Free, None] (devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, location: CUmemLocation);
        cuMemAlloc [cuMemAlloc, Memory, 2_000, NoStream, Unsafe, None] (dptr: *mut CUdeviceptr_v1, bytesize: c_uint);
        cuMemAllocHost [cuMemAllocHost, Memory, 2_000, NoStream, Unsafe, None] (pp: *mut *mut c_void, bytesize: c_uint);
        cuMemAllocHost_v2 [cuMemAllocHost, Memory, 3_020, NoStream, Unsafe, None] (pp: *mut *mut c_void, bytesize: usize);
        cuMemAllocManaged [cuMemAllocManaged, Memory, 6_000, NoStream, Unsafe, None] (dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint);
        cuMemAllocPitch [cuMemAllocPitch, Memory, 2_000, NoStream, Unsafe, None] (dptr: *mut CUdeviceptr_v1, pPitch: *mut c_uint, WidthInBytes: c_uint, Height: c_uint, ElementSizeBytes: c_uint);
        cuMemAllocPitch_v2 [cuMemAllocPitch, Memory, 3_020, NoStream, Unsafe, None] (dptr: *mut CUdeviceptr, pPitch: *mut usize, WidthInBytes: usize, Height: usize, ElementSizeBytes: c_uint);
        cuMemAlloc_v2 [cuMemAlloc, Memory, 3_020, NoStream, Unsafe, None] (dptr: *mut CUdeviceptr, bytesize: usize);
        cuMemDiscardAndPrefetchBatchAsync [cuMemDiscardAndPrefetchBatchAsync, Memory, 13_000, Refused, Free, Ptsz] (dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream);
        cuMemDiscardBatchAsync [cuMemDiscardBatchAsync, Memory, 13_000, Refused, Free, Ptsz] (dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: u64, hStream: CUstream);
        cuMemFree [cuMemFree, Memory, 2_000, NoStream, Unsafe, None] (dptr: CUdeviceptr_v1);
        cuMemFreeHost [cuMemFreeHost, Memory, 2_000, NoStream, Unsafe, None] (p: *mut c_void);
        cuMemFree_v2 [cuMemFree, Memory, 3_020, NoStream, Unsafe, None] (dptr: CUdeviceptr);
        cuMemGetAddressRange [cuMemGetAddressRange, Memory, 2_000, NoStream, Free, None] (pbase: *mut CUdeviceptr_v1, psize: *mut c_uint, dptr: CUdeviceptr_v1);
        cuMemGetAddressRange_v2 [cuMemGetAddressRange, Memory, 3_020, NoStream, Free, None] (pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr);
        cuMemGetInfo [cuMemGetInfo, Memory, 2_000, NoStream, Free, None] (free: *mut c_uint, total: *mut c_uint);
        cuMemGetInfo_v2 [cuMemGetInfo, Memory, 3_020, NoStream, Free, None] (free: *mut usize, total: *mut usize);
        cuMemHostAlloc [cuMemHostAlloc, Memory, 2_020, NoStream, Unsafe, None] (pp: *mut *mut c_void, bytesize: usize, Flags: c_uint);
        cuMemHostGetDevicePointer [cuMemHostGetDevicePointer, Memory, 2_020, NoStream, Free, None] (pdptr: *mut CUdeviceptr_v1, p: *mut c_void, Flags: c_uint);
        cuMemHostGetDevicePointer_v2 [cuMemHostGetDevicePointer, Memory, 3_020, NoStream, Free, None] (pdptr: *mut CUdeviceptr, p: *mut c_void, Flags: c_uint);
        cuMemHostGetFlags [cuMemHostGetFlags, Memory, 2_030, NoStream, Free, None] (pFlags: *mut c_uint, p: *mut c_void);
        cuMemHostRegister [cuMemHostRegister, Memory, 4_000, NoStream, Unsafe, None] (p: *mut c_void, bytesize: usize, Flags: c_uint);
        cuMemHostRegister_v2 [cuMemHostRegister, Memory, 6_050, NoStream, Unsafe, None] (p: *mut c_void, bytesize: usize, Flags: c_uint);
        cuMemHostUnregister [cuMemHostUnregister, Memory, 4_000, NoStream, Unsafe, None] (p: *mut c_void);
        cuMemPrefetchAsync [cuMemPrefetchAsync, Memory, 8_000, Refused, Free, Ptsz] (devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream);
        cuMemPrefetchAsync_v2 [cuMemPrefetchAsync, Memory, 12_020, Refused, Free, Ptsz] (devPtr: CUdeviceptr, count: usize, location: CUmemLocation, flags: c_uint, hStream: CUstream);
        cuMemPrefetchBatchAsync [cuMemPrefetchBatchAsync, Memory, 13_000, Refused, Free, Ptsz] (dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream);
        cuMemRangeGetAttribute [cuMemRangeGetAttribute, Memory, 8_000, NoStream, Free, None] (data: *mut c_void, dataSize: usize, attribute: CUmem_range_attribute, devPtr: CUdeviceptr, count: usize);
        cuMemRangeGetAttributes [cuMemRangeGetAttributes, Memory, 8_000, NoStream, Free, None] (data: *mut *mut c_void, dataSizes: *mut usize, attributes: *mut CUmem_range_attribute, numAttributes: usize, devPtr: CUdeviceptr, count: usize);
        // Pool
        cuDeviceGetDefaultMemPool [cuDeviceGetDefaultMemPool, Pool, 11_020, NoStream, Free, None] (pool_out: *mut CUmemoryPool, dev: CUdevice);
        cuDeviceGetMemPool [cuDeviceGetMemPool, Pool, 11_020, NoStream, Free, None] (pool: *mut CUmemoryPool, dev: CUdevice);
        cuDeviceSetMemPool [cuDeviceSetMemPool, Pool, 11_020, NoStream, Free, None] (dev: CUdevice, pool: CUmemoryPool);
        cuMemAllocAsync [cuMemAllocAsync, Pool, 11_020, Recorded, Unsafe, Ptsz] (dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream);
        cuMemAllocFromPoolAsync [cuMemAllocFromPoolAsync, Pool, 11_020, Recorded, Unsafe, Ptsz] (dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream);
        cuMemFreeAsync [cuMemFreeAsync, Pool, 11_020, Recorded, Unsafe, Ptsz] (dptr: CUdeviceptr, hStream: CUstream);
        cuMemGetDefaultMemPool [cuMemGetDefaultMemPool, Pool, 13_000, NoStream, Free, None] (pool_out: *mut CUmemoryPool, location: *mut CUmemLocation, r#type: CUmemAllocationType);
        cuMemGetMemPool [cuMemGetMemPool, Pool, 13_000, NoStream, Free, None] (pool: *mut CUmemoryPool, location: *mut CUmemLocation, r#type: CUmemAllocationType);
        cuMemPoolCreate [cuMemPoolCreate, Pool, 11_020, NoStream, Unsafe, None] (pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps);
        cuMemPoolDestroy [cuMemPoolDestroy, Pool, 11_020, NoStream, Unsafe, None] (pool: CUmemoryPool);
        cuMemPoolGetAccess [cuMemPoolGetAccess, Pool, 11_020, NoStream, Free, None] (flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation);
        cuMemPoolGetAttribute [cuMemPoolGetAttribute, Pool, 11_020, NoStream, Free, None] (pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
        cuMemPoolSetAccess [cuMemPoolSetAccess, Pool, 11_020, NoStream, Free, None] (pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize);
        cuMemPoolSetAttribute [cuMemPoolSetAttribute, Pool, 11_020, NoStream, Free, None] (pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
        cuMemPoolTrimTo [cuMemPoolTrimTo, Pool, 11_020, NoStream, Unsafe, None] (pool: CUmemoryPool, minBytesToKeep: usize);
        cuMemSetMemPool [cuMemSetMemPool, Pool, 13_000, NoStream, Free, None] (location: *mut CUmemLocation, r#type: CUmemAllocationType, pool: CUmemoryPool);
        // VirtualMemory
        cuMemAddressFree [cuMemAddressFree, VirtualMemory, 10_020, NoStream, Free, None] (ptr: CUdeviceptr, size: usize);
        cuMemAddressReserve [cuMemAddressReserve, VirtualMemory, 10_020, NoStream, Free, None] (ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: u64);
        cuMemCreate [cuMemCreate, VirtualMemory, 10_020, NoStream, Free, None] (handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: u64);
        cuMemGetAllocationGranularity [cuMemGetAllocationGranularity, VirtualMemory, 10_020, NoStream, Free, None] (granularity: *mut usize, prop: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags);
        cuMemGetAllocationPropertiesFromHandle [cuMemGetAllocationPropertiesFromHandle, VirtualMemory, 10_020, NoStream, Free, None] (prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle);
        cuMemMap [cuMemMap, VirtualMemory, 10_020, NoStream, Free, None] (ptr: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64);
        cuMemRelease [cuMemRelease, VirtualMemory, 10_020, NoStream, Free, None] (handle: CUmemGenericAllocationHandle);
        cuMemRetainAllocationHandle [cuMemRetainAllocationHandle, VirtualMemory, 11_000, NoStream, Free, None] (handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void);
        cuMemSetAccess [cuMemSetAccess, VirtualMemory, 10_020, NoStream, Free, None] (ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize);
        cuMemUnmap [cuMemUnmap, VirtualMemory, 10_020, NoStream, Free, None] (ptr: CUdeviceptr, size: usize);
        // Pointer
        cuPointerGetAttribute [cuPointerGetAttribute, Pointer, 4_000, NoStream, Free, None] (data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr);
        cuPointerGetAttributes [cuPointerGetAttributes, Pointer, 7_000, NoStream, Free, None] (numAttributes: c_uint, attributes: *mut CUpointer_attribute, data: *mut *mut c_void, ptr: CUdeviceptr);
        cuPointerSetAttribute [cuPointerSetAttribute, Pointer, 6_000, NoStream, Free, None] (value: *const c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr);
        // Copy
        cuMemcpy [cuMemcpy, Copy, 4_000, NoStream, Legacy, Ptds] (dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize);
        cuMemcpy2D [cuMemcpy2D, Copy, 2_000, NoStream, Legacy, None] (pCopy: *const CUDA_MEMCPY2D_v1);
        cuMemcpy2DAsync [cuMemcpy2DAsync, Copy, 2_000, Recorded, Free, None] (pCopy: *const CUDA_MEMCPY2D_v1, hStream: CUstream);
        cuMemcpy2DAsync_v2 [cuMemcpy2DAsync, Copy, 3_020, Recorded, Free, Ptsz] (pCopy: *const CUDA_MEMCPY2D, hStream: CUstream);
        cuMemcpy2DUnaligned [cuMemcpy2DUnaligned, Copy, 2_000, NoStream, Legacy, None] (pCopy: *const CUDA_MEMCPY2D_v1);
        cuMemcpy2DUnaligned_v2 [cuMemcpy2DUnaligned, Copy, 3_020, NoStream, Legacy, Ptds] (pCopy: *const CUDA_MEMCPY2D);
        cuMemcpy2D_v2 [cuMemcpy2D, Copy, 3_020, NoStream, Legacy, Ptds] (pCopy: *const CUDA_MEMCPY2D);
        cuMemcpy3D [cuMemcpy3D, Copy, 2_000, NoStream, Legacy, None] (pCopy: *const CUDA_MEMCPY3D_v1);
        cuMemcpy3DAsync [cuMemcpy3DAsync, Copy, 2_000, Recorded, Free, None] (pCopy: *const CUDA_MEMCPY3D_v1, hStream: CUstream);
        cuMemcpy3DAsync_v2 [cuMemcpy3DAsync, Copy, 3_020, Recorded, Free, Ptsz] (pCopy: *const CUDA_MEMCPY3D, hStream: CUstream);
        cuMemcpy3DPeer [cuMemcpy3DPeer, Copy, 4_000, NoStream, Legacy, Ptds] (pCopy: *const CUDA_MEMCPY3D_PEER);
        cuMemcpy3DPeerAsync [cuMemcpy3DPeerAsync, Copy, 4_000, Recorded, Free, Ptsz] (pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream);
        cuMemcpy3D_v2 [cuMemcpy3D, Copy, 3_020, NoStream, Legacy, Ptds] (pCopy: *const CUDA_MEMCPY3D);
        cuMemcpyAsync [cuMemcpyAsync, Copy, 4_000, Recorded, Free, Ptsz] (dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream);
        cuMemcpyAtoA_v2 [cuMemcpyAtoA, Copy, 3_020, NoStream, Legacy, Ptds] (dstArray: CUarray, dstOffset: usize, srcArray: CUarray, srcOffset: usize, ByteCount: usize);
        cuMemcpyAtoD_v2 [cuMemcpyAtoD, Copy, 3_020, NoStream, Legacy, Ptds] (dstDevice: CUdeviceptr, srcArray: CUarray, srcOffset: usize, ByteCount: usize);
        cuMemcpyAtoHAsync_v2 [cuMemcpyAtoHAsync, Copy, 3_020, Recorded, Free, Ptsz] (dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize, hStream: CUstream);
        cuMemcpyAtoH_v2 [cuMemcpyAtoH, Copy, 3_020, NoStream, Legacy, Ptds] (dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize);
        cuMemcpyDtoA_v2 [cuMemcpyDtoA, Copy, 3_020, NoStream, Legacy, Ptds] (dstArray: CUarray, dstOffset: usize, srcDevice: CUdeviceptr, ByteCount: usize);
        cuMemcpyDtoD [cuMemcpyDtoD, Copy, 2_000, NoStream, Legacy, None] (dstDevice: CUdeviceptr_v1, srcDevice: CUdeviceptr_v1, ByteCount: c_uint);
        cuMemcpyDtoDAsync [cuMemcpyDtoDAsync, Copy, 3_000, Recorded, Free, None] (dstDevice: CUdeviceptr_v1, srcDevice: CUdeviceptr_v1, ByteCount: c_uint, hStream: CUstream);
        cuMemcpyDtoDAsync_v2 [cuMemcpyDtoDAsync, Copy, 3_020, Recorded, Free, Ptsz] (dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream);
        cuMemcpyDtoD_v2 [cuMemcpyDtoD, Copy, 3_020, NoStream, Legacy, Ptds] (dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize);
        cuMemcpyDtoH [cuMemcpyDtoH, Copy, 2_000, NoStream, Legacy, None] (dstHost: *mut c_void, srcDevice: CUdeviceptr_v1, ByteCount: c_uint);
        cuMemcpyDtoHAsync [cuMemcpyDtoHAsync, Copy, 2_000, Recorded, Free, None] (dstHost: *mut c_void, srcDevice: CUdeviceptr_v1, ByteCount: c_uint, hStream: CUstream);
        cuMemcpyDtoHAsync_v2 [cuMemcpyDtoHAsync, Copy, 3_020, Recorded, Free, Ptsz] (dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream);
        cuMemcpyDtoH_v2 [cuMemcpyDtoH, Copy, 3_020, NoStream, Legacy, Ptds] (dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize);
        cuMemcpyHtoAAsync_v2 [cuMemcpyHtoAAsync, Copy, 3_020, Recorded, Free, Ptsz] (dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize, hStream: CUstream);
        cuMemcpyHtoA_v2 [cuMemcpyHtoA, Copy, 3_020, NoStream, Legacy, Ptds] (dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize);
        cuMemcpyHtoD [cuMemcpyHtoD, Copy, 2_000, NoStream, Legacy, None] (dstDevice: CUdeviceptr_v1, srcHost: *const c_void, ByteCount: c_uint);
        cuMemcpyHtoDAsync [cuMemcpyHtoDAsync, Copy, 2_000, Recorded, Free, None] (dstDevice: CUdeviceptr_v1, srcHost: *const c_void, ByteCount: c_uint, hStream: CUstream);
        cuMemcpyHtoDAsync_v2 [cuMemcpyHtoDAsync, Copy, 3_020, Recorded, Free, Ptsz] (dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream);
        cuMemcpyHtoD_v2 [cuMemcpyHtoD, Copy, 3_020, NoStream, Legacy, Ptds] (dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize);
        cuMemcpyPeer [cuMemcpyPeer, Copy, 4_000, NoStream, Legacy, Ptds] (dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize);
        cuMemcpyPeerAsync [cuMemcpyPeerAsync, Copy, 4_000, Recorded, Free, Ptsz] (dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize, hStream: CUstream);
        // Set
        cuMemsetD16 [cuMemsetD16, Set, 2_000, NoStream, Legacy, None] (dstDevice: CUdeviceptr_v1, us: u16, N: c_uint);
        cuMemsetD16Async [cuMemsetD16Async, Set, 3_020, Recorded, Free, Ptsz] (dstDevice: CUdeviceptr, us: u16, N: usize, hStream: CUstream);
        cuMemsetD16_v2 [cuMemsetD16, Set, 3_020, NoStream, Legacy, Ptds] (dstDevice: CUdeviceptr, us: u16, N: usize);
        cuMemsetD2D16 [cuMemsetD2D16, Set, 2_000, NoStream, Legacy, None] (dstDevice: CUdeviceptr_v1, dstPitch: c_uint, us: u16, Width: c_uint, Height: c_uint);
        cuMemsetD2D16Async [cuMemsetD2D16Async, Set, 3_020, Recorded, Free, Ptsz] (dstDevice: CUdeviceptr, dstPitch: usize, us: u16, Width: usize, Height: usize, hStream: CUstream);
        cuMemsetD2D16_v2 [cuMemsetD2D16, Set, 3_020, NoStream, Legacy, Ptds] (dstDevice: CUdeviceptr, dstPitch: usize, us: u16, Width: usize, Height: usize);
        cuMemsetD2D32 [cuMemsetD2D32, Set, 2_000, NoStream, Legacy, None] (dstDevice: CUdeviceptr_v1, dstPitch: c_uint, ui: c_uint, Width: c_uint, Height: c_uint);
        cuMemsetD2D32Async [cuMemsetD2D32Async, Set, 3_020, Recorded, Free, Ptsz] (dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize, hStream: CUstream);
        cuMemsetD2D32_v2 [cuMemsetD2D32, Set, 3_020, NoStream, Legacy, Ptds] (dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize);
        cuMemsetD2D8 [cuMemsetD2D8, Set, 2_000, NoStream, Legacy, None] (dstDevice: CUdeviceptr_v1, dstPitch: c_uint, uc: u8, Width: c_uint, Height: c_uint);
        cuMemsetD2D8Async [cuMemsetD2D8Async, Set, 3_020, Recorded, Free, Ptsz] (dstDevice: CUdeviceptr, dstPitch: usize, uc: u8, Width: usize, Height: usize, hStream: CUstream);
        cuMemsetD2D8_v2 [cuMemsetD2D8, Set, 3_020, NoStream, Legacy, Ptds] (dstDevice: CUdeviceptr, dstPitch: usize, uc: u8, Width: usize, Height: usize);
        cuMemsetD32 [cuMemsetD32, Set, 2_000, NoStream, Legacy, None] (dstDevice: CUdeviceptr_v1, ui: c_uint, N: c_uint);
        cuMemsetD32Async [cuMemsetD32Async, Set, 3_020, Recorded, Free, Ptsz] (dstDevice: CUdeviceptr, ui: c_uint, N: usize, hStream: CUstream);
        cuMemsetD32_v2 [cuMemsetD32, Set, 3_020, NoStream, Legacy, Ptds] (dstDevice: CUdeviceptr, ui: c_uint, N: usize);
        cuMemsetD8 [cuMemsetD8, Set, 2_000, NoStream, Legacy, None] (dstDevice: CUdeviceptr_v1, uc: u8, N: c_uint);
        cuMemsetD8Async [cuMemsetD8Async, Set, 3_020, Recorded, Free, Ptsz] (dstDevice: CUdeviceptr, uc: u8, N: usize, hStream: CUstream);
        cuMemsetD8_v2 [cuMemsetD8, Set, 3_020, NoStream, Legacy, Ptds] (dstDevice: CUdeviceptr, uc: u8, N: usize);
        // Array
        cuArray3DCreate_v2 [cuArray3DCreate, Array, 3_020, NoStream, Unsafe, None] (pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR);
        cuArray3DGetDescriptor_v2 [cuArray3DGetDescriptor, Array, 3_020, NoStream, Free, None] (pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, hArray: CUarray);
        cuArrayCreate_v2 [cuArrayCreate, Array, 3_020, NoStream, Unsafe, None] (pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR);
        cuArrayDestroy [cuArrayDestroy, Array, 2_000, NoStream, Unsafe, None] (hArray: CUarray);
        cuArrayGetDescriptor_v2 [cuArrayGetDescriptor, Array, 3_020, NoStream, Free, None] (pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR, hArray: CUarray);
        // Texture
        cuSurfObjectCreate [cuSurfObjectCreate, Texture, 5_000, NoStream, Unsafe, None] (pSurfObject: *mut CUsurfObject, pResDesc: *const CUDA_RESOURCE_DESC);
        cuSurfObjectDestroy [cuSurfObjectDestroy, Texture, 5_000, NoStream, Unsafe, None] (surfObject: CUsurfObject);
        cuSurfObjectGetResourceDesc [cuSurfObjectGetResourceDesc, Texture, 5_000, NoStream, Free, None] (pResDesc: *mut CUDA_RESOURCE_DESC, surfObject: CUsurfObject);
        cuTexObjectCreate [cuTexObjectCreate, Texture, 5_000, NoStream, Unsafe, None] (pTexObject: *mut CUtexObject, pResDesc: *const CUDA_RESOURCE_DESC, pTexDesc: *const CUDA_TEXTURE_DESC, pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC);
        cuTexObjectDestroy [cuTexObjectDestroy, Texture, 5_000, NoStream, Unsafe, None] (texObject: CUtexObject);
        cuTexObjectGetResourceDesc [cuTexObjectGetResourceDesc, Texture, 5_000, NoStream, Free, None] (pResDesc: *mut CUDA_RESOURCE_DESC, texObject: CUtexObject);
        cuTexObjectGetResourceViewDesc [cuTexObjectGetResourceViewDesc, Texture, 5_000, NoStream, Free, None] (pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC, texObject: CUtexObject);
        cuTexObjectGetTextureDesc [cuTexObjectGetTextureDesc, Texture, 5_000, NoStream, Free, None] (pTexDesc: *mut CUDA_TEXTURE_DESC, texObject: CUtexObject);
        // Stream
        cuStreamAddCallback [cuStreamAddCallback, Stream, 5_000, Refused, Free, Ptsz] (hStream: CUstream, callback: CUstreamCallback, userData: *mut c_void, flags: c_uint);
        cuStreamAttachMemAsync [cuStreamAttachMemAsync, Stream, 6_000, Refused, Free, Ptsz] (hStream: CUstream, dptr: CUdeviceptr, length: usize, flags: c_uint);
        cuStreamBatchMemOp [cuStreamBatchMemOp, Stream, 8_000, Refused, Free, Ptsz] (stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint);
        cuStreamBatchMemOp_v2 [cuStreamBatchMemOp, Stream, 11_070, Recorded, Free, Ptsz] (stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint);
        cuStreamCopyAttributes [cuStreamCopyAttributes, Stream, 11_000, Allowed, Free, Ptsz] (dst: CUstream, src: CUstream);
        cuStreamCreate [cuStreamCreate, Stream, 2_000, NoStream, Free, None] (phStream: *mut CUstream, Flags: c_uint);
        cuStreamCreateWithPriority [cuStreamCreateWithPriority, Stream, 5_050, NoStream, Free, None] (phStream: *mut CUstream, flags: c_uint, priority: c_int);
        cuStreamDestroy [cuStreamDestroy, Stream, 2_000, Allowed, Free, None] (hStream: CUstream);
        cuStreamDestroy_v2 [cuStreamDestroy, Stream, 4_000, Allowed, Free, None] (hStream: CUstream);
        cuStreamGetAttribute [cuStreamGetAttribute, Stream, 11_000, Allowed, Free, Ptsz] (hStream: CUstream, attr: CUstreamAttrID, value_out: *mut CUstreamAttrValue);
        cuStreamGetCtx [cuStreamGetCtx, Stream, 9_020, Allowed, Free, Ptsz] (hStream: CUstream, pctx: *mut CUcontext);
        cuStreamGetCtx_v2 [cuStreamGetCtx, Stream, 12_050, Allowed, Free, Ptsz] (hStream: CUstream, pCtx: *mut CUcontext, pGreenCtx: *mut CUgreenCtx);
        cuStreamGetDevice [cuStreamGetDevice, Stream, 12_080, Allowed, Free, Ptsz] (hStream: CUstream, device: *mut CUdevice);
        cuStreamGetFlags [cuStreamGetFlags, Stream, 5_050, Allowed, Free, Ptsz] (hStream: CUstream, flags: *mut c_uint);
        cuStreamGetId [cuStreamGetId, Stream, 12_000, Refused, Free, Ptsz] (hStream: CUstream, streamId: *mut u64);
        cuStreamGetPriority [cuStreamGetPriority, Stream, 5_050, Allowed, Free, Ptsz] (hStream: CUstream, priority: *mut c_int);
        cuStreamQuery [cuStreamQuery, Stream, 2_000, Refused, Unsafe, Ptsz] (hStream: CUstream);
        cuStreamSetAttribute [cuStreamSetAttribute, Stream, 11_000, Allowed, Free, Ptsz] (hStream: CUstream, attr: CUstreamAttrID, value: *const CUstreamAttrValue);
        cuStreamSynchronize [cuStreamSynchronize, Stream, 2_000, Refused, Unsafe, Ptsz] (hStream: CUstream);
        cuStreamWaitEvent [cuStreamWaitEvent, Stream, 3_020, Recorded, Free, Ptsz] (hStream: CUstream, hEvent: CUevent, Flags: c_uint);
        cuStreamWaitValue32 [cuStreamWaitValue32, Stream, 8_000, Refused, Free, Ptsz] (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint);
        cuStreamWaitValue32_v2 [cuStreamWaitValue32, Stream, 11_070, Recorded, Free, Ptsz] (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint);
        cuStreamWaitValue64 [cuStreamWaitValue64, Stream, 9_000, Refused, Free, Ptsz] (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint);
        cuStreamWaitValue64_v2 [cuStreamWaitValue64, Stream, 11_070, Recorded, Free, Ptsz] (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint);
        cuStreamWriteValue32 [cuStreamWriteValue32, Stream, 8_000, Refused, Free, Ptsz] (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint);
        cuStreamWriteValue32_v2 [cuStreamWriteValue32, Stream, 11_070, Recorded, Free, Ptsz] (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint);
        cuStreamWriteValue64 [cuStreamWriteValue64, Stream, 9_000, Refused, Free, Ptsz] (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint);
        cuStreamWriteValue64_v2 [cuStreamWriteValue64, Stream, 11_070, Recorded, Free, Ptsz] (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint);
        // Capture
        cuStreamBeginCapture [cuStreamBeginCapture, Capture, 10_000, Allowed, Free, Ptsz] (hStream: CUstream);
        cuStreamBeginCaptureToGraph [cuStreamBeginCaptureToGraph, Capture, 12_030, Allowed, Free, Ptsz] (hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, mode: CUstreamCaptureMode);
        cuStreamBeginCapture_v2 [cuStreamBeginCapture, Capture, 10_010, Allowed, Free, Ptsz] (hStream: CUstream, mode: CUstreamCaptureMode);
        cuStreamEndCapture [cuStreamEndCapture, Capture, 10_000, Allowed, Free, Ptsz] (hStream: CUstream, phGraph: *mut CUgraph);
        cuStreamGetCaptureInfo [cuStreamGetCaptureInfo, Capture, 10_010, Allowed, Free, Ptsz] (hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64);
        cuStreamGetCaptureInfo_v2 [cuStreamGetCaptureInfo, Capture, 11_030, Allowed, Free, Ptsz] (hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, numDependencies_out: *mut usize);
        cuStreamGetCaptureInfo_v3 [cuStreamGetCaptureInfo, Capture, 12_030, Allowed, Free, Ptsz] (hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, edgeData_out: *mut *const CUgraphEdgeData, numDependencies_out: *mut usize);
        cuStreamIsCapturing [cuStreamIsCapturing, Capture, 10_000, Allowed, Free, Ptsz] (hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus);
        cuStreamUpdateCaptureDependencies [cuStreamUpdateCaptureDependencies, Capture, 11_030, Recorded, Free, Ptsz] (hStream: CUstream, dependencies: *mut CUgraphNode, numDependencies: usize, flags: c_uint);
        cuStreamUpdateCaptureDependencies_v2 [cuStreamUpdateCaptureDependencies, Capture, 12_030, Recorded, Free, Ptsz] (hStream: CUstream, dependencies: *mut CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, flags: c_uint);
        cuThreadExchangeStreamCaptureMode [cuThreadExchangeStreamCaptureMode, Capture, 10_010, NoStream, Free, None] (mode: *mut CUstreamCaptureMode);
        // Event
        cuEventCreate [cuEventCreate, Event, 2_000, NoStream, Free, None] (phEvent: *mut CUevent, Flags: c_uint);
        cuEventDestroy [cuEventDestroy, Event, 2_000, NoStream, Free, None] (hEvent: CUevent);
        cuEventDestroy_v2 [cuEventDestroy, Event, 4_000, NoStream, Free, None] (hEvent: CUevent);
        cuEventElapsedTime [cuEventElapsedTime, Event, 2_000, NoStream, Event, None] (pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
        cuEventElapsedTime_v2 [cuEventElapsedTime, Event, 12_080, NoStream, Event, None] (pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
        cuEventQuery [cuEventQuery, Event, 2_000, NoStream, Event, None] (hEvent: CUevent);
        cuEventRecord [cuEventRecord, Event, 2_000, Recorded, Free, Ptsz] (hEvent: CUevent, hStream: CUstream);
        cuEventRecordWithFlags [cuEventRecordWithFlags, Event, 11_010, Recorded, Free, Ptsz] (hEvent: CUevent, hStream: CUstream, flags: c_uint);
        cuEventSynchronize [cuEventSynchronize, Event, 2_000, NoStream, Event, None] (hEvent: CUevent);
        // Launch
        cuLaunchCooperativeKernel [cuLaunchCooperativeKernel, Launch, 9_000, Recorded, Free, Ptsz] (f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void);
        cuLaunchHostFunc [cuLaunchHostFunc, Launch, 10_000, Recorded, Free, Ptsz] (hStream: CUstream, func: CUhostFn, userData: *mut c_void);
        cuLaunchKernel [cuLaunchKernel, Launch, 4_000, Recorded, Free, Ptsz] (f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void, extra: *mut *mut c_void);
        cuLaunchKernelEx [cuLaunchKernelEx, Launch, 11_060, Recorded, Free, Ptsz] (config: *const CUlaunchConfig, f: CUfunction, kernelParams: *mut *mut c_void, extra: *mut *mut c_void);
        // Graph
        cuGraphAddBatchMemOpNode [cuGraphAddBatchMemOpNode, Graph, 11_070, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
        cuGraphAddChildGraphNode [cuGraphAddChildGraphNode, Graph, 10_000, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, childGraph: CUgraph);
        cuGraphAddDependencies [cuGraphAddDependencies, Graph, 10_000, NoStream, Free, None] (hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize);
        cuGraphAddDependencies_v2 [cuGraphAddDependencies, Graph, 12_030, NoStream, Free, None] (hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize);
        cuGraphAddEmptyNode [cuGraphAddEmptyNode, Graph, 10_000, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize);
        cuGraphAddEventRecordNode [cuGraphAddEventRecordNode, Graph, 11_010, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent);
        cuGraphAddEventWaitNode [cuGraphAddEventWaitNode, Graph, 11_010, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent);
        cuGraphAddHostNode [cuGraphAddHostNode, Graph, 10_000, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_HOST_NODE_PARAMS);
        cuGraphAddKernelNode [cuGraphAddKernelNode, Graph, 10_000, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1);
        cuGraphAddKernelNode_v2 [cuGraphAddKernelNode, Graph, 12_000, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
        cuGraphAddMemAllocNode [cuGraphAddMemAllocNode, Graph, 11_040, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
        cuGraphAddMemFreeNode [cuGraphAddMemFreeNode, Graph, 11_040, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, dptr: CUdeviceptr);
        cuGraphAddMemcpyNode [cuGraphAddMemcpyNode, Graph, 10_000, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext);
        cuGraphAddMemsetNode [cuGraphAddMemsetNode, Graph, 10_000, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext);
        cuGraphAddNode [cuGraphAddNode, Graph, 12_020, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUgraphNodeParams);
        cuGraphAddNode_v2 [cuGraphAddNode, Graph, 12_030, NoStream, Free, None] (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams);
        cuGraphBatchMemOpNodeGetParams [cuGraphBatchMemOpNodeGetParams, Graph, 11_070, NoStream, Free, None] (hNode: CUgraphNode, nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS);
        cuGraphBatchMemOpNodeSetParams [cuGraphBatchMemOpNodeSetParams, Graph, 11_070, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
        cuGraphChildGraphNodeGetGraph [cuGraphChildGraphNodeGetGraph, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, phGraph: *mut CUgraph);
        cuGraphClone [cuGraphClone, Graph, 10_000, NoStream, Free, None] (phGraphClone: *mut CUgraph, originalGraph: CUgraph);
        cuGraphConditionalHandleCreate [cuGraphConditionalHandleCreate, Graph, 12_030, NoStream, Free, None] (pHandle_out: *mut CUgraphConditionalHandle, hGraph: CUgraph, ctx: CUcontext, defaultLaunchValue: c_uint, flags: c_uint);
        cuGraphCreate [cuGraphCreate, Graph, 10_000, NoStream, Free, None] (phGraph: *mut CUgraph, flags: c_uint);
        cuGraphDebugDotPrint [cuGraphDebugDotPrint, Graph, 11_030, NoStream, Free, None] (hGraph: CUgraph, path: *const c_char, flags: c_uint);
        cuGraphDestroy [cuGraphDestroy, Graph, 10_000, NoStream, Free, None] (hGraph: CUgraph);
        cuGraphDestroyNode [cuGraphDestroyNode, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode);
        cuGraphEventRecordNodeGetEvent [cuGraphEventRecordNodeGetEvent, Graph, 11_010, NoStream, Free, None] (hNode: CUgraphNode, event_out: *mut CUevent);
        cuGraphEventRecordNodeSetEvent [cuGraphEventRecordNodeSetEvent, Graph, 11_010, NoStream, Free, None] (hNode: CUgraphNode, event: CUevent);
        cuGraphEventWaitNodeGetEvent [cuGraphEventWaitNodeGetEvent, Graph, 11_010, NoStream, Free, None] (hNode: CUgraphNode, event_out: *mut CUevent);
        cuGraphEventWaitNodeSetEvent [cuGraphEventWaitNodeSetEvent, Graph, 11_010, NoStream, Free, None] (hNode: CUgraphNode, event: CUevent);
        cuGraphGetEdges [cuGraphGetEdges, Graph, 10_000, NoStream, Free, None] (hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize);
        cuGraphGetEdges_v2 [cuGraphGetEdges, Graph, 12_030, NoStream, Free, None] (hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numEdges: *mut usize);
        cuGraphGetNodes [cuGraphGetNodes, Graph, 10_000, NoStream, Free, None] (hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize);
        cuGraphGetRootNodes [cuGraphGetRootNodes, Graph, 10_000, NoStream, Free, None] (hGraph: CUgraph, rootNodes: *mut CUgraphNode, numRootNodes: *mut usize);
        cuGraphHostNodeGetParams [cuGraphHostNodeGetParams, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS);
        cuGraphHostNodeSetParams [cuGraphHostNodeSetParams, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS);
        cuGraphKernelNodeCopyAttributes [cuGraphKernelNodeCopyAttributes, Graph, 11_000, NoStream, Free, None] (dst: CUgraphNode, src: CUgraphNode);
        cuGraphKernelNodeGetAttribute [cuGraphKernelNodeGetAttribute, Graph, 11_000, NoStream, Free, None] (hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue);
        cuGraphKernelNodeGetParams [cuGraphKernelNodeGetParams, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS_v1);
        cuGraphKernelNodeGetParams_v2 [cuGraphKernelNodeGetParams, Graph, 12_000, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS);
        cuGraphKernelNodeSetAttribute [cuGraphKernelNodeSetAttribute, Graph, 11_000, NoStream, Free, None] (hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue);
        cuGraphKernelNodeSetParams [cuGraphKernelNodeSetParams, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1);
        cuGraphKernelNodeSetParams_v2 [cuGraphKernelNodeSetParams, Graph, 12_000, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
        cuGraphMemAllocNodeGetParams [cuGraphMemAllocNodeGetParams, Graph, 11_040, NoStream, Free, None] (hNode: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
        cuGraphMemFreeNodeGetParams [cuGraphMemFreeNodeGetParams, Graph, 11_040, NoStream, Free, None] (hNode: CUgraphNode, dptr_out: *mut CUdeviceptr);
        cuGraphMemcpyNodeGetParams [cuGraphMemcpyNodeGetParams, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D);
        cuGraphMemcpyNodeSetParams [cuGraphMemcpyNodeSetParams, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D);
        cuGraphMemsetNodeGetParams [cuGraphMemsetNodeGetParams, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS);
        cuGraphMemsetNodeSetParams [cuGraphMemsetNodeSetParams, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS);
        cuGraphNodeFindInClone [cuGraphNodeFindInClone, Graph, 10_000, NoStream, Free, None] (phNode: *mut CUgraphNode, hOriginalNode: CUgraphNode, hClonedGraph: CUgraph);
        cuGraphNodeGetDependencies [cuGraphNodeGetDependencies, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, dependencies: *mut CUgraphNode, numDependencies: *mut usize);
        cuGraphNodeGetDependencies_v2 [cuGraphNodeGetDependencies, Graph, 12_030, NoStream, Free, None] (hNode: CUgraphNode, dependencies: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependencies: *mut usize);
        cuGraphNodeGetDependentNodes [cuGraphNodeGetDependentNodes, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, numDependentNodes: *mut usize);
        cuGraphNodeGetDependentNodes_v2 [cuGraphNodeGetDependentNodes, Graph, 12_030, NoStream, Free, None] (hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependentNodes: *mut usize);
        cuGraphNodeGetType [cuGraphNodeGetType, Graph, 10_000, NoStream, Free, None] (hNode: CUgraphNode, r#type: *mut CUgraphNodeType);
        cuGraphNodeSetParams [cuGraphNodeSetParams, Graph, 12_020, NoStream, Free, None] (hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
        cuGraphRemoveDependencies [cuGraphRemoveDependencies, Graph, 10_000, NoStream, Free, None] (hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize);
        cuGraphRemoveDependencies_v2 [cuGraphRemoveDependencies, Graph, 12_030, NoStream, Free, None] (hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize);
        // GraphExec
        cuGraphExecBatchMemOpNodeSetParams [cuGraphExecBatchMemOpNodeSetParams, GraphExec, 11_070, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
        cuGraphExecChildGraphNodeSetParams [cuGraphExecChildGraphNodeSetParams, GraphExec, 11_010, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph);
        cuGraphExecDestroy [cuGraphExecDestroy, GraphExec, 10_000, NoStream, Unsafe, None] (hGraphExec: CUgraphExec);
        cuGraphExecEventRecordNodeSetEvent [cuGraphExecEventRecordNodeSetEvent, GraphExec, 11_010, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent);
        cuGraphExecEventWaitNodeSetEvent [cuGraphExecEventWaitNodeSetEvent, GraphExec, 11_010, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent);
        cuGraphExecGetFlags [cuGraphExecGetFlags, GraphExec, 12_000, NoStream, Free, None] (hGraphExec: CUgraphExec, flags: *mut u64);
        cuGraphExecHostNodeSetParams [cuGraphExecHostNodeSetParams, GraphExec, 10_020, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS);
        cuGraphExecKernelNodeSetParams [cuGraphExecKernelNodeSetParams, GraphExec, 10_010, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1);
        cuGraphExecKernelNodeSetParams_v2 [cuGraphExecKernelNodeSetParams, GraphExec, 12_000, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
        cuGraphExecMemcpyNodeSetParams [cuGraphExecMemcpyNodeSetParams, GraphExec, 10_020, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext);
        cuGraphExecMemsetNodeSetParams [cuGraphExecMemsetNodeSetParams, GraphExec, 10_020, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext);
        cuGraphExecNodeSetParams [cuGraphExecNodeSetParams, GraphExec, 12_020, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
        cuGraphExecUpdate [cuGraphExecUpdate, GraphExec, 10_020, NoStream, Free, None] (hGraphExec: CUgraphExec, hGraph: CUgraph, hErrorNode_out: *mut CUgraphNode, updateResult_out: *mut CUgraphExecUpdateResult);
        cuGraphExecUpdate_v2 [cuGraphExecUpdate, GraphExec, 12_000, NoStream, Free, None] (hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo);
        cuGraphInstantiate [cuGraphInstantiate, GraphExec, 10_000, NoStream, Unsafe, None] (phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char, bufferSize: usize);
        cuGraphInstantiateWithFlags [cuGraphInstantiateWithFlags, GraphExec, 11_040, NoStream, Unsafe, None] (phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: u64);
        cuGraphInstantiateWithParams [cuGraphInstantiateWithParams, GraphExec, 12_000, NoStream, Unsafe, Ptsz] (phGraphExec: *mut CUgraphExec, hGraph: CUgraph, instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS);
        cuGraphInstantiate_v2 [cuGraphInstantiate, GraphExec, 11_000, NoStream, Unsafe, None] (phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char, bufferSize: usize);
        cuGraphLaunch [cuGraphLaunch, GraphExec, 10_000, Refused, Free, Ptsz] (hGraphExec: CUgraphExec, hStream: CUstream);
        cuGraphNodeGetEnabled [cuGraphNodeGetEnabled, GraphExec, 11_060, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut c_uint);
        cuGraphNodeSetEnabled [cuGraphNodeSetEnabled, GraphExec, 11_060, NoStream, Free, None] (hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: c_uint);
        cuGraphUpload [cuGraphUpload, GraphExec, 11_010, Refused, Free, Ptsz] (hGraphExec: CUgraphExec, hStream: CUstream);
        // GraphMemory
        cuDeviceGetGraphMemAttribute [cuDeviceGetGraphMemAttribute, GraphMemory, 11_040, NoStream, Free, None] (device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void);
        cuDeviceGraphMemTrim [cuDeviceGraphMemTrim, GraphMemory, 11_040, NoStream, Free, None] (device: CUdevice);
        cuDeviceSetGraphMemAttribute [cuDeviceSetGraphMemAttribute, GraphMemory, 11_040, NoStream, Free, None] (device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void);
        // UserObject
        cuGraphReleaseUserObject [cuGraphReleaseUserObject, UserObject, 11_030, NoStream, Free, None] (graph: CUgraph, object: CUuserObject, count: c_uint);
        cuGraphRetainUserObject [cuGraphRetainUserObject, UserObject, 11_030, NoStream, Free, None] (graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint);
        cuUserObjectCreate [cuUserObjectCreate, UserObject, 11_030, NoStream, Free, None] (object_out: *mut CUuserObject, ptr: *mut c_void, destroy: CUhostFn, initialRefcount: c_uint, flags: c_uint);
        cuUserObjectRelease [cuUserObjectRelease, UserObject, 11_030, NoStream, Free, None] (object: CUuserObject, count: c_uint);
        cuUserObjectRetain [cuUserObjectRetain, UserObject, 11_030, NoStream, Free, None] (object: CUuserObject, count: c_uint);
        // Occupancy
        cuOccupancyAvailableDynamicSMemPerBlock [cuOccupancyAvailableDynamicSMemPerBlock, Occupancy, 10_020, NoStream, Free, None] (dynamicSmemSize: *mut usize, func: CUfunction, numBlocks: c_int, blockSize: c_int);
        cuOccupancyMaxActiveBlocksPerMultiprocessor [cuOccupancyMaxActiveBlocksPerMultiprocessor, Occupancy, 6_050, NoStream, Free, None] (numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize);
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags [cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, Occupancy, 7_000, NoStream, Free, None] (numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize, flags: c_uint);
        cuOccupancyMaxActiveClusters [cuOccupancyMaxActiveClusters, Occupancy, 11_070, NoStream, Free, None] (numClusters: *mut c_int, func: CUfunction, config: *const CUlaunchConfig);
        cuOccupancyMaxPotentialBlockSize [cuOccupancyMaxPotentialBlockSize, Occupancy, 6_050, NoStream, Free, None] (minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: c_int);
        cuOccupancyMaxPotentialBlockSizeWithFlags [cuOccupancyMaxPotentialBlockSizeWithFlags, Occupancy, 7_000, NoStream, Free, None] (minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: c_int, flags: c_uint);
        cuOccupancyMaxPotentialClusterSize [cuOccupancyMaxPotentialClusterSize, Occupancy, 11_070, NoStream, Free, None] (clusterSize: *mut c_int, func: CUfunction, config: *const CUlaunchConfig);
        // Profiler
        cuProfilerStart [cuProfilerStart, Profiler, 4_000, NoStream, Free, None] ();
        cuProfilerStop [cuProfilerStop, Profiler, 4_000, NoStream, Free, None] ();
    } };
}
