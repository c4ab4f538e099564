//! The C types of the driver API: handles, structs, enumerations.
//!
//! They are ours, written from cuda.h's layouts and tested against another set of bindings (tests/layouts.rs).
//! Enumerations are plain integers with constants: a driver may answer values that no header of today names, and a
//! Rust `enum` would make reading one undefined behaviour.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs, reason = "cuda.h's own names")]

pub use std::ffi::{c_char, c_int, c_uint, c_void};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        /// An opaque handle: a token, never followed by us.
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub *mut c_void);

        impl $name {
            /// The null handle.
            pub const NULL: $name = $name(std::ptr::null_mut());

            /// Whether this is the null handle.
            pub fn is_null(self) -> bool {
                self.0.is_null()
            }

            /// The handle as a number.
            pub fn bits(self) -> u64 {
                self.0 as usize as u64
            }

            /// A handle from a number.
            pub fn from_bits(bits: u64) -> $name {
                $name(bits as usize as *mut c_void)
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::NULL
            }
        }

        // SAFETY: a handle is a token that is compared and handed back to the driver; nothing on this side
        // follows it, so moving it to another thread touches no memory.
        unsafe impl Send for $name {}
        // SAFETY: as for Send; sharing a token shares nothing.
        unsafe impl Sync for $name {}
    )* };
}

handles! {
    CUcontext; CUmodule; CUfunction; CUlibrary; CUkernel; CUlinkState;
    CUstream; CUevent; CUgraph; CUgraphNode; CUgraphExec; CUmemoryPool; CUuserObject; CUarray; CUgreenCtx;
}

impl CUstream {
    /// `CU_STREAM_LEGACY`: the legacy default stream by its name; the null stream means the same.
    pub const LEGACY: CUstream = CUstream(std::ptr::without_provenance_mut(1));
    /// `CU_STREAM_PER_THREAD`: the calling thread's own default stream.
    pub const PER_THREAD: CUstream = CUstream(std::ptr::without_provenance_mut(2));
}

pub type CUdevice = c_int;
pub type CUdeviceptr = u64;
/// An address in the calls of CUDA 2 and 3, which had 32 bits.
pub type CUdeviceptr_v1 = c_uint;
/// What the 2D copies of those calls take. No such call gets far enough to look into it.
pub type CUDA_MEMCPY2D_v1 = c_void;
/// The same for 3D copies.
pub type CUDA_MEMCPY3D_v1 = c_void;
pub type CUgraphConditionalHandle = u64;
pub type CUmemGenericAllocationHandle = u64;
pub type CUtexObject = u64;
pub type CUsurfObject = u64;

/// What `cuLaunchHostFunc`, host nodes and user objects call.
pub type CUhostFn = Option<unsafe extern "C" fn(userData: *mut c_void)>;
/// What `cuStreamAddCallback` calls.
pub type CUstreamCallback =
    Option<unsafe extern "C" fn(hStream: CUstream, status: crate::CUresult, userData: *mut c_void)>;
/// What the occupancy calls ask for the dynamic shared memory of a block size.
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(blockSize: c_int) -> usize>;

macro_rules! define_enumerations {
    ($($name:ident { $($constant:ident = $value:expr),* $(,)? })*) => { $(
        pub type $name = c_uint;
        $(pub const $constant: $name = $value;)*
    )* };
}

