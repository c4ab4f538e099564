//! Ranks of several machines: two in one process, and two processes of which one dies.
#![allow(
    clippy::undocumented_unsafe_blocks,
    non_upper_case_globals,
    reason = "driver calls of a test, with live handles and valid pointers; the header's names"
)]

mod kit;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dacapo_driver::Driver;
use dacapo_driver::types::*;
use dacapo_nccl::Nccl;
use dacapo_nccl::types::*;
use dacapo_sim::{Options, SoftwareNccl, Time};
use kit::ranks::*;
use kit::{Device, ok};

/// One rank in a machine of its own.
struct Alone {
    device: Device,
    nccl: SoftwareNccl,
    comm: ncclComm,
    stream: CUstream,
}

impl Alone {
    fn join(options: Options, ranks: usize, id: ncclUniqueId, rank: usize) -> Alone {
        let device = Device::new(options);
        let nccl = device.machine.nccl();
        let comm = join(&nccl, ranks, id, rank).expect("all come");
        let stream = device.stream();
        Alone { device, nccl, comm, stream }
    }

    fn floats(&self, floats: &[f32]) -> u64 {
        let address = self.device.buffer(4 * floats.len());
        ok(unsafe { self.device.cuMemcpyHtoD_v2(address, floats.as_ptr().cast(), 4 * floats.len()) });
        address
    }

    fn read(&self, address: u64, count: usize) -> Vec<f32> {
        let mut out = vec![0f32; count];
        ok(unsafe { self.device.cuMemcpyDtoH_v2(out.as_mut_ptr().cast(), address, 4 * count) });
        out
    }

    fn sum(&self, at: u64, count: usize) {
        let (at, comm) = (at as usize as *mut std::ffi::c_void, self.comm);
        fine(unsafe { self.nccl.ncclAllReduce(at, at, count, ncclFloat32, ncclSum, comm, self.stream) });
    }

    fn sync(&self) {
        ok(unsafe { self.device.cuStreamSynchronize(self.stream) });
    }

    /// Waits for the communicator to break: its error and the sentence.
    fn broken(&self) -> (ncclResult, String) {
        while async_error(&self.nccl, self.comm).0 == SUCCESS {
            unsafe { self.device.cuStreamQuery(self.stream) };
        }
        async_error(&self.nccl, self.comm)
    }

    fn end(self) {
        fine(unsafe { self.nccl.ncclCommDestroy(self.comm) });
        assert_eq!(self.device.findings(), []);
        assert_eq!(self.device.check(), []);
    }
}

/// Runs each rank on a thread with a machine of its own.
fn apart(ranks: usize, options: Options, body: impl Fn(usize, Alone) + Sync) {
    let hub = Device::new(Options { rank_patience: options.rank_patience, ..Options::default() });
    let id = unique_id(&hub.machine.nccl());
    std::thread::scope(|scope| {
        for rank in 0..ranks {
            let (body, options) = (&body, Options { seed: rank as u64, ..options.clone() });
            scope.spawn(move || body(rank, Alone::join(options, ranks, id, rank)));
        }
    });
}

#[test]
fn every_kind_of_call_between_machines() {
    for time in [Time::Counted, Time::Live] {
        in_time(move || {
            apart(3, Options { time, ..Options::default() }, |rank, r| {
                let a = r.floats(&[rank as f32, 10.0 + rank as f32, 20.0 + rank as f32]);
                let b = r.floats(&[0.0; 9]);
                let (from, to) = (a as usize as *mut std::ffi::c_void, b as usize as *mut std::ffi::c_void);
                let (nccl, comm, stream) = (&r.nccl, r.comm, r.stream);
                fine(unsafe { nccl.ncclAllReduce(from, to, 3, ncclFloat32, ncclSum, comm, stream) });
                r.sync();
                assert_eq!(r.read(b, 3), [3.0, 33.0, 63.0]);
                fine(unsafe { nccl.ncclAllGather(from, to, 1, ncclFloat32, comm, stream) });
                r.sync();
                assert_eq!(r.read(b, 3), [0.0, 1.0, 2.0]);
                fine(unsafe { nccl.ncclReduceScatter(from, to, 1, ncclFloat32, ncclMax, comm, stream) });
                r.sync();
                assert_eq!(r.read(b, 1), [[2.0], [12.0], [22.0]][rank]);
                fine(unsafe { nccl.ncclBroadcast(from, to, 3, ncclFloat32, 1, comm, stream) });
                r.sync();
                assert_eq!(r.read(b, 3), [1.0, 11.0, 21.0]);
                fine(unsafe { nccl.ncclReduce(from, to, 1, ncclFloat32, ncclSum, 2, comm, stream) });
                r.sync();
                assert_eq!(r.read(b, 1), [[1.0], [1.0], [3.0]][rank]);
                unsafe {
                    fine(nccl.ncclGroupStart());
                    fine(nccl.ncclSend(from, 1, ncclFloat32, (rank as i32 + 1) % 3, comm, stream));
                    fine(nccl.ncclRecv(to, 1, ncclFloat32, (rank as i32 + 2) % 3, comm, stream));
                    fine(nccl.ncclGroupEnd());
                }
                r.sync();
                assert_eq!(r.read(b, 1), [(rank as f32 + 2.0) % 3.0]);
                r.end();
            });
        });
    }
}

