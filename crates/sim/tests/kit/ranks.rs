//! Ranks of a communicator for tests: all on one thread, or a thread each, and nothing that waits for ever.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use dacapo_driver::Driver;
use dacapo_driver::types::*;
use dacapo_nccl::Nccl;
use dacapo_nccl::types::*;
use dacapo_sim::{Machine, Options, SoftwareNccl};

use super::{Device, ok};

pub const SUCCESS: ncclResult = ncclResult::ncclSuccess;

/// Asserts that a call of NCCL succeeded.
#[track_caller]
pub fn fine(code: ncclResult) {
    assert_eq!(code, SUCCESS);
}

/// Runs `body` on a thread, and panics if that has not ended after 20 s.
#[track_caller]
pub fn in_time<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || {
        let _ = sender.send(body());
    });
    match receiver.recv_timeout(Duration::from_secs(20)) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("it has not ended after 20 s"),
        Err(RecvTimeoutError::Disconnected) => {
            let panic = thread.join().expect_err("it has sent nothing");
            std::panic::resume_unwind(panic)
        }
    }
}

/// Makes a context of the machine current on this thread.
pub fn enter(machine: &Machine) {
    let mut context = CUcontext::NULL;
    // SAFETY: the out pointer is valid.
    unsafe {
        ok(machine.cuInit(0));
        ok(machine.cuDevicePrimaryCtxRetain(&mut context, 0));
        ok(machine.cuCtxSetCurrent(context));
    }
}

pub fn unique_id(nccl: &SoftwareNccl) -> ncclUniqueId {
    let mut id = ncclUniqueId { internal: [0; 128] };
    // SAFETY: the out pointer is valid.
    fine(unsafe { nccl.ncclGetUniqueId(&mut id) });
    id
}

/// Joins; the communicator, or the code.
pub fn join(nccl: &SoftwareNccl, ranks: usize, id: ncclUniqueId, rank: usize) -> Result<ncclComm, ncclResult> {
    let (mut comm, mut config) = (ncclComm::NULL, ncclConfig::new(true));
    // SAFETY: the pointers are valid.
    match unsafe { nccl.ncclCommInitRankConfig(&mut comm, ranks as i32, id, rank as i32, &mut config) } {
        SUCCESS => Ok(comm),
        code => Err(code),
    }
}

/// What a communicator's asynchronous error is, and the sentence about it.
pub fn async_error(nccl: &SoftwareNccl, comm: ncclComm) -> (ncclResult, String) {
    let mut error = SUCCESS;
    // SAFETY: the out pointer is valid.
    fine(unsafe { nccl.ncclCommGetAsyncError(comm, &mut error) });
    let text = if error == SUCCESS { String::new() } else { nccl.last_error().unwrap_or_default() };
    (error, text)
}

pub fn abort(nccl: &SoftwareNccl, comm: ncclComm) {
    // SAFETY: a communicator of this library.
    fine(unsafe { nccl.ncclCommAbort(comm) });
}

/// The ranks of a communicator in one machine, all driven by this thread.
pub struct Ranks {
    pub device: Device,
    pub nccl: SoftwareNccl,
    pub comms: Vec<ncclComm>,
    pub streams: Vec<CUstream>,
}

impl Ranks {
    pub fn new(ranks: usize, options: Options) -> Ranks {
        let device = Device::new(options);
        let nccl = device.machine.nccl();
        let streams = (0..ranks).map(|_| device.stream()).collect();
        let comms = communicators(&nccl, ranks);
        Ranks { device, nccl, comms, streams }
    }

    pub fn seeded(ranks: usize, seed: u64) -> Ranks {
        Ranks::new(ranks, Options { seed, ..Options::default() })
    }

    /// Device memory with these bytes.
    pub fn buffer(&self, bytes: &[u8]) -> u64 {
        let address = self.device.buffer(bytes.len().max(1));
        // SAFETY: the source is a slice of this length, and the target has as many bytes.
        ok(unsafe { self.device.cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()) });
        address
    }

    pub fn floats(&self, floats: &[f32]) -> u64 {
        self.buffer(&floats.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
    }

    pub fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        let mut out = vec![0u8; bytes];
        // SAFETY: the target has that many bytes.
        ok(unsafe { self.device.cuMemcpyDtoH_v2(out.as_mut_ptr().cast(), address, bytes) });
        out
    }

    pub fn read_floats(&self, address: u64, count: usize) -> Vec<f32> {
        let bytes = self.read(address, 4 * count);
        bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
    }

    /// A sum of floats over all ranks.
    pub fn all_reduce(&self, rank: usize, send: u64, receive: u64, count: usize) -> ncclResult {
        // SAFETY: buffers that the machine checks; live handles.
        unsafe {
            self.nccl.ncclAllReduce(
                send as *const _,
                receive as *mut _,
                count,
                ncclFloat32,
                ncclSum,
                self.comms[rank],
                self.streams[rank],
            )
        }
    }

    /// Waits for all streams.
    #[track_caller]
    pub fn sync(&self) {
        for stream in &self.streams {
            // SAFETY: a live stream.
            ok(unsafe { self.device.cuStreamSynchronize(*stream) });
        }
    }

    /// Records what `body` puts on this rank's stream.
    pub fn capture(&self, rank: usize, body: impl FnOnce()) -> CUgraph {
        let mut graph = CUgraph::NULL;
        // SAFETY: a live stream, a valid out pointer.
        unsafe {
            ok(self.device.cuStreamBeginCapture_v2(self.streams[rank], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
            body();
            ok(self.device.cuStreamEndCapture(self.streams[rank], &mut graph));
        }
        graph
    }

    pub fn instantiate(&self, graph: CUgraph) -> CUgraphExec {
        let mut exec = CUgraphExec::NULL;
        // SAFETY: a live graph, a valid out pointer.
        ok(unsafe { self.device.cuGraphInstantiateWithFlags(&mut exec, graph, 0) });
        exec
    }

    #[track_caller]
    pub fn launch(&self, rank: usize, exec: CUgraphExec) {
        // SAFETY: live handles.
        ok(unsafe { self.device.cuGraphLaunch(exec, self.streams[rank]) });
    }

    pub fn destroy(&self) {
        for comm in &self.comms {
            // SAFETY: a communicator of this library.
            fine(unsafe { self.nccl.ncclCommDestroy(*comm) });
        }
    }

    /// Nothing was found, and nothing is broken inside.
    #[track_caller]
    pub fn all_is_well(&self) {
        let found: Vec<String> = self.device.findings().iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "{}", found.join("\n\n"));
        assert_eq!(self.device.check(), []);
    }

    /// The one thing that was found.
    #[track_caller]
    pub fn found(&self) -> String {
        assert_eq!(self.device.check(), []);
        let found: Vec<String> = self.device.take_findings().iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1, "{}", found.join("\n\n"));
        found.into_iter().next().unwrap_or_default()
    }
}

/// All ranks of a new communicator, made by this thread in one group.
pub fn communicators(nccl: &SoftwareNccl, ranks: usize) -> Vec<ncclComm> {
    communicators_of(nccl, ranks, unique_id(nccl))
}

/// The same with this id.
pub fn communicators_of(nccl: &SoftwareNccl, ranks: usize, id: ncclUniqueId) -> Vec<ncclComm> {
    // SAFETY: no arguments.
    fine(unsafe { nccl.ncclGroupStart() });
    let comms = (0..ranks).map(|rank| join(nccl, ranks, id, rank).expect("it joins at the end of the group")).collect();
    // SAFETY: no arguments.
    fine(unsafe { nccl.ncclGroupEnd() });
    comms
}
