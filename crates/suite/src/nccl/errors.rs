//! Mistakes, and what NCCL says of them.

use dacapo_driver::types::*;
use dacapo_nccl::types::*;

use super::collective::{Collective, Given};
use super::desk::{Asked, Desk};

const SUM: Collective = Collective::AllReduce(ncclSum);

pub(super) fn ask(desk: &Desk) -> Asked {
    let (_, id) = desk.unique_id();
    for (what, ranks, rank) in
        [("rank 1 of 1", 1, 1), ("rank -1", 1, -1), ("no ranks", 0, 0), ("-1 ranks", -1, 0), ("rank 2 of 2", 2, 2)]
    {
        let (code, comm) = desk.init(ranks, id, rank, ncclConfig::new(true));
        desk.say(format!("init, {what}: {}; handle null: {}", desk.told(code), comm.is_null()));
    }
    let good = ncclConfig::new(true);
    for (what, config) in [
        ("no magic", ncclConfig { magic: 0, ..good }),
        ("a version of tomorrow", ncclConfig { version: 99_900, ..good }),
        ("version 0", ncclConfig { version: 0, ..good }),
        ("blocking 2", ncclConfig { blocking: 2, ..good }),
        ("blocking undefined", ncclConfig { blocking: i32::MIN, ..good }),
    ] {
        let (code, id) = desk.unique_id();
        if !code.is_success() {
            return Err(format!("ncclGetUniqueId: {code:?}"));
        }
        let (code, comm) = desk.init(1, id, 0, config);
        desk.say(format!("config, {what}: {}; handle null: {}", desk.told(code), comm.is_null()));
        if !comm.is_null() {
            desk.say(format!("  state {:?}", desk.settled(comm)));
            desk.end_of(comm);
        }
    }
    let code = desk.destroy(ncclComm::NULL);
    desk.say(format!("ncclCommDestroy of null: {}", desk.told(code)));
    let code = desk.abort(ncclComm::NULL);
    desk.say(format!("ncclCommAbort of null: {}", desk.told(code)));
    let code = desk.finalize(ncclComm::NULL);
    desk.say(format!("ncclCommFinalize of null: {}", desk.told(code)));
    calls(desk)
}

