//! What happens before what: the one structure behind streams, events and graph launches.
//!
//! A task waits for the tasks it was made after, and for nothing else. Streams, the legacy stream's rules, events
//! and graph edges are all expressed by choosing those. A task whose last predecessor is done is *ready*; which of
//! the ready ones moves next is the scheduler's choice ([`crate::schedule`]).
//!
//! A finished task leaves no trace: a key that is not found names work that is done.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::device::On;
use super::table::{Key, Table};
use super::work::Work;
use crate::detect::order::{Order, Origin};
use crate::finding::FindingOp;

/// What a kernel says of itself before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Signal {
    /// All its blocks have begun.
    Begun,
    /// All its blocks have executed `griddepcontrol.launch_dependents`, or are over.
    Triggered,
}

/// A piece of work with its place in the order.
pub(crate) struct Task {
    /// Predecessors that are not done yet.
    pub(crate) pending: u32,
    /// Tasks that wait for this one.
    pub(crate) next: Vec<Key<Task>>,
    /// Tasks that wait for a signal of this one.
    pub(crate) early: Vec<(Key<Task>, Signal)>,
    /// What it has signalled.
    signalled: Option<Signal>,
    /// Of a kernel that began early: what must be done before its `griddepcontrol.wait` lets it go on.
    pub(crate) primaries: Vec<Key<Task>>,
    /// Its place among the ready ones.
    pub(crate) ready_at: Option<usize>,
    /// What to do.
    pub(crate) work: Work,
    /// Whose it is, as far as that was told: also while the work is elsewhere.
    pub(crate) by: Option<Arc<FindingOp>>,
    /// Whose context it belongs to; synchronising a context waits for its tasks.
    pub(crate) context: u64,
    /// Where it is done, if that is not simply the device of that context: also while the work is elsewhere.
    pub(crate) on: Option<On>,
}

/// All work that is not done.
pub(crate) struct Tasks {
    pub(crate) table: Table<Task>,
    /// Tasks that may run now, a kernel that has begun included.
    pub(crate) ready: Vec<Key<Task>>,
    /// What happened before what, also of tasks that are done; where that is asked for.
    pub(crate) order: Option<Box<Order<Key<Task>>>>,
}

impl Tasks {
    pub(crate) fn new() -> Tasks {
        Tasks { table: Table::new(0), ready: Vec::new(), order: None }
    }

    /// Adds a task behind `after`; those already done do not count.
    pub(crate) fn add(&mut self, work: Work, context: u64, after: impl IntoIterator<Item = Key<Task>>) -> Key<Task> {
        let key = self.table.insert(Task {
            pending: 0,
            next: Vec::new(),
            early: Vec::new(),
            signalled: None,
            primaries: Vec::new(),
            ready_at: None,
            by: work.by().cloned(),
            on: work.on(),
            work,
            context,
        });
        let mut pending = 0;
        let after: Vec<_> = after.into_iter().collect();
        if let Some(order) = &mut self.order {
            order.add(key, &after);
        }
        for predecessor in after {
            if predecessor != key
                && let Some(task) = self.table.get_mut(predecessor)
            {
                task.next.push(key);
                pending += 1;
            }
        }
        if let Some(task) = self.table.get_mut(key) {
            task.pending = pending;
        }
        if pending == 0 {
            self.push_ready(key);
        }
        key
    }

    /// As [`Tasks::add`], and each of `early` needs only to have given its signal.
    pub(crate) fn add_early(
        &mut self,
        work: Work,
        context: u64,
        after: impl IntoIterator<Item = Key<Task>>,
        early: impl IntoIterator<Item = (Key<Task>, Signal)>,
    ) -> Key<Task> {
        let key = self.add(work, context, after);
        for (primary, signal) in early {
            if let Some(order) = &mut self.order {
                order.hold_for_begin(key, primary);
            }
            if let Some(task) = self.table.get_mut(primary)
                && task.signalled < Some(signal)
            {
                task.early.push((key, signal));
                self.set_aside(key);
                if let Some(task) = self.table.get_mut(key) {
                    task.pending += 1;
                }
            }
        }
        key
    }

