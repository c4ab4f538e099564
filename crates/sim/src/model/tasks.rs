//! What happens before what: the one structure behind streams, events and graph launches.
//!
//! A task waits for the tasks it was made after, and for nothing else. Streams, the legacy stream's rules, events
//! and graph edges are all expressed by choosing those. A task whose last predecessor is done is *ready*; which of
//! the ready ones moves next is the scheduler's choice ([`crate::schedule`]).
//!
//! A finished task leaves no trace: a key that is not found names work that is done.

use std::collections::HashMap;

use super::table::{Key, Table};
use super::work::Work;

/// A piece of work with its place in the order.
pub(crate) struct Task {
    /// Predecessors that are not done yet.
    pending: u32,
    /// Tasks that wait for this one.
    next: Vec<Key<Task>>,
    /// What to do.
    pub(crate) work: Work,
    /// Whose context it belongs to; synchronising a context waits for its tasks.
    pub(crate) context: u64,
}

/// All work that is not done.
pub(crate) struct Tasks {
    table: Table<Task>,
    /// Tasks that may run now, a kernel that has begun included.
    pub(crate) ready: Vec<Key<Task>>,
    /// How many tasks each context has left.
    of_context: HashMap<u64, usize>,
}

impl Tasks {
    pub(crate) fn new() -> Tasks {
        Tasks { table: Table::new(0), ready: Vec::new(), of_context: HashMap::new() }
    }

    /// Adds a task behind `after`; those already done do not count.
    pub(crate) fn add(&mut self, work: Work, context: u64, after: impl IntoIterator<Item = Key<Task>>) -> Key<Task> {
        let key = self.table.insert(Task { pending: 0, next: Vec::new(), work, context });
        *self.of_context.entry(context).or_default() += 1;
        let mut pending = 0;
        for predecessor in after {
            if predecessor != key
                && let Some(task) = self.table.get_mut(predecessor)
            {
                task.next.push(key);
                pending += 1;
            }
        }
        if pending == 0 {
            self.ready.push(key);
        }
        if let Some(task) = self.table.get_mut(key) {
            task.pending = pending;
        }
        key
    }

    pub(crate) fn get_mut(&mut self, key: Key<Task>) -> Option<&mut Task> {
        self.table.get_mut(key)
    }

    pub(crate) fn is_done(&self, key: Key<Task>) -> bool {
        self.table.get(key).is_none()
    }

    /// The task is done: those behind it may become ready.
    pub(crate) fn finish(&mut self, key: Key<Task>) {
        let Some(task) = self.table.remove(key) else { return };
        self.uncount(task.context);
        self.ready.retain(|ready| *ready != key);
        for next in task.next {
            if let Some(waiting) = self.table.get_mut(next) {
                waiting.pending -= 1;
                if waiting.pending == 0 {
                    self.ready.push(next);
                }
            }
        }
    }

    /// Takes a task out of the ready ones without finishing it: someone else is at it.
    pub(crate) fn set_aside(&mut self, key: Key<Task>) {
        self.ready.retain(|ready| *ready != key);
    }

    /// Nothing is left to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    /// Whether any task of `context` is left.
    pub(crate) fn any_of(&self, context: u64) -> bool {
        self.of_context.contains_key(&context)
    }

    fn uncount(&mut self, context: u64) {
        if let Some(count) = self.of_context.get_mut(&context) {
            *count -= 1;
            if *count == 0 {
                self.of_context.remove(&context);
            }
        }
    }

    /// Drops every task that `keep` does not want, and makes the others ready: after a fault nothing waits any more.
    pub(crate) fn abandon(&mut self, mut keep: impl FnMut(&Work) -> bool) {
        for key in self.table.keys() {
            let kept = self.table.get(key).is_some_and(|task| keep(&task.work));
            if kept {
                if let Some(task) = self.table.get_mut(key) {
                    task.pending = 0;
                }
            } else if let Some(task) = self.table.remove(key) {
                self.uncount(task.context);
            }
        }
        self.ready = self.table.keys();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_ready_when_the_last_predecessor_is_done() {
        let mut tasks = Tasks::new();
        let a = tasks.add(Work::Nothing, 1, []);
        let b = tasks.add(Work::Nothing, 1, []);
        let c = tasks.add(Work::Nothing, 1, [a, b, a]);
        assert_eq!(tasks.ready, [a, b]);
        tasks.finish(a);
        assert_eq!(tasks.ready, [b]);
        tasks.finish(b);
        assert_eq!(tasks.ready, [c]);
        tasks.finish(c);
        assert!(tasks.is_empty());
        let d = tasks.add(Work::Nothing, 1, [a, b, c]);
        assert_eq!(tasks.ready, [d]);
    }
}
