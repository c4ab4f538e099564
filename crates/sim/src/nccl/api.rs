//! The calls of NCCL, as C programs and `dacapo_nccl::Nccl` make them.

use std::fmt;
use std::mem::offset_of;
use std::sync::Arc;

use dacapo_driver::Call;
use dacapo_nccl::Nccl;
use dacapo_nccl::types::*;

use super::communicator::{Communicator, Standing};
use super::element::{Element, Reduction};
use super::group::{self, Posted};
use super::hub::{self, RANKS_MAX};
use super::id::Id;
use super::join::join;
use super::refusal::{Refused, answer, last};
use super::transfer::{Kind, Said, Told, Transfer};
use crate::finding::{Ending, Finding};
use crate::foreign::{get, put};
use crate::machine::{Machine, this_thread};
use crate::model::device::On;
use crate::model::table::{Key, Lookup};
use crate::visit::Needs;

/// The version of NCCL that it answers as: the table's oldest.
const VERSION: c_int = 21_400;
/// What a field of a config holds that was not set (`NCCL_CONFIG_UNDEF_INT`).
const UNDEFINED: c_int = c_int::MIN;
const MAGIC: c_uint = 0xcafe_beef;

/// NCCL in software, for the ranks of one [`Machine`] and of others.
///
/// ```
/// use dacapo_nccl::{Nccl, types::ncclResult};
///
/// let machine = dacapo_sim::Machine::new(dacapo_sim::Options::default());
/// let mut version = 0;
/// // SAFETY: the pointer is valid for the write.
/// let code = unsafe { machine.nccl().ncclGetVersion(&mut version) };
/// assert_eq!((code, version), (ncclResult::ncclSuccess, 21_400));
/// ```
#[derive(Clone)]
pub struct SoftwareNccl {
    machine: Machine,
}

impl fmt::Debug for SoftwareNccl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SoftwareNccl")
    }
}

impl Machine {
    /// NCCL for ranks in this machine. The rank that a thread makes is on the device of its current context.
    pub fn nccl(&self) -> SoftwareNccl {
        SoftwareNccl { machine: self.clone() }
    }
}

/// Writes where a call wants its answer.
///
/// # Safety
///
/// - `out` is null, or valid for writing a `T`.
unsafe fn give<T>(out: *mut T, value: T) -> Result<(), Refused> {
    // SAFETY: the caller's promise.
    unsafe { put(out, value) }.map_err(|_| Refused::argument("a pointer for the answer is null"))
}

impl SoftwareNccl {
    /// Notes a finding about a call of this thread.
    fn find(&self, finding: Finding) {
        self.machine.with_state(|state| {
            let by = state.thread_of(this_thread()).announced.by.clone();
            state.find(finding.by(by.as_ref()));
        });
    }

    /// The communicator behind a handle.
    fn named(&self, comm: ncclComm, call: &str) -> Result<(Key<Arc<Communicator>>, Arc<Communicator>), Refused> {
        let found = {
            let state = self.machine.lock();
            match state.ranks.communicators.look_up(comm.bits()) {
                Lookup::Live(key) => state.ranks.communicators.get(key).map(|found| (key, found.clone())).ok_or(true),
                Lookup::Stale => Err(true),
                Lookup::Foreign => Err(false),
            }
        };
        found.map_err(|was_there| {
            if was_there {
                self.find_dead(call, "the communicator was destroyed or aborted before this call");
            }
            Refused::argument(match was_there {
                true => format!("{call}: the communicator was destroyed or aborted before"),
                false => format!("{call}: this is no communicator of this machine"),
            })
        })
    }

    fn find_dead(&self, call: &str, why: &str) {
        let finding =
            Finding::new("dead-communicator", Ending::YourProgram, format!("{call} of a communicator that has ended"))
                .at(call, why)
                .note("with NVIDIA's library this uses memory that is gone")
                .help("make the last use of a communicator before it is finalized, destroyed or aborted");
        self.find(finding);
    }

    /// A communicator on which work may be put.
    fn usable(&self, comm: ncclComm, call: &str) -> Result<Arc<Communicator>, Refused> {
        let (_, communicator) = self.named(comm, call)?;
        match communicator.standing() {
            Standing::Broken(trouble) => Err(Refused::new(trouble.code, trouble.text)),
            Standing::Joining => Err(Refused::argument(format!(
                "{call}: the communicator is still joining: ask ncclCommGetAsyncError until it answers ncclSuccess"
            ))),
            Standing::Ready if communicator.is_ended() => {
                self.find_dead(call, "the communicator was finalized before this call");
                Err(Refused::usage(format!("{call}: the communicator was finalized before")))
            }
            Standing::Ready => Ok(communicator),
        }
    }

