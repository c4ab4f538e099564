//! Ends of a communicator while a graph with its collectives is alive.

use dacapo_nccl::types::*;

use super::captured::{KINDS, ready, replays};
use super::collective::{Collective, Given};
use super::desk::{Asked, Desk};

/// How it ends.
#[derive(Clone, Copy)]
enum End {
    Destroy,
    Finalize,
    Abort,
}

macro_rules! ends {
    ($($name:ident: $end:ident $kind:literal $blocking:literal;)*) => {
        $(pub(super) fn $name(desk: &Desk) -> Asked { ask(desk, KINDS[$kind], End::$end, $blocking) })*
    };
}

ends! {
    destroy_copy: Destroy 0 true;
    destroy_avg: Destroy 1 true;
    destroy_send: Destroy 2 true;
    finalize_copy: Finalize 0 true;
    finalize_avg: Finalize 1 true;
    finalize_send: Finalize 2 true;
    abort_copy: Abort 0 true;
    abort_avg: Abort 1 true;
    abort_send: Abort 2 true;
    destroy_not_blocking: Destroy 2 false;
    finalize_not_blocking: Finalize 2 false;
    abort_not_blocking: Abort 2 false;
}

fn ask(desk: &Desk, collective: Collective, end: End, blocking: bool) -> Asked {
    let (comm, stream) = (desk.comm(blocking)?, desk.stream()?);
    let Some(ready) = ready(desk, comm, stream, collective)? else {
        return Err("there is no graph".to_string());
    };
    let memory = (ready.source, ready.target);
    replays(desk, ready.exec, stream, memory)?;
    // Only what can be launched lives on.
    desk.say(format!("  cuGraphDestroy {}", desk.destroy_graph(ready.graph)));
    let doing = desk.beside(move |desk| match end {
        End::Destroy => {
            let code = desk.destroy(comm);
            format!("ncclCommDestroy {}", desk.told(code))
        }
        End::Finalize => {
            let code = desk.finalize(comm);
            let state = desk.state(comm);
            desk.say(format!("  ncclCommFinalize {}, state {state:?}", desk.told(code)));
            if code == ncclResult::ncclInProgress {
                desk.say(format!("  then state {:?}", desk.settled(comm)));
            }
            let code = desk.destroy(comm);
            format!("ncclCommDestroy {}", desk.told(code))
        }
        End::Abort => {
            let code = desk.abort(comm);
            format!("ncclCommAbort {}", desk.told(code))
        }
    });
    let Some((said, ms)) = doing.wait(5.0) else {
        desk.say("  the end has NOT RETURNED after 5 s, the graph is alive");
        let launched = desk.launch(ready.exec, stream);
        let done = desk.beside(move |desk| desk.synchronize(stream)).wait(3.0);
        let done = done.map_or("does not end within 3 s".to_string(), |(code, _)| code.to_string());
        desk.say(format!("  meanwhile: cuGraphLaunch {launched}, stream {done}"));
        desk.say(format!("  cuGraphExecDestroy {}", desk.destroy_exec(ready.exec)));
        match doing.wait(5.0) {
            Some((said, ms)) => desk.say(format!("  then {said}, {ms:.0} ms after it was called")),
            None => desk.say("  it has not returned 5 s after the graph was destroyed either"),
        }
        return Ok(());
    };
    desk.say(format!("  {said} after {ms:.1} ms, the graph is alive"));
    replays(desk, ready.exec, stream, memory)?;
    // The same again after others have had the memory that the communicator gave back.
    let other = desk.comm(true)?;
    desk.say("  with another communicator made since:");
    replays(desk, ready.exec, stream, memory)?;
    desk.say(format!("  cuGraphExecDestroy {}", desk.destroy_exec(ready.exec)));
    desk.end_of(other);
    desk.say("  calls on the communicator that has ended, which may break the process:");
    let (code, state) = desk.state(comm);
    desk.say(format!("  ncclCommGetAsyncError {}, state {state:?}", desk.told(code)));
    let mut count = -1;
    // SAFETY: the question is what this answers for a handle that has ended; the process may break here.
    let code = unsafe { desk.nccl.ncclCommCount(comm, &mut count) };
    desk.say(format!("  ncclCommCount {}", desk.told(code)));
    let given = Given { source: memory.0, target: memory.1, count: 1000, datatype: ncclFloat32 };
    let code = collective.enqueue(desk.nccl, comm, stream, given);
    desk.say(format!("  {} {}", collective.name(), desk.told(code)));
    Ok(())
}
