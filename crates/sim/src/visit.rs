//! One driver call: who makes it, what it needs, what it may do to captures, and how it waits.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call};

use crate::finding::{Ending, Finding};
use crate::foreign::{HostCall, in_host_function};
use crate::machine::{Machine, State, Thread, null_stream_is_per_thread, this_thread};
use crate::model::capture::{Capture, Cause, Rule};
use crate::model::objects::{Context, Event, Stream, StreamKind};
use crate::model::table::{Key, Lookup};
use crate::model::tasks::{Signal, Task};
use crate::model::work::{HostWork, KernelWork, Work};
use crate::options::Time;
use crate::schedule::Step;

/// What a call comes to; `Err` is a code, not always a failure of the program.
pub(crate) type Answer = Result<(), CUresult>;

/// A refusal with what to tell the person who made the call.
pub(crate) struct Refusal {
    pub(crate) code: CUresult,
    /// The word in brackets.
    pub(crate) word: &'static str,
    pub(crate) what: String,
    pub(crate) help: &'static str,
}

impl Refusal {
    pub(crate) fn new(code: CUresult, word: &'static str, what: impl Into<String>, help: &'static str) -> Refusal {
        Refusal { code, word, what: what.into(), help }
    }
}

/// What must be there before a call means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing, not even `cuInit`.
    Nothing,
    /// `cuInit`.
    Init,
    /// A current context, and a device that is not broken.
    Context,
    /// A current context; the call looks for a broken device itself, because a capturing stream does not know of it yet.
    Stream,
    /// `cuInit`; the call looks itself whether the device that it names is broken.
    Device,
    /// `cuInit`, and a stream that brings its context: none need be current. It looks for a broken device as `Stream`.
    OwnStream,
    /// `cuInit`, and works on a broken device.
    Always,
}

/// Calls that a host function may make, as observed on an H200: they wait for nothing.
const MAY_BE_IN_HOST_FUNCTIONS: &[Call] = &[
    Call::cuDriverGetVersion,
    Call::cuEventDestroy,
    Call::cuEventDestroy_v2,
    Call::cuGetErrorName,
    Call::cuGetErrorString,
    Call::cuInit,
    Call::cuStreamDestroy,
    Call::cuStreamDestroy_v2,
];

/// A driver call in progress. It holds the machine's lock, and lets go of it while it waits.
pub(crate) struct Visit<'m> {
    machine: &'m Machine,
    guard: Option<MutexGuard<'m, State>>,
    /// The calling thread.
    pub(crate) thread: u64,
    /// The call.
    pub(crate) call: Call,
}

/// Where a stream operation goes.
pub(crate) enum Target {
    /// It is to run.
    Run(Key<Stream>),
    /// It becomes a node.
    Record(Key<Capture>, Key<Stream>),
}

impl Deref for Visit<'_> {
    type Target = State;
    fn deref(&self) -> &State {
        self.guard.as_ref().expect("the lock is held but for the span of `unlocked`")
    }
}

impl DerefMut for Visit<'_> {
    fn deref_mut(&mut self) -> &mut State {
        self.guard.as_mut().expect("the lock is held but for the span of `unlocked`")
    }
}