/// Hands every enumeration and its constants to the macro `$consume`: the definitions here, their check in tests/layouts.rs.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_enumeration { ($consume:path) => { $consume! {
    CUdevice_attribute {
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
        CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9, CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
        CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16, CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
        CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
        CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
        CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
        CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
        CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
        CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
        CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
        CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
    }
    CUdevice_P2PAttribute {
        CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK = 1, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2,
        CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3, CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED = 4,
    }
    CUexecAffinityType { CU_EXEC_AFFINITY_TYPE_SM_COUNT = 0 }
    CUsharedconfig {
        CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE = 1,
        CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE = 2,
    }
    CUarray_format {
        CU_AD_FORMAT_UNSIGNED_INT8 = 1, CU_AD_FORMAT_UNSIGNED_INT16 = 2, CU_AD_FORMAT_UNSIGNED_INT32 = 3,
        CU_AD_FORMAT_SIGNED_INT8 = 8, CU_AD_FORMAT_SIGNED_INT16 = 9, CU_AD_FORMAT_SIGNED_INT32 = 10,
        CU_AD_FORMAT_HALF = 16, CU_AD_FORMAT_FLOAT = 32,
    }
    CUfunction_attribute {
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
        CU_FUNC_ATTRIBUTE_NUM_REGS = 4, CU_FUNC_ATTRIBUTE_PTX_VERSION = 5, CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
        CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
        CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
        CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15,
    }
    CUstreamCaptureMode {
        CU_STREAM_CAPTURE_MODE_GLOBAL = 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1, CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    }
    CUstreamCaptureStatus {
        CU_STREAM_CAPTURE_STATUS_NONE = 0, CU_STREAM_CAPTURE_STATUS_ACTIVE = 1, CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
    }
    CUstream_flags { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 }
    CUevent_flags { CU_EVENT_DEFAULT = 0, CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2, CU_EVENT_INTERPROCESS = 4 }
    CUevent_record_flags { CU_EVENT_RECORD_DEFAULT = 0, CU_EVENT_RECORD_EXTERNAL = 1 }
    CUevent_wait_flags { CU_EVENT_WAIT_DEFAULT = 0, CU_EVENT_WAIT_EXTERNAL = 1 }
    CUgraphNodeType {
        CU_GRAPH_NODE_TYPE_KERNEL = 0, CU_GRAPH_NODE_TYPE_MEMCPY = 1, CU_GRAPH_NODE_TYPE_MEMSET = 2,
        CU_GRAPH_NODE_TYPE_HOST = 3, CU_GRAPH_NODE_TYPE_GRAPH = 4, CU_GRAPH_NODE_TYPE_EMPTY = 5,
        CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6, CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
        CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL = 8, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT = 9,
        CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10, CU_GRAPH_NODE_TYPE_MEM_FREE = 11, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12,
        CU_GRAPH_NODE_TYPE_CONDITIONAL = 13,
    }
    CUgraphInstantiate_flags {
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,
        CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8,
    }
    CUgraphInstantiateResult {
        CUDA_GRAPH_INSTANTIATE_SUCCESS = 0, CUDA_GRAPH_INSTANTIATE_ERROR = 1,
        CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE = 2, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED = 3,
        CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED = 4, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED = 5,
    }
    CUgraphExecUpdateResult {
        CU_GRAPH_EXEC_UPDATE_SUCCESS = 0, CU_GRAPH_EXEC_UPDATE_ERROR = 1, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
        CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3, CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED = 4,
        CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 5, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED = 6,
        CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE = 7, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED = 8,
    }
    CUlaunchAttributeID {
        CU_LAUNCH_ATTRIBUTE_IGNORE = 0, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1, CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
        CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
        CU_LAUNCH_ATTRIBUTE_PRIORITY = 8, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10,
    }
    CUmemorytype {
        CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2, CU_MEMORYTYPE_ARRAY = 3, CU_MEMORYTYPE_UNIFIED = 4,
    }
    CUpointer_attribute {
        CU_POINTER_ATTRIBUTE_CONTEXT = 1, CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2, CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
        CU_POINTER_ATTRIBUTE_HOST_POINTER = 4, CU_POINTER_ATTRIBUTE_P2P_TOKENS = 5, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
        CU_POINTER_ATTRIBUTE_BUFFER_ID = 7, CU_POINTER_ATTRIBUTE_IS_MANAGED = 8, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11, CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12, CU_POINTER_ATTRIBUTE_MAPPED = 13,
        CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14, CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17, CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE = 21,
    }
    CUdriverProcAddressQueryResult {
        CU_GET_PROC_ADDRESS_SUCCESS = 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
        CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
    }
    CUmemHost_flags {
        CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2, CU_MEMHOSTALLOC_WRITECOMBINED = 4,
    }
    CUmoduleLoadingMode { CU_MODULE_EAGER_LOADING = 1, CU_MODULE_LAZY_LOADING = 2 }
    CUfunctionLoadingState { CU_FUNCTION_LOADING_STATE_UNLOADED = 0, CU_FUNCTION_LOADING_STATE_LOADED = 1 }
    CUgraphEdgeType { CU_GRAPH_DEPENDENCY_TYPE_DEFAULT = 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC = 1 }
    CUfunc_cache {
        CU_FUNC_CACHE_PREFER_NONE = 0, CU_FUNC_CACHE_PREFER_SHARED = 1, CU_FUNC_CACHE_PREFER_L1 = 2, CU_FUNC_CACHE_PREFER_EQUAL = 3,
    }
    CUgraphMem_attribute {
        CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT = 0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH = 1,
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT = 2, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH = 3,
    }
    CUjitInputType {
        CU_JIT_INPUT_CUBIN = 0, CU_JIT_INPUT_PTX = 1, CU_JIT_INPUT_FATBINARY = 2, CU_JIT_INPUT_OBJECT = 3, CU_JIT_INPUT_LIBRARY = 4,
    }
    CUjit_option {
        CU_JIT_MAX_REGISTERS = 0, CU_JIT_THREADS_PER_BLOCK = 1, CU_JIT_WALL_TIME = 2, CU_JIT_INFO_LOG_BUFFER = 3,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4, CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
        CU_JIT_OPTIMIZATION_LEVEL = 7, CU_JIT_TARGET_FROM_CUCONTEXT = 8, CU_JIT_TARGET = 9, CU_JIT_FALLBACK_STRATEGY = 10,
        CU_JIT_GENERATE_DEBUG_INFO = 11, CU_JIT_LOG_VERBOSE = 12, CU_JIT_GENERATE_LINE_INFO = 13, CU_JIT_CACHE_MODE = 14,
    }
    CUlibraryOption { CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0, CU_LIBRARY_BINARY_IS_PRESERVED = 1 }
    CUlimit {
        CU_LIMIT_STACK_SIZE = 0, CU_LIMIT_PRINTF_FIFO_SIZE = 1, CU_LIMIT_MALLOC_HEAP_SIZE = 2,
        CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4,
        CU_LIMIT_MAX_L2_FETCH_GRANULARITY = 5, CU_LIMIT_PERSISTING_L2_CACHE_SIZE = 6,
        CU_LIMIT_SHMEM_SIZE = 7, CU_LIMIT_CIG_ENABLED = 8,
    }
    CUmemAccess_flags {
        CU_MEM_ACCESS_FLAGS_PROT_NONE = 0, CU_MEM_ACCESS_FLAGS_PROT_READ = 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
    }
    CUmemAllocationGranularity_flags { CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1 }
    CUmemPool_attribute {
        CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7, CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8,
    }
    CUmem_advise {
        CU_MEM_ADVISE_SET_READ_MOSTLY = 1, CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2, CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
        CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4, CU_MEM_ADVISE_SET_ACCESSED_BY = 5, CU_MEM_ADVISE_UNSET_ACCESSED_BY = 6,
    }
    CUmem_range_attribute {
        CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
        CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4,
        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 5, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 6,
        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8,
    }
    CUmemAttach_flags { CU_MEM_ATTACH_GLOBAL = 1, CU_MEM_ATTACH_HOST = 2, CU_MEM_ATTACH_SINGLE = 4 }
    CUresourcetype {
        CU_RESOURCE_TYPE_ARRAY = 0, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1, CU_RESOURCE_TYPE_LINEAR = 2,
        CU_RESOURCE_TYPE_PITCH2D = 3,
    }
    CUaddress_mode {
        CU_TR_ADDRESS_MODE_WRAP = 0, CU_TR_ADDRESS_MODE_CLAMP = 1, CU_TR_ADDRESS_MODE_MIRROR = 2,
        CU_TR_ADDRESS_MODE_BORDER = 3,
    }
    CUfilter_mode { CU_TR_FILTER_MODE_POINT = 0, CU_TR_FILTER_MODE_LINEAR = 1 }
    CUtexture_flags {
        CU_TRSF_READ_AS_INTEGER = 1, CU_TRSF_NORMALIZED_COORDINATES = 2, CU_TRSF_SRGB = 16,
        CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION = 32, CU_TRSF_SEAMLESS_CUBEMAP = 64,
    }
    CUarray3D_flags {
        CUDA_ARRAY3D_LAYERED = 1, CUDA_ARRAY3D_SURFACE_LDST = 2, CUDA_ARRAY3D_CUBEMAP = 4, CUDA_ARRAY3D_TEXTURE_GATHER = 8,
        CUDA_ARRAY3D_DEPTH_TEXTURE = 16, CUDA_ARRAY3D_COLOR_ATTACHMENT = 32, CUDA_ARRAY3D_SPARSE = 64,
        CUDA_ARRAY3D_DEFERRED_MAPPING = 128, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE = 256,
    }
    CUctx_flags {
        CU_CTX_SCHED_AUTO = 0, CU_CTX_SCHED_SPIN = 1, CU_CTX_SCHED_YIELD = 2, CU_CTX_SCHED_BLOCKING_SYNC = 4,
        CU_CTX_MAP_HOST = 8, CU_CTX_LMEM_RESIZE_TO_MAX = 16,
    }
    CUdriverProcAddress_flags {
        CU_GET_PROC_ADDRESS_DEFAULT = 0, CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,
        CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2,
    }
    CUgraphChildGraphNodeOwnership { CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE = 0, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE = 1 }
    CUgraphConditionalNodeType { CU_GRAPH_COND_TYPE_IF = 0, CU_GRAPH_COND_TYPE_WHILE = 1, CU_GRAPH_COND_TYPE_SWITCH = 2 }
    CUmemAllocationType {
        CU_MEM_ALLOCATION_TYPE_INVALID = 0, CU_MEM_ALLOCATION_TYPE_PINNED = 1, CU_MEM_ALLOCATION_TYPE_MANAGED = 2,
    }
    CUstreamBatchMemOpType {
        CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1, CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2, CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
        CU_STREAM_MEM_OP_WAIT_VALUE_64 = 4, CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5, CU_STREAM_MEM_OP_BARRIER = 6,
    }
    CUstreamUpdateCaptureDependencies_flags { CU_STREAM_ADD_CAPTURE_DEPENDENCIES = 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES = 1 }
    CUstreamWaitValue_flags {
        CU_STREAM_WAIT_VALUE_GEQ = 0, CU_STREAM_WAIT_VALUE_EQ = 1, CU_STREAM_WAIT_VALUE_AND = 2, CU_STREAM_WAIT_VALUE_NOR = 3,
    }
    CUuserObject_flags { CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1 }
    CUuserObjectRetain_flags { CU_GRAPH_USER_OBJECT_MOVE = 1 }
    CUmemLocationType {
        CU_MEM_LOCATION_TYPE_INVALID = 0, CU_MEM_LOCATION_TYPE_DEVICE = 1, CU_MEM_LOCATION_TYPE_HOST = 2,
        CU_MEM_LOCATION_TYPE_HOST_NUMA = 3, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4,
    }
} } }
crate::for_each_enumeration!(define_enumerations);

