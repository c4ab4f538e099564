//! The order of work.
//!
//! - A task waits for as many tasks and signals as name it; every task that is named is there.
//! - What waits for nobody is ready, unless some thread is at it; what is ready waits for nobody, and knows its place.
//! - There is no circle.

use std::collections::HashMap;

use super::Report;
use crate::machine::State;
use crate::model::table::Key;
use crate::model::tasks::Task;
use crate::model::work::Work;

/// Who waits for a task, or for a signal of it.
fn followers(task: &Task) -> impl Iterator<Item = &Key<Task>> {
    task.next.iter().chain(task.early.iter().map(|(next, _)| next))
}

impl State {
    pub(super) fn check_order(&self, report: &mut Report) {
        let tasks = &self.tasks;
        let mut waits: HashMap<Key<Task>, u32> = HashMap::with_capacity(tasks.table.len());
        for (key, task) in tasks.table.iter() {
            waits.entry(key).or_default();
            for next in followers(task) {
                *waits.entry(*next).or_default() += 1;
                let is_there = tasks.table.get(*next).is_some();
                report.ask("task-next", is_there, || format!("{next:?}, behind {key:?}, is gone before it"));
            }
        }
        for (key, task) in tasks.table.iter() {
            let pending = waits.get(&key).copied().unwrap_or(0);
            report.ask("task-pending", task.pending == pending, || {
                format!("{key:?} counts {} predecessors and has {pending}", task.pending)
            });
            let is_ready = task.ready_at.is_some();
            let is_apart = matches!(&task.work, Work::Collective(run) if run.is_apart());
            let may_run = task.pending == 0 && !matches!(task.work, Work::Called) && !is_apart;
            report.ask("task-ready", is_ready == may_run, || {
                format!("{key:?} with {} predecessors is {}ready", task.pending, if is_ready { "" } else { "not " })
            });
            if let Some(at) = task.ready_at {
                report.ask("ready-place", tasks.ready.get(at) == Some(&key), || {
                    format!("{key:?} is not at its place {at} of the ready ones")
                });
            }
        }
        for (at, key) in tasks.ready.iter().enumerate() {
            let knows = tasks.table.get(*key).is_some_and(|task| task.ready_at == Some(at));
            report.ask("ready-list", knows, || format!("number {at} of the ready ones, {key:?}, is not"));
        }
        let mut free: Vec<_> = waits.iter().filter(|(_, count)| **count == 0).map(|(key, _)| *key).collect();
        let mut seen = 0;
        while let Some(key) = free.pop() {
            seen += 1;
            for next in tasks.table.get(key).into_iter().flat_map(followers) {
                if let Some(count) = waits.get_mut(next) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(*next);
                    }
                }
            }
        }
        report.ask("task-circle", seen == waits.len(), || "some tasks wait for each other".into());
    }
}
