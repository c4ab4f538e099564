//! Verbs of streams, events, captures, launches, contexts: a driver call and its line in the transcript, each.
//!
//! Three kinds: `acts` answer a code; `makes` hand out something new, which the case keeps until its end; `asks` answer
//! a value. Calls with structs are written out.

use std::ffi::c_void;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

pub(super) use super::arguments::{Arg, Copy3, CopyEnd, Edge, Fill, Kernel};
use super::case::{Case, HostAct, callback, host_function};
use super::names::{Handle, Told, code_name};

/// Calls that answer nothing but a code.
macro_rules! acts {
    ($(fn $verb:ident($($arg:ident: $ty:ty),*) = $symbol:ident($($given:expr),*);)*) => {
        impl Case<'_> { $(
            #[doc = concat!("`", stringify!($symbol), "`")]
            pub(super) fn $verb(&mut self, $($arg: $ty),*) -> CUresult {
                let told = vec![$($arg.told(&mut self.names)),*];
                // SAFETY: the cases pass handles that this driver gave them and that are alive, or numbers that it checks;
                // slices and out-parameters live until the call returns.
                let code = unsafe { self.driver.$symbol($($given),*) };
                self.said(stringify!($symbol), &told, code, "")
            }
        )* }
    };
}
pub(super) use acts;

/// Calls that make something, which the case keeps.
macro_rules! makes {
    ($(fn $verb:ident($($arg:ident: $ty:ty),*) -> $out:ident: $out_ty:ty = $symbol:ident($($given:expr),*);)*) => {
        impl Case<'_> { $(
            #[doc = concat!("`", stringify!($symbol), "`")]
            pub(super) fn $verb(&mut self, $($arg: $ty),*) -> $out_ty {
                let told = vec![$($arg.told(&mut self.names)),*];
                let mut $out = <$out_ty>::default();
                // SAFETY: as in `acts`.
                let code = unsafe { self.driver.$symbol($($given),*) };
                let name = if code.is_success() && !$out.is_null() { self.keep($out) } else { String::new() };
                self.said(stringify!($symbol), &told, code, &name);
                $out
            }
        )* }
    };
}
pub(super) use makes;

/// Calls that answer a value.
macro_rules! asks {
    ($(fn $verb:ident($($arg:ident: $ty:ty),*) -> $out:ident: $out_ty:ty = $symbol:ident($($given:expr),*);)*) => {
        impl Case<'_> { $(
            #[doc = concat!("`", stringify!($symbol), "`")]
            pub(super) fn $verb(&mut self, $($arg: $ty),*) -> $out_ty {
                let told = vec![$($arg.told(&mut self.names)),*];
                let mut $out = <$out_ty>::default();
                // SAFETY: as in `acts`.
                let code = unsafe { self.driver.$symbol($($given),*) };
                let gave = if code.is_success() { $out.told(&mut self.names) } else { String::new() };
                self.said(stringify!($symbol), &told, code, &gave);
                $out
            }
        )* }
    };
}
pub(super) use asks;

acts! {
    fn sync(stream: CUstream) = cuStreamSynchronize(stream);
    fn query(stream: CUstream) = cuStreamQuery(stream);
    fn wait(stream: CUstream, event: CUevent) = cuStreamWaitEvent(stream, event, 0);
    fn wait_with(stream: CUstream, event: CUevent, flags: u32) = cuStreamWaitEvent(stream, event, flags);
    fn copy_stream_attributes(to: CUstream, from: CUstream) = cuStreamCopyAttributes(to, from);
    fn record(event: CUevent, stream: CUstream) = cuEventRecord(event, stream);
    fn record_with(event: CUevent, stream: CUstream, flags: u32) = cuEventRecordWithFlags(event, stream, flags);
    fn event_sync(event: CUevent) = cuEventSynchronize(event);
    fn event_query(event: CUevent) = cuEventQuery(event);
    fn begin(stream: CUstream, mode: u32) = cuStreamBeginCapture_v2(stream, mode);
    fn begin_to(stream: CUstream, graph: CUgraph, after: &[CUgraphNode], mode: u32) = cuStreamBeginCaptureToGraph(stream, graph, after.as_ptr(), std::ptr::null(), after.len(), mode);
    fn update_dependencies(stream: CUstream, nodes: &[CUgraphNode], flags: u32) = cuStreamUpdateCaptureDependencies(stream, nodes.as_ptr().cast_mut(), nodes.len(), flags);
    fn write32(stream: CUstream, at: u64, value: u32, flags: u32) = cuStreamWriteValue32_v2(stream, at, value, flags);
    fn write64(stream: CUstream, at: u64, value: u64, flags: u32) = cuStreamWriteValue64_v2(stream, at, value, flags);
    fn wait32(stream: CUstream, at: u64, value: u32, flags: u32) = cuStreamWaitValue32_v2(stream, at, value, flags);
    fn wait64(stream: CUstream, at: u64, value: u64, flags: u32) = cuStreamWaitValue64_v2(stream, at, value, flags);
    fn set_current(context: CUcontext) = cuCtxSetCurrent(context);
    fn push(context: CUcontext) = cuCtxPushCurrent_v2(context);
    fn context_sync() = cuCtxSynchronize();
    fn set_limit(limit: u32, value: usize) = cuCtxSetLimit(limit, value);
    fn primary_release() = cuDevicePrimaryCtxRelease_v2(0);
    fn primary_set_flags(flags: u32) = cuDevicePrimaryCtxSetFlags_v2(0, flags);
    fn context_record(context: CUcontext, event: CUevent) = cuCtxRecordEvent(context, event);
    fn context_wait(context: CUcontext, event: CUevent) = cuCtxWaitEvent(context, event);
}

