//! What one can rely on in the table: which entry points it holds, and that its lists are in order.

use std::collections::HashSet;

use dacapo_driver::{CUresult, Call, OnCapturing, PerThreadTwin};

/// What the programs call that asked NVIDIA's driver how it behaves and what it costs (probe.c, perf.c).
const PROBED: &str = "
    cuCtxCreate_v4 cuCtxDestroy_v2 cuCtxGetApiVersion cuCtxGetCurrent cuCtxGetLimit cuCtxGetStreamPriorityRange
    cuCtxPopCurrent_v2 cuCtxPushCurrent_v2 cuCtxRecordEvent cuCtxSetCurrent cuCtxSetLimit cuCtxSynchronize
    cuCtxWaitEvent cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount cuDeviceGetDefaultMemPool
    cuDeviceGetGraphMemAttribute cuDeviceGetName cuDeviceGraphMemTrim cuDevicePrimaryCtxGetState
    cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRetain cuDeviceSetGraphMemAttribute
    cuDriverGetVersion cuEventCreate cuEventDestroy_v2 cuEventElapsedTime_v2 cuEventQuery cuEventRecord
    cuEventRecordWithFlags cuEventSynchronize cuFuncGetAttribute cuFuncGetName cuFuncGetParamInfo cuFuncIsLoaded
    cuFuncLoad cuFuncSetAttribute cuGetErrorName cuGetErrorString cuGetProcAddress_v2 cuGraphAddBatchMemOpNode
    cuGraphAddChildGraphNode cuGraphAddDependencies_v2 cuGraphAddEmptyNode cuGraphAddEventRecordNode
    cuGraphAddEventWaitNode cuGraphAddHostNode cuGraphAddKernelNode_v2 cuGraphAddMemAllocNode
    cuGraphAddMemFreeNode cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphAddNode_v2
    cuGraphChildGraphNodeGetGraph cuGraphClone cuGraphConditionalHandleCreate cuGraphCreate cuGraphDebugDotPrint
    cuGraphDestroy cuGraphDestroyNode cuGraphExecChildGraphNodeSetParams cuGraphExecDestroy cuGraphExecGetFlags
    cuGraphExecKernelNodeSetParams_v2 cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams
    cuGraphExecUpdate_v2 cuGraphGetEdges_v2 cuGraphGetNodes cuGraphGetRootNodes cuGraphInstantiateWithFlags
    cuGraphInstantiateWithParams cuGraphKernelNodeGetAttribute cuGraphKernelNodeGetParams_v2
    cuGraphKernelNodeSetAttribute cuGraphKernelNodeSetParams_v2 cuGraphLaunch cuGraphMemAllocNodeGetParams
    cuGraphNodeFindInClone cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes_v2 cuGraphNodeGetEnabled
    cuGraphNodeGetType cuGraphNodeSetEnabled cuGraphReleaseUserObject cuGraphRemoveDependencies_v2
    cuGraphRetainUserObject cuGraphUpload cuInit cuKernelGetName cuLaunchCooperativeKernel cuLaunchHostFunc
    cuLaunchKernel cuLaunchKernelEx cuLibraryLoadData cuMemAddressReserve cuMemAllocAsync cuMemAllocFromPoolAsync
    cuMemAllocHost_v2 cuMemAllocManaged cuMemAllocPitch_v2 cuMemAlloc_v2 cuMemCreate cuMemFreeAsync cuMemFreeHost
    cuMemFree_v2 cuMemGetAddressRange_v2 cuMemGetInfo_v2 cuMemHostAlloc cuMemHostGetDevicePointer_v2
    cuMemHostRegister_v2 cuMemHostUnregister cuMemMap cuMemPoolCreate cuMemPoolDestroy cuMemPoolGetAttribute
    cuMemPoolTrimTo cuMemPrefetchAsync_v2 cuMemSetAccess cuMemcpy cuMemcpy2D_v2 cuMemcpyAsync cuMemcpyDtoDAsync_v2
    cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemsetD16_v2
    cuMemsetD2D32Async cuMemsetD2D32_v2 cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8Async cuMemsetD8_v2
    cuModuleGetFunction cuModuleGetFunctionCount cuModuleGetGlobal_v2 cuModuleGetLoadingMode cuModuleLoad
    cuModuleLoadData cuModuleLoadDataEx cuModuleUnload cuOccupancyMaxActiveBlocksPerMultiprocessor
    cuPointerGetAttribute cuPointerGetAttributes cuStreamAddCallback cuStreamAttachMemAsync
    cuStreamBeginCaptureToGraph cuStreamBeginCapture_v2 cuStreamCreate cuStreamCreateWithPriority
    cuStreamDestroy_v2 cuStreamEndCapture cuStreamGetCaptureInfo_v3 cuStreamGetCtx cuStreamGetFlags cuStreamGetId
    cuStreamGetPriority cuStreamIsCapturing cuStreamQuery cuStreamSetAttribute cuStreamSynchronize
    cuStreamUpdateCaptureDependencies_v2 cuStreamWaitEvent cuStreamWaitValue32_v2 cuStreamWriteValue32_v2
    cuThreadExchangeStreamCaptureMode cuUserObjectCreate cuUserObjectRelease