impl Machine {
    /// Makes one call.
    pub(crate) fn visit(&self, call: Call, needs: Needs, body: impl FnOnce(&mut Visit<'_>) -> Answer) -> CUresult {
        if in_host_function() && !MAY_BE_IN_HOST_FUNCTIONS.contains(&call) {
            let code = CUresult::CUDA_ERROR_NOT_PERMITTED;
            let what = format!("{} was called inside a host function", call.name());
            let finding = Finding::new("call-in-host-function", Ending::YourProgram, what)
                .at(call.symbol(), format!("answered {code}"))
                .note("the stream waits for the host function, so a call that waits for the stream would never end")
                .help("let the host function signal another thread, and make the call there");
            // The lock is free: no host function runs under it.
            let untold = {
                let mut state = self.lock();
                state.find(finding);
                std::mem::take(&mut state.untold)
            };
            self.tell(untold);
            return code;
        }
        let mut visit = Visit { machine: self, guard: Some(self.lock()), thread: this_thread(), call };
        let answer = visit.admit(needs).and_then(|()| body(&mut visit));
        visit.leave();
        let untold = std::mem::take(&mut visit.untold);
        let destructors = visit.due_destructors();
        drop(visit);
        self.tell(untold);
        self.call_destructors(destructors);
        match answer {
            Ok(()) => CUresult::CUDA_SUCCESS,
            Err(code) => code,
        }
    }
}

impl Visit<'_> {
    fn admit(&mut self, needs: Needs) -> Answer {
        let thread = self.thread;
        self.thread_of(thread);
        if needs == Needs::Nothing {
            return Ok(());
        }
        if !self.is_initialised {
            return Err(CUresult::CUDA_ERROR_NOT_INITIALIZED);
        }
        self.drift();
        let waits = matches!(self.call, Call::cuStreamSynchronize | Call::cuCtxSynchronize | Call::cuEventSynchronize);
        if waits && self.here().is_some_and(|device| self.fault_of(device).is_some()) {
            self.call_what_is_left();
        }
        match needs {
            Needs::Context => {
                self.check_known_fault_here()?;
                self.context().map(|_| ())
            }
            Needs::Stream => self.context().map(|_| ()),
            Needs::Init => self.check_known_fault_here(),
            Needs::Device | Needs::OwnStream | Needs::Always | Needs::Nothing => Ok(()),
        }
    }

    fn leave(&mut self) {
        // What was taken before the fault is known.
        for device in 0..self.devices.len() {
            if self.fault_of(device).is_some_and(|fault| !fault.reported) {
                self.abandon_work(device);
            }
        }
        if self.machine.inner.live && !self.tasks.is_empty() {
            self.machine.wake_worker();
        }
        self.wake_ranks();
    }

    /// Destructors of user objects to call now. In counted time calls that wait or ask call them, as they do host functions:
    /// a program may hold a lock around any other call that the destructor wants.
    fn due_destructors(&mut self) -> Vec<HostWork> {
        let now = if self.machine.inner.live { self.graphs.objects.any_due() } else { self.waits_or_asks() };
        if now { self.take_destructors() } else { Vec::new() }
    }

    /// Threads that wait for a rank may have something to do now.
    fn wake_ranks(&mut self) {
        if std::mem::take(&mut self.ranks.woken) {
            self.machine.inner.changed.notify_all();
        }
    }

    fn waits_or_asks(&self) -> bool {
        matches!(
            self.call,
            Call::cuStreamSynchronize
                | Call::cuCtxSynchronize
                | Call::cuEventSynchronize
                | Call::cuStreamQuery
                | Call::cuEventQuery
        )
    }

    /// In counted time, work moves at driver calls: now and then a few steps, as the seed says.
    ///
    /// Host functions are called only by calls that wait or ask: a program may hold a lock of its own around any other
    /// call, and the function may want that lock.
    fn drift(&mut self) {
        if self.options.time == Time::Live || self.tasks.is_empty() {
            return;
        }
        self.time_ns += 200;
        let steps = [0, 0, 0, 1, 1, 2, 3, 6][self.random.below(8)];
        for _ in 0..steps {
            match self.step() {
                Step::Idle | Step::Polls => return,
                Step::Moved => {}
                Step::Call(task, call) if matches!(self.call, Call::cuStreamQuery | Call::cuEventQuery) => {
                    self.perform(task, call);
                }
                Step::Call(task, call) => {
                    self.tasks.put_back(task, call.work());
                    return;
                }
            }
        }
    }

    /// Runs `body` without the lock.
    pub(crate) fn unlocked<R>(&mut self, body: impl FnOnce() -> R) -> R {
        self.guard = None;
        let result = body();
        self.guard = Some(self.machine.lock());
        result
    }

    /// Makes a host call whose turn has come.
    fn perform(&mut self, task: Key<Task>, call: HostCall) {
        // In live time on a thread of its own: the function may wait for what this thread does next.
        if self.machine.inner.live && self.machine.hand_over(task, call) {
            return;
        }
        self.unlocked(|| call.perform());
        self.tasks.finish(task);
        self.machine.inner.changed.notify_all();
    }