    /// Somebody waits for a signal of the task.
    pub(crate) fn is_awaited(&self, key: Key<Task>) -> bool {
        self.table.get(key).is_some_and(|task| !task.early.is_empty())
    }

    /// The task has come this far: those that wait for no more may become ready.
    pub(crate) fn signal(&mut self, key: Key<Task>, signal: Signal) {
        let Some(task) = self.table.get_mut(key).filter(|task| task.signalled < Some(signal)) else { return };
        task.signalled = Some(signal);
        let (heard, rest) = std::mem::take(&mut task.early).into_iter().partition(|(_, wanted)| *wanted <= signal);
        task.early = rest;
        let heard: Vec<(Key<Task>, Signal)> = heard;
        heard.into_iter().for_each(|(next, _)| self.one_less(next));
    }

    /// Takes a task that has begun out of the ready ones until `others` are done.
    pub(crate) fn block(&mut self, key: Key<Task>, others: &[Key<Task>]) {
        if others.iter().any(|other| self.table.get(*other).is_some()) {
            self.set_aside(key);
            self.hold(key, others.iter().copied());
        }
    }

    /// One of those that `key` waits for is done.
    fn one_less(&mut self, key: Key<Task>) {
        let Some(waiting) = self.table.get_mut(key) else { return };
        waiting.pending -= 1;
        if waiting.pending == 0 {
            self.push_ready(key);
        }
    }

    pub(crate) fn get_mut(&mut self, key: Key<Task>) -> Option<&mut Task> {
        self.table.get_mut(key)
    }

    pub(crate) fn is_done(&self, key: Key<Task>) -> bool {
        self.table.get(key).is_none()
    }