#[test]
fn a_graph_is_replayed_between_machines() {
    in_time(|| {
        apart(2, Options::default(), |rank, r| {
            let a = r.floats(&vec![1.0 + rank as f32; 50_000]);
            let (mut graph, mut exec) = (CUgraph::NULL, CUgraphExec::NULL);
            unsafe {
                ok(r.device.cuStreamBeginCapture_v2(r.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
                r.sum(a, 50_000);
                ok(r.device.cuStreamEndCapture(r.stream, &mut graph));
                ok(r.device.cuGraphInstantiateWithFlags(&mut exec, graph, 0));
                (0..10).for_each(|_| ok(r.device.cuGraphLaunch(exec, r.stream)));
            }
            r.sync();
            assert_eq!(r.read(a, 50_000), vec![3.0 * 512.0; 50_000]);
            r.end();
        });
    });
}

#[test]
fn a_mismatch_between_machines_is_found_in_both() {
    in_time(|| {
        apart(2, Options::default(), |rank, r| {
            let a = r.floats(&[1.0; 8]);
            r.sum(a, 4 + 4 * rank);
            let (code, text) = r.broken();
            assert_eq!(code, ncclResult::ncclInvalidUsage);
            let found = r.device.take_findings();
            assert_eq!((found.len(), found[0].code), (1, "collective-mismatch"));
            let both = "ranks 0 and 1 do not agree on collective 1: ncclAllReduce of 4 float32, sum, and ncclAllReduce of 8 \
                        float32, sum";
            assert_eq!(found[0].what, both);
            assert_eq!(
                found[0].to_string(),
                format!("error[collective-mismatch]: {text}"),
                "both sides are told as well"
            );
            assert_eq!(found[0].places.len(), 2);
            // The others have their own error by now, and keep it.
            abort(&r.nccl, r.comm);
            r.sync();
            assert_eq!(r.device.check(), []);
        });
    });
}

#[test]
fn one_that_does_not_come_and_one_that_aborts() {
    in_time(|| {
        let barrier = std::sync::Barrier::new(2);
        let options = Options { rank_patience: Duration::from_millis(400), ..Options::default() };
        apart(2, options.clone(), |rank, r| {
            let a = r.floats(&[1.0; 8]);
            if rank == 0 {
                r.sum(a, 4);
            }
            let (code, text) = r.broken();
            assert_eq!(code, ncclResult::ncclTimeout, "{text}");
            barrier.wait();
            abort(&r.nccl, r.comm);
            r.sync();
        });
        apart(2, Options::default(), |rank, r| {
            let a = r.floats(&[1.0; 8]);
            if rank == 0 {
                r.sum(a, 4);
                let (code, text) = r.broken();
                assert_eq!(code, ncclResult::ncclRemoteError);
                assert!(text.contains("rank 1 has aborted the communicator"), "{text}");
            }
            abort(&r.nccl, r.comm);
            r.sync();
        });
    });
}

/// The child of the tests below: joins as rank 1 by the id on its standard input, sums as often as it is told, and stays.
#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn rank_1_in_a_process_of_its_own() {
    let mut id = [0; 128];
    std::io::stdin().read_exact(&mut id).expect("an id");
    let r = Alone::join(Options::default(), 2, ncclUniqueId { internal: id }, 1);
    let a = r.floats(&[2.0; 4]);
    for _ in 0..3 {
        r.sum(a, 4);
        r.sync();
    }
    assert_eq!(r.read(a, 4), [12.0; 4]);
    println!("summed");
    std::io::stdout().flush().expect("a pipe");
    // Killed here, at the latest when nobody is left to do it.
    std::thread::sleep(Duration::from_secs(30));
}

/// Starts the other process; it has joined and summed when this returns.
fn with_a_child(r: impl FnOnce(ncclUniqueId) -> Alone) -> (Child, Alone, u64) {
    let hub = Device::new(Options::default());
    let id = unique_id(&hub.machine.nccl());
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--ignored", "--exact", "rank_1_in_a_process_of_its_own", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test runs twice");
    child.stdin.take().expect("a pipe").write_all(&id.internal).expect("a pipe");
    let r = r(id);
    let a = r.floats(&[1.0; 4]);
    for _ in 0..3 {
        r.sum(a, 4);
        r.sync();
    }
    assert_eq!(r.read(a, 4), [12.0; 4]);
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    assert!(out.lines().map_while(Result::ok).any(|line| line.contains("summed")));
    (child, r, a)
}