makes! {
    fn stream(flags: u32) -> stream: CUstream = cuStreamCreate(&mut stream, flags);
    fn stream_with(flags: u32, priority: i32) -> stream: CUstream = cuStreamCreateWithPriority(&mut stream, flags, priority);
    fn event(flags: u32) -> event: CUevent = cuEventCreate(&mut event, flags);
    fn end_capture(stream: CUstream) -> graph: CUgraph = cuStreamEndCapture(stream, &mut graph);
    fn new_context(flags: u32) -> context: CUcontext = cuCtxCreate_v2(&mut context, flags, 0);
}

asks! {
    fn get_priority(stream: CUstream) -> priority: i32 = cuStreamGetPriority(stream, &mut priority);
    fn get_flags(stream: CUstream) -> flags: u32 = cuStreamGetFlags(stream, &mut flags);
    fn get_context(stream: CUstream) -> context: CUcontext = cuStreamGetCtx(stream, &mut context);
    fn get_device(stream: CUstream) -> device: i32 = cuStreamGetDevice(stream, &mut device);
    fn status(stream: CUstream) -> status: u32 = cuStreamIsCapturing(stream, &mut status);
    fn end_capture_into(stream: CUstream) -> graph: CUgraph = cuStreamEndCapture(stream, &mut graph);
    fn current() -> context: CUcontext = cuCtxGetCurrent(&mut context);
    fn pop() -> context: CUcontext = cuCtxPopCurrent_v2(&mut context);
    fn context_device() -> device: i32 = cuCtxGetDevice(&mut device);
    fn context_flags() -> flags: u32 = cuCtxGetFlags(&mut flags);
    fn limit(limit: u32) -> value: usize = cuCtxGetLimit(&mut value, limit);
    fn api_version(context: CUcontext) -> version: u32 = cuCtxGetApiVersion(context, &mut version);
    fn primary_retain() -> context: CUcontext = cuDevicePrimaryCtxRetain(&mut context, 0);
}