/// An attribute of a launch or of a kernel node, by the same numbers.
pub type CUkernelNodeAttrID = CUlaunchAttributeID;
/// An attribute of a stream, by the same numbers.
pub type CUstreamAttrID = CUlaunchAttributeID;

macro_rules! define_structs {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => { $(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name { $(pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                // SAFETY: every field is an integer, a nullable pointer or handle, an `Option` of a function
                // pointer, or a struct of such; all zeros is a value of each of them.
                unsafe { std::mem::zeroed() }
            }
        }
    )* };
}

/// Hands every struct and its fields to the macro `$consume`: the definitions here, their check in tests/layouts.rs.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_struct { ($consume:path) => { $consume! {
    CUuuid { bytes: [u8; 16] }
    CUDA_KERNEL_NODE_PARAMS {
        func: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint,
        blockDimZ: c_uint, sharedMemBytes: c_uint, kernelParams: *mut *mut c_void, extra: *mut *mut c_void,
        kern: CUkernel, ctx: CUcontext,
    }
    CUDA_KERNEL_NODE_PARAMS_v1 {
        func: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint,
        blockDimZ: c_uint, sharedMemBytes: c_uint, kernelParams: *mut *mut c_void, extra: *mut *mut c_void,
    }
    CUDA_MEMSET_NODE_PARAMS { dst: CUdeviceptr, pitch: usize, value: c_uint, elementSize: c_uint, width: usize, height: usize }
    CUDA_MEMSET_NODE_PARAMS_v2 {
        dst: CUdeviceptr, pitch: usize, value: c_uint, elementSize: c_uint, width: usize, height: usize, ctx: CUcontext,
    }
    CUDA_HOST_NODE_PARAMS { r#fn: CUhostFn, userData: *mut c_void }
    CUDA_MEMCPY2D {
        srcXInBytes: usize, srcY: usize, srcMemoryType: CUmemorytype, srcHost: *const c_void, srcDevice: CUdeviceptr,
        srcArray: CUarray, srcPitch: usize, dstXInBytes: usize, dstY: usize, dstMemoryType: CUmemorytype,
        dstHost: *mut c_void, dstDevice: CUdeviceptr, dstArray: CUarray, dstPitch: usize, WidthInBytes: usize, Height: usize,
    }
    CUDA_MEMCPY3D {
        srcXInBytes: usize, srcY: usize, srcZ: usize, srcLOD: usize, srcMemoryType: CUmemorytype, srcHost: *const c_void,
        srcDevice: CUdeviceptr, srcArray: CUarray, reserved0: *mut c_void, srcPitch: usize, srcHeight: usize,
        dstXInBytes: usize, dstY: usize, dstZ: usize, dstLOD: usize, dstMemoryType: CUmemorytype, dstHost: *mut c_void,
        dstDevice: CUdeviceptr, dstArray: CUarray, reserved1: *mut c_void, dstPitch: usize, dstHeight: usize,
        WidthInBytes: usize, Height: usize, Depth: usize,
    }
    /// A copy with a context for each end.
    CUDA_MEMCPY3D_PEER {
        srcXInBytes: usize, srcY: usize, srcZ: usize, srcLOD: usize, srcMemoryType: CUmemorytype, srcHost: *const c_void,
        srcDevice: CUdeviceptr, srcArray: CUarray, srcContext: CUcontext, srcPitch: usize, srcHeight: usize,
        dstXInBytes: usize, dstY: usize, dstZ: usize, dstLOD: usize, dstMemoryType: CUmemorytype, dstHost: *mut c_void,
        dstDevice: CUdeviceptr, dstArray: CUarray, dstContext: CUcontext, dstPitch: usize, dstHeight: usize,
        WidthInBytes: usize, Height: usize, Depth: usize,
    }
    CUDA_ARRAY_DESCRIPTOR { Width: usize, Height: usize, Format: CUarray_format, NumChannels: c_uint }
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: usize, Height: usize, Depth: usize, Format: CUarray_format, NumChannels: c_uint, Flags: c_uint,
    }
    /// What a texture or a surface reads: which words mean what depends on the type.
    CUDA_RESOURCE_DESC { resType: CUresourcetype, res: [u64; 16], flags: c_uint }
    CUDA_TEXTURE_DESC {
        addressMode: [CUaddress_mode; 3], filterMode: CUfilter_mode, flags: c_uint, maxAnisotropy: c_uint,
        mipmapFilterMode: CUfilter_mode, mipmapLevelBias: f32, minMipmapLevelClamp: f32, maxMipmapLevelClamp: f32,
        borderColor: [f32; 4], reserved: [c_int; 12],
    }
    CUDA_RESOURCE_VIEW_DESC {
        format: c_uint, width: usize, height: usize, depth: usize, firstMipmapLevel: c_uint, lastMipmapLevel: c_uint,
        firstLayer: c_uint, lastLayer: c_uint, reserved: [c_uint; 16],
    }
    CUDA_MEMCPY_NODE_PARAMS { flags: c_int, reserved: c_int, copyCtx: CUcontext, copyParams: CUDA_MEMCPY3D }
    CUDA_CHILD_GRAPH_NODE_PARAMS { graph: CUgraph, ownership: c_uint }
    CUDA_EVENT_NODE_PARAMS { event: CUevent }
    CUmemLocation { r#type: CUmemLocationType, id: c_int }
    CUmemAccessDesc { location: CUmemLocation, flags: CUmemAccess_flags }
    CUmemPoolProps {
        allocType: c_uint, handleTypes: c_uint, location: CUmemLocation, win32SecurityAttributes: *mut c_void,
        maxSize: usize, usage: u16, reserved: [u16; 27],
    }
    CUmemAllocationProp {
        r#type: c_uint, requestedHandleTypes: c_uint, location: CUmemLocation, win32HandleMetaData: *mut c_void,
        allocFlags: [u8; 8],
    }
    CUDA_MEM_ALLOC_NODE_PARAMS {
        poolProps: CUmemPoolProps, accessDescs: *const CUmemAccessDesc, accessDescCount: usize, bytesize: usize,
        dptr: CUdeviceptr,
    }
    CUDA_MEM_FREE_NODE_PARAMS { dptr: CUdeviceptr }
    CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx: CUcontext, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint }
    CUDA_CONDITIONAL_NODE_PARAMS {
        handle: CUgraphConditionalHandle, r#type: c_uint, size: c_uint, phGraph_out: *mut CUgraph, ctx: CUcontext,
    }
    /// One memory operation of a batch; which words mean what depends on the operation.
    CUstreamBatchMemOpParams { words: [u64; 6] }
    CUgraphEdgeData { from_port: u8, to_port: u8, r#type: u8, reserved: [u8; 5] }
    CUDA_GRAPH_INSTANTIATE_PARAMS {
        flags: u64, hUploadStream: CUstream, hErrNode_out: CUgraphNode, result_out: CUgraphInstantiateResult,
    }
    CUgraphExecUpdateResultInfo { result: CUgraphExecUpdateResult, errorNode: CUgraphNode, errorFromNode: CUgraphNode }
    /// The value of a launch, node or stream attribute: 64 bytes whose meaning the attribute's number gives.
    CUlaunchAttributeValue { words: [u64; 8] }
    CUlaunchAttribute { id: CUlaunchAttributeID, pad: [u8; 4], value: CUlaunchAttributeValue }
    CUlaunchConfig {
        gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint,
        sharedMemBytes: c_uint, hStream: CUstream, attrs: *mut CUlaunchAttribute, numAttrs: c_uint,
    }
    /// How many multiprocessors a context is to have; the only parameter there is.
    CUexecAffinityParam { r#type: CUexecAffinityType, param: c_uint }
    CUdevprop {
        maxThreadsPerBlock: c_int, maxThreadsDim: [c_int; 3], maxGridSize: [c_int; 3], sharedMemPerBlock: c_int,
        totalConstantMemory: c_int, SIMDWidth: c_int, memPitch: c_int, regsPerBlock: c_int, clockRate: c_int,
        textureAlign: c_int,
    }
    CUctxCreateParams { execAffinityParams: *mut c_void, numExecAffinityParams: c_int, cigParams: *mut c_void }
    /// The parameters of any node: a type and 232 bytes whose meaning the type gives.
    CUgraphNodeParams { r#type: CUgraphNodeType, reserved0: [c_int; 3], params: [u64; 29], reserved2: i64 }
} } }
crate::for_each_struct!(define_structs);

