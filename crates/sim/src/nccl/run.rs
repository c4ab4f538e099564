//! How a machine runs collectives: a task offers what its rank has and is set aside; when the others have come it is ready
//! again, and its turn writes what they bring.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use dacapo_driver::CUresult;

use super::communicator::{Communicator, Link, Local, locked};
use super::content::Content;
use super::meeting::{Done, Outcome};
use super::report::{Trouble, crossed};
use super::transfer::{Said, Transfer};
use super::work::{CollectiveWork, Run, Trip};
use crate::finding::{Ending, Finding};
use crate::machine::State;
use crate::memory::{AccessError, AccessErrorKind};
use crate::model::table::Key;
use crate::model::tasks::Task;
use crate::model::work::Work;

impl State {
    /// A run of a collective for a launch; nothing if its communicator has ended.
    ///
    /// `was_ended` is whether it had when the launch began: the rounds of a loop come here one by one, long after that.
    pub(crate) fn collective(&mut self, work: &Arc<CollectiveWork>, was_ended: bool) -> Work {
        let communicator = &work.communicator;
        if !communicator.is_ended() {
            return Work::Collective(Run::Waits(Trip::new(work.clone())));
        }
        // Rounds that an abort has overtaken are given up with the rest of their launch. One that was finalized meanwhile would
        // have had to stay for them.
        let is_given_up = communicator.is_aborted() && !was_ended;
        if !is_given_up && !std::mem::replace(&mut communicator.under_way().dead_found, true) {
            self.find_dead_launch(work);
        }
        Work::Nothing
    }

    fn find_dead_launch(&mut self, work: &CollectiveWork) {
        let what = format!("a graph runs {} of a communicator that has ended", work.calls[0].said.told);
        let finding = Finding::new("dead-communicator", Ending::YourProgram, what)
            .at("cuGraphLaunch", format!("rank {} was destroyed, finalized or aborted before", work.communicator.rank))
            .by(work.by())
            .note("on a GPU this uses memory that is gone")
            .help("keep a communicator until the last launch of the graphs that use it is done");
        self.find(finding);
    }

    /// The turn of a collective has come.
    pub(crate) fn run_collective(&mut self, key: Key<Task>, run: Run) {
        match run {
            Run::Waits(trip) => self.begin_collective(key, trip),
            Run::Met(trip, outcomes) => self.end_collective(key, trip, &outcomes),
            Run::GivenUp(trip) | Run::Apart(trip) => {
                let communicator = trip.work.communicator.clone();
                trip.end();
                self.tasks.finish(key);
                self.next_of(&communicator, key);
            }
        }
    }

    fn begin_collective(&mut self, key: Key<Task>, trip: Trip) {
        let work = trip.work.clone();
        let communicator = &work.communicator;
        if communicator.is_aborted() {
            return self.run_collective(key, Run::GivenUp(trip));
        }
        let active = communicator.under_way().active.filter(|active| *active != key && !self.tasks.is_done(*active));
        if active.is_some() {
            self.find_overlap(&work);
            communicator.under_way().queue.push_back(key);
            return self.set_run_apart(key, trip);
        }
        communicator.under_way().active = Some(key);
        self.find_unordered_begin(key, &work);
        self.look_for(Some(communicator.on));
        let said = match self.read_sent(key, &work) {
            Ok(said) => said,
            Err(error) => return self.collective_faults(key, trip, &error),
        };
        self.look_away();
        self.note(|| format!("{} of rank {}", work.name(), communicator.rank));
        self.time_ns += 500 + work.bytes() / 64;
        self.set_run_apart(key, trip);
        if communicator.is_broken() {
            // It waits for an abort.
            return;
        }
        let mark = self.tasks.order.as_mut().and_then(|order| order.begin(key));
        let local = match &*communicator.link() {
            Link::Local(local) => Some(local.clone()),
            Link::Remote(remote) => {
                remote.offer(&said);
                None
            }
            Link::Joining(_) => None,
        };
        if let Some(local) = local {
            let done = locked(&local).meeting.offer(communicator.rank, said, mark);
            self.bring(&local, done);
        }
    }