impl Case<'_> {
    /// Destroys something that the case made; one verb for all, named by its call.
    pub(super) fn destroy<H: Handle + Told>(&mut self, handle: H) -> CUresult {
        let told = handle.told(&mut self.names);
        let code = handle.discard(self.driver);
        if code.is_success() {
            self.gone(H::KIND, handle.number());
        }
        self.said(&format!("destroy {}", H::KIND), &[told], code, "")
    }

    /// A kernel of this folder in one thread.
    pub(super) fn kernel(&mut self, name: &'static str, arguments: &[Arg]) -> Kernel {
        let function = self.function(name);
        Kernel { name, function, grid: [1; 3], block: [1; 3], shared: 0, arguments: arguments.to_vec() }
    }

    /// `cuLaunchKernel`
    pub(super) fn launch(&mut self, kernel: &Kernel, stream: CUstream) -> CUresult {
        let told = vec![kernel.told(&mut self.names), stream.told(&mut self.names)];
        let (mut values, mut pointers) = (kernel.values(), Vec::new());
        let k = kernel.node(&mut values, &mut pointers);
        // SAFETY: as many values as the kernel has parameters, alive until the call returns.
        let code = unsafe {
            self.driver.cuLaunchKernel(
                k.func,
                k.gridDimX,
                k.gridDimY,
                k.gridDimZ,
                k.blockDimX,
                k.blockDimY,
                k.blockDimZ,
                k.sharedMemBytes,
                stream,
                k.kernelParams,
                k.extra,
            )
        };
        self.said("cuLaunchKernel", &told, code, "")
    }

    /// `cuLaunchCooperativeKernel`
    pub(super) fn launch_cooperative(&mut self, kernel: &Kernel, stream: CUstream) -> CUresult {
        let told = vec![kernel.told(&mut self.names), stream.told(&mut self.names)];
        let (mut values, mut pointers) = (kernel.values(), Vec::new());
        let k = kernel.node(&mut values, &mut pointers);
        // SAFETY: as in `launch`.
        let code = unsafe {
            self.driver.cuLaunchCooperativeKernel(
                k.func,
                k.gridDimX,
                k.gridDimY,
                k.gridDimZ,
                k.blockDimX,
                k.blockDimY,
                k.blockDimZ,
                k.sharedMemBytes,
                stream,
                k.kernelParams,
            )
        };
        self.said("cuLaunchCooperativeKernel", &told, code, "")
    }

    /// `cuLaunchKernelEx` with attributes: number and first word of the value.
    pub(super) fn launch_ex(&mut self, kernel: &Kernel, stream: CUstream, attributes: &[(u32, u64)]) -> CUresult {
        let told =
            vec![kernel.told(&mut self.names), stream.told(&mut self.names), format!("attributes {attributes:?}")];
        let (mut values, mut pointers) = (kernel.values(), Vec::new());
        let k = kernel.node(&mut values, &mut pointers);
        let mut attrs: Vec<CUlaunchAttribute> = attributes
            .iter()
            .map(|&(id, word)| CUlaunchAttribute { id, value: value_of(id, word), ..Default::default() })
            .collect();
        let config = CUlaunchConfig {
            gridDimX: k.gridDimX,
            gridDimY: k.gridDimY,
            gridDimZ: k.gridDimZ,
            blockDimX: k.blockDimX,
            blockDimY: k.blockDimY,
            blockDimZ: k.blockDimZ,
            sharedMemBytes: k.sharedMemBytes,
            hStream: stream,
            attrs: attrs.as_mut_ptr(),
            numAttrs: attrs.len() as u32,
        };
        // SAFETY: as in `launch`; the attributes live until the call returns.
        let code = unsafe { self.driver.cuLaunchKernelEx(&config, k.func, k.kernelParams, k.extra) };
        self.said("cuLaunchKernelEx", &told, code, "")
    }

    /// `cuLaunchKernel` with `extra`: the arguments as one buffer of these words.
    pub(super) fn launch_extra(&mut self, kernel: &Kernel, stream: CUstream, words: &[u64], bytes: usize) -> CUresult {
        let told = vec![kernel.told(&mut self.names), stream.told(&mut self.names), format!("{bytes} bytes of extra")];
        let (mut words, mut bytes) = (words.to_vec(), bytes);
        let end = std::ptr::null_mut();
        let [pointer, size] = [1usize, 2].map(|tag| tag as *mut c_void);
        let mut extra = [pointer, words.as_mut_ptr().cast(), size, std::ptr::from_mut(&mut bytes).cast(), end];
        let ([gx, gy, gz], [bx, by, bz]) = (kernel.grid, kernel.block);
        // SAFETY: the buffer holds at least `bytes` bytes, and all lives until the call returns.
        let code = unsafe {
            self.driver.cuLaunchKernel(
                kernel.function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                kernel.shared,
                stream,
                std::ptr::null_mut(),
                extra.as_mut_ptr(),
            )
        };
        self.said("cuLaunchKernel", &told, code, "")
    }

    /// `cuLaunchHostFunc`
    pub(super) fn host(&mut self, stream: CUstream, act: HostAct) -> CUresult {
        let told = vec![stream.told(&mut self.names), act.told(&mut self.names)];
        let job = self.job(act);
        // SAFETY: the job lives until the case has ended and the device has come to rest.
        let code = unsafe { self.driver.cuLaunchHostFunc(stream, Some(host_function), job) };
        self.said("cuLaunchHostFunc", &told, code, "")
    }

    /// `cuStreamAddCallback`; the log gets the status, then what the act gives.
    pub(super) fn callback(&mut self, stream: CUstream, act: HostAct) -> CUresult {
        let told = vec![stream.told(&mut self.names), act.told(&mut self.names)];
        let job = self.job(act);
        // SAFETY: as in `host`.
        let code = unsafe { self.driver.cuStreamAddCallback(stream, Some(callback), job, 0) };
        self.said("cuStreamAddCallback", &told, code, "")
    }

    /// `cuEventElapsedTime`: only its sign, since times differ from run to run.
    pub(super) fn elapsed(&mut self, from: CUevent, to: CUevent) -> CUresult {
        let (told, mut ms) = (vec![from.told(&mut self.names), to.told(&mut self.names)], 0f32);
        // SAFETY: `ms` is valid for the write.
        let code = unsafe { self.driver.cuEventElapsedTime(&mut ms, from, to) };
        let sign = if ms < 0.0 { "below 0" } else { "0 or more" };
        self.said("cuEventElapsedTime", &told, code, sign)
    }

    /// `cuStreamGetCaptureInfo`: status, graph and dependencies.
    pub(super) fn capture_info(&mut self, stream: CUstream) -> (CUgraph, Vec<CUgraphNode>) {
        let told = vec![stream.told(&mut self.names)];
        let (mut status, mut graph, mut nodes, mut count) = (0, CUgraph::NULL, std::ptr::null(), 0);
        // SAFETY: all are valid for the write.
        let code = unsafe {
            self.driver.cuStreamGetCaptureInfo_v2(
                stream,
                &mut status,
                std::ptr::null_mut(),
                &mut graph,
                &mut nodes,
                &mut count,
            )
        };
        let nodes: Vec<CUgraphNode> = match code.is_success() && !nodes.is_null() && status == 1 {
            // SAFETY: the driver gave an array of that many nodes, valid until the next call on the stream.
            true => unsafe { std::slice::from_raw_parts(nodes, count) }.to_vec(),
            false => Vec::new(),
        };
        let gave = match status {
            0 => "not capturing".to_string(),
            1 => format!(
                "capturing into {} after {}",
                graph.told(&mut self.names),
                nodes.as_slice().told(&mut self.names)
            ),
            _ => "invalidated".to_string(),
        };
        self.said("cuStreamGetCaptureInfo", &told, code, &gave);
        (graph, nodes)
    }

    /// `cuThreadExchangeStreamCaptureMode`
    pub(super) fn exchange_mode(&mut self, mode: u32) -> u32 {
        let mut old = mode;
        // SAFETY: `old` is valid for reading and writing.
        let code = unsafe { self.driver.cuThreadExchangeStreamCaptureMode(&mut old) };
        self.said("cuThreadExchangeStreamCaptureMode", &[mode.to_string()], code, &old.to_string());
        old
    }

    /// `cuStreamGetAttribute`: the first word of the value.
    pub(super) fn stream_attribute(&mut self, stream: CUstream, attribute: u32) -> CUresult {
        let (told, mut value) =
            (vec![stream.told(&mut self.names), attribute.to_string()], CUlaunchAttributeValue::default());
        // SAFETY: `value` is valid for the write.
        let code = unsafe { self.driver.cuStreamGetAttribute(stream, attribute, &mut value) };
        self.said("cuStreamGetAttribute", &told, code, &(value.words[0] as u32).to_string())
    }

    /// `cuStreamSetAttribute`
    pub(super) fn set_stream_attribute(&mut self, stream: CUstream, attribute: u32, word: u64) -> CUresult {
        let told = vec![stream.told(&mut self.names), attribute.to_string(), word.to_string()];
        let value = value_of(attribute, word);
        // SAFETY: `value` lives until the call returns.
        let code = unsafe { self.driver.cuStreamSetAttribute(stream, attribute, &value) };
        self.said("cuStreamSetAttribute", &told, code, "")
    }

    /// `cuStreamBatchMemOp`
    pub(super) fn batch(&mut self, stream: CUstream, ops: &[MemOp]) -> CUresult {
        let told = vec![stream.told(&mut self.names), ops.told(&mut self.names)];
        let mut params: Vec<CUstreamBatchMemOpParams> = ops.iter().map(|op| op.params()).collect();
        // SAFETY: the array has that many elements and lives until the call returns.
        let code = unsafe { self.driver.cuStreamBatchMemOp_v2(stream, params.len() as u32, params.as_mut_ptr(), 0) };
        self.said("cuStreamBatchMemOp", &told, code, "")
    }

    /// `cuCtxGetStreamPriorityRange`
    pub(super) fn priority_range(&mut self) {
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both are valid for the write.
        let code = unsafe { self.driver.cuCtxGetStreamPriorityRange(&mut least, &mut greatest) };
        self.said("cuCtxGetStreamPriorityRange", &[], code, &format!("{least} to {greatest}"));
    }

    /// `cuDevicePrimaryCtxGetState`
    pub(super) fn primary_state(&mut self) {
        let (mut flags, mut active) = (0, 0);
        // SAFETY: both are valid for the write.
        let code = unsafe { self.driver.cuDevicePrimaryCtxGetState(0, &mut flags, &mut active) };
        self.said("cuDevicePrimaryCtxGetState", &[], code, &format!("flags {flags}, active {active}"));
    }

    /// A word of pinned memory comes to hold a value; the stream is asked meanwhile, so that work moves.
    pub(super) fn word_comes(&mut self, at: u64, value: u32, stream: CUstream) {
        let what = format!("{} comes to hold {value}", at.told(&mut self.names));
        self.comes(&what, |driver| {
            // SAFETY: the stream is alive; the word lies in pinned memory of the case and the device writes it.
            let now = unsafe {
                driver.cuStreamQuery(stream);
                (at as usize as *const u32).read_volatile()
            };
            if now == value { CUresult::CUDA_SUCCESS } else { CUresult::CUDA_ERROR_NOT_READY }
        });
    }

    /// The name of a code, for a case that asks for one.
    pub(super) fn code_text(&mut self, code: u32) {
        let (mut name, mut text) = (std::ptr::null(), std::ptr::null());
        // SAFETY: both are valid for the write.
        let codes = unsafe {
            [
                self.driver.cuGetErrorName(CUresult(code), &mut name),
                self.driver.cuGetErrorString(CUresult(code), &mut text),
            ]
        };
        let told = |pointer: *const c_char| match pointer.is_null() {
            true => "nothing".to_string(),
            // SAFETY: the driver's texts end with a NUL and live as long as it.
            false => unsafe { std::ffi::CStr::from_ptr(pointer) }.to_string_lossy().into_owned(),
        };
        // The texts are the vendor's own words; that there is one is the answer.
        let (name, text) = (told(name), if text.is_null() { "no text" } else { "a text" });
        let codes = codes.map(code_name);
        self.say(format!("code {code}: {} {name}; {} {text}", codes[0], codes[1]));
    }
}

