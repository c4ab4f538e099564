//! Calls that make sense one behind the other, and those that never can succeed.
//!
//! A case that draws every call by itself seldom gets far: what needs an executable of a graph with a node of the right
//! kind is refused for want of one. So now and then a case goes through a script, politely, and with the newest of what it
//! holds. A script says only the order of the calls; their arguments are drawn as ever, and any of them may fail.

use dacapo_driver::Call::{self, *};

/// The scripts.
pub(super) const SCRIPTS: &[&[Call]] = &[
    // Every kind of node, told other parameters before and after it became part of an executable.
    &[
        cuGraphCreate,
        cuGraphAddKernelNode_v2,
        cuGraphKernelNodeSetParams,
        cuGraphInstantiateWithFlags,
        cuGraphExecKernelNodeSetParams,
        cuGraphExecKernelNodeSetParams_v2,
        cuGraphNodeGetEnabled,
        cuGraphNodeSetEnabled,
        cuGraphExecNodeSetParams,
        cuGraphLaunch,
    ],
    &[
        cuGraphCreate,
        cuGraphAddMemcpyNode,
        cuGraphMemcpyNodeSetParams,
        cuGraphInstantiateWithFlags,
        cuGraphExecMemcpyNodeSetParams,
        cuGraphExecMemcpyNodeSetParams,
        cuGraphNodeGetEnabled,
        cuGraphLaunch,
    ],
    &[
        cuGraphCreate,
        cuGraphAddMemsetNode,
        cuGraphMemsetNodeSetParams,
        cuGraphInstantiateWithFlags,
        cuGraphExecMemsetNodeSetParams,
        cuGraphExecMemsetNodeSetParams,
        cuGraphNodeGetEnabled,
        cuGraphLaunch,
    ],
    &[
        cuEventCreate,
        cuEventCreate,
        cuGraphCreate,
        cuGraphAddEventRecordNode,
        cuGraphEventRecordNodeSetEvent,
        cuGraphAddEventWaitNode,
        cuGraphEventWaitNodeSetEvent,
        cuGraphInstantiateWithFlags,
        cuGraphExecEventRecordNodeSetEvent,
        cuGraphExecEventWaitNodeSetEvent,
        cuGraphLaunch,
    ],
    &[
        cuGraphCreate,
        cuGraphAddHostNode,
        cuGraphHostNodeSetParams,
        cuGraphAddBatchMemOpNode,
        cuGraphBatchMemOpNodeSetParams,
        cuGraphInstantiateWithFlags,
        cuGraphExecHostNodeSetParams,
        cuGraphExecBatchMemOpNodeSetParams,
        cuGraphLaunch,
    ],
    // A graph in a graph, and the same one again in its place.
    &[
        cuGraphCreate,
        cuGraphAddEmptyNode,
        cuGraphCreate,
        cuGraphAddChildGraphNode,
        cuGraphInstantiateWithFlags,
        cuGraphExecChildGraphNodeSetParams,
        cuGraphExecUpdate_v2,
        cuGraphLaunch,
    ],
    // Memory for both sides.
    &[
        cuStreamCreate,
        cuMemAllocManaged,
        cuMemAdvise_v2,
        cuMemAdvise,
        cuMemPrefetchAsync_v2,
        cuMemPrefetchAsync,
        cuStreamAttachMemAsync,
        cuMemRangeGetAttribute,
        cuMemRangeGetAttributes,
        cuMemPrefetchBatchAsync,
        cuMemDiscardBatchAsync,
        cuMemDiscardAndPrefetchBatchAsync,
        cuMemPrefetchBatchAsync,
        cuMemDiscardAndPrefetchBatchAsync,
        cuMemFree_v2,
    ],
    // Arrays, and what reads them.
    &[
        cuArrayCreate_v2,
        cuArrayGetDescriptor_v2,
        cuMemcpyHtoA_v2,
        cuMemcpyAtoH_v2,
        cuTexObjectCreate,
        cuTexObjectGetResourceDesc,
        cuTexObjectGetTextureDesc,
        cuTexObjectDestroy,
        cuSurfObjectCreate,
        cuSurfObjectGetResourceDesc,
        cuSurfObjectDestroy,
        cuArrayDestroy,
    ],
    // Memory in parts.
    &[cuMemAddressReserve, cuMemCreate, cuMemMap, cuMemSetAccess, cuMemUnmap, cuMemRelease, cuMemAddressFree],
    // Texts and libraries.
    &[cuLinkCreate_v2, cuLinkAddData_v2, cuLinkAddFile_v2, cuLinkAddData, cuLinkAddFile, cuLinkComplete, cuLinkDestroy],
    &[
        cuLibraryLoadData,
        cuLibraryGetKernel,
        cuLibraryGetManaged,
        cuLibraryGetManaged,
        cuLibraryGetGlobal,
        cuKernelGetFunction,
        cuLibraryUnload,
    ],
];

/// Symbols that are there and refuse everything, as an H200 does or because of what a software device is. A run that sees
/// one of them succeed says so: its line is to go.
pub(super) fn never_succeeds(call: Call) -> bool {
    // Addresses and sizes of 32 bits: there is no context in which they could be used (`crates/sim/src/calls/old.rs`).
    let narrow = [
        cuCtxCreate,
        cuMemAlloc,
        cuMemAllocHost,
        cuMemAllocPitch,
        cuMemFree,
        cuMemGetAddressRange,
        cuMemGetInfo,
        cuMemHostGetDevicePointer,
        cuMemcpy2D,
        cuMemcpy2DAsync,
        cuMemcpy2DUnaligned,
        cuMemcpy3D,
        cuMemcpy3DAsync,
        cuMemcpyDtoD,
        cuMemcpyDtoDAsync,
        cuMemcpyDtoH,
        cuMemcpyDtoHAsync,
        cuMemcpyHtoD,
        cuMemcpyHtoDAsync,
        cuMemsetD16,
        cuMemsetD2D16,
        cuMemsetD2D32,
        cuMemsetD2D8,
        cuMemsetD32,
        cuMemsetD8,
        cuModuleGetGlobal,
    ];
    // The first versions of these need a switch of the kernel module that is off.
    let switched_off =
        [cuStreamBatchMemOp, cuStreamWaitValue32, cuStreamWaitValue64, cuStreamWriteValue32, cuStreamWriteValue64];
    // Private tables of NVIDIA's driver are none of ours, and there are no unified functions.
    let not_here = [cuGetExportTable, cuLibraryGetUnifiedFunction];
    narrow.contains(&call) || switched_off.contains(&call) || not_here.contains(&call)
}