#[test]
fn a_process_that_is_killed_is_noticed_at_once() {
    in_time(|| {
        let (mut child, r, a) = with_a_child(|id| Alone::join(Options::default(), 2, id, 0));
        r.sum(a, 4);
        unsafe { r.device.cuStreamQuery(r.stream) };
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let began = Instant::now();
        let (code, text) = r.broken();
        assert_eq!(code, ncclResult::ncclRemoteError);
        assert!(began.elapsed() < Duration::from_secs(5));
        let what = text.lines().next().unwrap_or_default();
        assert!(what.ends_with("rank 1 is gone: its process has ended, or has closed the connection"), "{text}");
        abort(&r.nccl, r.comm);
        r.sync();
        assert_eq!(r.device.check(), []);
    });
}

/// The child of the test below: makes the id, joins as rank 1, and dies when its standard input ends.
#[test]
#[ignore = "run by the test below, in a process of its own"]
fn the_hub_in_a_process_of_its_own() {
    let hub = Device::new(Options::default());
    let id = unique_id(&hub.machine.nccl());
    println!("id {}", id.internal.map(|byte| byte.to_string()).join(" "));
    std::io::stdout().flush().expect("a pipe");
    let _r = Alone::join(Options::default(), 2, id, 1);
    let _ = std::io::stdin().read(&mut [0]);
    std::process::abort();
}

#[test]
fn the_process_that_made_the_id_dies() {
    in_time(|| {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--ignored", "--exact", "the_hub_in_a_process_of_its_own", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("this test runs twice");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lines = out.lines().map_while(Result::ok);
        let line = lines.find_map(|line| Some(line.split_once("id ")?.1.to_string())).expect("an id");
        let bytes: Vec<u8> = line.split(' ').map(|byte| byte.parse().expect("a number")).collect();
        let id = ncclUniqueId { internal: bytes.try_into().expect("all of it") };
        let r = Alone::join(Options { journal: true, ..Options::default() }, 2, id, 0);
        let a = r.floats(&[1.0; 4]);
        r.sum(a, 4);
        while !r.device.journal().iter().any(|line| line == "ncclAllReduce of rank 0") {
            unsafe { r.device.cuStreamQuery(r.stream) };
        }
        drop(child.stdin.take());
        let (code, text) = r.broken();
        assert_eq!(code, ncclResult::ncclRemoteError);
        let sentence = "rank 0 waits at ncclAllReduce of 4 float32, sum, and the process that made the id, rank 0's if a launcher \
                        has started the ranks, has closed the connection";
        assert_eq!((text.lines().next(), r.device.findings()[0].code), (Some(sentence), "missing-rank"));
        child.wait().expect("it ends");
        abort(&r.nccl, r.comm);
        r.sync();
    });
}

#[test]
fn a_rank_that_says_what_no_rank_says() {
    in_time(|| {
        let hub = Device::new(Options::default());
        let id = unique_id(&hub.machine.nccl());
        let port = u16::from_le_bytes([id.internal[24], id.internal[25]]);
        let liar = std::thread::spawn(move || {
            let mut connection = std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
            let mut hello = b"dacaporg".to_vec();
            hello.extend(&id.internal[8..24]);
            hello.extend([2, 0, 0, 0, 1, 0, 0, 0]);
            hello.extend(99u64.to_le_bytes());
            hello.extend(10_000u64.to_le_bytes());
            connection.write_all(&hello).expect("it reads");
            let mut answer = [0; 5];
            connection.read_exact(&mut answer).expect("all have come");
            assert_eq!(answer, [1, 0, 0, 0, 3]);
            // An offer of four thousand million calls.
            connection.write_all(&[5, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff]).expect("it reads");
            let mut rest = Vec::new();
            let _ = connection.read_to_end(&mut rest);
        });
        let r = Alone::join(Options::default(), 2, id, 0);
        let (code, text) = r.broken();
        assert_eq!(code, ncclResult::ncclRemoteError);
        assert_eq!(text, "rank 1 says what no rank says");
        liar.join().expect("no panic");
        abort(&r.nccl, r.comm);
    });
}
