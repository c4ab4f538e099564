//! Making and ending communicators.

use std::time::Instant;

use dacapo_nccl::types::*;

use super::collective::{Collective, Given, pattern};
use super::desk::{Asked, Desk};

fn ms(since: Instant) -> String {
    format!("{:.1} ms", since.elapsed().as_secs_f64() * 1e3)
}

fn free(desk: &Desk) -> usize {
    let (mut free, mut total) = (0, 0);
    // SAFETY: both are valid for the write.
    let _ = unsafe { desk.driver.cuMemGetInfo_v2(&mut free, &mut total) };
    free
}

pub(super) fn ask(desk: &Desk) -> Asked {
    for (which, blocking) in [("first", true), ("second", true), ("not blocking", false)] {
        let (began, before) = (Instant::now(), free(desk));
        let (code, id) = desk.unique_id();
        desk.say(format!("{which}: ncclGetUniqueId {} {}", desk.told(code), ms(began)));
        let began = Instant::now();
        let (code, comm) = desk.init(1, id, 0, ncclConfig::new(blocking));
        let known = if comm.is_null() { "null" } else { "a handle" };
        desk.say(format!("  ncclCommInitRankConfig {} {}, {known}", desk.told(code), ms(began)));
        if comm.is_null() {
            continue;
        }
        let (answer, state) = desk.state(comm);
        desk.say(format!("  ncclCommGetAsyncError at once: {answer:?}, state {state:?}"));
        let state = desk.settled(comm);
        desk.say(format!("  state {state:?} after {}", ms(began)));
        let (mut count, mut device, mut rank) = (-1, -1, -1);
        // SAFETY: the communicator is live, and each number is valid for the write.
        let codes = unsafe {
            [
                desk.nccl.ncclCommCount(comm, &mut count),
                desk.nccl.ncclCommCuDevice(comm, &mut device),
                desk.nccl.ncclCommUserRank(comm, &mut rank),
            ]
        };
        desk.say(format!("  count {count}, device {device}, rank {rank}: {codes:?}"));
        collectives(desk, comm)?;
        let used = before.saturating_sub(free(desk));
        desk.say(format!("  memory of the device that went with it: {} KiB", used >> 10));
        if which != "first" {
            let began = Instant::now();
            let code = desk.finalize(comm);
            desk.say(format!("  ncclCommFinalize {} {}", desk.told(code), ms(began)));
            let (answer, state) = desk.state(comm);
            let settled = desk.settled(comm);
            desk.say(format!("  state at once {answer:?} {state:?}, then {settled:?} after {}", ms(began)));
        }
        let began = Instant::now();
        let code = desk.destroy(comm);
        desk.say(format!("  ncclCommDestroy {} {}", desk.told(code), ms(began)));
    }
    Ok(())
}

/// A few of them on this communicator, with what is answered at once and a little later.
fn collectives(desk: &Desk, comm: ncclComm) -> Asked {
    let (stream, bytes) = (desk.stream()?, pattern(ncclFloat32, 1024, 1));
    let (source, target) = (desk.memory(&bytes)?, desk.memory(&[0; 4096])?);
    for collective in [Collective::AllReduce(ncclSum), Collective::AllReduce(ncclAvg), Collective::SendRecv] {
        desk.write(target, &[0; 4096])?;
        let given = Given { source, target, count: 1024, datatype: ncclFloat32 };
        let began = Instant::now();
        let code = collective.enqueue(desk.nccl, comm, stream, given);
        let (took, (answer, state)) = (ms(began), desk.state(comm));
        let settled = desk.settled(comm);
        let synchronized = desk.synchronize(stream);
        let right = if desk.read(target, 4096)? == bytes { "right" } else { "WRONG" };
        desk.say(format!(
            "  {}: {} in {took}, state at once {answer:?} {state:?}, then {settled:?}; stream {synchronized}, {right}",
            collective.name(),
            desk.told(code)
        ));
    }
    Ok(())
}

pub(super) fn in_progress(desk: &Desk) -> Asked {
    let (code, id) = desk.unique_id();
    desk.say(format!("ncclGetUniqueId {}", desk.told(code)));
    let (stream, memory) = (desk.stream()?, desk.memory(&[0; 4096])?);
    let (code, comm) = desk.init(1, id, 0, ncclConfig::new(false));
    let (answer, state) = desk.state(comm);
    let mut count = -1;
    // SAFETY: the communicator was handed out, and the number is valid for the write.
    let counted = unsafe { desk.nccl.ncclCommCount(comm, &mut count) };
    let given = Given { source: memory, target: memory + 2048, count: 512, datatype: ncclFloat32 };
    let early = Collective::AllReduce(ncclSum).enqueue(desk.nccl, comm, stream, given);
    let said = desk.told(early);
    desk.say(format!("ncclCommInitRankConfig {code:?}; state {answer:?} {state:?}"));
    desk.say(format!("at once: ncclCommCount {counted:?} {count}; ncclAllReduce {said}"));
    let settled = desk.settled(comm);
    let later = Collective::AllReduce(ncclSum).enqueue(desk.nccl, comm, stream, given);
    desk.say(format!("then state {settled:?}; ncclAllReduce {}", desk.told(later)));
    desk.say(format!("stream {}", desk.synchronize(stream)));
    desk.end_of(comm);
    // A second one, ended while it is being made.
    let (_, id) = desk.unique_id();
    let (code, comm) = desk.init(1, id, 0, ncclConfig::new(false));
    match desk.beside(move |desk| desk.abort(comm)).wait(5.0) {
        Some((ended, ms)) => desk.say(format!("init {code:?}, ncclCommAbort at once: {ended:?} after {ms:.1} ms")),
        None => desk.say(format!("init {code:?}, ncclCommAbort at once: has not returned after 5 s")),
    }
    let (_, id) = desk.unique_id();
    let (code, comm) = desk.init(1, id, 0, ncclConfig::new(false));
    match desk.beside(move |desk| desk.destroy(comm)).wait(5.0) {
        Some((ended, ms)) => desk.say(format!("init {code:?}, ncclCommDestroy at once: {ended:?} after {ms:.1} ms")),
        None => desk.say(format!("init {code:?}, ncclCommDestroy at once: has not returned after 5 s")),
    }
    Ok(())
}
