//! A rank's side of a communicator: its handle, its life, and its death.
//!
//! - The handle is used by calls that have asked whether the communicator is alive, and counted while they go on.
//! - It dies once. Whoever finds out first decides the error that everyone gets from then on, and a thread aborts the handle:
//!   what hangs on the device ends, and waiters go on.
//! - It is ended by a thread of its own when nobody holds it any more: not the user, no graph, no work in flight. A drop never
//!   waits for another rank.
//!
//! # Why is the handle valid while it is used?
//!
//! 1. Every call goes through [`Member::call`], which asks under the lock whether the communicator is alive and counts itself
//!    under the same lock.
//! 2. A death is written under that lock, so after it no call begins. The abort waits until no call is under way, but for at
//!    most a second: a call that is stuck inside NCCL is what an abort is for, and NCCL allows it beside one.
//! 3. Work on the device holds the member (`Joint`), so it is ended only when no graph and no stream needs it. An abort does not
//!    ask for that: NCCL's returns when the graphs that were captured with it are gone, and graphs of a dead partner are not
//!    launched (`Named::expect_partners`).

use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use dacapo_ledger::Lane;
use dacapo_nccl::types::{ncclComm, ncclResult};
use dacapo_nccl::{Nccl, NcclCall};

use crate::collective::family::Family;
use crate::collective::library::Library;
use crate::collective::{UniqueId, agree};
use crate::device::{Counted, Cuda, Device, JointOp, Life, Named, Partner, Torn};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Extent;

/// How long an abort waits for calls that are under way.
const STUCK_AFTER: Duration = Duration::from_secs(1);
/// How often somebody who waits for NCCL looks again.
pub(super) const LOOK: Duration = Duration::from_micros(200);

/// One rank.
pub(super) struct Member {
    pub(super) device: Device,
    pub(super) library: Library,
    pub(super) rank: usize,
    pub(super) size: usize,
    /// Work may take so long, and so may another rank.
    pub(super) timeout: Duration,
    /// Whether recordings are compared before they become graphs.
    pub(super) agrees: bool,
    /// What every collective of this communicator writes, so that they have an order.
    pub(super) turn: Extent,
    id: [u8; UniqueId::LEN],
    /// The ranks of this communicator in this process.
    family: Arc<Family>,
    _counted: Option<Counted>,
    /// Itself, for what must hold it.
    pub(super) me: Weak<Member>,
    state: Mutex<State>,
    changed: Condvar,
    life: Arc<Life>,
}

struct State {
    comm: ncclComm,
    /// Calls under way, by when they began.
    calls: Vec<Instant>,
    /// Nobody may begin one.
    closed: bool,
}

/// What a new member is made of.
pub(super) struct Joined {
    pub(super) device: Device,
    pub(super) library: Library,
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) timeout: Duration,
    pub(super) agrees: bool,
    pub(super) turn: Extent,
    pub(super) id: UniqueId,
    pub(super) family: Arc<Family>,
    pub(super) comm: ncclComm,
}

