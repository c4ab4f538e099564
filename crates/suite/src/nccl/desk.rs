//! What a question works with: a driver, NCCL, a context, and somebody to tell.
//!
//! # Why every call here holds
//!
//! Handles are those that the driver or NCCL gave, pointers are to locals, and memory of the device is never given back: a process
//! answers one question and ends. Where a question makes a call with a handle that has ended, that is what it asks, and it runs in
//! a process of its own.

use std::ffi::{CStr, c_char};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_nccl::Nccl;
use dacapo_nccl::types::{ncclComm, ncclConfig, ncclResult, ncclUniqueId};

/// What a question ends with: an error where it could not be asked.
pub type Asked<T = ()> = Result<T, String>;

/// What a question works with.
#[derive(Clone)]
pub struct Desk {
    pub(super) driver: &'static dyn Driver,
    pub(super) nccl: &'static dyn Nccl,
    pub(super) context: CUcontext,
    told: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Something that another thread does.
pub(super) struct Doing<T> {
    answer: Receiver<(T, Duration)>,
}

impl<T> Doing<T> {
    /// What came of it and how many milliseconds it took, if it is done within this time.
    pub(super) fn wait(&self, seconds: f64) -> Option<(T, f64)> {
        let (answer, took) = self.answer.recv_timeout(Duration::from_secs_f64(seconds)).ok()?;
        Some((answer, took.as_secs_f64() * 1e3))
    }
}

fn done(call: &str, code: CUresult) -> Asked {
    if code.is_success() { Ok(()) } else { Err(format!("{call}: {code}")) }
}

impl Desk {
    /// Device 0 with its primary context, which is current here; `told` is given every line.
    ///
    /// # Errors
    ///
    /// - The first call that was refused.
    pub fn new(
        driver: &'static dyn Driver,
        nccl: &'static dyn Nccl,
        told: impl Fn(&str) + Send + Sync + 'static,
    ) -> Asked<Desk> {
        let (mut device, mut context) = (0, CUcontext::NULL);
        // SAFETY: a number.
        done("cuInit", unsafe { driver.cuInit(0) })?;
        // SAFETY: see above.
        done("cuDeviceGet", unsafe { driver.cuDeviceGet(&mut device, 0) })?;
        // SAFETY: see above.
        done("cuDevicePrimaryCtxRetain", unsafe { driver.cuDevicePrimaryCtxRetain(&mut context, device) })?;
        let desk = Desk { driver, nccl, context, told: Arc::new(told) };
        desk.enter()?;
        Ok(desk)
    }

    pub(super) fn say(&self, line: impl AsRef<str>) {
        (self.told)(line.as_ref());
    }

    fn enter(&self) -> Asked {
        // SAFETY: see above.
        done("cuCtxSetCurrent", unsafe { self.driver.cuCtxSetCurrent(self.context) })
    }

    /// Does it on another thread, with the context current there.
    pub(super) fn beside<T: Send + 'static>(&self, work: impl FnOnce(&Desk) -> T + Send + 'static) -> Doing<T> {
        let (tell, answer) = channel();
        let desk = self.clone();
        std::thread::spawn(move || {
            if let Err(why) = desk.enter() {
                desk.say(format!("  (a thread could not begin: {why})"));
                return;
            }
            let began = Instant::now();
            let made = work(&desk);
            // Nobody waits any more: the question has gone on, and said so.
            let _ = tell.send((made, began.elapsed()));
        });
        Doing { answer }
    }