    /// A collective, a send or a receive.
    fn post(&self, call: Collective, comm: ncclComm, stream: CUstream) -> ncclResult {
        let posted = self.prepare(call, comm, stream).and_then(|posted| match posted {
            Some(posted) => group::post(posted),
            None => Ok(()),
        });
        if let Err(refused) = &posted {
            group::note_refusal(refused);
        }
        answer(posted)
    }

    fn prepare(&self, call: Collective, comm: ncclComm, stream: CUstream) -> Result<Option<Posted>, Refused> {
        let symbol = call.kind.symbol();
        let communicator = self.usable(comm, symbol)?;
        let element = Element::of(call.datatype)
            .ok_or_else(|| Refused::argument(format!("{symbol}: there is no data type {} here", call.datatype)))?;
        let reduction = Reduction::of(call.op)
            .ok_or_else(|| Refused::argument(format!("{symbol}: there is no reduction {} here", call.op)))?;
        let ranks = communicator.ranks;
        let other = u32::try_from(call.other).ok().filter(|other| *other < ranks).ok_or_else(|| {
            Refused::argument(format!("{symbol}: there is no rank {} in a communicator of {ranks}", call.other))
        })?;
        let told = Told { kind: call.kind, count: call.count as u64, element, reduction, other };
        if told.bytes(ranks).is_none() {
            return Err(Refused::argument(format!("{symbol}: {} elements are more than any memory holds", call.count)));
        }
        // Nothing to a peer is nothing at all; of a collective all have to say it.
        if call.count == 0 && call.kind.is_pair() {
            return Ok(None);
        }
        let rank = communicator.rank;
        let is_missing = |address: u64, bytes: u64| address == 0 && bytes > 0;
        if is_missing(call.send, told.sent(rank, ranks)) || is_missing(call.receive, told.received(rank, ranks)) {
            return Err(Refused::argument(format!("{symbol}: a buffer is null")));
        }
        let by = self.machine.lock().thread_of(this_thread()).announced.by.clone();
        let transfer = Transfer { said: Said { told, by }, send: call.send, receive: call.receive };
        Ok(Some(Posted { machine: self.machine.clone(), communicator, transfer, stream }))
    }

    fn make(&self, ranks: c_int, id: &ncclUniqueId, rank: c_int, blocking: bool) -> Result<(ncclComm, bool), Refused> {
        let id =
            Id::read(id).ok_or_else(|| Refused::argument("these bytes are no id that ncclGetUniqueId has made"))?;
        let (Ok(ranks), Ok(rank)) = (u32::try_from(ranks), u32::try_from(rank)) else {
            return Err(Refused::argument(format!("there is no rank {rank} of {ranks}")));
        };
        // The hub says so too, if it is one: a seat for each of so many is not to be made because a stranger lets them in.
        if rank >= ranks || ranks > RANKS_MAX {
            return Err(Refused::argument(format!("there is no rank {rank} of {ranks}")));
        }
        let on = self.on()?;
        let communicator = Arc::new(Communicator::new(rank, ranks, on));
        let in_background = !blocking || group::is_open();
        if !in_background {
            join(&self.machine, &communicator, id)?;
        }
        let (key, comm) = {
            let mut state = self.machine.lock();
            let key = state.ranks.communicators.insert(communicator.clone());
            (key, ncclComm::from_bits(state.ranks.communicators.handle(key)))
        };
        if in_background {
            let machine = self.machine.clone();
            let joining = std::thread::Builder::new()
                .name("dacapo-rank-joins".into())
                .spawn(move || join(&machine, &communicator, id))
                .map_err(|error| {
                    self.machine.lock().ranks.communicators.remove(key);
                    Refused::new(ncclResult::ncclSystemError, format!("a thread could not be started: {error}"))
                })?;
            if blocking {
                group::wait_at_end(joining);
            }
        }
        Ok((comm, !blocking))
    }

    /// The calling thread's current context, and its device.
    fn on(&self) -> Result<On, Refused> {
        let mut on = None;
        let code = self.machine.visit(Call::cuCtxGetDevice, Needs::Context, |v| {
            let context = v.context()?;
            on = Some(v.on(context));
            Ok(())
        });
        on.ok_or_else(|| {
            Refused::driver("a rank is made on the device of the current context, and there is none", code)
        })
    }