    /// Sets a task aside, its work with it.
    fn set_run_apart(&mut self, key: Key<Task>, trip: Trip) {
        self.tasks.set_aside(key);
        if let Some(task) = self.tasks.get_mut(key) {
            task.work = Work::Collective(Run::Apart(trip));
        }
    }

    /// What a rank gives, read from its buffers.
    fn read_sent(&mut self, key: Key<Task>, work: &CollectiveWork) -> Result<Vec<(Said, Content)>, AccessError> {
        let (rank, ranks) = (work.communicator.rank, work.communicator.ranks);
        self.watch_memory_work(key, &work.name(), work.bytes());
        let read = work.calls.iter().map(|call| {
            let told = call.said.told;
            let (sent, received) = (told.sent(rank, ranks), told.received(rank, ranks));
            if received > 0 {
                self.memory.check(call.receive, received)?;
            }
            if sent == 0 {
                return Ok((call.said.clone(), Content::default()));
            }
            self.memory.touch(call.send, sent, false);
            self.memory.check(call.send, sent)?;
            let mut bytes = vec![0; sent as usize];
            self.memory.read(call.send, &mut bytes)?;
            let content = Content::new(bytes, self.memory.unwritten(call.send, sent)?).expect("in order");
            if told.kind.reduces() && self.options.detectors.uninitialised && !content.is_written() {
                self.find_uninitialised(rank, &call.said, call.send);
            }
            Ok((call.said.clone(), content))
        });
        let read = read.collect();
        self.end_watch();
        read
    }

    fn find_uninitialised(&mut self, rank: u32, said: &Said, address: u64) {
        let what = format!("rank {rank} gives memory to {} that nobody has written", said.told.kind.symbol());
        let finding = Finding::new("uninitialised-read", Ending::YourProgram, what)
            .at(said.told.to_string(), format!("reads {}", self.memory.describe(address)))
            .by(said.by.as_ref())
            .help("write the memory first: a memset, a copy or a kernel");
        self.find(finding);
    }

    /// A second collective of a communicator began while its first was going on.
    fn find_overlap(&mut self, work: &CollectiveWork) {
        let communicator = &work.communicator;
        let active = communicator.under_way().active;
        let first = active.and_then(|key| self.tasks.get_mut(key)).and_then(|task| match &task.work {
            Work::Collective(run) => Some(run.trip().work.clone()),
            _ => None,
        });
        if std::mem::replace(&mut communicator.under_way().overlap_found, true) {
            return;
        }
        let what = format!(
            "rank {} begins {} while {} of the same communicator is going on",
            communicator.rank,
            work.name(),
            first.as_ref().map_or_else(|| "another call".to_string(), |first| first.name()),
        );
        let side = |finding: Finding, work: &CollectiveWork| {
            let said = &work.calls[0].said;
            finding.at(format!("rank {}", work.communicator.rank), said.told.to_string()).by(said.by.as_ref())
        };
        let finding = side(Finding::new("collective-overlap", Ending::YourProgram, what), work);
        let finding = first.iter().fold(finding, |finding, first| side(finding, first));
        let finding = finding
            .note("nothing orders the two, and on GPUs the ranks may take them in different orders and wait for ever")
            .help("put both on one stream, order their streams by an event, or use a communicator for each");
        self.find(finding);
    }

    /// As above, where the two did not meet, and nothing but luck kept them apart.
    fn find_unordered_begin(&mut self, key: Key<Task>, work: &CollectiveWork) {
        let Some(order) = &mut self.tasks.order else { return };
        let (Some(node), age) = (order.begin(key), order.age) else { return };
        let before = work.communicator.under_way().before.replace((age, node.clone()));
        if before.is_some_and(|(then, before)| then == age && !node.is_after(before.chain, before.at)) {
            self.find_overlap(work);
        }
    }