";

#[test]
fn every_entry_point_of_the_probes_is_a_row() {
    let missing: Vec<_> = PROBED.split_whitespace().filter(|symbol| Call::by_symbol(symbol).is_none()).collect();
    assert_eq!(PROBED.split_whitespace().count(), 172);
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn a_symbol_has_one_row() {
    let symbols: HashSet<_> = Call::ALL.iter().map(|call| call.symbol()).collect();
    assert_eq!(symbols.len(), Call::ALL.len());
    for &call in Call::ALL {
        assert_eq!(Call::by_symbol(call.symbol()), Some(call));
    }
}

#[test]
fn a_symbol_is_its_name_with_a_suffix() {
    for call in Call::ALL {
        let suffix = call.symbol().strip_prefix(call.name());
        let ok = suffix.is_some_and(|suffix| ["", "_v2", "_v3", "_v4"].contains(&suffix));
        assert!(ok, "{} is not {} with a version", call.symbol(), call.name());
    }
}

#[test]
fn two_signatures_of_a_name_came_with_two_versions() {
    // Else `cuGetProcAddress` could not tell them apart.
    let pairs: HashSet<_> = Call::ALL.iter().map(|call| (call.name(), call.since())).collect();
    assert_eq!(pairs.len(), Call::ALL.len());
}

#[test]
fn result_codes_are_sorted_and_named_once() {
    // `CUresult::name` searches by halves.
    assert!(CUresult::NAMED.is_sorted_by_key(|(code, _)| code.0));
    let names: HashSet<_> = CUresult::NAMED.iter().map(|(_, name)| name).collect();
    assert_eq!(names.len(), CUresult::NAMED.len());
    for (code, name) in CUresult::NAMED {
        assert_eq!(code.c_name(), Some(*name));
    }
    assert_eq!(CUresult(4242).name(), None);
}

#[test]
fn a_call_with_a_stream_says_what_it_does_on_a_capturing_one() {
    for call in Call::ALL {
        let takes_stream = call.arguments().iter().any(|(_, type_name)| *type_name == "CUstream");
        // Their streams are inside a struct.
        let inside = ["cuLaunchKernelEx"].contains(&call.symbol());
        let says = call.on_capturing_stream() != OnCapturing::NoStream;
        assert_eq!(says, takes_stream || inside, "{}", call.symbol());
    }
}

#[test]
fn a_twin_for_a_stream_argument_and_one_for_a_synchronous_copy() {
    for call in Call::ALL {
        let takes_stream = call.arguments().iter().any(|(_, type_name)| *type_name == "CUstream");
        if call.per_thread_twin() == PerThreadTwin::Ptds {
            assert!(!takes_stream, "{}", call.symbol());
        }
    }
}
