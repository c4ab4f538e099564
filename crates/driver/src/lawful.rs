//! Which faults each call may answer with although its arguments are right, and what holds after each.
//!
//! The fault model as data. docs/faults.md is made from it, [`Fault`](crate::Fault) produces its effects on the software
//! driver, and `cargo xtask faults` makes every driver call of the library's scenarios fail with every one of them.
//!
//! Promised of the list:
//!
//! - It holds *faults*: what a call may answer when the program did nothing wrong. What a wrong argument, a wrong state or a
//!   capture in the way is answered with stands in the capture columns of docs/driver-calls.md and in the probe.
//! - A call that makes something and fails has made nothing.
//! - A call that releases something and fails has left it as it was only if its code says that it was refused
//!   ([`leaves_undone`]). After any other code the thing is gone: to release it again could hit another's.
//! - A call that enqueues may have enqueued when its code says nothing ([`CUresult::CUDA_ERROR_UNKNOWN`]).
//! - The end of a capture, answered with anything but a refusal, is the end of the capture and of its graph.
//!
//! Not in the list: `DEINITIALIZED` and `CONTEXT_IS_DESTROYED`, which every call may answer when the process ends or another
//! library destroys the context; after them nothing is left that could be held to a promise.

use std::sync::OnceLock;

use crate::{CUresult, Call, Family, OnCapturing};

/// What a call that failed has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing: everything is as before the call.
    NotDone,
    /// What it was asked for; the code is of something else.
    Done,
    /// Not what it was asked for, and the capture of its stream is invalidated. The end of a capture is over with it.
    CaptureInvalidated,
    /// Nothing, and the context answers nothing but this code from now on.
    ContextLost,
}

/// Where a row of the fault model comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The call's page in the manual of the driver API, or the code's own description, names it.
    Manual,
    /// Seen on an H200.
    Observed,
    /// Neither says so, and nothing forbids it: a driver may want memory in any call that makes something.
    Prudence,
}

/// One fault that a call may lawfully answer with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lawful {
    /// The answer. `CUDA_SUCCESS` where the call itself succeeds and tells of what has happened.
    pub code: CUresult,
    /// What holds after it.
    pub effect: Effect,
    /// How it is known.
    pub source: Source,
}

/// Codes after which the context answers nothing else: the descriptions of these codes say so.
pub const STICKY: &[CUresult] = &[
    CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
    CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUresult::CUDA_ERROR_CONTAINED,
    CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    CUresult::CUDA_ERROR_ASSERT,
    CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUresult::CUDA_ERROR_INVALID_PC,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
    CUresult::CUDA_ERROR_TENSOR_MEMORY_LEAK,
    CUresult::CUDA_ERROR_MPS_CLIENT_TERMINATED,
    CUresult::CUDA_ERROR_EXTERNAL_DEVICE,
];

impl CUresult {
    /// Whether the context answers nothing else from now on.
    pub fn is_sticky(self) -> bool {
        STICKY.contains(&self)
    }
}

/// The faults that a call may answer with although its arguments are right, each once.
pub fn lawful(call: Call) -> &'static [Lawful] {
    static LISTS: OnceLock<Vec<Vec<Lawful>>> = OnceLock::new();
    let lists = LISTS.get_or_init(|| Call::ALL.iter().map(|&call| list(call)).collect());
    &lists[call as usize]
}

/// Whether a call that answered `code` has done nothing for certain: it may be made again.
///
/// True of the faults of the model that say so; of a capture that was in the way, which is looked for first; and of a call
/// without a context. Of `cuStreamEndCapture` the codes of captures say that the capture is over.
pub fn leaves_undone(call: Call, code: CUresult) -> bool {
    let in_the_way = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.0..=CUresult::CUDA_ERROR_CAPTURED_EVENT.0;
    if in_the_way.contains(&code.0) && call != Call::cuStreamEndCapture || code == CUresult::CUDA_ERROR_INVALID_CONTEXT
    {
        return true;
    }
    let mut effects = lawful(call).iter().filter(|fault| fault.code == code).map(|fault| fault.effect).peekable();
    // A call that was to be recorded and has broken the capture instead is not done either.
    let undone = |effect| match effect {
        Effect::NotDone => true,
        Effect::CaptureInvalidated => call != Call::cuStreamEndCapture,
        Effect::Done | Effect::ContextLost => false,
    };
    effects.peek().is_some() && effects.all(undone)
}

/// What a call is for, as far as its faults go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Answers a question.
    Asks,
    /// Makes an object or memory.
    Makes,
    /// Gives an object or memory back.
    Releases,
    /// Puts work on a stream.
    Enqueues,
    /// Waits for the device.
    Waits,
    /// Asks whether work is over.
    Polls,
    /// Changes an object, or the thread.
    Changes,
    /// Begins a capture.
    Begins,
    /// Ends a capture.
    Ends,
    /// Asks about a capture.
    Watches,
}