    fn ask<T>(&self, comm: ncclComm, call: &str, out: *mut T, of: impl FnOnce(&Communicator) -> T) -> ncclResult {
        // SAFETY: an out pointer of the call that passes it on.
        answer(self.named(comm, call).and_then(|(_, communicator)| unsafe { give(out, of(&communicator)) }))
    }

    /// Takes a communicator out of the program's hands.
    fn remove(&self, comm: ncclComm, call: &str, abort: bool) -> ncclResult {
        let removed = self.named(comm, call).map(|(key, communicator)| {
            self.machine.with_state(|state| {
                state.ranks.communicators.remove(key);
                // Nobody could end what a broken one has under way any more.
                match abort || communicator.is_broken() {
                    true => state.give_up(&communicator),
                    false => communicator.end(),
                }
                state.judge_collectives();
            });
        });
        answer(removed)
    }
}

/// What a call of a collective was given.
struct Collective {
    kind: Kind,
    send: u64,
    receive: u64,
    count: usize,
    datatype: ncclDataType,
    op: ncclRedOp,
    other: c_int,
}

/// Whether a communicator's calls wait, as its config says.
///
/// # Safety
///
/// - `config` is null, or points to as many bytes as its first field says.
unsafe fn is_blocking(config: *const ncclConfig) -> Result<bool, Refused> {
    const WITH_BLOCKING: usize = offset_of!(ncclConfig, blocking) + size_of::<c_int>();
    if config.is_null() {
        return Ok(true);
    }
    let wrong = |_| Refused::argument("the config is not there");
    // SAFETY: the first fields are there in every version; of the others those that the size covers.
    unsafe {
        let size = get(&raw const (*config).size).map_err(wrong)?;
        let (magic, version) =
            (get(&raw const (*config).magic).map_err(wrong)?, get(&raw const (*config).version).map_err(wrong)?);
        if magic != MAGIC {
            return Err(Refused::argument("the config was not made by NCCL_CONFIG_INITIALIZER"));
        }
        if size < WITH_BLOCKING || version < VERSION as c_uint {
            return Ok(true);
        }
        match get(&raw const (*config).blocking).map_err(wrong)? {
            0 => Ok(false),
            1 | UNDEFINED => Ok(true),
            other => Err(Refused::argument(format!("the config says {other} for `blocking`, which is 0 or 1"))),
        }
    }
}

#[allow(non_snake_case, reason = "C's names")]
impl Nccl for SoftwareNccl {
    fn last_error(&self) -> Option<String> {
        last()
    }

    unsafe fn ncclGetVersion(&self, version: *mut c_int) -> ncclResult {
        // SAFETY: an out pointer of this call.
        answer(unsafe { give(version, VERSION) })
    }

    unsafe fn ncclGetUniqueId(&self, uniqueId: *mut ncclUniqueId) -> ncclResult {
        if uniqueId.is_null() {
            return answer(Err(Refused::argument("a pointer for the answer is null")));
        }
        let patience = self.machine.lock().options.patience();
        let opened = hub::open(patience)
            .map_err(|error| Refused::new(ncclResult::ncclSystemError, format!("no port could be opened: {error}")));
        // SAFETY: an out pointer of this call.
        answer(opened.and_then(|id| unsafe { give(uniqueId, id.write()) }))
    }

    unsafe fn ncclCommInitRankConfig(
        &self,
        comm: *mut ncclComm,
        nranks: c_int,
        commId: ncclUniqueId,
        rank: c_int,
        config: *mut ncclConfig,
    ) -> ncclResult {
        // SAFETY: an out pointer and an in pointer of this call.
        let made = unsafe {
            give(comm, ncclComm::NULL)
                .and_then(|()| is_blocking(config))
                .and_then(|blocking| self.make(nranks, &commId, rank, blocking))
                .and_then(|(made, in_progress)| give(comm, made).map(|()| in_progress))
        };
        match made {
            Ok(true) => ncclResult::ncclInProgress,
            Ok(false) => ncclResult::ncclSuccess,
            Err(refused) => {
                group::note_refusal(&refused);
                answer(Err(refused))
            }
        }
    }

    unsafe fn ncclCommFinalize(&self, comm: ncclComm) -> ncclResult {
        answer(self.named(comm, "ncclCommFinalize").map(|(_, communicator)| communicator.end()))
    }

