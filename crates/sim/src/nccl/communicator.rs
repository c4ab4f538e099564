//! A rank of a communicator: how it reaches the others, what it has under way, what has gone wrong.
//!
//! It lives as long as its handle, a node of a graph, or a piece of work in flight. What is behind its mutexes is taken after
//! the machine's lock, never before; `link` is taken before the meeting.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::meeting::{Gone, Meeting};
use super::refusal::Refused;
use super::remote::Remote;
use super::report::Trouble;
use crate::detect::order::Node;
use crate::model::device::On;
use crate::model::table::Key;
use crate::model::tasks::Task;

/// A rank.
pub(crate) struct Communicator {
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    pub(crate) device: i32,
    /// The context that it was made in, whose rights its work has.
    pub(crate) on: On,
    link: Mutex<Link>,
    trouble: Mutex<Option<Trouble>>,
    under_way: Mutex<UnderWay>,
    /// Pieces of work that are submitted and not over.
    flights: AtomicUsize,
    /// The program has destroyed or finalized it: nothing new comes.
    ended: AtomicBool,
    aborted: AtomicBool,
    left: AtomicBool,
}

/// How a rank reaches the others.
pub(crate) enum Link {
    /// Not yet; the connection, where there is one, so that an abort can end the wait.
    Joining(Option<TcpStream>),
    /// All are in this machine.
    Local(Arc<Mutex<Local>>),
    Remote(Remote),
}

/// The meeting of ranks that are all in one machine.
pub(crate) struct Local {
    pub(crate) meeting: Meeting,
    pub(crate) seats: Vec<Weak<Communicator>>,
    /// The device of each rank; [`NOBODY`] until it has sat down.
    pub(crate) devices: Vec<i32>,
    /// The trouble has been told to the ranks.
    pub(crate) is_told: bool,
}

/// No device has this number.
const NOBODY: i32 = -1;

impl Local {
    pub(crate) fn new(ranks: u32, patience: Duration) -> Local {
        Local {
            meeting: Meeting::new(ranks, patience),
            seats: (0..ranks).map(|_| Weak::new()).collect(),
            devices: vec![NOBODY; ranks as usize],
            is_told: false,
        }
    }

    /// A rank sits down: once, whether it is still there or not, and only if it knows of as many ranks.
    pub(crate) fn seat(&mut self, communicator: &Arc<Communicator>) -> Result<(), Refused> {
        let (rank, ranks, here) = (communicator.rank, communicator.ranks, self.seats.len());
        if ranks as usize != here {
            let why = format!(
                "rank {rank} says that there are {ranks} ranks, and those who joined before that there are {here}"
            );
            return Err(Refused::usage(why));
        }
        let seat = rank as usize;
        if self.devices[seat] != NOBODY {
            return Err(Refused::usage(format!("two have joined as rank {rank}")));
        }
        self.seats[seat] = Arc::downgrade(communicator);
        self.devices[seat] = communicator.device;
        if let Some(trouble) = self.meeting.trouble.clone() {
            communicator.set_trouble(trouble);
        }
        Ok(())
    }

    /// A rank that has waited for too long, with its device and that of a rank which has not come.
    pub(crate) fn overdue(&self, now: Instant) -> Option<(u32, [i32; 2])> {
        let (rank, missing) = self.meeting.overdue(now)?;
        Some((rank, [rank, missing].map(|rank| self.devices[rank as usize])))
    }

    /// The one rank of the second device, if it waits here for that of the first, which has not come.
    pub(crate) fn waits_in_vain(&self, [first, second]: [i32; 2]) -> Option<u32> {
        let rank_of = |device: i32| {
            let mut ranks = (0..).zip(&self.devices).filter(|(_, known)| **known == device).map(|(rank, _)| rank);
            // Of two ranks on one device nobody knows which is meant.
            ranks.next().filter(|_| ranks.next().is_none())
        };
        let (other, rank) = (rank_of(first)?, rank_of(second)?);
        self.meeting.waits_in_vain(rank, other).then_some(rank)
    }
}