impl Call {
    /// What the call is for, as far as its faults go.
    pub fn role(self) -> Role {
        use Call as C;
        match self {
            C::cuMemFreeAsync => return Role::Releases,
            C::cuMemAllocAsync | C::cuMemAllocFromPoolAsync => return Role::Makes,
            C::cuDevicePrimaryCtxRetain | C::cuGraphClone | C::cuGraphConditionalHandleCreate => return Role::Makes,
            C::cuStreamSynchronize | C::cuEventSynchronize | C::cuCtxSynchronize => return Role::Waits,
            C::cuCtxSynchronize_v2 => return Role::Waits,
            C::cuStreamQuery | C::cuEventQuery => return Role::Polls,
            C::cuStreamBeginCapture | C::cuStreamBeginCapture_v2 | C::cuStreamBeginCaptureToGraph => {
                return Role::Begins;
            }
            C::cuStreamEndCapture => return Role::Ends,
            C::cuStreamIsCapturing
            | C::cuStreamGetCaptureInfo
            | C::cuStreamGetCaptureInfo_v2
            | C::cuStreamGetCaptureInfo_v3 => return Role::Watches,
            C::cuThreadExchangeStreamCaptureMode | C::cuInit => return Role::Changes,
            C::cuDevicePrimaryCtxReset | C::cuDevicePrimaryCtxReset_v2 => return Role::Changes,
            C::cuCtxAttach | C::cuCtxDetach | C::cuCtxEnablePeerAccess | C::cuCtxDisablePeerAccess => {
                return Role::Changes;
            }
            C::cuEventRecord | C::cuEventRecordWithFlags | C::cuCtxRecordEvent | C::cuCtxWaitEvent => {
                return Role::Enqueues;
            }
            C::cuGraphLaunch | C::cuGraphUpload | C::cuStreamAddCallback | C::cuStreamAttachMemAsync => {
                return Role::Enqueues;
            }
            C::cuModuleGetFunction | C::cuLibraryGetKernel | C::cuLibraryGetModule | C::cuKernelGetFunction => {
                return Role::Asks;
            }
            _ => {}
        }
        let name = self.name();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        match self.family() {
            Family::Launch | Family::Copy | Family::Set => Role::Enqueues,
            _ if has(&["Destroy", "Free", "Release", "Unload", "Unregister", "Unmap"])
                && !has(&["GraphAdd", "GetParams"]) =>
            {
                Role::Releases
            }
            _ if has(&["Create", "Alloc", "Load", "GraphAdd", "Instantiate", "Reserve", "HostRegister", "Retain"])
                && !has(&["Get", "IsLoaded"]) =>
            {
                Role::Makes
            }
            _ if has(&["WaitEvent", "Value32", "Value64", "BatchMemOp", "Prefetch"]) && !has(&["Node"]) => {
                Role::Enqueues
            }
            _ if has(&[
                "Set",
                "Update",
                "AddData",
                "AddDependencies",
                "Remove",
                "Push",
                "Pop",
                "Trim",
                "Copy",
                "Map",
                "Reset",
                "Advise",
            ]) =>
            {
                Role::Changes
            }
            Family::Link => Role::Makes,
            _ => Role::Asks,
        }
    }

    /// Whether the call answers with a fault that has broken the context. Observed for those that the probe tried: the
    /// ones that only touch the thread, graphs before they are instantiated, and what needs no context, do not.
    pub fn reports_lost_context(self) -> bool {
        use Call as C;
        if self.has_narrow_addresses() {
            return false;
        }
        match self {
            C::cuDevicePrimaryCtxRetain | C::cuGraphClone => true,
            C::cuCtxCreate | C::cuCtxCreate_v2 | C::cuCtxCreate_v3 | C::cuCtxCreate_v4 => true,
            C::cuCtxGetSharedMemConfig | C::cuCtxSetSharedMemConfig | C::cuCtxDisablePeerAccess => true,
            C::cuCtxGetLimit | C::cuCtxSetLimit | C::cuCtxSynchronize => true,
            C::cuCtxGetStreamPriorityRange | C::cuCtxRecordEvent | C::cuCtxWaitEvent => true,
            C::cuCtxGetCacheConfig | C::cuCtxSetCacheConfig | C::cuCtxSetFlags | C::cuCtxResetPersistingL2Cache => true,
            C::cuModuleGetLoadingMode | C::cuThreadExchangeStreamCaptureMode => false,
            C::cuEventDestroy | C::cuEventDestroy_v2 => false,
            C::cuGraphExecDestroy | C::cuGraphExecGetFlags => false,
            C::cuGraphExecUpdate | C::cuGraphExecUpdate_v2 => false,
            C::cuGraphNodeSetEnabled | C::cuGraphNodeGetEnabled => false,
            C::cuMemGetAllocationGranularity | C::cuMemGetAllocationPropertiesFromHandle | C::cuMemAddressFree => false,
            C::cuMemRelease | C::cuMemRetainAllocationHandle => false,
            C::cuMemPoolGetAttribute | C::cuMemPoolSetAttribute | C::cuDeviceGetDefaultMemPool => false,
            C::cuDeviceGetMemPool | C::cuDeviceSetMemPool | C::cuMemPoolGetAccess | C::cuMemPoolSetAccess => false,
            _ => match self.family() {
                Family::General | Family::Device | Family::Context | Family::Pointer => false,
                Family::GraphMemory | Family::UserObject | Family::Link => false,
                // A template is the host's own; what becomes a node is looked up in the context.
                Family::Graph => matches!(self.role(), Role::Makes | Role::Changes) && self.wants_context(),
                _ => true,
            },
        }
    }

