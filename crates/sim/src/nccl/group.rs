//! Groups: the calls between `ncclGroupStart` and `ncclGroupEnd` of a thread, and how calls come onto their streams.
//!
//! All calls of a group for one communicator are one piece of work, whatever streams they name: it begins when all of these
//! have come to it, and each of them goes on when it is over. So says NCCL's manual of a group with several streams.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread::JoinHandle;

use dacapo_driver::types::{CUgraphEdgeData, CUstream};
use dacapo_driver::{CUresult, Call};
use dacapo_nccl::types::ncclResult;

use super::communicator::Communicator;
use super::refusal::Refused;
use super::transfer::Transfer;
use super::wire::FRAME_MAX;
use super::work::CollectiveWork;
use crate::calls::capture::record;
use crate::finding::{Ending, Finding};
use crate::machine::Machine;
use crate::model::capture::Branch;
use crate::model::graph::NodeKind;
use crate::model::work::Work;
use crate::visit::{Answer, Needs, Target, Visit};

/// A call that is to come onto its stream.
pub(crate) struct Posted {
    pub(crate) machine: Machine,
    pub(crate) communicator: Arc<Communicator>,
    pub(crate) transfer: Transfer,
    pub(crate) stream: CUstream,
}

/// A communicator that is made in a group: it joins on a thread, and the end of the group waits for it.
type Joining = JoinHandle<Result<(), Refused>>;

/// What a thread has collected.
#[derive(Default)]
struct Group {
    depth: u32,
    posted: Vec<Posted>,
    joining: Vec<Joining>,
    /// The first refusal of a call in it.
    refused: Option<Refused>,
}

thread_local! {
    /// Without a destructor of its own: values of the user's in other thread-locals may make calls when this thread ends. What a
    /// thread leaves in a group that it never ended is not given back.
    static GROUP: RefCell<ManuallyDrop<Group>> = const {
        RefCell::new(ManuallyDrop::new(Group { depth: 0, posted: Vec::new(), joining: Vec::new(), refused: None }))
    };
}

pub(crate) fn start() {
    GROUP.with_borrow_mut(|group| group.depth += 1);
}

pub(crate) fn is_open() -> bool {
    GROUP.with_borrow(|group| group.depth > 0)
}

/// Ends a group: the outermost one puts everything where it belongs.
pub(crate) fn end() -> Result<(), Refused> {
    let whole = GROUP.with_borrow_mut(|group| {
        group.depth =
            group.depth.checked_sub(1).ok_or_else(|| Refused::usage("ncclGroupEnd without ncclGroupStart"))?;
        Ok(if group.depth == 0 { Some(std::mem::take(&mut **group)) } else { None })
    })?;
    let Some(Group { posted, joining, mut refused, .. }) = whole else { return Ok(()) };
    for joining in joining {
        let joined = joining.join().unwrap_or_else(|_| {
            Err(Refused::new(ncclResult::ncclInternalError, "the thread that joined has panicked"))
        });
        refused = refused.or(joined.err());
    }
    match refused {
        Some(refused) => Err(refused),
        None => put(posted),
    }
}

/// A call of this thread was refused: its group ends with that.
pub(crate) fn note_refusal(refused: &Refused) {
    GROUP.with_borrow_mut(|group| {
        if group.depth > 0 {
            group.refused.get_or_insert(refused.clone());
        }
    });
}

pub(crate) fn wait_at_end(joining: Joining) {
    GROUP.with_borrow_mut(|group| group.joining.push(joining));
}

/// A call comes into the group that is open, or onto its stream.
pub(crate) fn post(posted: Posted) -> Result<(), Refused> {
    if !is_open() {
        return put(vec![posted]);
    }
    GROUP.with_borrow_mut(|group| group.posted.push(posted));
    Ok(())
}

/// One piece of work with the streams that it is put on.
struct Piece {
    machine: Machine,
    work: CollectiveWork,
    streams: Vec<CUstream>,
}

fn put(posted: Vec<Posted>) -> Result<(), Refused> {
    let mut pieces: Vec<Piece> = Vec::new();
    for Posted { machine, communicator, transfer, stream } in posted {
        let known = pieces.iter_mut().find(|piece| Arc::ptr_eq(&piece.work.communicator, &communicator));
        match known {
            Some(piece) => {
                piece.work.calls.push(transfer);
                if !piece.streams.contains(&stream) {
                    piece.streams.push(stream);
                }
            }
            None => {
                let work = CollectiveWork { communicator, calls: vec![transfer] };
                pieces.push(Piece { machine, work, streams: vec![stream] });
            }
        }
    }
    for Piece { machine, work, streams } in pieces {
        let name = work.name();
        if work.is_too_much() {
            return Err(too_much(&machine, &work));
        }
        let code = machine.visit(Call::cuLaunchKernelEx, Needs::OwnStream, |v| put_on(v, Arc::new(work), &streams));
        if code != CUresult::CUDA_SUCCESS {
            return Err(Refused::driver(&format!("putting {name} on its stream"), code));
        }
    }
    Ok(())
}

/// Between processes there is a limit to what one piece of work moves.
fn too_much(machine: &Machine, work: &CollectiveWork) -> Refused {
    let what = format!("{} of {} bytes between machines", work.name(), work.bytes());
    let finding = Finding::new("unsupported", Ending::Unsupported, what.clone())
        .at(work.calls[0].said.told.to_string(), format!("one frame has at most {FRAME_MAX} bytes"))
        .by(work.by())
        .help("let all ranks be in one machine, or move less at a time");
    machine.with_state(|state| state.find(finding));
    Refused::usage(format!("{what} is more than software ranks send at a time"))
}

fn put_on(v: &mut Visit<'_>, work: Arc<CollectiveWork>, streams: &[CUstream]) -> Answer {
    let targets = streams.iter().map(|stream| v.target(*stream)).collect::<Result<Vec<_>, _>>()?;
    let mut running = Vec::new();
    let mut recording = Vec::new();
    for target in targets {
        let (Target::Run(stream) | Target::Record(_, stream)) = &target;
        if v.device_of_stream(*stream) != work.communicator.device as usize {
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        match target {
            Target::Run(stream) => running.push(stream),
            Target::Record(capture, stream) => recording.push((capture, stream)),
        }
    }
    if let [(capture, first), others @ ..] = &recording[..] {
        // One node is in one capture, and the streams of a group capture all or none.
        if !running.is_empty() || others.iter().any(|(other, _)| other != capture) {
            return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE);
        }
        for (_, other) in others {
            if let Some(at) = v.captures.get_mut(*capture) {
                let after = at.branches.get(other).map(|branch| branch.after.clone()).unwrap_or_default();
                at.join(*first, &after);
            }
        }
        let node = record(v, *capture, *first, NodeKind::Collective(work))?;
        for (_, other) in others {
            if let Some(at) = v.captures.get_mut(*capture) {
                let branch = Branch { after: vec![(node, CUgraphEdgeData::default())], last: Some(node) };
                at.branches.insert(*other, branch);
            }
        }
        return Ok(());
    }
    let [first, others @ ..] = &running[..] else { return Ok(()) };
    let also: Vec<_> = others.iter().flat_map(|other| v.before_next(*other)).collect();
    let run = v.collective(&work, work.communicator.is_ended());
    let task = v.submit_after(*first, run, also);
    for other in others {
        v.submit_after(*other, Work::Nothing, [task]);
    }
    Ok(())
}
