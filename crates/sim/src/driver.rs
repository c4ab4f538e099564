//! The list of driver calls that the software driver knows. What is not in it answers `NOT_SUPPORTED` and leaves a
//! finding: what is missing is read here, not discovered.
//!
//! A row says what a call needs and which function answers it. Its arguments are those of the row of that name in
//! `dacapo_driver::for_each_call`.

use std::ffi::{c_char, c_int, c_uint, c_void};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call, Declared, DeclaredOf, Driver, for_each_call};

use crate::calls::{
    array, capture, conditional, context, copy, device, event, function, general, graph, graph_exec, graph_memory,
    graph_node, launch, library, link, managed, memory, module, node_params, occupancy, old, pointer, pool, set,
    stream, stream_values, texture, user_object, virtual_memory,
};
use crate::machine::Machine;
use crate::visit::Needs;

macro_rules! implemented {
    ($($symbol:ident => $needs:ident, $function:path;)*) => {
        /// The calls that the software driver knows.
        pub const IMPLEMENTED: &[Call] = &[$(Call::$symbol),*];

        /// What each of them needs.
        #[cfg(test)]
        pub(crate) const NEEDS: &[(Call, Needs)] = &[$((Call::$symbol, Needs::$needs)),*];

        define_method! { ($) $($symbol => $needs, $function;)* }
    };
}

/// Defines `method!`, which turns a row of the driver's table into the method that answers it. A row that is not in the
/// list gets none: `trait Driver` then asks `missing`. `$d` is a dollar sign, for the macro that this one writes.
macro_rules! define_method {
    (($d:tt) $($symbol:ident => $needs:ident, $function:path;)*) => {
        macro_rules! method {
            $(($symbol($d($d arg:ident: $d ty:ty),*)) => {
                unsafe fn $symbol(&self, $d($d arg: $d ty),*) -> CUresult {
                    // SAFETY: the arguments are those of this very call, with the promises that its caller made.
                    self.visit(Call::$symbol, Needs::$needs, |visit| unsafe { $function(visit, $d($d arg),*) })
                }
            };)*
            ($d($d other:tt)*) => {};
        }
    };
}