    /// Whether it is a call of CUDA 2 or 3, with addresses and sizes of 32 bits: a 64-bit driver refuses it before it looks
    /// at anything.
    fn has_narrow_addresses(self) -> bool {
        let touches_memory = matches!(self.family(), Family::Memory | Family::Copy | Family::Set | Family::Module);
        let has_newer = Call::ALL.iter().any(|other| other.name() == self.name() && other.since() == 3_020);
        touches_memory && has_newer && self.since() < 3_020
    }

    /// Of the calls about a graph that is not instantiated: whether what they are given belongs to a context.
    fn wants_context(self) -> bool {
        let name = self.name();
        !["GraphCreate", "AddEmptyNode", "Dependencies"].iter().any(|word| name.contains(word))
    }
}

fn list(call: Call) -> Vec<Lawful> {
    use CUresult as R;
    use Effect::{CaptureInvalidated, ContextLost, Done, NotDone};
    use Source::{Manual, Observed, Prudence};
    let role = call.role();
    let mut list: Vec<Lawful> = Vec::new();
    let mut add = |code: CUresult, effect: Effect, source: Source| {
        if !list.iter().any(|known| (known.code, known.effect) == (code, effect)) {
            list.push(Lawful { code, effect, source });
        }
    };
    for &(code, source) in own(call) {
        add(code, NotDone, source);
    }
    match role {
        Role::Makes | Role::Enqueues | Role::Begins => add(R::CUDA_ERROR_OUT_OF_MEMORY, NotDone, Prudence),
        Role::Changes if matches!(call.family(), Family::Graph | Family::GraphExec | Family::Pool) => {
            add(R::CUDA_ERROR_OUT_OF_MEMORY, NotDone, Prudence);
        }
        Role::Polls => add(R::CUDA_ERROR_NOT_READY, NotDone, Manual),
        _ => {}
    }
    // Inside a host function every call answers this, also those that only ask.
    add(R::CUDA_ERROR_NOT_PERMITTED, NotDone, Observed);
    // Its description says no more than that something went wrong: whether before or after is not known.
    match role {
        Role::Releases => add(R::CUDA_ERROR_UNKNOWN, Done, Manual),
        Role::Ends => add(R::CUDA_ERROR_UNKNOWN, CaptureInvalidated, Manual),
        Role::Enqueues => {
            add(R::CUDA_ERROR_UNKNOWN, NotDone, Manual);
            add(R::CUDA_ERROR_UNKNOWN, Done, Manual);
        }
        // Of a graph's node: what it was told is not known after it.
        Role::Changes if call.family() == Family::GraphExec => {
            add(R::CUDA_ERROR_UNKNOWN, NotDone, Manual);
            add(R::CUDA_ERROR_UNKNOWN, Done, Manual);
        }
        // For a mode that exists its page has nothing.
        _ if call == Call::cuThreadExchangeStreamCaptureMode => {}
        _ => add(R::CUDA_ERROR_UNKNOWN, NotDone, Manual),
    }
    match role {
        Role::Ends => add(R::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CaptureInvalidated, Observed),
        // The question is answered: by INVALIDATED.
        Role::Watches => add(R::CUDA_SUCCESS, CaptureInvalidated, Observed),
        _ if call.on_capturing_stream() == OnCapturing::Recorded => {
            add(R::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CaptureInvalidated, Observed);
            // As a launch that could never run was seen to do.
            add(R::CUDA_ERROR_OUT_OF_MEMORY, CaptureInvalidated, Prudence);
        }
        _ => {}
    }
    if call.reports_lost_context() {
        for &code in STICKY {
            let seen = [R::CUDA_ERROR_ILLEGAL_ADDRESS, R::CUDA_ERROR_MISALIGNED_ADDRESS, R::CUDA_ERROR_LAUNCH_FAILED];
            add(code, ContextLost, if seen.contains(&code) { Observed } else { Manual });
        }
    }
    list
}

