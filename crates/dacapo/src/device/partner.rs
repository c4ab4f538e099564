//! Partners: those without whom some work does not end.
//!
//! A collective ends when every rank has come. So whoever launches one, and whoever waits for one, asks whether the others are
//! there. What a partner is, the device does not know: a communicator is one ([`collective`](crate::collective)).

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};

use dacapo_driver::types::CU_STREAM_CAPTURE_STATUS_NONE;
use dacapo_ledger::{Lane, MemoryId, Use};

use crate::device::{Cuda, Device, LaneStream, Named, Needed, Noted};
use crate::error::{Error, ErrorKind, Result};

/// An op that all partners must have alike.
#[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators compare them"))]
pub(crate) struct JointOp {
    /// What is done.
    pub(crate) what: String,
    /// How errors name it.
    pub(crate) named: String,
    /// Where it was made.
    pub(crate) at: &'static Location<'static>,
}

/// A partner that others belong to, as long as it or work of it is there. Counted for the whole process: streams of one device
/// wait for those of another.
pub(crate) struct Counted(());

static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Whether one has died.
static HAVE_DIED: AtomicBool = AtomicBool::new(false);
/// Whether there ever was one.
static WERE_ANY: AtomicBool = AtomicBool::new(false);

impl Counted {
    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators are"))]
    pub(crate) fn new() -> Counted {
        COUNT.fetch_add(1, Ordering::AcqRel);
        Counted(())
    }

    /// There is one, though perhaps nobody else belongs to it.
    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators are"))]
    pub(crate) fn there_is_one() {
        WERE_ANY.store(true, Ordering::Release);
    }

    /// Whether one has died in this process.
    pub(crate) fn have_died() -> bool {
        HAVE_DIED.load(Ordering::Acquire)
    }