/// The value of an attribute whose first word is `word`; a cluster's size goes into all three of its numbers.
fn value_of(attribute: u32, word: u64) -> CUlaunchAttributeValue {
    let mut value = CUlaunchAttributeValue::default();
    value.words[0] = word;
    if attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION {
        (value.words[0], value.words[1]) = (word | 1 << 32, 1);
    }
    value
}

impl Told for HostAct {
    fn told(&self, names: &mut super::names::Names) -> String {
        match self {
            HostAct::Note(number) => format!("note {number}"),
            HostAct::Read(address) => format!("read {}", names.address(*address)),
            HostAct::Store(address, value) => format!("store {} <- {value}", names.address(*address)),
            HostAct::CallDriver => "call the driver".into(),
        }
    }
}

/// One operation of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) enum MemOp {
    Write32(u64, u32),
    Write64(u64, u64),
    /// Address, value, how to compare.
    Wait32(u64, u32, u32),
    Wait64(u64, u64, u32),
    Barrier,
    /// A number that no operation has.
    Wrong(u32),
}

impl MemOp {
    /// As the driver wants it: operation, address, value, flags, in words of eight bytes.
    pub fn params(self) -> CUstreamBatchMemOpParams {
        let mut words = [0; 6];
        match self {
            MemOp::Write32(address, value) => words[..3].copy_from_slice(&[2, address, u64::from(value)]),
            MemOp::Write64(address, value) => words[..3].copy_from_slice(&[5, address, value]),
            MemOp::Wait32(address, value, how) => {
                words[..4].copy_from_slice(&[1, address, u64::from(value), u64::from(how)]);
            }
            MemOp::Wait64(address, value, how) => words[..4].copy_from_slice(&[4, address, value, u64::from(how)]),
            MemOp::Barrier => words[0] = 6,
            MemOp::Wrong(number) => words[0] = u64::from(number),
        }
        CUstreamBatchMemOpParams { words }
    }
}

impl Told for MemOp {
    fn told(&self, names: &mut super::names::Names) -> String {
        match *self {
            MemOp::Write32(address, value) => format!("{} <- {value}", names.address(address)),
            MemOp::Write64(address, value) => format!("{} <-64 {value}", names.address(address)),
            MemOp::Wait32(address, value, how) => format!("wait {} {value} how {how}", names.address(address)),
            MemOp::Wait64(address, value, how) => format!("wait64 {} {value} how {how}", names.address(address)),
            MemOp::Barrier => "barrier".into(),
            MemOp::Wrong(number) => format!("operation {number}"),
        }
    }
}
