//! Progress in live time: a worker that moves work while the program makes no call, and a thread for host functions.
//!
//! Neither thread exists before the first work is submitted, so a program may fork before it uses the driver.

use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{PoisonError, Weak};
use std::time::Duration;

use crate::foreign::HostCall;
use crate::machine::{Inner, Machine};
use crate::model::table::Key;
use crate::model::tasks::Task;
use crate::schedule::Step;

/// How long the worker sleeps when everything polls.
const POLL: Duration = Duration::from_micros(50);
/// How long it waits for new work before it looks whether the machine is still wanted.
const IDLE: Duration = Duration::from_millis(20);

/// A host call for the thread of its machine.
pub(crate) type HandedOver = (Weak<Inner>, Key<Task>, HostCall);

impl Machine {
    /// Makes sure that someone moves the work.
    pub(crate) fn wake_worker(&self) {
        if !self.inner.worker_runs.swap(true, Ordering::AcqRel) {
            let inner = std::sync::Arc::downgrade(&self.inner);
            let thread = std::thread::Builder::new().name("dacapo-device".into()).spawn(move || work(&inner));
            if thread.is_err() {
                // No thread to be had: work moves at driver calls, as in counted time.
                self.inner.worker_runs.store(false, Ordering::Release);
            }
        }
        self.inner.changed.notify_all();
    }

    /// Has a host call made on the thread for host functions; false if there is no such thread.
    pub(crate) fn hand_over(&self, task: Key<Task>, call: HostCall) -> bool {
        let mut caller = self.inner.caller.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = caller.get_or_insert_with(|| {
            let (sender, receiver) = channel::<HandedOver>();
            let run = move || {
                while let Ok((inner, task, call)) = receiver.recv() {
                    call.perform();
                    if let Some(inner) = inner.upgrade() {
                        let machine = Machine { inner };
                        machine.lock().tasks.finish(task);
                        machine.inner.changed.notify_all();
                    }
                }
            };
            let _ = std::thread::Builder::new().name("dacapo-host".into()).spawn(run);
            sender
        });
        let sent = sender.send((std::sync::Arc::downgrade(&self.inner), task, call)).is_ok();
        if !sent {
            // The thread could not be started; the next call tries again.
            *caller = None;
        }
        sent
    }
}

fn work(inner: &Weak<Inner>) {
    while let Some(inner) = inner.upgrade() {
        let machine = Machine { inner };
        while machine.inner.callers.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(Duration::from_micros(5));
        }
        let mut state = machine.inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        let step = state.step();
        let untold = std::mem::take(&mut state.untold);
        if !untold.is_empty() {
            drop(state);
            machine.tell(untold);
            state = machine.inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        }
        if state.graphs.objects.any_due() {
            let due = state.take_destructors();
            drop(state);
            machine.call_destructors(due);
            state = machine.inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        }
        match step {
            Step::Moved => {
                drop(state);
                machine.inner.changed.notify_all();
            }
            Step::Call(task, call) => {
                drop(state);
                if !machine.hand_over(task, call) {
                    call.perform();
                    machine.lock().tasks.finish(task);
                }
            }
            Step::Polls => {
                drop(state);
                std::thread::sleep(POLL);
            }
            Step::Idle => {
                // Whether it was woken or not, the loop looks again.
                let _ = machine.inner.changed.wait_timeout(state, IDLE);
            }
        }
    }
}
