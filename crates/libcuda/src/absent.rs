//! Symbols of NVIDIA's library that the table does not know: exported all the same, so that a loader finds what it finds there.
//!
//! Programs look for symbols long before they know whether they need them, and some loaders end the program over one that is
//! missing. So each of these is there, looks at no argument, answers `CUDA_ERROR_NOT_SUPPORTED` and leaves a finding that
//! names it. (C lets a caller pass more arguments than a function takes: the caller clears them away.)
//!
//! A line has the name and the version by which `cuGetProcAddress` knows it, as an H200's driver was observed to
//! (recordings/proc-address-h200.txt), and for which default stream: `Plain`, or `PerThread` for a twin. `Hidden` ones are
//! exported and known to `cuGetProcAddress` by no name that was asked. A call that gets a row in the table loses its lines
//! here; the linker says so. Not here: what debuggers look for (`cudbg..`).

use std::ffi::c_void;

use dacapo_driver::CUresult;

use crate::software;

/// Who asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// Whoever does not want the per-thread default stream.
    Plain,
    /// Whoever wants that.
    PerThread,
    /// Nobody by name.
    Hidden,
}

/// An exported symbol that only says that it is not supported.
#[derive(Clone, Copy)]
pub struct Absent {
    /// The symbol.
    pub symbol: &'static str,
    /// Its name for `cuGetProcAddress`.
    pub name: &'static str,
    /// The first version for which that is this symbol.
    pub since: u32,
    /// Who asks for it.
    pub asked: For,
    address: extern "C" fn() -> CUresult,
}

impl Absent {
    /// The address of its export.
    pub fn address(&self) -> *mut c_void {
        self.address as *const () as *mut c_void
    }
}

macro_rules! define_absent {
    ($($symbol:ident [$name:ident, $since:literal, $asked:ident];)*) => {
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

        /// All of them, by symbol.
        pub const ABSENT: &[Absent] = &[$(Absent {
            symbol: stringify!($symbol),
            name: stringify!($name),
            since: $since,
            asked: For::$asked,
            address: exports::$symbol,
        }),*];
    };
}

