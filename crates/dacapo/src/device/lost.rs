//! A context that a fault has broken, and the launches that may have done it.
//!
//! A GPU reports a fault late and without a name. So each stream remembers the names of its last launches; when a call
//! answers with a sticky code, those that are not known to be finished are listed.

use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dacapo_driver::DriverError;

use crate::device::{Device, Life};
use crate::error::{Error, ErrorKind};

/// What a launch is called in errors.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) at: Option<&'static Location<'static>>,
    /// Whom the launch needs.
    pub(crate) partners: Vec<Needed>,
}

/// A partner of a launch, and the ops that are done with it, as text; nothing where the launch is one op and named after it.
pub(crate) struct Needed {
    /// The partner itself is not held: the names of launches stay with their stream, and so with the device.
    pub(crate) life: Arc<Life>,
    pub(crate) ops: String,
}

impl Needed {
    /// So many ops are named.
    pub(crate) const NAMED_MAX: usize = 3;
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.label.is_empty() {
            write!(f, " `{}`", self.label)?;
        }
        match self.at {
            Some(at) => write!(f, " at {at}"),
            None => Ok(()),
        }
    }
}

/// The launches of a stream since it was last known to be idle, the same one in a row only once.
#[derive(Default)]
#[repr(C)] // the first three are what a launch has to do with
pub(crate) struct Notes {
    /// Where the newest name is, so that a launch of the same graph again takes no lock. The list holds what it names, so the
    /// address is not another graph's.
    newest: AtomicUsize,
    /// The position on the lane of what is put on the stream, or was last.
    position: AtomicU64,
    /// Whether all launches are over. Their names stay in the list until another one comes.
    is_idle: AtomicBool,
    /// The newest is the last of it.
    list: Mutex<VecDeque<Note>>,
}

/// A launch, or the same several times in a row.
struct Note {
    name: Arc<Named>,
    /// The position of the first of them. The last one is before that of the next note.
    from: u64,
}

/// What a push has changed.
pub(crate) struct Noted {
    is_new: bool,
    was_idle: bool,
}

/// As many as a person reads.
const NOTES_MAX: usize = 16;

/// The oldest name that nothing is lost with: whatever partner it needs is needed by another one in the list. A partner that no
/// name speaks of would not be waited for with a limit of time, and its death would not be told.
fn spare(list: &VecDeque<Note>) -> Option<usize> {
    let others = |at: usize| list.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, note)| &note.name);
    let is_spare = |at: usize| {
        let mut partners = list[at].name.partners.iter();
        partners.all(|needed| others(at).any(|name| name.needs(&needed.life)))
    };
    (0..list.len()).find(|at| is_spare(*at))
}

impl Notes {
    /// Work of this position is put on the stream. Under the lock of its lane.
    #[inline]
    pub(crate) fn entered(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
    }

    /// Under the lock of the stream's lane, so one at a time: no step here need be one with another.
    #[inline]
    pub(crate) fn push(&self, name: &Arc<Named>) -> Noted {
        let is_new = self.newest.load(Ordering::Relaxed) != Arc::as_ptr(name).addr();
        if is_new {
            self.push_other(name);
        }
        let was_idle = self.is_idle.load(Ordering::Relaxed);
        if was_idle {
            self.is_idle.store(false, Ordering::Relaxed);
        }
        Noted { is_new, was_idle }
    }

    /// What was noted, and was not launched after all. Under the same lock as the push.
    #[cold]
    pub(crate) fn take_back(&self, Noted { is_new, was_idle }: Noted) {
        if is_new {
            let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
            list.pop_back();
            self.newest.store(list.back().map_or(0, |note| Arc::as_ptr(&note.name).addr()), Ordering::Relaxed);
        }
        if was_idle {
            self.is_idle.store(true, Ordering::Relaxed);
        }
    }

    #[inline(never)]
    fn push_other(&self, name: &Arc<Named>) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_idle.load(Ordering::Relaxed) {
            list.clear();
        }
        if list.len() >= NOTES_MAX
            && let Some(spare) = spare(&list)
        {
            list.remove(spare);
        }
        list.push_back(Note { name: name.clone(), from: self.position.load(Ordering::Relaxed) });
        self.newest.store(Arc::as_ptr(name).addr(), Ordering::Relaxed);
    }

    /// Everything that was launched is over.
    pub(crate) fn idle(&self) {
        self.is_idle.store(true, Ordering::Relaxed);
    }

    fn names(&self, finished: u64) -> Vec<String> {
        self.in_flight(finished).iter().map(|name| name.to_string()).collect()
    }

    /// What is not known to be over, where the lane is known to be done up to `finished`.
    pub(crate) fn in_flight(&self, finished: u64) -> Vec<Arc<Named>> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_idle.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let behind = |at: usize| list.get(at + 1).map_or(self.position.load(Ordering::Relaxed) + 1, |next| next.from);
        let is_over = |at: usize| behind(at) <= finished + 1;
        (0..list.len()).filter(|at| !is_over(*at)).map(|at| list[at].name.clone()).collect()
    }
}

/// What is answered once the context is broken.
pub(crate) struct Lost {
    first: DriverError,
    in_flight: Vec<String>,
    findings: Vec<String>,
}

impl Lost {
    #[cfg(feature = "tracing")]
    pub(crate) fn first(&self) -> DriverError {
        self.first
    }

    pub(crate) fn error(&self) -> Error {
        let (first, in_flight, findings) = (self.first, self.in_flight.clone(), self.findings.clone());
        Error::new(ErrorKind::Lost { first, in_flight, findings })
    }
}

impl Device {
    /// Remembers that the context is broken, with what was in flight. The first to notice decides the text.
    pub(crate) fn lose(&self, first: DriverError) -> Error {
        let lost = self.0.lost.get_or_init(|| {
            let lanes = self.0.lanes.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let in_flight = lanes.iter().flat_map(|lane| lane.stream().notes.names(lane.finished_up_to())).collect();
            Lost { first, in_flight, findings: self.findings() }
        });
        self.0.is_lost.store(true, Ordering::Release);
        lost.error()
    }
}