    fn end_collective(&mut self, key: Key<Task>, trip: Trip, outcomes: &[Outcome]) {
        let work = trip.work.clone();
        if let Some(order) = &mut self.tasks.order {
            outcomes.iter().flat_map(|outcome| &outcome.after).for_each(|begin| order.learn_begin(key, begin));
        }
        self.look_for(Some(work.communicator.on));
        self.watch_memory_work(key, &work.name(), work.bytes());
        let write = work.calls.iter().zip(outcomes).try_for_each(|(call, outcome)| {
            let bytes = outcome.data();
            if bytes.is_empty() {
                return Ok(());
            }
            self.memory.touch(call.receive, bytes.len() as u64, true);
            self.memory.write(call.receive, bytes)?;
            outcome
                .unwritten()
                .try_for_each(|range| self.memory.mark_unwritten(call.receive + range.start, range.end - range.start))
        });
        self.end_watch();
        match write {
            Ok(()) => {
                self.look_away();
                trip.end();
                self.tasks.finish(key);
                self.next_of(&work.communicator, key);
            }
            Err(error) => self.collective_faults(key, trip, &error),
        }
    }

    /// A collective touches what it may not: the device of its rank is broken.
    fn collective_faults(&mut self, key: Key<Task>, trip: Trip, error: &AccessError) {
        let work = trip.work.clone();
        let out_of_reach = self.memory.out_of_reach(error.address);
        self.look_away();
        let (code, help) = match error.kind {
            AccessErrorKind::PeerAccess => ("peer-access", "give a rank memory of its own device"),
            AccessErrorKind::Freed => {
                ("use-after-free", "keep the memory until the last launch that touches it is done")
            }
            AccessErrorKind::NotAllocated => {
                ("graph-memory-not-allocated", "order this work behind the node that allocates the memory")
            }
            AccessErrorKind::NoAccess => ("no-access", "call cuMemMap and then cuMemSetAccess for the range first"),
            _ => ("out-of-bounds", "let count times the size of the type fit the buffer; for all ranks where all give"),
        };
        let who = out_of_reach.map(|(who, _)| format!(": {who}")).unwrap_or_default();
        let what = format!("{} of rank {}: {error}{who}", work.name(), work.communicator.rank);
        let finding = Finding::new(code, Ending::YourProgram, what)
            .at(format!("rank {}", work.communicator.rank), work.calls[0].said.told.to_string())
            .help(help);
        // Not over: the others are told that this rank is lost.
        drop(trip);
        self.break_device(key, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, finding);
        self.judge_collectives();
    }

    /// A piece is over: one that began too early may go on.
    fn next_of(&mut self, communicator: &Communicator, key: Key<Task>) {
        let next = {
            let mut under_way = communicator.under_way();
            if under_way.active == Some(key) {
                under_way.active = None;
            }
            under_way.queue.pop_front()
        };
        if let Some(next) = next {
            self.wake_run(next, Run::Waits);
        }
    }

    /// A task that was set aside is ready again.
    fn wake_run(&mut self, key: Key<Task>, run: impl FnOnce(Trip) -> Run) {
        let Some(task) = self.tasks.get_mut(key) else { return };
        match std::mem::replace(&mut task.work, Work::Called) {
            Work::Collective(Run::Apart(trip)) => {
                self.tasks.put_back(key, Work::Collective(run(trip)));
                self.ranks.woken = true;
            }
            other => task.work = other,
        }
    }

    /// What has met goes to the ranks of this machine.
    pub(crate) fn bring(&mut self, local: &Arc<Mutex<Local>>, done: Done) {
        for (rank, outcomes) in done {
            let communicator = locked(local).seats.get(rank as usize).and_then(std::sync::Weak::upgrade);
            if let Some(communicator) = communicator {
                self.bring_to(&communicator, outcomes);
            }
        }
        self.tell_trouble(local);
    }