impl Member {
    pub(super) fn new(joined: Joined) -> Arc<Member> {
        let Joined { device, library, rank, size, timeout, agrees, turn, id, family, comm } = joined;
        Counted::there_is_one();
        Arc::new_cyclic(|me| Member {
            device,
            library,
            rank,
            size,
            timeout,
            agrees,
            turn,
            id: id.to_bytes(),
            family,
            _counted: (size > 1).then(Counted::new),
            me: me.clone(),
            state: Mutex::new(State { comm, calls: Vec::new(), closed: false }),
            changed: Condvar::new(),
            life: Arc::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error that everyone gets since it died.
    pub(super) fn death(&self) -> Option<&Error> {
        self.life.death()
    }

    /// # Errors
    ///
    /// - It is dead: with what killed it.
    pub(super) fn expect_alive(&self) -> Result<()> {
        self.life.expect()
    }

    /// One call of NCCL with the handle, and as long as NCCL says that it goes on in the background.
    pub(super) fn call(&self, call: NcclCall, body: impl FnOnce(&dyn Nccl, ncclComm) -> ncclResult) -> Result<()> {
        let under_way = UnderWay::begin(self)?;
        let code = body(self.library.nccl(), under_way.comm);
        under_way.ended(code, call)
    }

    /// Opens a group of calls on this thread.
    pub(super) fn open_group(&self) -> Result<OpenGroup<'_>> {
        let under_way = UnderWay::begin(self)?;
        // SAFETY: the call takes nothing.
        let code = unsafe { self.library.nccl().ncclGroupStart() };
        match code.is_success() {
            true => Ok(OpenGroup(Some(under_way))),
            false => Err(under_way
                .ended(code, NcclCall::ncclGroupStart)
                .err()
                .unwrap_or_else(|| self.library.refused(code, NcclCall::ncclGroupStart))),
        }
    }

    /// What NCCL has noticed in the background; `None` where that is nothing.
    pub(super) fn async_error(&self) -> Option<String> {
        let under_way = UnderWay::begin(self).ok()?;
        let mut code = ncclResult::ncclSuccess;
        // SAFETY: the handle is alive, and `code` is valid for the write.
        let asked = unsafe { self.library.nccl().ncclCommGetAsyncError(under_way.comm, &mut code) };
        let code = if asked.is_success() { code } else { asked };
        drop(under_way);
        match code {
            ncclResult::ncclSuccess | ncclResult::ncclInProgress => None,
            code => Some(self.library.said(code)),
        }
    }

    /// The end of another rank in this process, where the library may not tell of it.
    pub(super) fn fallen_sibling(&self) -> Option<&str> {
        if self.library.tells_everybody() { None } else { self.family.fallen() }
    }

    /// Whether a call has been under way for so long.
    pub(super) fn is_stuck(&self) -> bool {
        self.state().calls.iter().any(|begun| begun.elapsed() > self.timeout)
    }

    /// It dies because this rank says so, and not because of what NCCL says.
    pub(super) fn die_saying(&self, why: String) {
        if self.death().is_none() {
            self.family.says(self.rank, &why);
        }
        self.die(why);
    }

    /// It is dead, if it was not before: `why`, with what was in flight.
    pub(super) fn die(&self, mut why: String) {
        // NCCL tells that another rank has ended it, and not why.
        if let Some((rank, said)) = self.family.said_to(self.rank).filter(|(_, said)| !why.contains(said)) {
            why.push_str(&format!("\nrank {rank} says: {said}"));
        }
        let lanes = self.lanes();
        let is_mine = |lane: &&Lane<Cuda>| unfinished(lane).iter().any(|name| name.needs(&self.life));
        // On a GPU the question may wait for the very call that hangs, and this must not.
        if self.device.is_software() {
            lanes.iter().filter(is_mine).for_each(|lane| self.device.note_if_idle(lane));
        }
        let in_flight = lanes.iter().flat_map(unfinished).filter_map(|name| name.with_ops_of(&self.life)).collect();
        let told = why.clone();
        let error = Error::new(ErrorKind::RankFailed { rank: self.rank, size: self.size, why, in_flight });
        let is_first = {
            let mut state = self.state();
            state.closed = true;
            self.life.end(error)
        };
        if !is_first {
            return;
        }
        self.family.falls(self.rank, &told);
        self.device.has_lost_partner();
        // Who notes a launch looks for this behind it (`Named::note_first`): so it is found here, or this is found there.
        fence(Ordering::SeqCst);
        // Before the abort: what waits for this work on another stream goes on then.
        for lane in self.lanes() {
            // Held over the question: who takes a note back looks at this behind it.
            let mut torn = lane.stream().torn();
            if unfinished(&lane).iter().any(|name| name.needs(&self.life)) {
                torn.get_or_insert_with(|| Torn::new(&lane, &self.life));
            }
        }
        let Some(me) = self.me.upgrade() else { return };
        let abort = move || me.abort();
        // Without a thread it is aborted here: whoever finds out then waits for it.
        if let Err(error) = std::thread::Builder::new().name("dacapo-abort".into()).spawn(abort) {
            drop(error);
            self.abort();
        }
    }

    fn lanes(&self) -> Vec<Lane<Cuda>> {
        self.device.0.lanes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the handle, whatever it is doing.
    fn abort(&self) {
        let comm = {
            let state = self.state();
            let wait = self.changed.wait_timeout_while(state, STUCK_AFTER, |state| !state.calls.is_empty());
            std::mem::take(&mut wait.unwrap_or_else(PoisonError::into_inner).0.comm)
        };
        if comm.is_null() {
            return;
        }
        // A lost device refuses both. The others must be told all the same, and that needs no context.
        let _ = self.device.make_current();
        let _relaxed = self.device.relaxed();
        // It waits for graphs that were captured with it, and they may wait for what it ends.
        let device = self.device.clone();
        let graphs = std::thread::Builder::new().name("dacapo-release".into());
        let _ = graphs.spawn(move || device.make_current().map(|()| device.release_graphs()));
        // SAFETY: the handle was made by this library, and nobody else ends it: it was taken out of its place. What is still
        // under way with it is inside NCCL, which allows an abort beside.
        // What it answers is of no use: there is nothing that could be done about it.
        let _ = unsafe { self.library.nccl().ncclCommAbort(comm) };
    }
}

/// The launches on a lane that are not known to be over.
fn unfinished(lane: &Lane<Cuda>) -> Vec<Arc<Named>> {
    lane.stream().notes.in_flight(lane.finished_up_to())
}

impl Partner for Member {
    fn life(&self) -> &Arc<Life> {
        &self.life
    }

    fn id(&self) -> &[u8] {
        &self.id
    }

    fn is_alone(&self) -> bool {
        self.size == 1
    }

    fn agree(&self, ops: &[JointOp]) -> Result<()> {
        self.expect_alive()?;
        // A recording that only sends and receives may have nothing to do with the other ranks.
        if self.agrees && self.size > 1 && !ops.is_empty() { agree::agree(self, ops) } else { Ok(()) }
    }
}

/// A group of calls that is open on this thread. It is ended in any case, whatever has become of the communicator: calls of anyone
/// else would end up in it. Until then it is under way: NCCL has the communicator in its list of this thread.
pub(super) struct OpenGroup<'m>(Option<UnderWay<'m>>);

impl OpenGroup<'_> {
    /// Ends it: now its calls are made.
    pub(super) fn close(mut self) -> Result<()> {
        let Some(under_way) = self.0.take() else { return Ok(()) };
        let member = under_way.member;
        // SAFETY: the call takes nothing; what was put into the group is as its calls promised.
        let code = unsafe { member.library.nccl().ncclGroupEnd() };
        under_way.ended(code, NcclCall::ncclGroupEnd)?;
        member.expect_alive()
    }
}

impl Drop for OpenGroup<'_> {
    fn drop(&mut self) {
        if let Some(under_way) = self.0.take() {
            // SAFETY: as in `close`. What it says is not asked: the error that brought us here is.
            let _ = unsafe { under_way.member.library.nccl().ncclGroupEnd() };
        }
    }
}