    /// Works until `done`, or until `device` is broken.
    pub(crate) fn wait_until(&mut self, device: usize, mut done: impl FnMut(&State) -> bool) -> Answer {
        let machine = self.machine;
        loop {
            if self.fault_of(device).is_some() {
                self.call_what_is_left();
                return self.check_fault(device);
            }
            if done(self) {
                return Ok(());
            }
            match self.step() {
                Step::Moved => self.wake_ranks(),
                Step::Call(task, call) => self.perform(task, call),
                Step::Polls => {
                    // Let other threads of the program run: what a kernel polls, they may be about to write.
                    if machine.inner.live {
                        self.unlocked(|| std::thread::sleep(Duration::from_micros(30)));
                    } else {
                        self.unlocked(std::thread::yield_now);
                    }
                }
                Step::Idle => {
                    // A host function is under way on another thread, which will say when it is done; or a collective waits
                    // for a rank that another thread has, or that does not come.
                    self.judge_collectives();
                    if let Some(guard) = self.guard.take() {
                        let wait = machine.inner.changed.wait_timeout(guard, Duration::from_millis(1));
                        self.guard = Some(wait.unwrap_or_else(PoisonError::into_inner).0);
                    }
                }
            }
            // Another thread may be about to submit what this work waits for.
            if machine.inner.callers.load(Ordering::Relaxed) > 0 {
                self.unlocked(std::thread::yield_now);
            }
        }
    }

    /// After a fault, calls the callbacks that are left: the program may wait for them rather than call us again.
    fn call_what_is_left(&mut self) {
        loop {
            match self.step() {
                Step::Call(task, call) => self.perform(task, call),
                // A release of references; nothing else is left to move.
                Step::Moved => {}
                Step::Idle | Step::Polls => return,
            }
        }
    }

    /// Works until everything submitted to `context` is done.
    pub(crate) fn wait_for_context(&mut self, context: Key<Context>) -> Answer {
        let id = self.contexts.get(context).map_or(0, |context| context.id);
        // What is there now, and nothing that another thread submits meanwhile.
        let mut left = self.tasks.of(id);
        let device = self.device_of(context);
        self.wait_until(device, move |state| {
            while left.last().is_some_and(|task| state.tasks.is_done(*task)) {
                left.pop();
            }
            left.is_empty()
        })?;
        let lost = self.streams.iter().filter(|(_, stream)| stream.context == context).find_map(|(_, s)| s.lost);
        lost.map_or(Ok(()), Err)?;
        let is_other = |stream: &Stream| stream.context != context;
        let others = self.streams.iter().filter(|(_, stream)| is_other(stream)).map(|(_, stream)| stream.id).collect();
        let has_several_devices = self.has_several_devices();
        match &mut self.tasks.order {
            Some(order) if has_several_devices => order.host_has_all_done_but(&others),
            Some(order) => order.host_has_all_done(),
            None => {}
        }
        Ok(())
    }

    /// The code of a fault, if the device is broken and the host knows of it.
    pub(crate) fn check_known_fault(&mut self, device: usize) -> Answer {
        let is_unknown = self.machine.inner.live && self.fault_of(device).is_some_and(|fault| !fault.is_known());
        if is_unknown && !self.waits_or_asks() { Ok(()) } else { self.check_fault(device) }
    }

    /// The same for the device that this call is made on.
    fn check_known_fault_here(&mut self) -> Answer {
        self.here().map_or(Ok(()), |device| self.check_known_fault(device))
    }

    /// The code of a fault, if the device is broken; the host knows of it from here on.
    pub(crate) fn check_fault(&mut self, device: usize) -> Answer {
        match &mut self.devices[device].fault {
            Some(fault) => {
                fault.reported = true;
                Err(fault.code)
            }
            None => Ok(()),
        }
    }

    /// Not supported, with a finding.
    pub(crate) fn unsupported(&mut self, what: impl Into<String>) -> CUresult {
        let finding = Finding::new("unsupported", Ending::Unsupported, what)
            .at(self.call.symbol(), "answered CUDA_ERROR_NOT_SUPPORTED")
            .help("run this on a GPU, or see docs/driver-calls.md for what the software driver knows");
        self.find_of_call(finding);
        CUresult::CUDA_ERROR_NOT_SUPPORTED
    }

    /// Refuses a call, and leaves a finding that says why.
    pub(crate) fn refuse(&mut self, refusal: Refusal) -> CUresult {
        let call = self.call.symbol();
        let finding = Finding::new(refusal.word, Ending::YourProgram, refusal.what);
        self.find_of_call(finding.at(call, format!("answered {}", refusal.code)).help(refusal.help));
        refusal.code
    }