    /// The results of a rank's piece are there.
    pub(crate) fn bring_to(&mut self, communicator: &Communicator, outcomes: Vec<Outcome>) {
        let active = communicator.under_way().active;
        if let Some(key) = active {
            self.wake_run(key, |trip| Run::Met(trip, outcomes));
        }
    }

    /// The piece of a rank that waits for the others.
    pub(crate) fn piece_under_way(&mut self, communicator: &Communicator) -> Option<Arc<CollectiveWork>> {
        let active = communicator.under_way().active?;
        match &self.tasks.get_mut(active)?.work {
            Work::Collective(Run::Apart(trip)) => Some(trip.work.clone()),
            _ => None,
        }
    }

    /// How many bytes each call of that piece is to be brought.
    pub(crate) fn expected(&mut self, communicator: &Communicator) -> Option<Vec<u64>> {
        let work = self.piece_under_way(communicator)?;
        let bytes = |call: &Transfer| call.said.told.received(communicator.rank, communicator.ranks);
        Some(work.calls.iter().map(bytes).collect())
    }

    /// Trouble of a meeting becomes the asynchronous error of its ranks, and a finding, once.
    fn tell_trouble(&mut self, local: &Arc<Mutex<Local>>) {
        let (trouble, seats) = {
            let mut local = locked(local);
            let Some(trouble) = local.meeting.trouble.clone().filter(|_| !local.is_told) else { return };
            local.is_told = true;
            (trouble, local.seats.clone())
        };
        for communicator in seats.iter().filter_map(std::sync::Weak::upgrade) {
            communicator.set_trouble(trouble.clone());
        }
        self.find_trouble(trouble);
    }

    pub(crate) fn find_trouble(&mut self, trouble: Trouble) {
        self.ranks.woken = true;
        if let Some(finding) = trouble.finding {
            self.find(finding);
        }
    }

    /// Looks for ranks that are gone, and for those that do not come.
    pub(crate) fn judge_collectives(&mut self) {
        if self.ranks.meetings.is_empty() {
            return;
        }
        let (now, meetings) = (Instant::now(), self.ranks.live_meetings());
        for local in &meetings {
            find_crossed(local, &meetings, now);
        }
        for local in meetings {
            locked(&local).meeting.judge(now);
            self.tell_trouble(&local);
        }
    }

    /// An abort: what the communicator has under way ends without writing.
    pub(crate) fn give_up(&mut self, communicator: &Communicator) {
        communicator.abort();
        let tasks: Vec<_> = {
            let mut under_way = communicator.under_way();
            let active = under_way.active.take();
            active.into_iter().chain(std::mem::take(&mut under_way.queue)).collect()
        };
        for task in tasks {
            self.wake_run(task, Run::GivenUp);
        }
        self.judge_collectives();
    }
}

/// Looks whether the rank that is missing here waits in another communicator for one that waits here.
fn find_crossed(local: &Arc<Mutex<Local>>, meetings: &[Arc<Mutex<Local>>], now: Instant) {
    let overdue = locked(local).overdue(now);
    let Some((rank, devices)) = overdue else { return };
    let others = meetings.iter().filter(|other| !Arc::ptr_eq(other, local));
    for other in others {
        let Some(there) = locked(other).waits_in_vain(devices) else { continue };
        // Two locks at once are taken under the machine's, so by nobody else.
        let (mut here, mut other) = (locked(local), locked(other));
        let mut sides = [(&here.meeting, rank), (&other.meeting, there)];
        // Whoever is overdue first: the report begins with the lower device.
        let is_turned = devices[0] > devices[1];
        if is_turned {
            sides.reverse();
        }
        let [told, also] = crossed(sides);
        here.meeting.trouble = Some(told);
        other.meeting.trouble = Some(also);
        return;
    }
}