    /// Whether work at `to` waits for `from`, directly or through others; both are not done.
    pub(crate) fn leads_to(&self, from: Key<Task>, to: Key<Task>) -> bool {
        let (mut seen, mut open) = (HashSet::from([from]), vec![from]);
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            let next = self.table.get(at).map_or(&[][..], |task| &task.next);
            open.extend(next.iter().copied().filter(|next| seen.insert(*next)));
        }
        false
    }

    fn push_ready(&mut self, key: Key<Task>) {
        if let Some(task) = self.table.get_mut(key) {
            task.ready_at = Some(self.ready.len());
            self.ready.push(key);
        }
    }

    /// The task is done: those behind it may become ready.
    pub(crate) fn finish(&mut self, key: Key<Task>) {
        // Who was set aside is a host function: the host knows what came before it.
        let was_called = self.table.get(key).is_some_and(|task| task.ready_at.is_none());
        self.set_aside(key);
        let Some(task) = self.table.remove(key) else { return };
        if let Some(order) = &mut self.order {
            order.finish(key);
            if was_called {
                order.host_has(key);
            }
        }
        for next in task.next.into_iter().chain(task.early.into_iter().map(|(next, _)| next)) {
            self.one_less(next);
        }
    }

    /// Makes `task`, which waits for something already, wait for `others` too; those done do not count.
    pub(crate) fn hold(&mut self, task: Key<Task>, others: impl IntoIterator<Item = Key<Task>>) {
        let others: Vec<_> = others.into_iter().collect();
        if let Some(order) = &mut self.order {
            order.hold(task, &others);
        }
        for other in others {
            if other != task
                && self.table.get(task).is_some()
                && let Some(before) = self.table.get_mut(other)
            {
                before.next.push(task);
                if let Some(task) = self.table.get_mut(task) {
                    task.pending += 1;
                }
            }
        }
    }

    /// Takes a task out of the ready ones without finishing it: someone else is at it.
    pub(crate) fn set_aside(&mut self, key: Key<Task>) {
        let Some(at) = self.table.get_mut(key).and_then(|task| task.ready_at.take()) else { return };
        self.ready.swap_remove(at);
        // The last one has taken its place.
        if let Some(moved) = self.ready.get(at).copied()
            && let Some(task) = self.table.get_mut(moved)
        {
            task.ready_at = Some(at);
        }
    }

    /// Gives a task that was set aside its work back: it is ready again.
    pub(crate) fn put_back(&mut self, key: Key<Task>, work: Work) {
        if let Some(task) = self.table.get_mut(key) {
            task.work = work;
            self.push_ready(key);
        }
    }

    /// The tasks of a context that are not done.
    pub(crate) fn of(&self, context: u64) -> Vec<Key<Task>> {
        self.table.iter().filter(|(_, task)| task.context == context).map(|(key, _)| key).collect()
    }

    /// The host has waited for these, or knows that they are done.
    pub(crate) fn host_has(&mut self, tasks: impl IntoIterator<Item = Key<Task>>) {
        if let Some(order) = &mut self.order {
            tasks.into_iter().for_each(|task| order.host_has(task));
        }
    }

    /// The tasks that are made from now on are made by this one, while it runs, and come from where it came from.
    pub(crate) fn come_after(&mut self, maker: Option<Key<Task>>) {
        if let Some(order) = &mut self.order {
            order.maker = maker;
            if let Some(node) = maker.and_then(|maker| order.begin(maker)) {
                order.origin = node.origin;
            }
        }
    }

    /// The task that is made next is this node of its graph.
    pub(crate) fn come_to_node(&mut self, at: u32) {
        if let Some(order) = &mut self.order
            && let Some((_, node)) = &mut order.origin.node
        {
            *node = at;
        }
    }

    /// The tasks that are made from now on come from here.
    pub(crate) fn come_from(&mut self, stream: u64, node: Option<(u64, u32)>) {
        if let Some(order) = &mut self.order {
            order.origin = Origin { stream, node };
        }
    }

    /// Nothing is left to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    /// These tasks, and all that wait for them, directly or through others.
    pub(crate) fn behind(&self, tasks: Vec<Key<Task>>) -> HashSet<Key<Task>> {
        let (mut seen, mut open) = (tasks.iter().copied().collect::<HashSet<_>>(), tasks);
        while let Some(at) = open.pop() {
            let Some(task) = self.table.get(at) else { continue };
            let next = task.next.iter().copied().chain(task.early.iter().map(|(next, _)| *next));
            open.extend(next.filter(|next| seen.insert(*next)));
        }
        seen
    }

    /// Drops these tasks. Those that wait for them wait for the others from then on.
    pub(crate) fn abandon_these(&mut self, lost: &HashSet<Key<Task>>) {
        let mut freed = Vec::new();
        for key in self.table.keys() {
            if lost.contains(&key) {
                self.set_aside(key);
                let Some(task) = self.table.remove(key) else { continue };
                freed.extend(task.next.into_iter().chain(task.early.into_iter().map(|(next, _)| next)));
            }
        }
        // A task that is being called stays with whoever calls it.
        freed.into_iter().for_each(|next| self.one_less(next));
        // What is kept waits for nobody's signal that is gone.
        for key in self.table.keys() {
            if let Some(task) = self.table.get_mut(key) {
                task.next.retain(|next| !lost.contains(next));
                task.early.retain(|(next, _)| !lost.contains(next));
                task.primaries.retain(|primary| !lost.contains(primary));
            }
        }
    }

    /// Drops every task that `keep` does not want: after a fault only those count that still wait for each other.
    /// A task that is being called stays with whoever calls it.
    pub(crate) fn abandon(&mut self, mut keep: impl FnMut(&Work) -> bool) {
        self.ready.clear();
        for key in self.table.keys() {
            if !self.table.get(key).is_some_and(|task| keep(&task.work)) {
                self.table.remove(key);
            }
        }
        let kept = self.table.keys();
        let mut waiting: HashMap<Key<Task>, u32> = HashMap::new();
        for key in &kept {
            let Some(task) = self.table.get(*key) else { continue };
            let next: Vec<_> = task.next.iter().copied().filter(|next| self.table.get(*next).is_some()).collect();
            next.iter().for_each(|next| *waiting.entry(*next).or_default() += 1);
            if let Some(task) = self.table.get_mut(*key) {
                task.next = next;
                // Nothing that signals is kept.
                task.early.clear();
            }
        }
        for key in kept {
            let Some(task) = self.table.get_mut(key) else { continue };
            task.pending = waiting.get(&key).copied().unwrap_or(0);
            task.ready_at = None;
            if task.pending == 0 && !matches!(task.work, Work::Called) {
                self.push_ready(key);
            }
        }
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

    #[test]
    fn a_task_that_waits_can_be_made_to_wait_for_more() {
        let mut tasks = Tasks::new();
        let head = tasks.add(Work::Nothing, 1, []);
        let tail = tasks.add(Work::Nothing, 1, [head]);
        let behind = tasks.add(Work::Nothing, 1, [tail]);
        // The head finds out what stands between it and its tail.
        let body = tasks.add(Work::Nothing, 1, []);
        tasks.hold(tail, [body, body]);
        tasks.finish(head);
        assert_eq!(tasks.ready, [body]);
        tasks.finish(body);
        assert_eq!(tasks.ready, [tail]);
        tasks.finish(tail);
        assert_eq!(tasks.ready, [behind]);
    }

    #[test]
    fn a_signal_lets_those_go_that_wait_for_it_and_the_end_lets_all_go() {
        let mut tasks = Tasks::new();
        let primary = tasks.add(Work::Nothing, 1, []);
        let order = tasks.add_early(Work::Nothing, 1, [], [(primary, Signal::Begun)]);
        let early = tasks.add_early(Work::Nothing, 1, [], [(primary, Signal::Triggered)]);
        let late = tasks.add(Work::Nothing, 1, [primary]);
        assert_eq!(tasks.ready, [primary]);
        tasks.signal(primary, Signal::Begun);
        assert_eq!(tasks.ready, [primary, order]);
        tasks.signal(primary, Signal::Triggered);
        tasks.signal(primary, Signal::Triggered);
        assert_eq!(tasks.ready, [primary, order, early]);
        // It has said so already.
        let another = tasks.add_early(Work::Nothing, 1, [], [(primary, Signal::Begun)]);
        assert_eq!(tasks.ready, [primary, order, early, another]);
        // A task that has begun can be made to wait again.
        tasks.block(early, &[primary]);
        assert_eq!(tasks.ready, [primary, order, another]);
        tasks.finish(primary);
        assert_eq!(tasks.ready, [another, order, late, early]);
        tasks.block(early, &[primary]);
        assert!(tasks.ready.contains(&early), "nothing to wait for");
        let silent = tasks.add(Work::Nothing, 1, []);
        let behind = tasks.add_early(Work::Nothing, 1, [], [(silent, Signal::Triggered)]);
        tasks.finish(silent);
        assert!(tasks.ready.contains(&behind), "its end says all");
    }

    #[test]
    fn what_is_kept_after_a_fault_keeps_its_order() {
        let callback = || Work::Callback(crate::model::work::CallbackWork { function: 1, stream: 0, data: 0 });
        let mut tasks = Tasks::new();
        let kernel = tasks.add(Work::Nothing, 1, []);
        let first = tasks.add(callback(), 1, [kernel]);
        let second = tasks.add(callback(), 1, [first]);
        tasks.abandon(|work| matches!(work, Work::Callback(_)));
        assert!(tasks.is_done(kernel));
        assert_eq!(tasks.ready, [first]);
        tasks.finish(first);
        assert_eq!(tasks.ready, [second]);
        tasks.finish(second);
        assert!(tasks.is_empty());
    }
}