    /// Notes a finding about what this call was given: of the op whose work that is, if the thread has said so.
    pub(crate) fn find_of_call(&mut self, finding: Finding) {
        let by = self.this().announced.by.clone();
        self.find(finding.by(by.as_ref()));
    }

    pub(crate) fn this(&mut self) -> &mut Thread {
        let thread = self.thread;
        self.threads.get_mut(&thread).expect("`admit` made it")
    }

    /// The current context.
    pub(crate) fn context(&mut self) -> Result<Key<Context>, CUresult> {
        let current = self.this().contexts.last().copied().ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
        match self.contexts.get(current) {
            Some(context) if context.is_active => Ok(current),
            _ => Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
        }
    }

    /// The stream behind a handle.
    pub(crate) fn stream(&mut self, handle: CUstream) -> Result<Key<Stream>, CUresult> {
        match handle.bits() {
            0 if null_stream_is_per_thread() => self.per_thread_stream(),
            0 | 1 => self.legacy_stream(),
            2 => self.per_thread_stream(),
            bits => match self.streams.look_up(bits) {
                // Default streams have no handle but their numbers: one that happens to name one was made up.
                Lookup::Live(key) if self.streams.get(key).is_some_and(|found| found.kind == StreamKind::Created) => {
                    Ok(key)
                }
                Lookup::Live(_) => Err(CUresult::CUDA_ERROR_INVALID_HANDLE),
                Lookup::Stale => {
                    self.find_stale("stream", "cuStreamDestroy");
                    Err(CUresult::CUDA_ERROR_INVALID_HANDLE)
                }
                Lookup::Foreign => Err(CUresult::CUDA_ERROR_INVALID_HANDLE),
            },
        }
    }

    fn legacy_stream(&mut self) -> Result<Key<Stream>, CUresult> {
        let context = self.context()?;
        if let Some(stream) = self.contexts.get(context).and_then(|context| context.legacy) {
            return Ok(stream);
        }
        let id = self.number();
        let stream = self.streams.insert(Stream::new(context, StreamKind::Legacy, true, 0, id));
        if let Some(context) = self.contexts.get_mut(context) {
            context.legacy = Some(stream);
        }
        Ok(stream)
    }

    fn per_thread_stream(&mut self) -> Result<Key<Stream>, CUresult> {
        let (context, thread) = (self.context()?, self.thread);
        if let Some(stream) = self.contexts.get(context).and_then(|context| context.per_thread.get(&thread)) {
            return Ok(*stream);
        }
        let id = self.number();
        let stream = self.streams.insert(Stream::new(context, StreamKind::PerThread, true, 0, id));
        if let Some(context) = self.contexts.get_mut(context) {
            context.per_thread.insert(thread, stream);
        }
        Ok(stream)
    }

    /// The event behind a handle.
    pub(crate) fn event(&mut self, handle: CUevent) -> Result<Key<Event>, CUresult> {
        match self.events.look_up(handle.bits()) {
            Lookup::Live(key) => Ok(key),
            Lookup::Stale => {
                self.find_stale("event", "cuEventDestroy");
                Err(CUresult::CUDA_ERROR_INVALID_HANDLE)
            }
            Lookup::Foreign => Err(CUresult::CUDA_ERROR_INVALID_HANDLE),
        }
    }

    /// A handle was used after its object was destroyed.
    pub(crate) fn find_stale(&mut self, what: &str, destroyed_by: &str) {
        // Seen on an H200: destroyed streams, events and links are followed, and a library that is unloaded again; the others
        // are looked up and refused.
        let on_a_gpu = match (what, self.call) {
            ("stream" | "event" | "link", _) | ("library", Call::cuLibraryUnload) => {
                "on a GPU this crashes, or hits another object"
            }
            _ => "a GPU's driver refuses it too, unless the handle names another object by then",
        };
        let call = self.call;
        self.find(
            Finding::new(
                "stale-handle",
                Ending::YourProgram,
                format!("{}: the {what} it was given is gone", call.name()),
            )
            .at(call.symbol(), format!("the {what} ended with {destroyed_by} before this call"))
            .note(on_a_gpu)
            .help(format!("make the last use of the {what} before {destroyed_by}")),
        );
    }

    /// Where work on a stream goes, once every rule about captures has been asked.
    pub(crate) fn target(&mut self, handle: CUstream) -> Result<Target, CUresult> {
        let stream = self.stream(handle)?;
        self.target_of(stream)
    }