define_absent! {
    cuArray3DCreate [cuArray3DCreate, 2_000, Plain];
    cuArray3DGetDescriptor [cuArray3DGetDescriptor, 2_000, Plain];
    cuArrayCreate [cuArrayCreate, 2_000, Plain];
    cuArrayGetDescriptor [cuArrayGetDescriptor, 2_000, Plain];
    cuArrayGetMemoryRequirements [cuArrayGetMemoryRequirements, 11_060, Plain];
    cuArrayGetPlane [cuArrayGetPlane, 11_020, Plain];
    cuArrayGetSparseProperties [cuArrayGetSparseProperties, 11_010, Plain];
    cuCheckpointProcessCheckpoint [cuCheckpointProcessCheckpoint, 12_080, Plain];
    cuCheckpointProcessGetRestoreThreadId [cuCheckpointProcessGetRestoreThreadId, 12_080, Plain];
    cuCheckpointProcessGetState [cuCheckpointProcessGetState, 12_080, Plain];
    cuCheckpointProcessLock [cuCheckpointProcessLock, 12_080, Plain];
    cuCheckpointProcessRestore [cuCheckpointProcessRestore, 12_080, Plain];
    cuCheckpointProcessUnlock [cuCheckpointProcessUnlock, 12_080, Plain];
    cuCoredumpGetAttribute [cuCoredumpGetAttribute, 12_010, Plain];
    cuCoredumpGetAttributeGlobal [cuCoredumpGetAttributeGlobal, 12_010, Plain];
    cuCoredumpSetAttribute [cuCoredumpSetAttribute, 12_010, Plain];
    cuCoredumpSetAttributeGlobal [cuCoredumpSetAttributeGlobal, 12_010, Plain];
    cuCtxFromGreenCtx [cuCtxFromGreenCtx, 12_040, Plain];
    cuCtxGetDevResource [cuCtxGetDevResource, 12_040, Plain];
    cuDestroyExternalMemory [cuDestroyExternalMemory, 10_000, Plain];
    cuDestroyExternalSemaphore [cuDestroyExternalSemaphore, 10_000, Plain];
    cuDevResourceGenerateDesc [cuDevResourceGenerateDesc, 12_040, Plain];
    cuDevSmResourceSplitByCount [cuDevSmResourceSplitByCount, 12_040, Plain];
    cuDeviceGetDevResource [cuDeviceGetDevResource, 12_040, Plain];
    cuDeviceGetHostAtomicCapabilities [cuDeviceGetHostAtomicCapabilities, 13_000, Plain];
    cuDeviceGetLuid [cuDeviceGetLuid, 10_000, Plain];
    cuDeviceGetNvSciSyncAttributes [cuDeviceGetNvSciSyncAttributes, 10_020, Plain];
    cuDeviceGetP2PAtomicCapabilities [cuDeviceGetP2PAtomicCapabilities, 13_000, Plain];
    cuDeviceRegisterAsyncNotification [cuDeviceRegisterAsyncNotification, 12_040, Plain];
    cuDeviceUnregisterAsyncNotification [cuDeviceUnregisterAsyncNotification, 12_040, Plain];
    cuEGLApiInit [cuEGLApiInit, 0, Hidden];
    cuEGLStreamConsumerAcquireFrame [cuEGLStreamConsumerAcquireFrame, 0, Hidden];
    cuEGLStreamConsumerConnect [cuEGLStreamConsumerConnect, 7_000, Plain];
    cuEGLStreamConsumerConnectWithFlags [cuEGLStreamConsumerConnectWithFlags, 0, Hidden];
    cuEGLStreamConsumerDisconnect [cuEGLStreamConsumerDisconnect, 0, Hidden];
    cuEGLStreamConsumerReleaseFrame [cuEGLStreamConsumerReleaseFrame, 0, Hidden];
    cuEGLStreamProducerConnect [cuEGLStreamProducerConnect, 0, Hidden];
    cuEGLStreamProducerDisconnect [cuEGLStreamProducerDisconnect, 0, Hidden];
    cuEGLStreamProducerPresentFrame [cuEGLStreamProducerPresentFrame, 0, Hidden];
    cuEGLStreamProducerReturnFrame [cuEGLStreamProducerReturnFrame, 0, Hidden];
    cuExternalMemoryGetMappedBuffer [cuExternalMemoryGetMappedBuffer, 10_000, Plain];
    cuExternalMemoryGetMappedMipmappedArray [cuExternalMemoryGetMappedMipmappedArray, 10_000, Plain];
    cuFlushGPUDirectRDMAWrites [cuFlushGPUDirectRDMAWrites, 11_030, Plain];
    cuFuncSetBlockShape [cuFuncSetBlockShape, 2_000, Plain];
    cuFuncSetSharedSize [cuFuncSetSharedSize, 2_000, Plain];
    cuGLCtxCreate [cuGLCtxCreate, 0, Hidden];
    cuGLCtxCreate_v2 [cuGLCtxCreate_v2, 0, Hidden];
    cuGLGetDevices [cuGLGetDevices, 4_010, Plain];
    cuGLGetDevices_v2 [cuGLGetDevices, 6_050, Plain];
    cuGLInit [cuGLInit, 0, Hidden];
    cuGLMapBufferObject [cuGLMapBufferObject, 0, Hidden];
    cuGLMapBufferObjectAsync [cuGLMapBufferObjectAsync, 0, Hidden];
    cuGLMapBufferObjectAsync_v2 [cuGLMapBufferObjectAsync_v2, 0, Hidden];
    cuGLMapBufferObjectAsync_v2_ptsz [cuGLMapBufferObjectAsync_v2_ptsz, 0, Hidden];
    cuGLMapBufferObject_v2 [cuGLMapBufferObject_v2, 0, Hidden];
    cuGLMapBufferObject_v2_ptds [cuGLMapBufferObject_v2_ptds, 0, Hidden];
    cuGLRegisterBufferObject [cuGLRegisterBufferObject, 0, Hidden];
    cuGLSetBufferObjectMapFlags [cuGLSetBufferObjectMapFlags, 0, Hidden];
    cuGLUnmapBufferObject [cuGLUnmapBufferObject, 0, Hidden];
    cuGLUnmapBufferObjectAsync [cuGLUnmapBufferObjectAsync, 0, Hidden];
    cuGLUnregisterBufferObject [cuGLUnregisterBufferObject, 0, Hidden];
    cuGraphAddExternalSemaphoresSignalNode [cuGraphAddExternalSemaphoresSignalNode, 11_020, Plain];
    cuGraphAddExternalSemaphoresWaitNode [cuGraphAddExternalSemaphoresWaitNode, 11_020, Plain];
    cuGraphExecExternalSemaphoresSignalNodeSetParams [cuGraphExecExternalSemaphoresSignalNodeSetParams, 11_020, Plain];
    cuGraphExecExternalSemaphoresWaitNodeSetParams [cuGraphExecExternalSemaphoresWaitNodeSetParams, 11_020, Plain];
    cuGraphExternalSemaphoresSignalNodeGetParams [cuGraphExternalSemaphoresSignalNodeGetParams, 11_020, Plain];
    cuGraphExternalSemaphoresSignalNodeSetParams [cuGraphExternalSemaphoresSignalNodeSetParams, 11_020, Plain];
    cuGraphExternalSemaphoresWaitNodeGetParams [cuGraphExternalSemaphoresWaitNodeGetParams, 11_020, Plain];
    cuGraphExternalSemaphoresWaitNodeSetParams [cuGraphExternalSemaphoresWaitNodeSetParams, 11_020, Plain];
    cuGraphicsEGLRegisterImage [cuGraphicsEGLRegisterImage, 0, Hidden];
    cuGraphicsGLRegisterBuffer [cuGraphicsGLRegisterBuffer, 0, Hidden];
    cuGraphicsGLRegisterImage [cuGraphicsGLRegisterImage, 0, Hidden];
    cuGraphicsMapResources [cuGraphicsMapResources, 3_000, Plain];
    cuGraphicsMapResources_ptsz [cuGraphicsMapResources, 7_000, PerThread];
    cuGraphicsResourceGetMappedEglFrame [cuGraphicsResourceGetMappedEglFrame, 0, Hidden];
    cuGraphicsResourceGetMappedMipmappedArray [cuGraphicsResourceGetMappedMipmappedArray, 5_000, Plain];
    cuGraphicsResourceGetMappedPointer [cuGraphicsResourceGetMappedPointer, 3_000, Plain];
    cuGraphicsResourceGetMappedPointer_v2 [cuGraphicsResourceGetMappedPointer, 3_020, Plain];
    cuGraphicsResourceSetMapFlags [cuGraphicsResourceSetMapFlags, 3_000, Plain];
    cuGraphicsResourceSetMapFlags_v2 [cuGraphicsResourceSetMapFlags, 6_050, Plain];
    cuGraphicsSubResourceGetMappedArray [cuGraphicsSubResourceGetMappedArray, 3_000, Plain];
    cuGraphicsUnmapResources [cuGraphicsUnmapResources, 3_000, Plain];
    cuGraphicsUnmapResources_ptsz [cuGraphicsUnmapResources, 7_000, PerThread];
    cuGraphicsUnregisterResource [cuGraphicsUnregisterResource, 3_000, Plain];
    cuGraphicsVDPAURegisterOutputSurface [cuGraphicsVDPAURegisterOutputSurface, 0, Hidden];
    cuGraphicsVDPAURegisterVideoSurface [cuGraphicsVDPAURegisterVideoSurface, 0, Hidden];
    cuGreenCtxCreate [cuGreenCtxCreate, 12_040, Plain];
    cuGreenCtxDestroy [cuGreenCtxDestroy, 12_040, Plain];
    cuGreenCtxGetDevResource [cuGreenCtxGetDevResource, 12_040, Plain];
    cuGreenCtxGetId [cuGreenCtxGetId, 12_090, Plain];
    cuGreenCtxRecordEvent [cuGreenCtxRecordEvent, 12_040, Plain];
    cuGreenCtxStreamCreate [cuGreenCtxStreamCreate, 12_050, Plain];
    cuGreenCtxWaitEvent [cuGreenCtxWaitEvent, 12_040, Plain];
    cuImportExternalMemory [cuImportExternalMemory, 10_000, Plain];
    cuImportExternalSemaphore [cuImportExternalSemaphore, 10_000, Plain];
    cuIpcCloseMemHandle [cuIpcCloseMemHandle, 4_010, Plain];
    cuIpcGetEventHandle [cuIpcGetEventHandle, 4_010, Plain];
    cuIpcGetMemHandle [cuIpcGetMemHandle, 4_010, Plain];
    cuIpcOpenEventHandle [cuIpcOpenEventHandle, 4_010, Plain];
    cuIpcOpenMemHandle [cuIpcOpenMemHandle, 4_010, Plain];
    cuIpcOpenMemHandle_v2 [cuIpcOpenMemHandle, 11_000, Plain];
    cuLaunch [cuLaunch, 2_000, Plain];
    cuLaunchCooperativeKernelMultiDevice [cuLaunchCooperativeKernelMultiDevice, 9_000, Plain];
    cuLaunchGrid [cuLaunchGrid, 2_000, Plain];
    cuLaunchGridAsync [cuLaunchGridAsync, 2_000, Plain];
    cuLogsCurrent [cuLogsCurrent, 12_090, Plain];
    cuLogsDumpToFile [cuLogsDumpToFile, 12_090, Plain];
    cuLogsDumpToMemory [cuLogsDumpToMemory, 12_090, Plain];
    cuLogsRegisterCallback [cuLogsRegisterCallback, 12_090, Plain];
    cuLogsUnregisterCallback [cuLogsUnregisterCallback, 12_090, Plain];
    cuMemBatchDecompressAsync [cuMemBatchDecompressAsync, 12_060, Plain];
    cuMemBatchDecompressAsync_ptsz [cuMemBatchDecompressAsync, 12_060, PerThread];
    cuMemExportToShareableHandle [cuMemExportToShareableHandle, 10_020, Plain];
    cuMemGetAccess [cuMemGetAccess, 10_020, Plain];
    cuMemGetAttribute [cuMemGetAttribute, 0, Hidden];
    cuMemGetAttribute_v2 [cuMemGetAttribute_v2, 0, Hidden];
    cuMemGetHandleForAddressRange [cuMemGetHandleForAddressRange, 11_070, Plain];
    cuMemImportFromShareableHandle [cuMemImportFromShareableHandle, 10_020, Plain];
    cuMemMapArrayAsync [cuMemMapArrayAsync, 11_010, Plain];
    cuMemMapArrayAsync_ptsz [cuMemMapArrayAsync, 11_010, PerThread];
    cuMemPoolExportPointer [cuMemPoolExportPointer, 11_020, Plain];
    cuMemPoolExportToShareableHandle [cuMemPoolExportToShareableHandle, 11_020, Plain];
    cuMemPoolImportFromShareableHandle [cuMemPoolImportFromShareableHandle, 11_020, Plain];
    cuMemPoolImportPointer [cuMemPoolImportPointer, 11_020, Plain];
    cuMemcpy3DBatchAsync [cuMemcpy3DBatchAsync, 12_080, Plain];
    cuMemcpy3DBatchAsync_ptsz [cuMemcpy3DBatchAsync, 12_080, PerThread];
    cuMemcpy3DBatchAsync_v2 [cuMemcpy3DBatchAsync, 13_000, Plain];
    cuMemcpy3DBatchAsync_v2_ptsz [cuMemcpy3DBatchAsync, 13_000, PerThread];
    cuMemcpyAtoA [cuMemcpyAtoA, 2_000, Plain];
    cuMemcpyAtoD [cuMemcpyAtoD, 2_000, Plain];
    cuMemcpyAtoH [cuMemcpyAtoH, 2_000, Plain];
    cuMemcpyAtoHAsync [cuMemcpyAtoHAsync, 2_000, Plain];
    cuMemcpyBatchAsync [cuMemcpyBatchAsync, 12_080, Plain];
    cuMemcpyBatchAsync_ptsz [cuMemcpyBatchAsync, 12_080, PerThread];
    cuMemcpyBatchAsync_v2 [cuMemcpyBatchAsync, 13_000, Plain];
    cuMemcpyBatchAsync_v2_ptsz [cuMemcpyBatchAsync, 13_000, PerThread];
    cuMemcpyDtoA [cuMemcpyDtoA, 2_000, Plain];
    cuMemcpyHtoA [cuMemcpyHtoA, 2_000, Plain];
    cuMemcpyHtoAAsync [cuMemcpyHtoAAsync, 2_000, Plain];
    cuMipmappedArrayCreate [cuMipmappedArrayCreate, 5_000, Plain];
    cuMipmappedArrayDestroy [cuMipmappedArrayDestroy, 5_000, Plain];
    cuMipmappedArrayGetLevel [cuMipmappedArrayGetLevel, 5_000, Plain];
    cuMipmappedArrayGetMemoryRequirements [cuMipmappedArrayGetMemoryRequirements, 11_060, Plain];
    cuMipmappedArrayGetSparseProperties [cuMipmappedArrayGetSparseProperties, 11_010, Plain];
    cuModuleGetSurfRef [cuModuleGetSurfRef, 3_000, Plain];
    cuModuleGetTexRef [cuModuleGetTexRef, 2_000, Plain];
    cuMulticastAddDevice [cuMulticastAddDevice, 12_010, Plain];
    cuMulticastBindAddr [cuMulticastBindAddr, 12_010, Plain];
    cuMulticastBindMem [cuMulticastBindMem, 12_010, Plain];
    cuMulticastCreate [cuMulticastCreate, 12_010, Plain];
    cuMulticastGetGranularity [cuMulticastGetGranularity, 12_010, Plain];
    cuMulticastUnbind [cuMulticastUnbind, 12_010, Plain];
    cuParamSetSize [cuParamSetSize, 2_000, Plain];
    cuParamSetTexRef [cuParamSetTexRef, 2_000, Plain];
    cuParamSetf [cuParamSetf, 2_000, Plain];
    cuParamSeti [cuParamSeti, 2_000, Plain];
    cuParamSetv [cuParamSetv, 2_000, Plain];
    cuProfilerInitialize [cuProfilerInitialize, 4_000, Plain];
    cuSignalExternalSemaphoresAsync [cuSignalExternalSemaphoresAsync, 10_000, Plain];
    cuSignalExternalSemaphoresAsync_ptsz [cuSignalExternalSemaphoresAsync, 10_000, PerThread];
    cuStreamGetGreenCtx [cuStreamGetGreenCtx, 12_040, Plain];
    cuSurfRefGetArray [cuSurfRefGetArray, 3_000, Plain];
    cuSurfRefSetArray [cuSurfRefSetArray, 3_000, Plain];
    cuTensorMapEncodeIm2col [cuTensorMapEncodeIm2col, 12_000, Plain];
    cuTensorMapEncodeIm2colWide [cuTensorMapEncodeIm2colWide, 12_080, Plain];
    cuTensorMapEncodeTiled [cuTensorMapEncodeTiled, 12_000, Plain];
    cuTensorMapReplaceAddress [cuTensorMapReplaceAddress, 12_000, Plain];
    cuTexRefCreate [cuTexRefCreate, 2_000, Plain];
    cuTexRefDestroy [cuTexRefDestroy, 2_000, Plain];
    cuTexRefGetAddress [cuTexRefGetAddress, 2_000, Plain];
    cuTexRefGetAddressMode [cuTexRefGetAddressMode, 2_000, Plain];
    cuTexRefGetAddress_v2 [cuTexRefGetAddress, 3_020, Plain];
    cuTexRefGetArray [cuTexRefGetArray, 2_000, Plain];
    cuTexRefGetBorderColor [cuTexRefGetBorderColor, 8_000, Plain];
    cuTexRefGetFilterMode [cuTexRefGetFilterMode, 2_000, Plain];
    cuTexRefGetFlags [cuTexRefGetFlags, 2_000, Plain];
    cuTexRefGetFormat [cuTexRefGetFormat, 2_000, Plain];
    cuTexRefGetMaxAnisotropy [cuTexRefGetMaxAnisotropy, 5_000, Plain];
    cuTexRefGetMipmapFilterMode [cuTexRefGetMipmapFilterMode, 5_000, Plain];
    cuTexRefGetMipmapLevelBias [cuTexRefGetMipmapLevelBias, 5_000, Plain];
    cuTexRefGetMipmapLevelClamp [cuTexRefGetMipmapLevelClamp, 5_000, Plain];
    cuTexRefGetMipmappedArray [cuTexRefGetMipmappedArray, 5_000, Plain];
    cuTexRefSetAddress [cuTexRefSetAddress, 2_000, Plain];
    cuTexRefSetAddress2D [cuTexRefSetAddress2D, 2_020, Plain];
    cuTexRefSetAddress2D_v2 [cuTexRefSetAddress2D, 3_020, Plain];
    cuTexRefSetAddress2D_v3 [cuTexRefSetAddress2D, 4_010, Plain];
    cuTexRefSetAddressMode [cuTexRefSetAddressMode, 2_000, Plain];
    cuTexRefSetAddress_v2 [cuTexRefSetAddress, 3_020, Plain];
    cuTexRefSetArray [cuTexRefSetArray, 2_000, Plain];
    cuTexRefSetBorderColor [cuTexRefSetBorderColor, 8_000, Plain];
    cuTexRefSetFilterMode [cuTexRefSetFilterMode, 2_000, Plain];
    cuTexRefSetFlags [cuTexRefSetFlags, 2_000, Plain];
    cuTexRefSetFormat [cuTexRefSetFormat, 2_000, Plain];
    cuTexRefSetMaxAnisotropy [cuTexRefSetMaxAnisotropy, 5_000, Plain];
    cuTexRefSetMipmapFilterMode [cuTexRefSetMipmapFilterMode, 5_000, Plain];
    cuTexRefSetMipmapLevelBias [cuTexRefSetMipmapLevelBias, 5_000, Plain];
    cuTexRefSetMipmapLevelClamp [cuTexRefSetMipmapLevelClamp, 5_000, Plain];
    cuTexRefSetMipmappedArray [cuTexRefSetMipmappedArray, 5_000, Plain];
    cuVDPAUCtxCreate [cuVDPAUCtxCreate, 0, Hidden];
    cuVDPAUCtxCreate_v2 [cuVDPAUCtxCreate_v2, 0, Hidden];
    cuVDPAUGetDevice [cuVDPAUGetDevice, 3_010, Plain];
    cuWaitExternalSemaphoresAsync [cuWaitExternalSemaphoresAsync, 10_000, Plain];
    cuWaitExternalSemaphoresAsync_ptsz [cuWaitExternalSemaphoresAsync, 10_000, PerThread];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_unsupported_and_in_no_row() {
        assert_eq!(exports::cuLogsCurrent(), CUresult::CUDA_ERROR_NOT_SUPPORTED);
        for Absent { symbol, .. } in ABSENT {
            let row = dacapo_driver::Call::ALL.iter().find(|call| call.symbol() == *symbol);
            assert!(row.is_none(), "{symbol} has a row in the table");
        }
        assert!(ABSENT.is_sorted_by_key(|absent| absent.symbol));
    }
}