    /// Whether there are any.
    pub(crate) fn are_any() -> bool {
        COUNT.load(Ordering::Acquire) > 0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Whether a partner is alive. It outlasts the partner: what was launched with one that died stays without a result, also when
/// nobody needs the partner any more.
#[derive(Default)]
pub(crate) struct Life {
    died: OnceLock<Error>,
}

impl Life {
    /// What killed it.
    pub(crate) fn death(&self) -> Option<&Error> {
        self.died.get()
    }

    /// It is dead from now on; whether it was not before.
    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators say it"))]
    pub(crate) fn end(&self, why: Error) -> bool {
        self.died.set(why).is_ok()
    }

    /// # Errors
    ///
    /// - It is dead: with what killed it.
    pub(crate) fn expect(&self) -> Result<()> {
        self.death().map_or(Ok(()), |error| Err(error.clone()))
    }
}

/// A stream on which work was in flight when its partner died. What that work was to write was never written, and nobody can say of
/// what came behind it what it was computed from.
pub(crate) struct Torn {
    /// The position up to which the stream's work was known to be done.
    whole_up_to: u64,
    life: Arc<Life>,
}

impl Torn {
    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators say it"))]
    pub(crate) fn new(lane: &Lane<Cuda>, life: &Arc<Life>) -> Torn {
        Torn { whole_up_to: lane.finished_up_to(), life: life.clone() }
    }
}

/// Whose results the host is about to see: the last writes of some memory.
pub(crate) struct Writers(Vec<Use<Cuda>>);

impl Writers {
    /// # Errors
    ///
    /// - One of them was in flight on its stream when a partner died, whatever stream it was waited for on: with what killed it.
    pub(crate) fn expect_whole(&self) -> Result<()> {
        self.0.iter().try_for_each(|used| match &*used.lane().stream().torn() {
            Some(torn) if used.position() > torn.whole_up_to => torn.life.expect(),
            _ => Ok(()),
        })
    }
}

/// Somebody that work of this device is done with.
pub(crate) trait Partner: Send + Sync {
    /// Whether it is alive.
    fn life(&self) -> &Arc<Life>;

    /// The same bytes on every rank, and others for each partner.
    fn id(&self) -> &[u8];

    /// Whether there are no others to do anything with.
    fn is_alone(&self) -> bool;

    /// Makes sure that the others have recorded the same: these ops, in this order.
    ///
    /// # Errors
    ///
    /// - They have not, or one of them did not answer.
    fn agree(&self, ops: &[JointOp]) -> Result<()>;
}

impl Named {
    /// # Errors
    ///
    /// - A partner of this launch is dead.
    pub(crate) fn expect_partners(&self) -> Result<()> {
        self.partners.iter().try_for_each(|needed| needed.life.expect())
    }

    /// Notes a launch if it is done with others, before anything of it is on the stream.
    ///
    /// # Errors
    ///
    /// - As [`note_first`](Named::note_first).
    pub(crate) fn noted_ahead(self: &Arc<Self>, device: &Device, stream: &LaneStream) -> Result<Option<Noted>> {
        if self.partners.is_empty() { Ok(None) } else { self.note_first(device, stream).map(Some) }
    }

    /// The same of one that is: so the part of it that is there when the rest is refused has a name, and with it a limit of time.
    /// A death looks at the notes: either it finds this one, or it is found here. That costs a graph's launch little but the
    /// fence: the device's word is beside what a launch looks at anyway.
    ///
    /// # Errors
    ///
    /// - As [`expect_partners`](Named::expect_partners). Then it is not noted.
    #[inline]
    pub(crate) fn note_first(self: &Arc<Self>, device: &Device, stream: &LaneStream) -> Result<Noted> {
        let noted = stream.notes.push(self);
        fence(Ordering::SeqCst);
        if device.0.partner_died.load(Ordering::Acquire)
            && let Err(error) = self.expect_partners()
        {
            stream.take_back(noted);
            return Err(error);
        }
        Ok(noted)
    }

    /// Notes a launch that was made, or part of which was before the rest was refused.
    pub(crate) fn noted_behind(
        self: &Arc<Self>,
        stream: &LaneStream,
        ahead: Option<Noted>,
        is_made: bool,
        is_there: bool,
    ) {
        match ahead {
            None if is_made => _ = stream.notes.push(self),
            Some(noted) if !is_there => stream.take_back(noted),
            _ => {}
        }
    }

    /// Whether this is the life of one of the launch's partners.
    pub(crate) fn needs(&self, life: &Arc<Life>) -> bool {
        self.needed(life).is_some()
    }

    /// The launch with its ops that are done with this partner, if there are any.
    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators ask it"))]
    pub(crate) fn with_ops_of(&self, life: &Arc<Life>) -> Option<String> {
        let needed = self.needed(life)?;
        let ops = if needed.ops.is_empty() { String::new() } else { format!(", which needs it for {}", needed.ops) };
        Some(format!("{self}{ops}"))
    }

    fn needed(&self, life: &Arc<Life>) -> Option<&Needed> {
        self.partners.iter().find(|needed| Arc::ptr_eq(&needed.life, life))
    }
}

impl LaneStream {
    /// What was noted ahead was not launched. A death meanwhile has found it here; then the stream is whole after all.
    #[cold]
    fn take_back(&self, noted: Noted) {
        self.notes.take_back(noted);
        let in_flight = self.notes.in_flight(0);
        let mut torn = self.torn();
        *torn = torn.take().filter(|torn| in_flight.iter().any(|name| name.needs(&torn.life)));
    }

    /// From where on nobody knows what its work has written.
    pub(crate) fn torn(&self) -> MutexGuard<'_, Option<Torn>> {
        self.torn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same error for who launches on the stream of a dead launch, perhaps without the dead communicator.
#[cold]
fn of_its_stream(error: Error) -> Error {
    let ErrorKind::RankFailed { rank, size, why, in_flight } = error.kind() else { return error };
    let (first, rest) = why.split_once('\n').unwrap_or((why, ""));
    let help =
        "help: make a new stream: work of that communicator was on this one when it died, and nothing runs behind it";
    let why = format!("{first}\n{help}\n{rest}");
    Error::new(ErrorKind::RankFailed { rank: *rank, size: *size, why, in_flight: in_flight.clone() })
}

impl Device {
    /// From now on, whoever launches or waits asks whether the partners concerned are alive.
    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators say it"))]
    pub(crate) fn has_lost_partner(&self) {
        HAVE_DIED.store(true, Ordering::Release);
        self.0.partner_died.store(true, Ordering::Release);
    }

    /// Who wrote this memory last; nobody is named in a process without ranks.
    pub(crate) fn writers(&self, memory: MemoryId) -> Writers {
        match WERE_ANY.load(Ordering::Acquire) {
            true => Writers(self.ledger().last_writes(memory)),
            false => Writers(Vec::new()),
        }
    }

    /// What somebody waited for on this lane is over. Is it done?
    ///
    /// # Errors
    ///
    /// - It ended because a partner died: what it should have written is not there. So it stays for this lane: nobody can
    ///   say of what came later what it was computed from.
    #[inline]
    pub(crate) fn expect_partners_of(&self, lane: &Lane<Cuda>) -> Result<()> {
        match self.0.partner_died.load(Ordering::Acquire) {
            false => Ok(()),
            true => lane.stream().torn().as_ref().map_or(Ok(()), |torn| torn.life.expect()),
        }
    }

    /// What a launch asks of its stream.
    ///
    /// # Errors
    ///
    /// - A partner died while work with it was on the stream: nothing comes behind that.
    #[inline]
    pub(crate) fn expect_untorn(&self, lane: &Lane<Cuda>) -> Result<()> {
        self.expect_partners_of(lane).map_err(of_its_stream)
    }

    /// Notes that a lane is idle, if it is, and if that can be asked without waiting for anybody.
    #[cfg_attr(not(feature = "nccl"), allow(dead_code, reason = "communicators do"))]
    pub(crate) fn note_if_idle(&self, lane: &Lane<Cuda>) {
        let Some(last) = self.ledger().last_use_if_free(lane) else { return };
        let (Ok(()), Ok(_relaxed)) = (self.make_current(), self.relaxed()) else { return };
        let (stream, mut capturing) = (lane.stream().raw.0, CU_STREAM_CAPTURE_STATUS_NONE);
        // SAFETY: the stream is destroyed only when nobody names its lane, and `capturing` is valid for the write.
        let asked = unsafe { self.driver().cuStreamIsCapturing(stream, &mut capturing) };
        // Another library may capture it, and a query would break that.
        if !asked.is_success() || capturing != CU_STREAM_CAPTURE_STATUS_NONE {
            return;
        }
        // SAFETY: as above.
        if unsafe { self.driver().cuStreamQuery(stream) }.is_success() {
            self.ledger().finished(&last);
        }
    }
}