    /// As [`Visit::target`], for a stream that is known.
    pub(crate) fn target_of(&mut self, stream: Key<Stream>) -> Result<Target, CUresult> {
        if self.streams.get(stream).is_some_and(|stream| stream.kind == StreamKind::Legacy) {
            self.check_legacy(self.device_of_stream(stream))?;
        }
        let device = self.device_of_stream(stream);
        let Some(capture) = self.streams.get(stream).and_then(|stream| stream.capture) else {
            self.check_known_fault(device)?;
            self.check_lost(stream)?;
            return Ok(Target::Run(stream));
        };
        if self.fault_of(device).is_some_and(|fault| fault.reported) {
            self.check_fault(device)?;
        }
        match self.captures.get(capture) {
            Some(Capture { broken: None, .. }) => Ok(Target::Record(capture, stream)),
            _ => Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
        }
    }

    /// The captures in which a blocking stream of a device takes part.
    fn blocking_captures(&self, device: usize) -> Vec<Key<Capture>> {
        let is_blocking = |stream: &Key<Stream>| {
            self.streams.get(*stream).is_some_and(|s| s.blocking && s.kind == StreamKind::Created)
                && self.device_of_stream(*stream) == device
        };
        let all = self.captures.iter().filter(|(_, capture)| capture.branches.keys().any(is_blocking));
        all.map(|(key, _)| key).collect()
    }

    /// Work on a legacy stream of a device: refused while a blocking stream there captures.
    pub(crate) fn check_legacy(&mut self, device: usize) -> Answer {
        let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        let captures = self.blocking_captures(device);
        for capture in &captures {
            self.invalidate(*capture, code, Rule::Legacy);
        }
        if captures.is_empty() { Ok(()) } else { Err(code) }
    }

