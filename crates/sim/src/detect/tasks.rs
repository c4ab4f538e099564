//! Tells the memory which task runs, in words that reports can use.

use crate::detect::sites::{Kernel, Role, TaskInfo};
use crate::exec::Grid;
use crate::machine::State;
use crate::model::table::Key;
use crate::model::tasks::Task;

impl State {
    /// A kernel is about to run for a while.
    pub(crate) fn watch_kernel(&mut self, key: Key<Task>, grid: &Grid) {
        if self.tasks.order.is_some() {
            let launch = grid.launch();
            let name = format!("`{}`", launch.image.program().info(launch.kernel).name);
            let kernel = Kernel { program: launch.image.shared_program(), id: launch.kernel };
            self.watch_task(key, name, Some(kernel), Role::Uses);
        }
    }

    /// The kernels that a kernel may overlap with are done: what it does from now on counts as behind them. On a GPU that
    /// holds from its `griddepcontrol.wait` on, so what it does too early is found while they run, and not later.
    pub(crate) fn watch_primaries(&mut self, key: Key<Task>, primaries: &[Key<Task>]) {
        if let Some(order) = &mut self.tasks.order {
            order.begin(key);
            for primary in primaries {
                if let Some(node) = order.begin(*primary) {
                    order.learn(key, &node);
                }
            }
        }
    }

    /// A copy or a set is about to run.
    pub(crate) fn watch_memory_work(&mut self, key: Key<Task>, what: &str, bytes: u64) {
        if self.tasks.order.is_some() {
            self.watch_task(key, format!("a {what} of {bytes} bytes"), None, Role::Uses);
        }
    }

    /// A pool's memory is about to be freed, or was just made.
    pub(crate) fn watch_pool(&mut self, key: Key<Task>, address: u64, frees: bool) {
        if self.tasks.order.is_none() {
            return;
        }
        let (name, role) = if frees { ("a free", Role::Frees) } else { ("an allocation", Role::Makes) };
        self.watch_task(key, name.to_string(), None, role);
        match frees {
            true => self.memory.touch(address, u64::MAX, true),
            false => self.memory.touch_as_maker(address),
        }
        self.end_watch();
    }

    /// A stream writes a word.
    pub(crate) fn watch_value_write(&mut self, key: Key<Task>, address: u64, bytes: u64) {
        if self.tasks.order.is_some() {
            self.watch_task(key, format!("a write of {bytes} bytes"), None, Role::Uses);
            self.memory.touch_strongly(address, bytes);
            self.end_watch();
        }
    }

    /// A stream has waited for a word: it comes after who wrote it last.
    pub(crate) fn watch_value_wait(&mut self, key: Key<Task>, address: u64) {
        if let Some(order) = &mut self.tasks.order {
            order.begin(key);
            self.memory.writers(address).iter().for_each(|writer| order.learn(key, writer));
        }
    }

    fn watch_task(&mut self, key: Key<Task>, name: String, kernel: Option<Kernel>, role: Role) {
        let Some(order) = &mut self.tasks.order else { return };
        let Some(node) = order.begin(key) else { return };
        let stream = order.stream_number(node.origin.stream);
        let on = match node.origin.node {
            Some((_, at)) => format!(" (node {at} of a graph on stream {stream})"),
            None => format!(" on stream {stream}"),
        };
        let age = order.age;
        let by = self.tasks.get_mut(key).and_then(|task| task.by.clone());
        self.memory.begin_task(node, TaskInfo { name, on, by, kernel, role }, age);
        if self.memory.sites_mut().is_some_and(|sites| sites.are_many()) {
            let floor = self.tasks.order.as_ref().map(|order| order.floor());
            if let (Some(sites), Some(floor)) = (self.memory.sites_mut(), floor) {
                sites.forget_before(&floor);
            }
        }
    }

    /// The task is done, or its turn is over.
    pub(crate) fn end_watch(&mut self) {
        for finding in self.memory.end_task() {
            self.find(finding);
        }
    }
}