/// What a rank's scheduler keeps of it.
#[derive(Default)]
pub(crate) struct UnderWay {
    /// The piece that has begun.
    pub(crate) active: Option<Key<Task>>,
    /// Those that began before it was over: they wait.
    pub(crate) queue: VecDeque<Key<Task>>,
    /// The begin of the piece before, with the age of the order then.
    pub(crate) before: Option<(u64, Arc<Node>)>,
    /// An overlap has been found: once is enough.
    pub(crate) overlap_found: bool,
    /// A launch after its end has been found, likewise.
    pub(crate) dead_found: bool,
}

/// What a rank is at the moment.
pub(crate) enum Standing {
    Joining,
    Ready,
    Broken(Trouble),
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic under such a lock is a bug of ours that was reported where it happened; what it guards is plain data.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Communicator {
    pub(crate) fn new(rank: u32, ranks: u32, on: On) -> Communicator {
        Communicator {
            rank,
            ranks,
            // There are at most 64.
            device: on.device as i32,
            on,
            link: Mutex::new(Link::Joining(None)),
            trouble: Mutex::new(None),
            under_way: Mutex::default(),
            flights: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            aborted: AtomicBool::new(false),
            left: AtomicBool::new(false),
        }
    }

    pub(crate) fn standing(&self) -> Standing {
        if let Some(trouble) = locked(&self.trouble).clone() {
            return Standing::Broken(trouble);
        }
        match &*locked(&self.link) {
            Link::Joining(_) => Standing::Joining,
            _ => Standing::Ready,
        }
    }

    /// The first thing that goes wrong is what its asynchronous error tells.
    pub(crate) fn set_trouble(&self, trouble: Trouble) {
        locked(&self.trouble).get_or_insert(trouble);
    }

    pub(crate) fn is_broken(&self) -> bool {
        locked(&self.trouble).is_some()
    }

    pub(crate) fn under_way(&self) -> MutexGuard<'_, UnderWay> {
        locked(&self.under_way)
    }

    pub(crate) fn link(&self) -> MutexGuard<'_, Link> {
        locked(&self.link)
    }

    /// The connection over which it joins; false if it was aborted meanwhile.
    pub(crate) fn joins_over(&self, connection: Option<TcpStream>) -> bool {
        let mut link = self.link();
        if matches!(*link, Link::Joining(_)) && !self.is_aborted() {
            *link = Link::Joining(connection);
            return true;
        }
        false
    }

    /// It has joined. If it was given up or destroyed meanwhile, the others hear of that now.
    pub(crate) fn has_joined(&self, joined: Link) {
        let mut link = self.link();
        *link = joined;
        if self.left.load(Ordering::Acquire) {
            let gone = if self.is_aborted() { Gone::Aborted } else { Gone::Left };
            self.tell(&link, gone);
        }
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::Acquire)
    }

    /// Whether new work is a mistake.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire) || self.is_aborted()
    }

    /// The program ends it: when its work is over, it leaves.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.leave_if_idle();
    }

    /// The program gives it up, with all that is under way. The caller lets its tasks go.
    pub(crate) fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
        self.part(Gone::Aborted);
        if let Link::Joining(connection) = &mut *self.link()
            && let Some(connection) = connection.take()
        {
            // Whoever waits for the others wakes up. If it is closed already, so much the better.
            let _ = connection.shutdown(std::net::Shutdown::Both);
        }
    }

    /// A piece of work is submitted.
    pub(crate) fn take_off(&self) {
        self.flights.fetch_add(1, Ordering::AcqRel);
    }

    /// A piece of work is over, or was dropped in the middle.
    pub(crate) fn land(&self, is_over: bool) {
        if !is_over {
            self.part(Gone::Lost("has a device that is broken, and its work was dropped".into()));
        }
        self.flights.fetch_sub(1, Ordering::AcqRel);
        self.leave_if_idle();
    }

    fn leave_if_idle(&self) {
        if self.is_ended() && self.flights.load(Ordering::Acquire) == 0 {
            self.part(Gone::Left);
        }
    }

    /// Tells the others that it comes no more, once.
    fn part(&self, gone: Gone) {
        if self.left.swap(true, Ordering::AcqRel) {
            return;
        }
        self.tell(&self.link(), gone);
    }

    fn tell(&self, link: &Link, gone: Gone) {
        match link {
            Link::Local(local) => locked(local).meeting.leave(self.rank, gone),
            Link::Remote(remote) => remote.part(&gone),
            Link::Joining(_) => {}
        }
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        // No handle, no work and no node is left.
        self.part(Gone::Left);
    }
}