    /// Only asking about the legacy stream: refused likewise, without harm.
    pub(crate) fn ask_legacy(&mut self, device: usize) -> Answer {
        let captures = self.blocking_captures(device);
        if captures.is_empty() { Ok(()) } else { Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) }
    }

    /// A call that may synchronise: refused beside captures whose mode forbids it.
    pub(crate) fn check_unsafe(&mut self) -> Answer {
        let (thread, mode) = (self.thread, self.this().capture_mode);
        let all = self.captures.iter().filter(|(_, capture)| capture.forbids_unsafe(thread, mode));
        let forbidding: Vec<_> = all.map(|(key, _)| key).collect();
        let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        for capture in &forbidding {
            self.invalidate(*capture, code, Rule::Unsafe);
        }
        if forbidding.is_empty() { Ok(()) } else { Err(code) }
    }

    /// A call that waits for everything: refused beside any capture of the context.
    pub(crate) fn check_anywhere(&mut self, context: Key<Context>) -> Answer {
        let all = self
            .captures
            .iter()
            .filter(|(_, capture)| self.streams.get(capture.origin).is_some_and(|stream| stream.context == context));
        let captures: Vec<_> = all.map(|(key, _)| key).collect();
        let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        for capture in &captures {
            self.invalidate(*capture, code, Rule::Anywhere);
        }
        if captures.is_empty() { Ok(()) } else { Err(code) }
    }

    /// A call that a capturing stream refuses; `Ok` if the stream does not capture.
    pub(crate) fn refuse_if_capturing(&mut self, stream: Key<Stream>) -> Answer {
        let Some(capture) = self.streams.get(stream).and_then(|stream| stream.capture) else { return Ok(()) };
        let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        self.invalidate(capture, code, Rule::OnStream);
        Err(code)
    }

    /// Breaks a second capture for the same reason as the first: one finding is enough.
    pub(crate) fn invalidate_too(&mut self, capture: Key<Capture>, code: CUresult, rule: Rule) {
        let cause = Cause { call: self.call, thread: self.thread, code, rule };
        if let Some(capture) = self.captures.get_mut(capture) {
            capture.broken.get_or_insert(cause);
        }
    }

    /// Breaks a capture, once, and keeps who did it.
    pub(crate) fn invalidate(&mut self, capture: Key<Capture>, code: CUresult, rule: Rule) {
        let cause = Cause { call: self.call, thread: self.thread, code, rule };
        let number = self.this().number;
        let Some(broken) = self.captures.get_mut(capture) else { return };
        if broken.broken.is_some() {
            return;
        }
        let owner = broken.thread;
        broken.broken = Some(cause.clone());
        let owner = self.threads.get(&owner).map_or(0, |thread| thread.number);
        let (why, help) = rule.explain();
        let ending = if rule == Rule::Unsupported { Ending::Unsupported } else { Ending::YourProgram };
        self.find(
            Finding::new("capture-invalidated", ending, format!("{} broke a stream capture", cause.call.name()))
                .at(cause.call.symbol(), format!("called by thread {number}, answered {}", cause.code))
                .note(format!("the capture was begun by thread {owner}"))
                .note(why)
                .help(help),
        );
    }

    /// Submits work to a stream, in its order.
    pub(crate) fn submit(&mut self, stream: Key<Stream>, work: Work) -> Key<Task> {
        self.submit_after(stream, work, [])
    }

    /// Submits work to a stream, behind other tasks too.
    pub(crate) fn submit_after(
        &mut self,
        stream: Key<Stream>,
        work: Work,
        also: impl IntoIterator<Item = Key<Task>>,
    ) -> Key<Task> {
        let mut after = self.before_next(stream);
        after.extend(also);
        let context = self.streams.get(stream).map(|stream| stream.context);
        let id = context.and_then(|context| self.contexts.get(context)).map_or(0, |context| context.id);
        let number = self.streams.get(stream).map_or(0, |stream| stream.id);
        self.tasks.come_from(number, None);
        let task = self.tasks.add(work, id, after);
        if let Some(stream) = self.streams.get_mut(stream) {
            stream.tail = Some(task);
        }
        task
    }

    /// Submits a kernel to a stream. Where it allows that, it begins early behind the kernel before it. The answer is the kernel's
    /// task, which is not always the last one of the stream.
    pub(crate) fn submit_kernel(&mut self, stream: Key<Stream>, work: Arc<KernelWork>) -> Key<Task> {
        let mut after = self.before_next(stream);
        let context = self.streams.get(stream).map(|stream| stream.context);
        let id = context.and_then(|context| self.contexts.get(context)).map_or(0, |context| context.id);
        let before = self.streams.get(stream).and_then(|stream| stream.kernel.filter(|k| Some(k.0) == stream.tail));
        let early: Vec<_> = before
            .filter(|_| work.programmatic)
            .map(|(tail, kernel)| (tail, kernel, Signal::Triggered))
            .into_iter()
            .collect();
        after.retain(|task| !early.iter().any(|(tail, _, _)| tail == task));
        let number = self.streams.get(stream).map_or(0, |stream| stream.id);
        self.tasks.come_from(number, None);
        let (kernel, end) = self.add_kernel(work, id, after, &early);
        if let Some(stream) = self.streams.get_mut(stream) {
            (stream.tail, stream.kernel) = (Some(end), Some((end, kernel)));
        }
        kernel
    }

    /// What the next work of a stream comes after: its own last work, and by the legacy stream's rules the last
    /// work of the blocking streams of its context, or of the legacy stream.
    pub(crate) fn before_next(&self, stream: Key<Stream>) -> Vec<Key<Task>> {
        let Some(this) = self.streams.get(stream) else { return Vec::new() };
        let mut after: Vec<_> = this.tail.into_iter().collect();
        after.extend(self.contexts.get(this.context).into_iter().flat_map(|context| &context.held));
        if this.kind == StreamKind::Legacy {
            let blocking = self.streams.iter().filter(|(_, other)| other.blocking && other.context == this.context);
            after.extend(blocking.filter_map(|(_, other)| other.tail));
            after.extend(self.contexts.get(this.context).into_iter().flat_map(|context| &context.left_behind));
        } else if this.blocking {
            let legacy = self.contexts.get(this.context).and_then(|context| context.legacy);
            after.extend(legacy.and_then(|legacy| self.streams.get(legacy)).and_then(|legacy| legacy.tail));
        }
        after
    }
}

impl Stream {
    pub(crate) fn new(context: Key<Context>, kind: StreamKind, blocking: bool, priority: i32, id: u64) -> Stream {
        let (sync_policy, tail, kernel, capture, lost) = (None, None, None, None, None);
        Stream { context, kind, blocking, priority, sync_policy, tail, kernel, capture, lost, id }
    }
}