    unsafe fn ncclCommDestroy(&self, comm: ncclComm) -> ncclResult {
        self.remove(comm, "ncclCommDestroy", false)
    }

    unsafe fn ncclCommAbort(&self, comm: ncclComm) -> ncclResult {
        self.remove(comm, "ncclCommAbort", true)
    }

    unsafe fn ncclCommGetAsyncError(&self, comm: ncclComm, asyncError: *mut ncclResult) -> ncclResult {
        self.machine.with_state(|state| state.judge_collectives());
        self.ask(comm, "ncclCommGetAsyncError", asyncError, |communicator| match communicator.standing() {
            Standing::Ready => ncclResult::ncclSuccess,
            Standing::Joining => ncclResult::ncclInProgress,
            // The thread that asks can ask for the sentence too.
            Standing::Broken(trouble) => answer(Err(Refused::new(trouble.code, trouble.text))),
        })
    }

    unsafe fn ncclCommCount(&self, comm: ncclComm, count: *mut c_int) -> ncclResult {
        self.ask(comm, "ncclCommCount", count, |communicator| communicator.ranks as c_int)
    }

    unsafe fn ncclCommCuDevice(&self, comm: ncclComm, device: *mut c_int) -> ncclResult {
        self.ask(comm, "ncclCommCuDevice", device, |communicator| communicator.device)
    }

    unsafe fn ncclCommUserRank(&self, comm: ncclComm, rank: *mut c_int) -> ncclResult {
        self.ask(comm, "ncclCommUserRank", rank, |communicator| communicator.rank as c_int)
    }

    unsafe fn ncclReduce(
        &self,
        sendbuff: *const c_void,
        recvbuff: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        op: ncclRedOp,
        root: c_int,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        let (send, receive) = (sendbuff as u64, recvbuff as u64);
        self.post(Collective { kind: Kind::Reduce, send, receive, count, datatype, op, other: root }, comm, stream)
    }

    unsafe fn ncclBroadcast(
        &self,
        sendbuff: *const c_void,
        recvbuff: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        root: c_int,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        let (send, receive) = (sendbuff as u64, recvbuff as u64);
        let call = Collective { kind: Kind::Broadcast, send, receive, count, datatype, op: ncclSum, other: root };
        self.post(call, comm, stream)
    }

    unsafe fn ncclAllReduce(
        &self,
        sendbuff: *const c_void,
        recvbuff: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        op: ncclRedOp,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        let (send, receive) = (sendbuff as u64, recvbuff as u64);
        self.post(Collective { kind: Kind::AllReduce, send, receive, count, datatype, op, other: 0 }, comm, stream)
    }

    unsafe fn ncclReduceScatter(
        &self,
        sendbuff: *const c_void,
        recvbuff: *mut c_void,
        recvcount: usize,
        datatype: ncclDataType,
        op: ncclRedOp,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        let (send, receive, count) = (sendbuff as u64, recvbuff as u64, recvcount);
        self.post(Collective { kind: Kind::ReduceScatter, send, receive, count, datatype, op, other: 0 }, comm, stream)
    }

    unsafe fn ncclAllGather(
        &self,
        sendbuff: *const c_void,
        recvbuff: *mut c_void,
        sendcount: usize,
        datatype: ncclDataType,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        let (send, receive, count) = (sendbuff as u64, recvbuff as u64, sendcount);
        let call = Collective { kind: Kind::AllGather, send, receive, count, datatype, op: ncclSum, other: 0 };
        self.post(call, comm, stream)
    }

    unsafe fn ncclSend(
        &self,
        sendbuff: *const c_void,
        count: usize,
        datatype: ncclDataType,
        peer: c_int,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        let send = sendbuff as u64;
        let call = Collective { kind: Kind::Send, send, receive: 0, count, datatype, op: ncclSum, other: peer };
        self.post(call, comm, stream)
    }

    unsafe fn ncclRecv(
        &self,
        recvbuff: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        peer: c_int,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        let receive = recvbuff as u64;
        let call = Collective { kind: Kind::Recv, send: 0, receive, count, datatype, op: ncclSum, other: peer };
        self.post(call, comm, stream)
    }

    unsafe fn ncclGroupStart(&self) -> ncclResult {
        group::start();
        ncclResult::ncclSuccess
    }

    unsafe fn ncclGroupEnd(&self) -> ncclResult {
        answer(group::end())
    }
}