fn calls(desk: &Desk) -> Asked {
    let (comm, stream, memory) = (desk.comm(true)?, desk.stream()?, desk.memory(&[1; 8192])?);
    let good = Given { source: memory, target: memory + 4096, count: 1024, datatype: ncclFloat32 };
    let told = |what: &str, code: ncclResult| {
        let said = desk.told(code);
        let after = SUM.enqueue(desk.nccl, comm, stream, good);
        let (_, state) = desk.state(comm);
        desk.say(format!(
            "{what}: {said}; then state {state:?}, all_reduce {after:?}, stream {}",
            desk.synchronize(stream)
        ));
    };
    told("null communicator", SUM.enqueue(desk.nccl, ncclComm::NULL, stream, good));
    told("nothing of it", SUM.enqueue(desk.nccl, comm, stream, Given { count: 0, ..good }));
    told("nothing, and null", SUM.enqueue(desk.nccl, comm, stream, Given { count: 0, source: 0, target: 0, ..good }));
    told("type 99", SUM.enqueue(desk.nccl, comm, stream, Given { datatype: 99, ..good }));
    told("type -1", SUM.enqueue(desk.nccl, comm, stream, Given { datatype: -1, ..good }));
    told("reduction 99", Collective::AllReduce(99).enqueue(desk.nccl, comm, stream, good));
    told("reduction -1", Collective::AllReduce(-1).enqueue(desk.nccl, comm, stream, good));
    let overlapping = Given { target: memory + 2048, count: 1024, ..good };
    told("source and target overlap", SUM.enqueue(desk.nccl, comm, stream, overlapping));
    told("the null stream", SUM.enqueue(desk.nccl, comm, CUstream::NULL, good));
    told("the legacy stream", SUM.enqueue(desk.nccl, comm, CUstream::from_bits(1), good));
    told("the stream of the thread", SUM.enqueue(desk.nccl, comm, CUstream::from_bits(2), good));
    let (from, to) = (memory as *const c_void, (memory + 4096) as *mut c_void);
    let nccl = desk.nccl;
    type Mistake<'a> = (&'a str, &'a dyn Fn() -> ncclResult);
    // SAFETY, of all of them: the memory and the handles are live; what is wrong is the root or the peer, which is the question.
    let roots: [Mistake<'_>; 7] = [
        ("broadcast, root 1", &|| {
            // SAFETY: see above.
            unsafe { nccl.ncclBroadcast(from, to, 1024, ncclFloat32, 1, comm, stream) }
        }),
        ("broadcast, root -1", &|| {
            // SAFETY: see above.
            unsafe { nccl.ncclBroadcast(from, to, 1024, ncclFloat32, -1, comm, stream) }
        }),
        ("reduce, root 1", &|| {
            // SAFETY: see above.
            unsafe { nccl.ncclReduce(from, to, 1024, ncclFloat32, ncclSum, 1, comm, stream) }
        }),
        ("send to 1", &|| {
            // SAFETY: see above.
            unsafe { nccl.ncclSend(from, 1024, ncclFloat32, 1, comm, stream) }
        }),
        ("send to -1", &|| {
            // SAFETY: see above.
            unsafe { nccl.ncclSend(from, 1024, ncclFloat32, -1, comm, stream) }
        }),
        ("receive from 1", &|| {
            // SAFETY: see above.
            unsafe { nccl.ncclRecv(to, 1024, ncclFloat32, 1, comm, stream) }
        }),
        ("a group closed that was not opened", &|| {
            // SAFETY: it takes nothing.
            unsafe { nccl.ncclGroupEnd() }
        }),
    ];
    for (what, make) in roots {
        told(what, make());
    }
    grouped(desk, comm, stream, good);
    captured(desk, comm, stream, ("type 99", Given { datatype: 99, ..good }), good);
    lonely(desk, comm, stream, memory)
}

/// A mistake in the middle of a group, and what is left of the group.
fn grouped(desk: &Desk, comm: ncclComm, stream: CUstream, good: Given) {
    // SAFETY: both take nothing.
    let opened = unsafe { desk.nccl.ncclGroupStart() };
    let codes = [good, Given { datatype: 99, ..good }, good].map(|given| SUM.enqueue(desk.nccl, comm, stream, given));
    // SAFETY: as above.
    let closed = unsafe { desk.nccl.ncclGroupEnd() };
    let said = desk.told(closed);
    desk.say(format!("a group with a mistake in it: open {opened:?}, calls {codes:?}, close {said}"));
    let after = SUM.enqueue(desk.nccl, comm, stream, good);
    desk.say(format!("  then all_reduce {}, stream {}", desk.told(after), desk.synchronize(stream)));
}

/// A mistake in a capture, and what is left of the capture.
fn captured(desk: &Desk, comm: ncclComm, stream: CUstream, (what, bad): (&str, Given), good: Given) {
    let begun = desk.begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    let code = SUM.enqueue(desk.nccl, comm, stream, bad);
    let said = desk.told(code);
    let (status, after) = (desk.capturing(stream), SUM.enqueue(desk.nccl, comm, stream, good));
    let (ended, graph) = desk.end(stream);
    desk.say(format!("captured, {what}: begin {begun}, {said}, then {status}, all_reduce {after:?}, end {ended}"));
    if !graph.is_null() {
        desk.say(format!("  {}", desk.shape(graph)));
        desk.destroy_graph(graph);
    }
}

