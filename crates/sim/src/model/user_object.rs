//! User objects: memory of the program that graphs keep alive by counted references.
//!
//! Observed rules that hold here (H200, driver 580.159.04):
//! - a graph, its clone, the copy in a child node and an executable each hold references of their own;
//! - the destructor is called when the last reference goes, and not before a running launch ends;
//! - an update gives the executable the references of the new graph;
//! - releasing more than there is does nothing and is answered with success.
//!
//! Destructors are the program's code. They are queued here, and called by whoever holds no lock: see [`crate::visit`].

use dacapo_driver::CUresult;

use super::graph::{Graph, Graphs};
use super::table::{Key, Table};
use super::tasks::Task;
use super::work::{HostWork, Work};
use crate::foreign::HostCall;
use crate::machine::{Machine, State};

/// A user object.
pub(crate) struct UserObject {
    destructor: HostWork,
    /// All references.
    pub(crate) total: u64,
    /// Those that the program itself holds.
    pub(crate) own: u64,
}

/// References to objects, in the order in which they were taken.
pub(crate) type References = Vec<(Key<UserObject>, u64)>;

/// What a release came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Released {
    /// As asked.
    Done,
    /// There were not that many; nothing was released.
    TooMany,
}

/// All user objects.
pub(crate) struct UserObjects {
    pub(crate) table: Table<UserObject>,
    /// Destructors whose time has come, in that order.
    due: Vec<HostWork>,
}

impl UserObjects {
    pub(crate) fn new() -> UserObjects {
        UserObjects { table: Table::new(14), due: Vec::new() }
    }

    /// A new object with references that are the program's own.
    pub(crate) fn create(&mut self, destructor: HostWork, count: u64) -> Key<UserObject> {
        self.table.insert(UserObject { destructor, total: count, own: count })
    }

    /// The program takes more references.
    pub(crate) fn retain_own(&mut self, key: Key<UserObject>, count: u64) {
        if let Some(object) = self.table.get_mut(key) {
            object.total += count;
            object.own += count;
        }
    }

    /// The program gives references back.
    pub(crate) fn release_own(&mut self, key: Key<UserObject>, count: u64) -> Released {
        let Some(object) = self.table.get_mut(key).filter(|object| object.own >= count) else {
            return Released::TooMany;
        };
        object.own -= count;
        self.release(key, count);
        Released::Done
    }

    /// The program's references become a graph's.
    pub(crate) fn move_own(&mut self, key: Key<UserObject>, count: u64) -> Released {
        match self.table.get_mut(key) {
            Some(object) if object.own >= count => {
                object.own -= count;
                Released::Done
            }
            _ => Released::TooMany,
        }
    }

    /// Somebody else takes references.
    pub(crate) fn retain(&mut self, key: Key<UserObject>, count: u64) {
        if let Some(object) = self.table.get_mut(key) {
            object.total += count;
        }
    }

    fn release(&mut self, key: Key<UserObject>, count: u64) {
        let Some(object) = self.table.get_mut(key) else { return };
        object.total = object.total.saturating_sub(count);
        if object.total == 0 {
            let destructor = object.destructor;
            self.table.remove(key);
            self.due.push(destructor);
        }
    }

    /// A graph or an executable is gone.
    pub(crate) fn release_all(&mut self, references: &[(Key<UserObject>, u64)]) {
        for (key, count) in references {
            self.release(*key, *count);
        }
    }

    /// Somebody holds the same objects as these references do.
    pub(crate) fn retain_all(&mut self, references: &[(Key<UserObject>, u64)]) {
        for (key, count) in references {
            self.retain(*key, *count);
        }
    }

    /// Whether a destructor is to be called.
    pub(crate) fn any_due(&self) -> bool {
        !self.due.is_empty()
    }
}

impl Graphs {
    /// A graph takes references.
    pub(crate) fn give_object(
        &mut self,
        graph: Key<Graph>,
        object: Key<UserObject>,
        count: u64,
    ) -> Result<(), CUresult> {
        let held = &mut self.graphs.get_mut(graph).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?.objects;
        match held.iter_mut().find(|(known, _)| *known == object) {
            Some((_, known)) => *known += count,
            None => held.push((object, count)),
        }
        Ok(())
    }

    /// A graph gives references back.
    pub(crate) fn take_object(&mut self, graph: Key<Graph>, object: Key<UserObject>, count: u64) -> Released {
        let Some(held) = self.graphs.get_mut(graph).map(|graph| &mut graph.objects) else { return Released::TooMany };
        let Some(at) = held.iter().position(|(known, has)| *known == object && *has >= count) else {
            return Released::TooMany;
        };
        held[at].1 -= count;
        if held[at].1 == 0 {
            held.remove(at);
        }
        self.objects.release(object, count);
        Released::Done
    }

    /// What a graph and the graphs embedded in it hold.
    pub(crate) fn objects_of(&self, graph: Key<Graph>) -> References {
        let mut all = self.graphs.get(graph).map(|graph| graph.objects.clone()).unwrap_or_default();
        for child in self.children(graph) {
            all.extend(self.objects_of(child));
        }
        all
    }
}

impl State {
    /// Releases references when `last` is done.
    pub(crate) fn release_after(&mut self, references: References, last: Option<Key<Task>>) {
        if references.is_empty() {
            return;
        }
        match last.filter(|task| !self.tasks.is_done(*task)) {
            None => self.graphs.objects.release_all(&references),
            Some(task) => {
                self.tasks.add(Work::Release(references), 0, [task]);
            }
        }
    }

    /// Makes every release that waits for nothing any more.
    fn settle_releases(&mut self) {
        for key in self.tasks.ready.clone() {
            if let Some(task) = self.tasks.get_mut(key)
                && let Work::Release(references) = &mut task.work
            {
                let references = std::mem::take(references);
                self.graphs.objects.release_all(&references);
                self.tasks.finish(key);
            }
        }
    }

    /// The destructors whose time has come; the caller calls them, without the lock.
    pub(crate) fn take_destructors(&mut self) -> Vec<HostWork> {
        self.settle_releases();
        std::mem::take(&mut self.graphs.objects.due)
    }
}

impl Machine {
    /// Calls destructors; no lock is held.
    pub(crate) fn call_destructors(&self, due: Vec<HostWork>) {
        for destructor in due {
            let call = HostCall::Host(destructor);
            if !self.inner.live {
                call.perform();
                continue;
            }
            // In live time on the thread for host functions; the task stands for the call until it returns.
            let task = {
                let mut state = self.lock();
                let task = state.tasks.add(Work::Called, 0, []);
                state.tasks.set_aside(task);
                task
            };
            if !self.hand_over(task, call) {
                call.perform();
                self.lock().tasks.finish(task);
            }
        }
    }
}
