//! What a machine knows of communicators: its ranks by their handles, and the meetings of those that are all here.

use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::communicator::{Communicator, Link, Local, locked};
use super::id::Token;
use super::refusal::Refused;
use crate::machine::{Inner, Machine, State};
use crate::model::table::Table;

/// The ranks of a machine.
pub(crate) struct Ranks {
    pub(crate) communicators: Table<Arc<Communicator>>,
    pub(crate) meetings: Vec<(Token, Weak<Mutex<Local>>)>,
    /// Names this machine among those whose ranks meet.
    pub(crate) machine: Option<u64>,
    /// A task has become ready again, or a communicator has broken: whoever waits should look.
    pub(crate) woken: bool,
    is_watched: bool,
}

impl Ranks {
    pub(crate) fn new() -> Ranks {
        Ranks { communicators: Table::new(18), meetings: Vec::new(), machine: None, woken: false, is_watched: false }
    }

    pub(crate) fn live_meetings(&mut self) -> Vec<Arc<Mutex<Local>>> {
        self.meetings.retain(|(_, meeting)| meeting.strong_count() > 0);
        self.meetings.iter().filter_map(|(_, meeting)| meeting.upgrade()).collect()
    }

    /// A rank takes its seat in the meeting of this id; the first one opens it.
    ///
    /// That all ranks are here was said by whoever listens at the port in the id. The bytes of an id are anybody's to write, so
    /// nothing is believed but what fits the ranks that have sat down before.
    pub(crate) fn sit_down(
        &mut self,
        token: Token,
        communicator: &Arc<Communicator>,
        patience: Duration,
    ) -> Result<Link, Refused> {
        let mut known = self.meetings.iter().filter(|(known, _)| *known == token);
        let known = known.find_map(|(_, meeting)| meeting.upgrade());
        let meeting = known.unwrap_or_else(|| {
            let local = Arc::new(Mutex::new(Local::new(communicator.ranks, patience)));
            self.meetings.push((token, Arc::downgrade(&local)));
            local
        });
        locked(&meeting).seat(communicator)?;
        Ok(Link::Local(meeting))
    }
}

impl Machine {
    /// Works on the state outside of a driver call, and lets those know who wait.
    pub(crate) fn with_state<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.lock();
        let result = body(&mut state);
        let untold = std::mem::take(&mut state.untold);
        state.ranks.woken = false;
        let has_work = !state.tasks.is_empty();
        drop(state);
        if self.inner.live && has_work {
            self.wake_worker();
        }
        self.inner.changed.notify_all();
        self.tell(untold);
        result
    }

    /// Makes sure that somebody looks at the clock while no call of the program does.
    pub(crate) fn watch_ranks(&self) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.ranks.is_watched, true) {
            return;
        }
        let every = (state.options.patience() / 8).clamp(Duration::from_millis(1), Duration::from_millis(200));
        drop(state);
        let inner = Arc::downgrade(&self.inner);
        let watch = move || watch(&inner, every);
        if std::thread::Builder::new().name("dacapo-ranks".into()).spawn(watch).is_err() {
            // No thread to be had: calls that wait or ask look.
            self.lock().ranks.is_watched = false;
        }
    }
}

fn watch(inner: &Weak<Inner>, every: Duration) {
    loop {
        std::thread::sleep(every);
        let Some(inner) = inner.upgrade() else { return };
        let machine = Machine { inner };
        let is_over = {
            let mut state = machine.lock();
            let is_over = state.ranks.live_meetings().is_empty();
            state.ranks.is_watched = !is_over;
            is_over
        };
        if is_over {
            return;
        }
        // Looks first, so that a machine in which nothing is wrong is not woken.
        let now = Instant::now();
        let is_overdue = machine.lock().ranks.live_meetings().iter().any(|local| {
            let local = locked(local);
            local.meeting.overdue(now).is_some() || local.meeting.trouble.is_some() && !local.is_told
        });
        if is_overdue {
            machine.with_state(State::judge_collectives);
        }
    }
}