/// Memory that is none; apart, because the device may be told.
pub(super) fn nulls(desk: &Desk) -> Asked {
    let (comm, stream, memory) = (desk.comm(true)?, desk.stream()?, desk.memory(&[1; 8192])?);
    let good = Given { source: memory, target: memory + 4096, count: 1024, datatype: ncclFloat32 };
    let bad = [("null source", Given { source: 0, ..good }), ("null target", Given { target: 0, ..good })];
    for (what, given) in bad {
        captured(desk, comm, stream, (what, given), good);
    }
    for (what, given) in bad {
        let code = SUM.enqueue(desk.nccl, comm, stream, given);
        let said = desk.told(code);
        let (_, state) = desk.state(comm);
        desk.say(format!("eager, {what}: {said}, state {state:?}, stream {}", desk.synchronize(stream)));
    }
    desk.end_of(comm);
    Ok(())
}

/// The last ones, because a call may wait for ever: a send without a receive, to itself.
fn lonely(desk: &Desk, comm: ncclComm, stream: CUstream, memory: CUdeviceptr) -> Asked {
    let sent = desk.beside(move |desk| {
        // SAFETY: the memory and the handles are live.
        let code = unsafe { desk.nccl.ncclSend(memory as *const c_void, 1024, ncclFloat32, 0, comm, stream) };
        desk.told(code)
    });
    match sent.wait(3.0) {
        Some((said, ms)) => desk.say(format!("a send to itself without a receive: {said} after {ms:.1} ms")),
        None => {
            desk.say("a send to itself without a receive: has not returned after 3 s");
            return Ok(());
        }
    }
    match desk.beside(move |desk| desk.synchronize(stream)).wait(3.0) {
        Some((code, _)) => desk.say(format!("  the stream: {code}")),
        None => desk.say("  the stream does not end within 3 s"),
    }
    Ok(())
}

/// Ids that are no ids; each may wait for ever.
pub(super) fn garbage(desk: &Desk) -> Asked {
    let random = |at: usize| (at as u8).wrapping_mul(73).wrapping_add(41);
    for (what, internal) in [("zeros", [0; 128]), ("other bytes", std::array::from_fn(random))] {
        let id = ncclUniqueId { internal };
        let doing = desk.beside(move |desk| {
            let (code, comm) = desk.init(1, id, 0, ncclConfig::new(true));
            format!("{}; handle null: {}", desk.told(code), comm.is_null())
        });
        match doing.wait(6.0) {
            Some((said, ms)) => desk.say(format!("{what}: {said} after {ms:.0} ms")),
            None => desk.say(format!("{what}: has not returned after 6 s")),
        }
    }
    Ok(())
}

pub(super) fn two_ranks(desk: &Desk) -> Asked {
    let (code, id) = desk.unique_id();
    desk.say(format!("ncclGetUniqueId {}", desk.told(code)));
    let ranks = [0, 1].map(|rank| {
        desk.beside(move |desk| {
            let (code, comm) = desk.init(2, id, rank, ncclConfig::new(true));
            format!("{}; handle null: {}", desk.told(code), comm.is_null())
        })
    });
    for (rank, doing) in ranks.iter().enumerate() {
        match doing.wait(7.0) {
            Some((said, ms)) => desk.say(format!("rank {rank}: {said} after {ms:.0} ms")),
            None => desk.say(format!("rank {rank}: has not returned after 7 s")),
        }
    }
    Ok(())
}

pub(super) fn absent(desk: &Desk) -> Asked {
    let (code, id) = desk.unique_id();
    desk.say(format!("ncclGetUniqueId {}", desk.told(code)));
    let (code, comm) = desk.init(2, id, 0, ncclConfig::new(false));
    desk.say(format!("rank 0 of 2, not blocking: {}; handle null: {}", desk.told(code), comm.is_null()));
    std::thread::sleep(std::time::Duration::from_secs(1));
    desk.say(format!("a second later: state {:?}", desk.state(comm)));
    let doing = desk.beside(move |desk| {
        let code = desk.abort(comm);
        desk.told(code)
    });
    match doing.wait(10.0) {
        Some((said, ms)) => desk.say(format!("ncclCommAbort: {said} after {ms:.0} ms")),
        None => desk.say("ncclCommAbort: has not returned after 10 s"),
    }
    Ok(())
}