/// What a call may refuse with for a reason of its own, having done nothing.
fn own(call: Call) -> &'static [(CUresult, Source)] {
    use CUresult as R;
    use Call as C;
    use Source::{Manual, Observed, Prudence};
    const MEMORY: (CUresult, Source) = (R::CUDA_ERROR_OUT_OF_MEMORY, Manual);
    match call {
        C::cuInit => &[
            (R::CUDA_ERROR_NO_DEVICE, Manual),
            (R::CUDA_ERROR_SYSTEM_NOT_READY, Manual),
            (R::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, Manual),
            (R::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, Manual),
            (R::CUDA_ERROR_OPERATING_SYSTEM, Manual),
            (R::CUDA_ERROR_OUT_OF_MEMORY, Prudence),
        ],
        C::cuDeviceGet => &[(R::CUDA_ERROR_INVALID_DEVICE, Manual)],
        C::cuDevicePrimaryCtxRetain | C::cuCtxCreate_v2 | C::cuCtxCreate_v3 | C::cuCtxCreate_v4 => {
            &[MEMORY, (R::CUDA_ERROR_DEVICE_UNAVAILABLE, Manual), (R::CUDA_ERROR_INVALID_DEVICE, Manual)]
        }
        C::cuModuleLoad | C::cuModuleLoadData | C::cuModuleLoadDataEx | C::cuModuleLoadFatBinary => LOADING,
        C::cuLibraryLoadData | C::cuLibraryLoadFromFile => LOADING,
        C::cuModuleGetFunction | C::cuFuncLoad | C::cuLibraryGetKernel | C::cuKernelGetFunction => {
            &[(R::CUDA_ERROR_OUT_OF_MEMORY, Prudence), (R::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, Prudence)]
        }
        C::cuFuncSetAttribute | C::cuKernelSetAttribute => &[(R::CUDA_ERROR_INVALID_VALUE, Manual)],
        C::cuMemAlloc_v2 | C::cuMemAllocPitch_v2 | C::cuMemAllocHost_v2 | C::cuMemHostAlloc => &[MEMORY],
        C::cuMemAllocManaged => &[MEMORY, (R::CUDA_ERROR_NOT_SUPPORTED, Manual)],
        C::cuMemAllocAsync | C::cuMemAllocFromPoolAsync => &[MEMORY, (R::CUDA_ERROR_NOT_SUPPORTED, Manual)],
        C::cuMemFreeAsync => &[(R::CUDA_ERROR_OUT_OF_MEMORY, Prudence), (R::CUDA_ERROR_NOT_SUPPORTED, Manual)],
        C::cuMemHostRegister | C::cuMemHostRegister_v2 => {
            &[MEMORY, (R::CUDA_ERROR_NOT_SUPPORTED, Manual), (R::CUDA_ERROR_OPERATING_SYSTEM, Prudence)]
        }
        C::cuStreamCreate | C::cuStreamCreateWithPriority | C::cuEventCreate | C::cuMemPoolCreate => &[MEMORY],
        C::cuLaunchKernel | C::cuLaunchKernelEx | C::cuLaunchCooperativeKernel => {
            &[(R::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, Manual), (R::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, Manual)]
        }
        C::cuGraphInstantiate
        | C::cuGraphInstantiate_v2
        | C::cuGraphInstantiateWithFlags
        | C::cuGraphInstantiateWithParams => {
            &[(R::CUDA_ERROR_OUT_OF_MEMORY, Prudence), (R::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, Observed)]
        }
        C::cuGraphLaunch => &[
            (R::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, Prudence),
            // Another library has put none, or its own, in place of ours.
            (R::CUDA_ERROR_INVALID_CONTEXT, Manual),
        ],
        C::cuGraphExecKernelNodeSetParams
        | C::cuGraphExecKernelNodeSetParams_v2
        | C::cuGraphExecMemcpyNodeSetParams
        | C::cuGraphExecMemsetNodeSetParams => &[(R::CUDA_ERROR_INVALID_VALUE, Manual)],
        C::cuGraphNodeSetEnabled => &[(R::CUDA_ERROR_INVALID_VALUE, Manual)],
        C::cuGraphExecUpdate | C::cuGraphExecUpdate_v2 => &[(R::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, Observed)],
        _ => &[],
    }
}

/// What may be wrong with a machine that loads right code.
const LOADING: &[(CUresult, Source)] = &[
    (CUresult::CUDA_ERROR_OUT_OF_MEMORY, Source::Manual),
    (CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, Source::Observed),
    (CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU, Source::Manual),
    (CUresult::CUDA_ERROR_INVALID_PTX, Source::Observed),
    (CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND, Source::Manual),
    (CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED, Source::Manual),
    (CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, Source::Manual),
];