    /// A stream that waits for no other.
    pub(super) fn stream(&self) -> Asked<CUstream> {
        let mut stream = CUstream::NULL;
        // SAFETY: see above.
        done("cuStreamCreate", unsafe { self.driver.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING) })?;
        Ok(stream)
    }

    /// Memory of the device with these bytes in it.
    pub(super) fn memory(&self, bytes: &[u8]) -> Asked<CUdeviceptr> {
        let mut at = 0;
        // SAFETY: see above.
        done("cuMemAlloc", unsafe { self.driver.cuMemAlloc_v2(&mut at, bytes.len()) })?;
        self.write(at, bytes)?;
        Ok(at)
    }

    pub(super) fn write(&self, at: CUdeviceptr, bytes: &[u8]) -> Asked {
        // SAFETY: see above; the callers write into memory of this length.
        done("cuMemcpyHtoD", unsafe { self.driver.cuMemcpyHtoD_v2(at, bytes.as_ptr().cast(), bytes.len()) })
    }

    pub(super) fn read(&self, at: CUdeviceptr, len: usize) -> Asked<Vec<u8>> {
        let mut bytes = vec![0; len];
        // SAFETY: see above; the callers read out of memory of this length.
        done("cuMemcpyDtoH", unsafe { self.driver.cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), at, len) })?;
        Ok(bytes)
    }

    pub(super) fn synchronize(&self, stream: CUstream) -> CUresult {
        // SAFETY: see above.
        unsafe { self.driver.cuStreamSynchronize(stream) }
    }

    pub(super) fn query(&self, stream: CUstream) -> CUresult {
        // SAFETY: see above.
        unsafe { self.driver.cuStreamQuery(stream) }
    }

    /// The stream goes on when the word is this value or more.
    pub(super) fn wait_value(&self, stream: CUstream, word: CUdeviceptr, value: u32) -> CUresult {
        // SAFETY: see above.
        unsafe { self.driver.cuStreamWaitValue32_v2(stream, word, value, CU_STREAM_WAIT_VALUE_GEQ) }
    }

    pub(super) fn write_value(&self, stream: CUstream, word: CUdeviceptr, value: u32) -> CUresult {
        // SAFETY: see above.
        unsafe { self.driver.cuStreamWriteValue32_v2(stream, word, value, 0) }
    }

    pub(super) fn begin(&self, stream: CUstream, mode: CUstreamCaptureMode) -> CUresult {
        // SAFETY: see above.
        unsafe { self.driver.cuStreamBeginCapture_v2(stream, mode) }
    }

    /// Captures into this graph, as what depends on nothing in it.
    pub(super) fn begin_into(&self, stream: CUstream, graph: CUgraph) -> CUresult {
        let (none, no_ports, mode) = (std::ptr::null(), std::ptr::null(), CU_STREAM_CAPTURE_MODE_RELAXED);
        // SAFETY: see above; there are no dependencies to read.
        unsafe { self.driver.cuStreamBeginCaptureToGraph(stream, graph, none, no_ports, 0, mode) }
    }

    pub(super) fn end(&self, stream: CUstream) -> (CUresult, CUgraph) {
        let mut graph = CUgraph::NULL;
        // SAFETY: see above.
        let code = unsafe { self.driver.cuStreamEndCapture(stream, &mut graph) };
        (code, graph)
    }

    /// How the capture of a stream stands.
    pub(super) fn capturing(&self, stream: CUstream) -> &'static str {
        let mut status = CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: see above.
        let code = unsafe { self.driver.cuStreamIsCapturing(stream, &mut status) };
        match status {
            _ if !code.is_success() => "not told",
            CU_STREAM_CAPTURE_STATUS_NONE => "none",
            CU_STREAM_CAPTURE_STATUS_ACTIVE => "active",
            _ => "invalidated",
        }
    }

    pub(super) fn instantiate(&self, graph: CUgraph) -> (CUresult, CUgraphExec) {
        let mut exec = CUgraphExec::NULL;
        // SAFETY: see above.
        let code = unsafe { self.driver.cuGraphInstantiateWithFlags(&mut exec, graph, 0) };
        (code, exec)
    }

    pub(super) fn launch(&self, exec: CUgraphExec, stream: CUstream) -> CUresult {
        // SAFETY: see above.
        unsafe { self.driver.cuGraphLaunch(exec, stream) }
    }

    pub(super) fn destroy_graph(&self, graph: CUgraph) -> CUresult {
        // SAFETY: see above; it is not used again.
        unsafe { self.driver.cuGraphDestroy(graph) }
    }

    pub(super) fn destroy_exec(&self, exec: CUgraphExec) -> CUresult {
        // SAFETY: see above; it is not used again.
        unsafe { self.driver.cuGraphExecDestroy(exec) }
    }

    /// The types of the nodes, with the names of kernels and how they are launched, and how many edges there are.
    pub(super) fn shape(&self, graph: CUgraph) -> String {
        let mut count = 0;
        // SAFETY: see above; without an array only the number is written.
        let code = unsafe { self.driver.cuGraphGetNodes(graph, std::ptr::null_mut(), &mut count) };
        if !code.is_success() {
            return format!("nodes not told: {code}");
        }
        let mut nodes = vec![CUgraphNode::NULL; count];
        if count > 0 {
            // SAFETY: see above; the array has `count` places.
            let code = unsafe { self.driver.cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count) };
            if !code.is_success() {
                return format!("nodes not told: {code}");
            }
        }
        let (mut edges, none) = (0, std::ptr::null_mut());
        // SAFETY: see above; without arrays only the number is written.
        let code = unsafe { self.driver.cuGraphGetEdges_v2(graph, none, none, std::ptr::null_mut(), &mut edges) };
        let edges = if code.is_success() { format!("{edges} edges") } else { format!("edges not told: {code}") };
        let nodes: Vec<String> = nodes.into_iter().map(|node| self.node(node)).collect();
        format!("{} nodes [{}], {edges}", nodes.len(), nodes.join(", "))
    }

    fn node(&self, node: CUgraphNode) -> String {
        let mut kind = CU_GRAPH_NODE_TYPE_EMPTY;
        // SAFETY: see above.
        let code = unsafe { self.driver.cuGraphNodeGetType(node, &mut kind) };
        if !code.is_success() {
            return format!("type not told: {code}");
        }
        let name = match kind {
            CU_GRAPH_NODE_TYPE_KERNEL => return self.kernel(node),
            CU_GRAPH_NODE_TYPE_MEMCPY => "memcpy",
            CU_GRAPH_NODE_TYPE_MEMSET => "memset",
            CU_GRAPH_NODE_TYPE_HOST => "HOST",
            CU_GRAPH_NODE_TYPE_GRAPH => "child graph",
            CU_GRAPH_NODE_TYPE_EMPTY => "empty",
            CU_GRAPH_NODE_TYPE_WAIT_EVENT => "WAIT EVENT",
            CU_GRAPH_NODE_TYPE_EVENT_RECORD => "EVENT RECORD",
            CU_GRAPH_NODE_TYPE_MEM_ALLOC => "MEM ALLOC",
            CU_GRAPH_NODE_TYPE_MEM_FREE => "MEM FREE",
            CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => "BATCH MEM OP",
            CU_GRAPH_NODE_TYPE_CONDITIONAL => "conditional",
            _ => return format!("type {kind}"),
        };
        name.to_string()
    }

    fn kernel(&self, node: CUgraphNode) -> String {
        let mut params = CUDA_KERNEL_NODE_PARAMS::default();
        // SAFETY: see above.
        let code = unsafe { self.driver.cuGraphKernelNodeGetParams_v2(node, &mut params) };
        if !code.is_success() {
            return format!("kernel ({code})");
        }
        let mut name: *const c_char = std::ptr::null();
        let code = match params.func.is_null() {
            // SAFETY: see above; the driver gave one of the two handles.
            true => unsafe { self.driver.cuKernelGetName(&mut name, params.kern) },
            // SAFETY: as above.
            false => unsafe { self.driver.cuFuncGetName(&mut name, params.func) },
        };
        let name = match code.is_success() && !name.is_null() {
            // SAFETY: a name of the driver's, which ends in a zero.
            true => unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned(),
            false => format!("name not told: {code}"),
        };
        format!("kernel {name} {}x{}x{} of {}", params.gridDimX, params.gridDimY, params.gridDimZ, params.blockDimX)
    }

    /// A communicator of one rank.
    pub(super) fn comm(&self, blocking: bool) -> Asked<ncclComm> {
        let (code, id) = self.unique_id();
        if !code.is_success() {
            return Err(format!("ncclGetUniqueId: {code:?}, {}", self.last_error()));
        }
        let (code, comm) = self.init(1, id, 0, ncclConfig::new(blocking));
        let code = if code == ncclResult::ncclInProgress { self.settled(comm) } else { code };
        match code.is_success() {
            true => Ok(comm),
            false => Err(format!("ncclCommInitRankConfig: {code:?}, {}", self.last_error())),
        }
    }

    pub(super) fn unique_id(&self) -> (ncclResult, ncclUniqueId) {
        let mut id = ncclUniqueId { internal: [0; 128] };
        // SAFETY: see above.
        let code = unsafe { self.nccl.ncclGetUniqueId(&mut id) };
        (code, id)
    }

    pub(super) fn init(
        &self,
        ranks: i32,
        id: ncclUniqueId,
        rank: i32,
        mut config: ncclConfig,
    ) -> (ncclResult, ncclComm) {
        let mut comm = ncclComm::NULL;
        // SAFETY: see above.
        let code = unsafe { self.nccl.ncclCommInitRankConfig(&mut comm, ranks, id, rank, &mut config) };
        (code, comm)
    }

    /// What `ncclCommGetAsyncError` answers, and the state it tells.
    pub(super) fn state(&self, comm: ncclComm) -> (ncclResult, ncclResult) {
        let mut state = ncclResult(-1);
        // SAFETY: see above.
        let code = unsafe { self.nccl.ncclCommGetAsyncError(comm, &mut state) };
        (code, state)
    }

    /// The state when it is no longer in progress, or after ten seconds.
    pub(super) fn settled(&self, comm: ncclComm) -> ncclResult {
        let began = Instant::now();
        loop {
            let (code, state) = self.state(comm);
            if !code.is_success() {
                return code;
            }
            if state != ncclResult::ncclInProgress || began.elapsed() > Duration::from_secs(10) {
                return state;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    pub(super) fn finalize(&self, comm: ncclComm) -> ncclResult {
        // SAFETY: see above.
        unsafe { self.nccl.ncclCommFinalize(comm) }
    }

    pub(super) fn destroy(&self, comm: ncclComm) -> ncclResult {
        // SAFETY: see above.
        unsafe { self.nccl.ncclCommDestroy(comm) }
    }

    pub(super) fn abort(&self, comm: ncclComm) -> ncclResult {
        // SAFETY: see above.
        unsafe { self.nccl.ncclCommAbort(comm) }
    }

    /// What the library says of the last error of this thread.
    pub(super) fn last_error(&self) -> String {
        match self.nccl.last_error() {
            Some(text) => format!("last error: {}", text.replace('\n', " | ")),
            None => "last error: nothing".to_string(),
        }
    }

    /// The code, with the last error where it is not a success.
    pub(super) fn told(&self, code: ncclResult) -> String {
        match code.is_success() {
            true => format!("{code:?}"),
            false => format!("{code:?} ({})", self.last_error()),
        }
    }

    /// Ends a communicator in the ordinary way and says so where that is not quick or not well.
    pub(super) fn end_of(&self, comm: ncclComm) {
        match self.beside(move |desk| desk.destroy(comm)).wait(5.0) {
            Some((code, _)) if code.is_success() => {}
            Some((code, ms)) => self.say(format!("  ncclCommDestroy: {code:?} after {ms:.1} ms")),
            None => self.say("  ncclCommDestroy: has not returned after 5 s"),
        }
    }
}