/// A call that is under way: counted, so that an abort waits for it.
struct UnderWay<'m> {
    member: &'m Member,
    comm: ncclComm,
    begun: Instant,
}

impl<'m> UnderWay<'m> {
    fn begin(member: &'m Member) -> Result<UnderWay<'m>> {
        let mut state = member.state();
        if state.closed {
            drop(state);
            return Err(member.death().cloned().unwrap_or_else(|| Error::msg("the communicator is dead")));
        }
        let begun = Instant::now();
        state.calls.push(begun);
        Ok(UnderWay { member, comm: state.comm, begun })
    }

    /// What came of the call, which has returned.
    fn ended(self, code: ncclResult, call: NcclCall) -> Result<()> {
        let code = match code {
            ncclResult::ncclInProgress => self.settled()?,
            code => code,
        };
        let member = self.member;
        drop(self);
        if code.is_success() {
            return Ok(());
        }
        let refused = member.library.refused(code, call);
        // The communicator is broken, and this call sees it before the thread that watches has asked: nothing later can
        // succeed. Whoever is first, the error is the same. A call that was only refused leaves nothing in the background.
        let why = match code {
            ncclResult::ncclRemoteError | ncclResult::ncclTimeout => Some(member.library.said(code)),
            _ => member.async_error(),
        };
        why.into_iter().for_each(|why| member.die(why));
        Err(member.death().cloned().unwrap_or(refused))
    }

    /// How what goes on in the background has ended.
    fn settled(&self) -> Result<ncclResult> {
        let begun = Instant::now();
        loop {
            self.member.expect_alive()?;
            let mut code = ncclResult::ncclSuccess;
            // SAFETY: the handle is alive: this call is under way. `code` is valid for the write.
            let asked = unsafe { self.member.library.nccl().ncclCommGetAsyncError(self.comm, &mut code) };
            match if asked.is_success() { code } else { asked } {
                // What only enqueues is done in less time than the shortest sleep takes.
                ncclResult::ncclInProgress if begun.elapsed() < LOOK => std::thread::yield_now(),
                ncclResult::ncclInProgress => std::thread::sleep(LOOK),
                code => return Ok(code),
            }
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.member.state();
        if let Some(at) = state.calls.iter().position(|begun| *begun == self.begun) {
            state.calls.swap_remove(at);
        }
        drop(state);
        self.member.changed.notify_all();
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let comm = std::mem::take(&mut state.comm);
        if comm.is_null() {
            return;
        }
        let end = Ending { comm, device: self.device.clone(), library: self.library.clone(), timeout: self.timeout };
        // A thread that cannot be made leaves the handle to the end of the process.
        let _ = std::thread::Builder::new().name("dacapo-leave".into()).spawn(move || end.run());
    }
}

/// The end of a handle that nobody needs.
struct Ending {
    comm: ncclComm,
    device: Device,
    library: Library,
    timeout: Duration,
}

impl Ending {
    /// Leaves as NCCL wants it, but waits for the others no longer than for anything.
    fn run(self) {
        // As of an abort.
        let _ = self.device.make_current();
        let _relaxed = self.device.relaxed();
        self.device.release_graphs();
        let nccl = self.library.nccl();
        let begun = Instant::now();
        // SAFETY: the handle is alive, and nobody else has it.
        let mut code = unsafe { nccl.ncclCommFinalize(self.comm) };
        while code == ncclResult::ncclInProgress && begun.elapsed() < self.timeout {
            std::thread::sleep(LOOK);
            // SAFETY: as above; `code` is valid for the write.
            let asked = unsafe { nccl.ncclCommGetAsyncError(self.comm, &mut code) };
            if !asked.is_success() {
                code = asked;
            }
        }
        // Nobody can be told of a refusal.
        let _ = match code.is_success() {
            // SAFETY: as above, and it is not used again.
            true => unsafe { nccl.ncclCommDestroy(self.comm) },
            // SAFETY: as above.
            false => unsafe { nccl.ncclCommAbort(self.comm) },
        };
    }
}