/// The value of a kernel node's attribute.
pub type CUkernelNodeAttrValue = CUlaunchAttributeValue;
/// The value of a stream's attribute.
pub type CUstreamAttrValue = CUlaunchAttributeValue;

impl CUgraphNodeParams {
    /// The parameters read as `T`, one of the node parameter structs.
    ///
    /// # Safety
    ///
    /// - `T` is the struct that cuda.h gives for `self.type`.
    pub unsafe fn read<T: Copy>(&self) -> T {
        const { assert!(size_of::<T>() <= 232 && align_of::<T>() <= 8) };
        // SAFETY: `params` is 232 bytes, 8-aligned, all initialised, and the assertion above bounds T; that the
        // bytes mean a T is the caller's promise.
        unsafe { self.params.as_ptr().cast::<T>().read() }
    }

    /// Parameters of type `type` with the contents of `value`.
    ///
    /// Not for safe code, because the bytes of any `Copy` type need not be initialised:
    ///
    /// ```compile_fail,E0133
    /// use dacapo_driver::types::*;
    /// CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_EMPTY, std::mem::MaybeUninit::<u64>::uninit());
    /// ```
    ///
    /// # Safety
    ///
    /// - `T` is a node parameter struct of cuda.h: every byte of `value` but padding is initialised, and padding is
    ///   looked at by nobody.
    pub unsafe fn write<T: Copy>(r#type: CUgraphNodeType, value: T) -> CUgraphNodeParams {
        const { assert!(size_of::<T>() <= 232 && align_of::<T>() <= 8) };
        let mut params = CUgraphNodeParams { r#type, reserved0: [0; 3], params: [0; 29], reserved2: 0 };
        // SAFETY: as in `read`; T is Copy, so no drop is skipped.
        unsafe { params.params.as_mut_ptr().cast::<T>().write(value) };
        params
    }
}