implemented! {
    // General
    cuDriverGetVersion => Nothing, general::driver_get_version;
    cuGetErrorName => Nothing, general::get_error_name;
    cuGetErrorString => Nothing, general::get_error_string;
    cuGetExportTable => Nothing, general::get_export_table;
    cuInit => Nothing, general::init;
    // Device
    cuDeviceCanAccessPeer => Always, device::can_access_peer;
    cuDeviceComputeCapability => Always, device::compute_capability;
    cuDeviceGet => Always, device::get;
    cuDeviceGetAttribute => Always, device::get_attribute;
    cuDeviceGetByPCIBusId => Always, device::get_by_pci_bus_id;
    cuDeviceGetCount => Always, device::get_count;
    cuDeviceGetExecAffinitySupport => Always, device::get_exec_affinity_support;
    cuDeviceGetName => Always, device::get_name;
    cuDeviceGetP2PAttribute => Always, device::get_p2p_attribute;
    cuDeviceGetPCIBusId => Always, device::get_pci_bus_id;
    cuDeviceGetProperties => Always, device::get_properties;
    cuDeviceGetTexture1DLinearMaxWidth => Always, device::get_texture_1d_linear_max_width;
    cuDeviceGetUuid => Always, device::get_uuid;
    cuDeviceGetUuid_v2 => Always, device::get_uuid;
    cuDevicePrimaryCtxGetState => Always, device::primary_get_state;
    cuDevicePrimaryCtxRelease => Always, device::primary_release;
    cuDevicePrimaryCtxRelease_v2 => Always, device::primary_release;
    cuDevicePrimaryCtxReset => Always, device::primary_reset;
    cuDevicePrimaryCtxReset_v2 => Always, device::primary_reset;
    cuDevicePrimaryCtxRetain => Device, device::primary_retain;
    cuDevicePrimaryCtxSetFlags => Always, device::primary_set_flags;
    cuDevicePrimaryCtxSetFlags_v2 => Always, device::primary_set_flags;
    cuDeviceTotalMem => Always, old::total_mem;
    cuDeviceTotalMem_v2 => Always, device::total_mem;
    // Context
    cuCtxAttach => Always, context::attach;
    cuCtxCreate => Device, old::create_v1;
    cuCtxCreate_v2 => Device, context::create;
    cuCtxCreate_v3 => Device, old::create_v3;
    cuCtxCreate_v4 => Device, context::create_v4;
    cuCtxDestroy => Always, context::destroy;
    cuCtxDestroy_v2 => Always, context::destroy;
    cuCtxDetach => Always, context::detach;
    cuCtxDisablePeerAccess => Context, context::disable_peer_access;
    cuCtxEnablePeerAccess => Always, context::enable_peer_access;
    cuCtxGetApiVersion => Always, context::get_api_version;
    cuCtxGetCacheConfig => Context, context::get_cache_config;
    cuCtxGetCurrent => Always, context::get_current;
    cuCtxGetDevice => Always, context::get_device;
    cuCtxGetDevice_v2 => Always, context::get_device_of;
    cuCtxGetExecAffinity => Always, context::get_exec_affinity;
    cuCtxGetFlags => Always, context::get_flags;
    cuCtxGetId => Always, context::get_id;
    cuCtxGetLimit => Context, context::get_limit;
    cuCtxGetSharedMemConfig => Context, context::get_shared_config;
    cuCtxGetStreamPriorityRange => Context, context::get_stream_priority_range;
    cuCtxPopCurrent => Always, context::pop_current;
    cuCtxPopCurrent_v2 => Always, context::pop_current;
    cuCtxPushCurrent => Always, context::push_floating;
    cuCtxPushCurrent_v2 => Always, context::push_current;
    cuCtxRecordEvent => Context, context::record_event;
    cuCtxResetPersistingL2Cache => Context, context::reset_persisting_cache;
    cuCtxSetCacheConfig => Context, context::set_cache_config;
    cuCtxSetCurrent => Always, context::set_current;
    cuCtxSetFlags => Context, context::set_flags;
    cuCtxSetLimit => Context, context::set_limit;
    cuCtxSetSharedMemConfig => Context, context::set_shared_config;
    cuCtxSynchronize => Context, context::synchronize;
    cuCtxSynchronize_v2 => Always, context::synchronize_named;
    cuCtxWaitEvent => Context, context::wait_event;
    // Module
    cuModuleEnumerateFunctions => Context, module::enumerate_functions;
    cuModuleGetFunction => Context, module::get_function;
    cuModuleGetFunctionCount => Context, module::get_function_count;
    cuModuleGetGlobal => Always, old::get_global;
    cuModuleGetGlobal_v2 => Context, module::get_global;
    cuModuleGetLoadingMode => Always, module::get_loading_mode;
    cuModuleLoad => Context, module::load;
    cuModuleLoadData => Context, module::load_data;
    cuModuleLoadDataEx => Context, module::load_data_ex;
    cuModuleLoadFatBinary => Context, module::load_fat_binary;
    cuModuleUnload => Context, module::unload;
    // Library
    cuKernelGetAttribute => Context, library::kernel_get_attribute;
    cuKernelGetFunction => Context, library::kernel_get_function;
    cuKernelGetLibrary => Init, library::kernel_get_library;
    cuKernelGetName => Init, function::kernel_get_name;
    cuKernelGetParamInfo => Context, library::kernel_get_param_info;
    cuKernelSetAttribute => Context, library::kernel_set_attribute;
    cuKernelSetCacheConfig => Init, library::kernel_set_cache_config;
    cuLibraryEnumerateKernels => Init, library::enumerate_kernels;
    cuLibraryGetGlobal => Context, library::get_global;
    cuLibraryGetKernel => Init, library::get_kernel;
    cuLibraryGetKernelCount => Init, library::get_kernel_count;
    cuLibraryGetManaged => Init, library::get_managed;
    cuLibraryGetModule => Context, library::get_module;
    cuLibraryGetUnifiedFunction => Init, library::get_unified_function;
    cuLibraryLoadData => Init, library::load_data;
    cuLibraryLoadFromFile => Init, library::load_from_file;
    cuLibraryUnload => Init, library::unload_library;
    // Link
    cuLinkAddData => Always, link::add_data;
    cuLinkAddData_v2 => Always, link::add_data;
    cuLinkAddFile => Always, link::add_file;
    cuLinkAddFile_v2 => Always, link::add_file;
    cuLinkComplete => Always, link::complete;
    cuLinkCreate => Always, link::create;
    cuLinkCreate_v2 => Always, link::create;
    cuLinkDestroy => Always, link::destroy;
    // Function
    cuFuncGetAttribute => Context, function::get_attribute;
    cuFuncGetModule => Context, function::get_module;
    cuFuncGetName => Context, function::get_name;
    cuFuncGetParamInfo => Context, function::get_param_info;
    cuFuncIsLoaded => Context, function::is_loaded;
    cuFuncLoad => Context, function::load;
    cuFuncSetAttribute => Context, function::set_attribute;
    cuFuncSetCacheConfig => Context, function::set_cache_config;
    cuFuncSetSharedMemConfig => Context, function::set_shared_config;
    // Memory
    cuMemAdvise => Context, managed::advise_v1;
    cuMemAdvise_v2 => Context, managed::advise;
    cuMemAlloc => Always, old::alloc;
    cuMemAllocHost => Always, old::alloc_host;
    cuMemAllocHost_v2 => Context, memory::alloc_host;
    cuMemAllocManaged => Context, managed::alloc;
    cuMemAllocPitch => Always, old::alloc_pitch;
    cuMemAllocPitch_v2 => Context, memory::alloc_pitch;
    cuMemAlloc_v2 => Context, memory::alloc;
    cuMemDiscardAndPrefetchBatchAsync => Context, managed::discard_and_prefetch_batch;
    cuMemDiscardBatchAsync => Context, managed::discard_batch;
    cuMemFree => Always, old::free;
    cuMemFreeHost => Context, memory::free_host;
    cuMemFree_v2 => Context, memory::free;
    cuMemGetAddressRange => Always, old::get_address_range;
    cuMemGetAddressRange_v2 => Context, memory::get_address_range;
    cuMemGetInfo => Always, old::get_info;
    cuMemGetInfo_v2 => Context, memory::get_info;
    cuMemHostAlloc => Context, memory::host_alloc;
    cuMemHostGetDevicePointer => Always, old::host_get_device_pointer;
    cuMemHostGetDevicePointer_v2 => Context, memory::host_get_device_pointer;
    cuMemHostGetFlags => Context, memory::host_get_flags;
    cuMemHostRegister => Context, memory::host_register;
    cuMemHostRegister_v2 => Context, memory::host_register;
    cuMemHostUnregister => Context, memory::host_unregister;
    cuMemPrefetchAsync => Context, managed::prefetch_v1;
    cuMemPrefetchAsync_v2 => Context, managed::prefetch;
    cuMemPrefetchBatchAsync => Context, managed::prefetch_batch;
    cuMemRangeGetAttribute => Context, managed::range_get_attribute;
    cuMemRangeGetAttributes => Context, managed::range_get_attributes;
    // Pool
    cuDeviceGetDefaultMemPool => Always, pool::get_default;
    cuDeviceGetMemPool => Always, pool::get_current;
    cuDeviceSetMemPool => Always, pool::set_current;
    cuMemAllocAsync => Stream, pool::alloc_async;
    cuMemAllocFromPoolAsync => Stream, pool::alloc_from_pool_async;
    cuMemFreeAsync => Stream, pool::free_async;
    cuMemGetDefaultMemPool => Init, pool::get_default_of;
    cuMemGetMemPool => Init, pool::get_current_of;
    cuMemPoolCreate => Context, pool::create;
    cuMemPoolDestroy => Context, pool::destroy;
    cuMemPoolGetAccess => Always, pool::get_access;
    cuMemPoolGetAttribute => Always, pool::get_attribute;
    cuMemPoolSetAccess => Always, pool::set_access;
    cuMemPoolSetAttribute => Always, pool::set_attribute;
    cuMemPoolTrimTo => Context, pool::trim_to;
    cuMemSetMemPool => Init, pool::set_current_of;
    // VirtualMemory
    cuMemAddressFree => Always, virtual_memory::address_free;
    cuMemAddressReserve => Init, virtual_memory::reserve;
    cuMemCreate => Init, virtual_memory::create;
    cuMemGetAllocationGranularity => Always, virtual_memory::get_granularity;
    cuMemGetAllocationPropertiesFromHandle => Always, virtual_memory::get_properties;
    cuMemMap => Context, virtual_memory::map;
    cuMemRelease => Always, virtual_memory::release;
    cuMemRetainAllocationHandle => Always, virtual_memory::retain;
    cuMemSetAccess => Context, virtual_memory::set_access;
    cuMemUnmap => Context, virtual_memory::unmap;
    // Pointer
    cuPointerGetAttribute => Always, pointer::get_attribute;
    cuPointerGetAttributes => Always, pointer::get_attributes;
    // Copy
    cuMemcpy => Stream, copy::unified;
    cuMemcpy2D => Always, old::copy_2d;
    cuMemcpy2DAsync => Always, old::copy_2d_async;
    cuMemcpy2DAsync_v2 => Stream, copy::two_d_async;
    cuMemcpy2DUnaligned => Always, old::copy_2d;
    cuMemcpy2DUnaligned_v2 => Stream, copy::two_d;
    cuMemcpy2D_v2 => Stream, copy::two_d;
    cuMemcpy3D => Always, old::copy_3d;
    cuMemcpy3DAsync => Always, old::copy_3d_async;
    cuMemcpy3DAsync_v2 => Stream, copy::three_d_async;
    cuMemcpy3DPeer => Stream, copy::peer_three_d;
    cuMemcpy3DPeerAsync => Stream, copy::peer_three_d_async;
    cuMemcpy3D_v2 => Stream, copy::three_d;
    cuMemcpyAsync => Stream, copy::unified_async;
    cuMemcpyAtoA_v2 => Stream, array::a_to_a;
    cuMemcpyAtoD_v2 => Stream, array::a_to_d;
    cuMemcpyAtoHAsync_v2 => Stream, array::a_to_h_async;
    cuMemcpyAtoH_v2 => Stream, array::a_to_h;
    cuMemcpyDtoA_v2 => Stream, array::d_to_a;
    cuMemcpyDtoD => Always, old::device_to_device;
    cuMemcpyDtoDAsync => Always, old::device_to_device_async;
    cuMemcpyDtoDAsync_v2 => Stream, copy::d_to_d_async;
    cuMemcpyDtoD_v2 => Stream, copy::d_to_d;
    cuMemcpyDtoH => Always, old::device_to_host;
    cuMemcpyDtoHAsync => Always, old::device_to_host_async;
    cuMemcpyDtoHAsync_v2 => Stream, copy::d_to_h_async;
    cuMemcpyDtoH_v2 => Stream, copy::d_to_h;
    cuMemcpyHtoAAsync_v2 => Stream, array::h_to_a_async;
    cuMemcpyHtoA_v2 => Stream, array::h_to_a;
    cuMemcpyHtoD => Always, old::host_to_device;
    cuMemcpyHtoDAsync => Always, old::host_to_device_async;
    cuMemcpyHtoDAsync_v2 => Stream, copy::h_to_d_async;
    cuMemcpyHtoD_v2 => Stream, copy::h_to_d;
    cuMemcpyPeer => Stream, copy::peer;
    cuMemcpyPeerAsync => Stream, copy::peer_async;
    // Set
    cuMemsetD16 => Always, old::set_16;
    cuMemsetD16Async => Stream, set::d16_async;
    cuMemsetD16_v2 => Stream, set::d16;
    cuMemsetD2D16 => Always, old::set_2d_16;
    cuMemsetD2D16Async => Stream, set::d2d16_async;
    cuMemsetD2D16_v2 => Stream, set::d2d16;
    cuMemsetD2D32 => Always, old::set_2d_32;
    cuMemsetD2D32Async => Stream, set::d2d32_async;
    cuMemsetD2D32_v2 => Stream, set::d2d32;
    cuMemsetD2D8 => Always, old::set_2d_8;
    cuMemsetD2D8Async => Stream, set::d2d8_async;
    cuMemsetD2D8_v2 => Stream, set::d2d8;
    cuMemsetD32 => Always, old::set_32;
    cuMemsetD32Async => Stream, set::d32_async;
    cuMemsetD32_v2 => Stream, set::d32;
    cuMemsetD8 => Always, old::set_8;
    cuMemsetD8Async => Stream, set::d8_async;
    cuMemsetD8_v2 => Stream, set::d8;
    // Array
    cuArray3DCreate_v2 => Context, array::create_3d;
    cuArray3DGetDescriptor_v2 => Context, array::get_descriptor_3d;
    cuArrayCreate_v2 => Context, array::create;
    cuArrayDestroy => Context, array::destroy;
    cuArrayGetDescriptor_v2 => Context, array::get_descriptor;
    // Texture
    cuSurfObjectCreate => Context, texture::create_surface;
    cuSurfObjectDestroy => Context, texture::destroy_surface;
    cuSurfObjectGetResourceDesc => Context, texture::get_surface_resource;
    cuTexObjectCreate => Context, texture::create;
    cuTexObjectDestroy => Context, texture::destroy;
    cuTexObjectGetResourceDesc => Context, texture::get_resource;
    cuTexObjectGetResourceViewDesc => Context, texture::get_view;
    cuTexObjectGetTextureDesc => Context, texture::get_texture;
    // Stream
    cuStreamAddCallback => Stream, stream::add_callback;
    cuStreamAttachMemAsync => Context, managed::attach;
    cuStreamBatchMemOp => Stream, old::batch;
    cuStreamBatchMemOp_v2 => Stream, stream_values::batch;
    cuStreamCopyAttributes => Context, stream::copy_attributes;
    cuStreamCreate => Context, stream::create;
    cuStreamCreateWithPriority => Context, stream::create_with_priority;
    cuStreamDestroy => Context, stream::destroy;
    cuStreamDestroy_v2 => Context, stream::destroy;
    cuStreamGetAttribute => Context, stream::get_attribute;
    cuStreamGetCtx => Context, stream::get_ctx;
    cuStreamGetCtx_v2 => Context, old::stream_get_ctx_v2;
    cuStreamGetDevice => Context, stream::get_device;
    cuStreamGetFlags => Context, stream::get_flags;
    cuStreamGetId => Context, stream::get_id;
    cuStreamGetPriority => Context, stream::get_priority;
    cuStreamQuery => Stream, stream::query;
    cuStreamSetAttribute => Context, stream::set_attribute;
    cuStreamSynchronize => Context, stream::synchronize;
    cuStreamWaitEvent => Stream, event::stream_wait;
    cuStreamWaitValue32 => Stream, old::value_32;
    cuStreamWaitValue32_v2 => Stream, stream_values::wait_32;
    cuStreamWaitValue64 => Stream, old::value_64;
    cuStreamWaitValue64_v2 => Stream, stream_values::wait_64;
    cuStreamWriteValue32 => Stream, old::value_32;
    cuStreamWriteValue32_v2 => Stream, stream_values::write_32;
    cuStreamWriteValue64 => Stream, old::value_64;
    cuStreamWriteValue64_v2 => Stream, stream_values::write_64;
    // Capture
    cuStreamBeginCapture => Stream, old::begin_capture;
    cuStreamBeginCaptureToGraph => Stream, capture::begin_to_graph;
    cuStreamBeginCapture_v2 => Stream, capture::begin;
    cuStreamEndCapture => Stream, capture::end;
    cuStreamGetCaptureInfo => Stream, old::get_capture_info;
    cuStreamGetCaptureInfo_v2 => Stream, capture::get_info_v2;
    cuStreamGetCaptureInfo_v3 => Stream, capture::get_info;
    cuStreamIsCapturing => Stream, capture::is_capturing;
    cuStreamUpdateCaptureDependencies => Stream, capture::update_dependencies_v1;
    cuStreamUpdateCaptureDependencies_v2 => Stream, capture::update_dependencies;
    cuThreadExchangeStreamCaptureMode => Always, capture::exchange_mode;
    // Event
    cuEventCreate => Context, event::create;
    cuEventDestroy => Always, event::destroy;
    cuEventDestroy_v2 => Always, event::destroy;
    cuEventElapsedTime => Context, event::elapsed_time;
    cuEventElapsedTime_v2 => Context, event::elapsed_time;
    cuEventQuery => Context, event::query;
    cuEventRecord => Stream, event::record;
    cuEventRecordWithFlags => Stream, event::record_with_flags;
    cuEventSynchronize => Context, event::synchronize;
    // Launch
    cuLaunchCooperativeKernel => Stream, launch::cooperative;
    cuLaunchHostFunc => Stream, stream::launch_host_func;
    cuLaunchKernel => Stream, launch::kernel;
    cuLaunchKernelEx => Stream, launch::kernel_ex;
    // Graph
    cuGraphAddBatchMemOpNode => Context, stream_values::add_node;
    cuGraphAddChildGraphNode => Context, graph_node::add_child;
    cuGraphAddDependencies => Always, graph::add_dependencies_v1;
    cuGraphAddDependencies_v2 => Always, graph::add_dependencies;
    cuGraphAddEmptyNode => Always, graph_node::add_empty;
    cuGraphAddEventRecordNode => Context, graph_node::add_event_record;
    cuGraphAddEventWaitNode => Context, graph_node::add_event_wait;
    cuGraphAddHostNode => Context, graph_node::add_host;
    cuGraphAddKernelNode => Context, old::add_kernel;
    cuGraphAddKernelNode_v2 => Context, graph_node::add_kernel;
    cuGraphAddMemAllocNode => Context, graph_memory::add_alloc;
    cuGraphAddMemFreeNode => Context, graph_memory::add_free;
    cuGraphAddMemcpyNode => Context, graph_node::add_copy;
    cuGraphAddMemsetNode => Context, graph_node::add_set;
    cuGraphAddNode => Context, graph_node::add_any_v1;
    cuGraphAddNode_v2 => Context, graph_node::add_any;
    cuGraphBatchMemOpNodeGetParams => Always, stream_values::node_get_params;
    cuGraphBatchMemOpNodeSetParams => Context, stream_values::node_set_params;
    cuGraphChildGraphNodeGetGraph => Always, graph_node::child_get_graph;
    cuGraphClone => Context, graph::clone;
    cuGraphConditionalHandleCreate => Context, conditional::handle_create;
    cuGraphCreate => Always, graph::create;
    cuGraphDebugDotPrint => Always, graph::debug_dot_print;
    cuGraphDestroy => Always, graph::destroy;
    cuGraphDestroyNode => Always, graph::destroy_node;
    cuGraphEventRecordNodeGetEvent => Always, node_params::record_get_event;
    cuGraphEventRecordNodeSetEvent => Context, graph_node::record_set_event;
    cuGraphEventWaitNodeGetEvent => Always, node_params::wait_get_event;
    cuGraphEventWaitNodeSetEvent => Context, graph_node::wait_set_event;
    cuGraphGetEdges => Always, graph::get_edges_v1;
    cuGraphGetEdges_v2 => Always, graph::get_edges;
    cuGraphGetNodes => Always, graph::get_nodes;
    cuGraphGetRootNodes => Always, graph::get_roots;
    cuGraphHostNodeGetParams => Always, node_params::host_get_params;
    cuGraphHostNodeSetParams => Context, graph_node::host_set_params;
    cuGraphKernelNodeCopyAttributes => Context, node_params::kernel_copy_attributes;
    cuGraphKernelNodeGetAttribute => Always, graph_node::kernel_get_attribute;
    cuGraphKernelNodeGetParams => Always, old::kernel_get_params;
    cuGraphKernelNodeGetParams_v2 => Always, graph_node::kernel_get_params;
    cuGraphKernelNodeSetAttribute => Context, graph_node::kernel_set_attribute;
    cuGraphKernelNodeSetParams => Context, old::kernel_set_params;
    cuGraphKernelNodeSetParams_v2 => Context, graph_node::kernel_set_params;
    cuGraphMemAllocNodeGetParams => Always, graph_memory::alloc_get_params;
    cuGraphMemFreeNodeGetParams => Always, graph_memory::free_get_params;
    cuGraphMemcpyNodeGetParams => Always, node_params::copy_get_params;
    cuGraphMemcpyNodeSetParams => Context, graph_node::copy_set_params;
    cuGraphMemsetNodeGetParams => Always, graph_node::set_get_params;
    cuGraphMemsetNodeSetParams => Context, graph_node::set_set_params;
    cuGraphNodeFindInClone => Always, graph::find_in_clone;
    cuGraphNodeGetDependencies => Always, graph::get_dependencies_v1;
    cuGraphNodeGetDependencies_v2 => Always, graph::get_dependencies;
    cuGraphNodeGetDependentNodes => Always, graph::get_dependents_v1;
    cuGraphNodeGetDependentNodes_v2 => Always, graph::get_dependents;
    cuGraphNodeGetType => Always, graph::node_get_type;
    cuGraphNodeSetParams => Context, node_params::set_params;
    cuGraphRemoveDependencies => Always, graph::remove_dependencies_v1;
    cuGraphRemoveDependencies_v2 => Always, graph::remove_dependencies;
    // GraphExec
    cuGraphExecBatchMemOpNodeSetParams => Context, stream_values::exec_set_params;
    cuGraphExecChildGraphNodeSetParams => Context, graph_exec::child_set_params;
    cuGraphExecDestroy => Always, graph_exec::destroy;
    cuGraphExecEventRecordNodeSetEvent => Context, graph_exec::record_set_event;
    cuGraphExecEventWaitNodeSetEvent => Context, graph_exec::wait_set_event;
    cuGraphExecGetFlags => Always, graph_exec::get_flags;
    cuGraphExecHostNodeSetParams => Context, graph_exec::host_set_params;
    cuGraphExecKernelNodeSetParams => Context, old::exec_kernel_set_params;
    cuGraphExecKernelNodeSetParams_v2 => Context, graph_exec::kernel_set_params;
    cuGraphExecMemcpyNodeSetParams => Context, graph_exec::copy_set_params;
    cuGraphExecMemsetNodeSetParams => Context, graph_exec::set_set_params;
    cuGraphExecNodeSetParams => Context, node_params::exec_set_params;
    cuGraphExecUpdate => Always, old::exec_update;
    cuGraphExecUpdate_v2 => Always, graph_exec::update;
    cuGraphInstantiate => Context, old::instantiate;
    cuGraphInstantiateWithFlags => Context, graph_exec::instantiate;
    cuGraphInstantiateWithParams => Context, graph_exec::instantiate_with_params;
    cuGraphInstantiate_v2 => Context, old::instantiate;
    cuGraphLaunch => OwnStream, graph_exec::launch;
    cuGraphNodeGetEnabled => Always, graph_exec::get_enabled;
    cuGraphNodeSetEnabled => Always, graph_exec::set_enabled;
    cuGraphUpload => OwnStream, graph_exec::upload;
    // GraphMemory
    cuDeviceGetGraphMemAttribute => Always, graph_memory::get_attribute;
    cuDeviceGraphMemTrim => Always, graph_memory::trim;
    cuDeviceSetGraphMemAttribute => Always, graph_memory::set_attribute;
    // UserObject
    cuGraphReleaseUserObject => Always, user_object::graph_release;
    cuGraphRetainUserObject => Always, user_object::graph_retain;
    cuUserObjectCreate => Always, user_object::create;
    cuUserObjectRelease => Always, user_object::release;
    cuUserObjectRetain => Always, user_object::retain;
    // Occupancy
    cuOccupancyAvailableDynamicSMemPerBlock => Context, occupancy::available_shared;
    cuOccupancyMaxActiveBlocksPerMultiprocessor => Context, occupancy::max_active_blocks;
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags => Context, occupancy::max_active_blocks_with_flags;
    cuOccupancyMaxPotentialBlockSize => Context, occupancy::potential_block;
    cuOccupancyMaxPotentialBlockSizeWithFlags => Context, occupancy::potential_block_with_flags;
    // Profiler
    cuProfilerStart => Context, general::profiler;
    cuProfilerStop => Context, general::profiler;
}

macro_rules! answer {
    ($($symbol:ident [$($facts:tt)*] $arguments:tt;)*) => {
        #[allow(non_snake_case, reason = "C's names")]
        impl Driver for Machine {
            fn missing(&self, call: Call) -> CUresult {
                self.visit(call, Needs::Always, |visit| {
                    Err(visit.unsupported(format!("{} is not there yet", call.name())))
                })
            }

            fn wants_declared(&self) -> bool {
                true
            }

            fn declare(&self, of: DeclaredOf, declared: Option<&Declared<'_>>) {
                self.take_declared(of, declared);
            }

            $(method! { $symbol $arguments })*
        }
    };
}

for_each_call!(answer);
