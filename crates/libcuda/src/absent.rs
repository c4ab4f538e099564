//! Symbols of `cuda.h` that the table does not know: exported all the same, so that a loader finds what it finds in NVIDIA's
//! library.
//!
//! Programs look for symbols long before they know whether they need them, and some loaders end the program over one that is
//! missing. So each of these is there, looks at no argument, answers `CUDA_ERROR_NOT_SUPPORTED` and leaves a finding that
//! names it. (C lets a caller pass more arguments than a function takes: the caller clears them away.)
//!
//! A call that gets a row in the table loses its line here; the linker says so. Not here: twins for the per-thread default
//! stream, and answers of `cuGetProcAddress`, which says of these names that it does not know them.

use dacapo_driver::CUresult;

use crate::software;

macro_rules! define_absent {
    ($($symbol:ident,)*) => {
        #[allow(non_snake_case, reason = "C's names")]
        mod exports {
            use super::*;
            $(
                #[unsafe(no_mangle)]
                pub extern "C" fn $symbol() -> CUresult {
                    software::absent(stringify!($symbol))
                }
            )*
        }

        /// Their names.
        #[cfg(test)]
        const ABSENT: &[&str] = &[$(stringify!($symbol)),*];
    };
}

define_absent! {
    cuArrayGetMemoryRequirements,
    cuArrayGetPlane,
    cuArrayGetSparseProperties,
    cuCoredumpGetAttribute,
    cuCoredumpGetAttributeGlobal,
    cuCoredumpSetAttribute,
    cuCoredumpSetAttributeGlobal,
    cuCtxAttach,
    cuCtxDetach,
    cuCtxDisablePeerAccess,
    cuCtxEnablePeerAccess,
    cuCtxFromGreenCtx,
    cuCtxGetDevResource,
    cuCtxGetDevice_v2,
    cuCtxGetExecAffinity,
    cuCtxGetSharedMemConfig,
    cuCtxSetSharedMemConfig,
    cuCtxSynchronize_v2,
    cuDestroyExternalMemory,
    cuDestroyExternalSemaphore,
    cuDevResourceGenerateDesc,
    cuDevSmResourceSplitByCount,
    cuDeviceGetDevResource,
    cuDeviceGetExecAffinitySupport,
    cuDeviceGetHostAtomicCapabilities,
    cuDeviceGetLuid,
    cuDeviceGetP2PAtomicCapabilities,
    cuDeviceGetP2PAttribute,
    cuDeviceGetProperties,
    cuDeviceGetTexture1DLinearMaxWidth,
    cuDeviceRegisterAsyncNotification,
    cuDeviceUnregisterAsyncNotification,
    cuExternalMemoryGetMappedBuffer,
    cuExternalMemoryGetMappedMipmappedArray,
    cuFlushGPUDirectRDMAWrites,
    cuFuncSetBlockShape,
    cuFuncSetSharedMemConfig,
    cuFuncSetSharedSize,
    cuGraphAddExternalSemaphoresSignalNode,
    cuGraphAddExternalSemaphoresWaitNode,
    cuGraphExecExternalSemaphoresSignalNodeSetParams,
    cuGraphExecExternalSemaphoresWaitNodeSetParams,
    cuGraphExternalSemaphoresSignalNodeGetParams,
    cuGraphExternalSemaphoresSignalNodeSetParams,
    cuGraphExternalSemaphoresWaitNodeGetParams,
    cuGraphExternalSemaphoresWaitNodeSetParams,
    cuGraphicsMapResources,
    cuGraphicsResourceGetMappedMipmappedArray,
    cuGraphicsResourceGetMappedPointer_v2,
    cuGraphicsResourceSetMapFlags_v2,
    cuGraphicsSubResourceGetMappedArray,
    cuGraphicsUnmapResources,
    cuGraphicsUnregisterResource,
    cuGreenCtxCreate,
    cuGreenCtxDestroy,
    cuGreenCtxGetDevResource,
    cuGreenCtxGetId,
    cuGreenCtxRecordEvent,
    cuGreenCtxStreamCreate,
    cuGreenCtxWaitEvent,
    cuImportExternalMemory,
    cuImportExternalSemaphore,
    cuIpcCloseMemHandle,
    cuIpcGetEventHandle,
    cuIpcGetMemHandle,
    cuIpcOpenEventHandle,
    cuIpcOpenMemHandle_v2,
    cuKernelGetLibrary,
    cuKernelSetCacheConfig,
    cuLaunch,
    cuLaunchCooperativeKernelMultiDevice,
    cuLaunchGrid,
    cuLaunchGridAsync,
    cuLibraryGetManaged,
    cuLibraryGetUnifiedFunction,
    cuLinkAddFile_v2,
    cuLogsCurrent,
    cuLogsDumpToFile,
    cuLogsDumpToMemory,
    cuLogsRegisterCallback,
    cuLogsUnregisterCallback,
    cuMemBatchDecompressAsync,
    cuMemExportToShareableHandle,
    cuMemGetAccess,
    cuMemGetHandleForAddressRange,
    cuMemImportFromShareableHandle,
    cuMemMapArrayAsync,
    cuMemPoolExportPointer,
    cuMemPoolExportToShareableHandle,
    cuMemPoolImportFromShareableHandle,
    cuMemPoolImportPointer,
    cuMemcpy3DBatchAsync_v2,
    cuMemcpy3DPeer,
    cuMemcpy3DPeerAsync,
    cuMemcpyBatchAsync_v2,
    cuMipmappedArrayCreate,
    cuMipmappedArrayDestroy,
    cuMipmappedArrayGetLevel,
    cuMipmappedArrayGetMemoryRequirements,
    cuMipmappedArrayGetSparseProperties,
    cuModuleGetSurfRef,
    cuModuleGetTexRef,
    cuMulticastAddDevice,
    cuMulticastBindAddr,
    cuMulticastBindMem,
    cuMulticastCreate,
    cuMulticastGetGranularity,
    cuMulticastUnbind,
    cuParamSetSize,
    cuParamSetTexRef,
    cuParamSetf,
    cuParamSeti,
    cuParamSetv,
    cuProfilerInitialize,
    cuSignalExternalSemaphoresAsync,
    cuStreamGetCtx_v2,
    cuStreamGetGreenCtx,
    cuSurfRefGetArray,
    cuSurfRefSetArray,
    cuTensorMapEncodeIm2col,
    cuTensorMapEncodeIm2colWide,
    cuTensorMapEncodeTiled,
    cuTensorMapReplaceAddress,
    cuTexRefCreate,
    cuTexRefDestroy,
    cuTexRefGetAddressMode,
    cuTexRefGetAddress_v2,
    cuTexRefGetArray,
    cuTexRefGetBorderColor,
    cuTexRefGetFilterMode,
    cuTexRefGetFlags,
    cuTexRefGetFormat,
    cuTexRefGetMaxAnisotropy,
    cuTexRefGetMipmapFilterMode,
    cuTexRefGetMipmapLevelBias,
    cuTexRefGetMipmapLevelClamp,
    cuTexRefGetMipmappedArray,
    cuTexRefSetAddress2D_v3,
    cuTexRefSetAddressMode,
    cuTexRefSetAddress_v2,
    cuTexRefSetArray,
    cuTexRefSetBorderColor,
    cuTexRefSetFilterMode,
    cuTexRefSetFlags,
    cuTexRefSetFormat,
    cuTexRefSetMaxAnisotropy,
    cuTexRefSetMipmapFilterMode,
    cuTexRefSetMipmapLevelBias,
    cuTexRefSetMipmapLevelClamp,
    cuTexRefSetMipmappedArray,
    cuWaitExternalSemaphoresAsync,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_unsupported_and_in_no_row() {
        assert_eq!(exports::cuTexRefCreate(), CUresult::CUDA_ERROR_NOT_SUPPORTED);
        for symbol in ABSENT {
            let row = dacapo_driver::Call::ALL.iter().find(|call| call.symbol() == *symbol);
            assert!(row.is_none(), "{symbol} has a row in the table");
        }
        assert!(ABSENT.is_sorted());
    }
}
