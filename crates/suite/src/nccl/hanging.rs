//! Ends of a communicator while its work waits on a stream.

use dacapo_nccl::types::*;

use super::captured::{KINDS, ready};
use super::collective::{Collective, Given, pattern};
use super::desk::{Asked, Desk};

const COUNT: usize = 1000;

pub(super) fn copy(desk: &Desk) -> Asked {
    eager(desk, KINDS[0], "ncclCommAbort", Desk::abort)
}

pub(super) fn avg(desk: &Desk) -> Asked {
    eager(desk, KINDS[1], "ncclCommAbort", Desk::abort)
}

pub(super) fn send(desk: &Desk) -> Asked {
    eager(desk, KINDS[2], "ncclCommAbort", Desk::abort)
}

pub(super) fn destroy(desk: &Desk) -> Asked {
    eager(desk, KINDS[2], "ncclCommDestroy", Desk::destroy)
}

type End = fn(&Desk, ncclComm) -> ncclResult;

fn eager(desk: &Desk, collective: Collective, name: &str, end: End) -> Asked {
    let (comm, stream) = (desk.comm(true)?, desk.stream()?);
    let bytes = pattern(ncclFloat32, COUNT, 5);
    let (source, target) = (desk.memory(&bytes)?, desk.memory(&[0; 4 * COUNT])?);
    let given = Given { source, target, count: COUNT, datatype: ncclFloat32 };
    // Once before, so that kernels are loaded and nothing is made while the stream waits.
    let code = collective.enqueue(desk.nccl, comm, stream, given);
    desk.say(format!("before: {} {}, stream {}", collective.name(), desk.told(code), desk.synchronize(stream)));
    desk.write(target, &[0; 4 * COUNT])?;
    let word = desk.memory(&[0; 4])?;
    desk.say(format!("cuStreamWaitValue32 {}", desk.wait_value(stream, word, 1)));
    let code = collective.enqueue(desk.nccl, comm, stream, given);
    desk.say(format!("{} {}, stream {}", collective.name(), desk.told(code), desk.query(stream)));
    ended(desk, (name, end), comm, stream, word)?;
    tell(desk, &bytes, target)
}

pub(super) fn graph(desk: &Desk) -> Asked {
    let (comm, stream) = (desk.comm(true)?, desk.stream()?);
    let Some(ready) = ready(desk, comm, stream, KINDS[2])? else {
        return Err("there is no graph".to_string());
    };
    let bytes = pattern(ncclFloat32, COUNT, 5);
    desk.write(ready.source, &bytes)?;
    let (launched, done) = (desk.launch(ready.exec, stream), desk.synchronize(stream));
    desk.say(format!("before: launch {launched}, stream {done}"));
    desk.write(ready.target, &[0; 4 * COUNT])?;
    let word = desk.memory(&[0; 4])?;
    desk.say(format!("cuStreamWaitValue32 {}", desk.wait_value(stream, word, 1)));
    desk.say(format!("launch {}, stream {}", desk.launch(ready.exec, stream), desk.query(stream)));
    ended(desk, ("ncclCommAbort", Desk::abort), comm, stream, word)?;
    tell(desk, &bytes, ready.target)
}

/// Ends it on another thread, then lets the stream go on.
fn ended(
    desk: &Desk,
    (name, end): (&str, End),
    comm: ncclComm,
    stream: dacapo_driver::types::CUstream,
    word: dacapo_driver::types::CUdeviceptr,
) -> Asked {
    let other = desk.stream()?;
    let doing = desk.beside(move |desk| {
        let code = end(desk, comm);
        desk.told(code)
    });
    let early = doing.wait(5.0);
    match &early {
        Some((said, ms)) => desk.say(format!("{name} {said} after {ms:.1} ms, while the stream waits")),
        None => desk.say(format!("{name} has NOT RETURNED after 5 s, while the stream waits")),
    }
    desk.say(format!("the stream then: {}", desk.query(stream)));
    desk.say(format!("cuStreamWriteValue32 on another stream {}", desk.write_value(other, word, 1)));
    match desk.beside(move |desk| desk.synchronize(stream)).wait(5.0) {
        Some((code, ms)) => desk.say(format!("the stream goes on: {code} after {ms:.1} ms")),
        None => return Err("the stream does not go on within 5 s".to_string()),
    }
    if early.is_none() {
        match doing.wait(5.0) {
            Some((said, ms)) => desk.say(format!("{name} then: {said}, {ms:.0} ms after it was called")),
            None => desk.say(format!("{name} has not returned 5 s later either")),
        }
    }
    Ok(())
}

fn tell(desk: &Desk, bytes: &[u8], target: dacapo_driver::types::CUdeviceptr) -> Asked {
    let seen = desk.read(target, bytes.len())?;
    let what = match () {
        () if seen == bytes => "the result is there",
        () if seen.iter().all(|byte| *byte == 0) => "nothing was written",
        () => "a part was written",
    };
    desk.say(what);
    Ok(())
}
