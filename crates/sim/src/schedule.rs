//! The one scheduler: which of the ready tasks moves next, and by how much.
//!
//! - The choice among ready tasks, and how far a kernel runs before the next choice, come from the machine's seed.
//! - A step runs no code of the program: a host function whose turn has come is handed to the caller, who calls it
//!   without the lock.
//! - In counted time nothing moves but by [`State::step`]; in live time a worker calls it while the program is away.

use std::sync::Arc;

use dacapo_driver::CUresult;

use crate::detect::declared::Announced;
use crate::exec::{Clock, ExecOptions, Fault, Grid, Launch, Outcome};
use crate::finding::{Ending, Finding};
use crate::foreign::{HostCall, read_host, write_host};
use crate::machine::{FaultState, State};
use crate::memory::home::Home;
use crate::memory::{AccessError, AccessErrorKind, Kind, Request};
use crate::model::objects::{Event, EventState, Owner, Pool};
use crate::model::table::Key;
use crate::model::tasks::{Signal, Task};
use crate::model::work::{CopyMemory, CopyWork, KernelWork, SetWork, Work};
use crate::options::Time;

/// What a step did.
pub(crate) enum Step {
    /// Nothing is ready.
    Idle,
    /// Something moved.
    Moved,
    /// All that is ready only polls host memory or the clock.
    Polls,
    /// A host function's turn has come; when it has returned, the task is to be finished.
    Call(Key<Task>, HostCall),
}

/// The clock that kernels see.
struct MachineClock {
    time: Time,
    counted_ns: u64,
    started: std::time::Instant,
}

impl Clock for MachineClock {
    fn now_ns(&mut self) -> u64 {
        match self.time {
            Time::Counted => {
                // Reading the clock takes time, so that a kernel that waits for it makes headway.
                self.counted_ns += 32;
                self.counted_ns
            }
            Time::Live => 1_000_000_000 + self.started.elapsed().as_nanos() as u64,
        }
    }

    fn cycles(&mut self) -> u64 {
        self.now_ns() * 2
    }
}

/// How far a kernel runs when nothing else could.
const ALONE: u64 = 1 << 20;
/// In counted time, how far the clock jumps when everything waits for it.
const JUMP_NS: u64 = 20_000;

impl State {
    /// Moves one ready task.
    pub(crate) fn step(&mut self) -> Step {
        let ready = self.tasks.ready.len();
        if ready == 0 {
            return Step::Idle;
        }
        let pick = if ready == 1 { 0 } else { self.random.below(ready) };
        let key = self.tasks.ready[pick];
        let Some(task) = self.tasks.get_mut(key) else {
            self.tasks.set_aside(key);
            return Step::Moved;
        };
        match std::mem::replace(&mut task.work, Work::Called) {
            Work::Nothing => self.tasks.finish(key),
            Work::Kernel(work) => {
                let grid = self.begin_kernel(&work);
                return self.run_kernel(key, grid, ready == 1);
            }
            Work::Running(grid) => return self.run_kernel(key, grid, ready == 1),
            Work::Copy(work) => self.run_copy(key, &work, None),
            Work::CopyTaken(work, bytes) => self.run_copy(key, &work, Some(&bytes)),
            Work::Set(work) => self.run_set(key, &work),
            Work::Host(work) => {
                self.tasks.set_aside(key);
                self.note(|| "host function".to_string());
                return Step::Call(key, HostCall::Host(work));
            }
            Work::Callback(work) => {
                self.tasks.set_aside(key);
                return Step::Call(key, HostCall::Callback(work, self.status_for(key, work)));
            }
            Work::Record(event, number) => {
                self.mark(event, number);
                self.tasks.finish(key);
            }
            Work::Map { address, bytes, label, home } => {
                self.run_map(address, bytes, &label, home);
                self.watch_pool(key, address, false);
                self.tasks.finish(key);
            }
            Work::Unmap { address } => {
                self.watch_pool(key, address, true);
                self.memory.free(address);
                self.tasks.finish(key);
            }
            Work::Collective(run) => self.run_collective(key, run),
            Work::Values(work, at) => return self.run_values(key, work, at),
            Work::Defaults(conditions) => {
                conditions.into_iter().for_each(|(condition, default)| condition.begin(default));
                self.tasks.finish(key);
            }
            Work::Branch(branch) => self.run_branch(key, branch),
            Work::GraphAlloc(work) => {
                self.run_graph_alloc(&work);
                self.watch_pool(key, work.address, false);
                self.tasks.finish(key);
            }
            Work::GraphFree { address } => {
                self.watch_pool(key, address, true);
                self.run_graph_free(address);
                self.tasks.finish(key);
            }
            Work::Release(references) => {
                self.graphs.objects.release_all(&references);
                self.tasks.finish(key);
            }
            // A call that is under way was set aside, so only a panic in the middle of a step leaves this behind.
            Work::Called => {
                let what = "a piece of work was left half done by a panic";
                let finding =
                    Finding::new("panic", Ending::OurBug, what).help("report the panic that was printed before");
                self.break_device(key, CUresult::CUDA_ERROR_UNKNOWN, finding);
            }
        }
        self.polls = 0;
        Step::Moved
    }

    /// Copies; `taken` is what a source in the host's memory held when the call was made.
    fn run_copy(&mut self, key: Key<Task>, work: &CopyWork, taken: Option<&[u8]>) {
        let bytes: u64 = work.extent.iter().product();
        self.note(|| format!("copy {} bytes", taken.map_or(bytes, |taken| taken.len() as u64)));
        self.watch_memory_work(key, "memcpy", bytes);
        let done = self.copy(work, taken);
        self.end_memory_work(key, done, "memcpy");
    }

    fn run_set(&mut self, key: Key<Task>, work: &SetWork) {
        self.note(|| format!("set {} x {} elements", work.width, work.height));
        self.watch_memory_work(key, "memset", work.width * work.height * u64::from(work.element));
        self.look_for(work.on);
        let done = self.set(work);
        self.end_memory_work(key, done, "memset");
    }

    /// Memory of a pool at the address that its allocation was promised.
    pub(crate) fn run_map(&mut self, address: u64, bytes: u64, label: &str, promised: Home) {
        // Who may touch it may have changed since.
        let home = match self.visible.get(&address).map(|seen| &seen.owner) {
            Some(Owner::Pool(pool)) => self.pools.get(*pool).map_or(promised, Pool::home),
            _ => promised,
        };
        self.devices[promised.device].promised -= bytes;
        let request = Request { bytes, align: 512, kind: Kind::Pool, label };
        if self.memory.alloc_at_for(home, address, request).is_err() {
            self.find(Finding::new(
                "pool-address-in-use",
                Ending::OurBug,
                format!("a pool handed out {address:#x} while it was in use"),
            ));
        }
    }

    fn begin_kernel(&mut self, work: &Arc<KernelWork>) -> Box<Grid> {
        let grid_id = self.number();
        let label = work.function.name.to_string_lossy().into_owned();
        self.note(|| format!("kernel {label}"));
        let launch = Launch {
            image: work.function.image.clone(),
            kernel: work.function.kernel,
            grid: work.grid,
            block: work.block,
            dynamic_shared: work.shared,
            params: work.params.to_vec(),
            cooperative: work.cooperative,
            grid_id,
            label,
        };
        let options = ExecOptions {
            seed: 0,
            budget: self.options.budget,
            detectors: self.options.detectors,
            cores: self.options.cores,
            cores_from: self.options.cores_from,
            instructions: self.options.instructions,
            ..Default::default()
        };
        let mut grid = Box::new(Grid::new(launch, &options));
        grid.announce(Announced { by: work.by.clone(), declared: work.declared.clone() });
        grid
    }

    fn run_kernel(&mut self, key: Key<Task>, mut grid: Box<Grid>, alone: bool) -> Step {
        let mut clock = MachineClock { time: self.options.time, counted_ns: self.time_ns, started: self.started };
        let launch = grid.launch();
        let signals = self.tasks.is_awaited(key) && launch.image.program().may_signal(launch.kernel);
        let quantum = self.options.quantum.max(1);
        let quantum = if alone && !signals { ALONE } else { quantum + self.random.below(quantum as usize) as u64 };
        let before = grid.executed();
        let primaries = self.tasks.get_mut(key).map(|task| task.primaries.clone()).unwrap_or_default();
        let held = primaries.iter().any(|primary| !self.tasks.is_done(*primary));
        grid.hold(held);
        if !held && !primaries.is_empty() {
            self.watch_primaries(key, &primaries);
            grid.touch_anew();
        }
        self.watch_kernel(key, &grid);
        let on = self.tasks.get_mut(key).and_then(|task| task.on);
        if self.has_several_devices() {
            // What it has found before may be another's by now, or out of its reach.
            grid.look_anew();
            self.look_for(on);
        }
        let outcome = grid.run(&mut self.memory, &mut clock, quantum);
        self.look_away();
        // However a kernel is cut into quanta, or spread over cores, it takes the same time.
        let whole = u64::from(!matches!(outcome, Outcome::Yield));
        self.time_ns = clock.counted_ns + whole + grid.executed() / 32 - before / 32;
        for finding in grid.take_findings() {
            self.find(finding);
        }
        self.end_watch();
        for (handle, value) in grid.take_conditionals() {
            self.set_condition(handle, value, &grid);
        }
        // Those who wait for a signal may begin, and need not at once: how much of this kernel they see is the seed's choice.
        if grid.has_begun() && (!self.tasks.is_awaited(key) || self.random.below(4) == 0) {
            self.tasks.signal(key, if grid.has_triggered() { Signal::Triggered } else { Signal::Begun });
        }
        match outcome {
            Outcome::Done => {
                self.polls = 0;
                self.tasks.finish(key);
                drop(grid);
                self.retire_images();
                Step::Moved
            }
            Outcome::Yield => {
                self.polls = 0;
                self.put_back(key, grid);
                Step::Moved
            }
            Outcome::Waits if grid.is_at_wait() => {
                self.polls = 0;
                self.put_back(key, grid);
                self.tasks.block(key, &primaries);
                Step::Moved
            }
            Outcome::Waits => self.kernel_polls(key, grid),
            Outcome::Fault(fault, finding) => {
                self.break_device(key, code_of(fault), finding);
                Step::Moved
            }
            Outcome::Unsupported(finding) => {
                self.break_device(key, CUresult::CUDA_ERROR_NOT_SUPPORTED, finding);
                Step::Moved
            }
        }
    }

    fn kernel_polls(&mut self, key: Key<Task>, grid: Box<Grid>) -> Step {
        if self.looked_in_vain() {
            let what = format!("`{}` waits for host memory that nobody changes", grid.launch().label);
            self.end_wait(key, what);
            return Step::Moved;
        }
        self.put_back(key, grid);
        self.polled()
    }

    /// Counts a look that changed nothing; true when there were too many of them.
    pub(crate) fn looked_in_vain(&mut self) -> bool {
        self.polls += 1;
        if self.options.time == Time::Live {
            return false;
        }
        self.time_ns += JUMP_NS;
        self.polls > self.options.polls_max
    }

    /// Ends a wait that nobody can end.
    pub(crate) fn end_wait(&mut self, key: Key<Task>, what: String) {
        let finding = Finding::new("endless-wait", Ending::YourProgram, what)
            .note(format!("it has looked {} times, and nothing else could run meanwhile", self.options.polls_max))
            .help("let a host function, another stream or another thread write the flag, or use live time");
        self.break_device(key, CUresult::CUDA_ERROR_LAUNCH_TIMEOUT, finding);
    }

    /// What a step is that only looked.
    pub(crate) fn polled(&self) -> Step {
        if self.polls.is_multiple_of(2 * self.tasks.ready.len() as u64 + 1) { Step::Polls } else { Step::Moved }
    }

    fn put_back(&mut self, key: Key<Task>, grid: Box<Grid>) {
        if let Some(task) = self.tasks.get_mut(key) {
            task.work = Work::Running(grid);
        }
    }

    /// The event's record number `number` has happened.
    fn mark(&mut self, event: Key<Event>, number: u64) {
        let now = self.now_ns();
        if let Some(event) = self.events.get_mut(event) {
            match &mut event.recorded {
                EventState::Stream { number: n, time_ns, .. } | EventState::Graph { number: n, time_ns, .. }
                    if *n == number =>
                {
                    *time_ns = Some(now);
                }
                _ => {}
            }
        }
    }

    fn copy(&mut self, work: &CopyWork, taken: Option<&[u8]>) -> Result<(), AccessError> {
        let row = work.extent[0];
        self.time_ns += 500 + work.extent.iter().product::<u64>() / 64;
        for (at, (target, source)) in work.rows().enumerate() {
            if taken.is_none() && work.source.place != CopyMemory::Pageable {
                self.memory.touch(source, row, false);
            }
            if work.target.place != CopyMemory::Pageable {
                self.memory.touch(target, row, true);
            }
            let bytes = match (taken, work.source.place, work.target.place) {
                (None, CopyMemory::Device, CopyMemory::Device) => {
                    self.memory.copy(target, source, row)?;
                    continue;
                }
                (Some(bytes), _, _) => bytes[at * row as usize..][..row as usize].to_vec(),
                // SAFETY: the program promised with the call that pageable memory stays valid until the copy has run.
                (None, CopyMemory::Pageable, _) => unsafe { read_host(source, row as usize) },
                (None, _, _) => {
                    let mut bytes = vec![0; row as usize];
                    self.memory.read(source, &mut bytes)?;
                    bytes
                }
            };
            match work.target.place {
                // SAFETY: as above, for the target.
                CopyMemory::Pageable => unsafe { write_host(target, &bytes) },
                _ => self.memory.write(target, &bytes)?,
            }
        }
        Ok(())
    }

    fn set(&mut self, work: &SetWork) -> Result<(), AccessError> {
        self.time_ns += 300 + work.width * work.height / 64;
        for row in 0..work.height {
            self.memory.touch(work.address + row * work.pitch, work.width * u64::from(work.element), true);
            self.memory.fill(work.address + row * work.pitch, &work.pattern(), work.width)?;
        }
        Ok(())
    }

    pub(crate) fn end_memory_work(&mut self, key: Key<Task>, done: Result<(), AccessError>, what: &str) {
        self.end_watch();
        let out_of_reach = done.as_ref().err().and_then(|error| self.memory.out_of_reach(error.address));
        self.look_away();
        match done {
            Ok(()) => self.tasks.finish(key),
            Err(error) => {
                if let Some((who, help)) = out_of_reach {
                    let what = format!("a {what} touches memory of another device: {error}: {who}");
                    let finding = Finding::new("peer-access", Ending::YourProgram, what).help(help);
                    return self.break_device(key, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, finding);
                }
                let (code, state, help) = match error.kind {
                    AccessErrorKind::NotAllocated => (
                        "graph-memory-not-allocated",
                        "not there yet",
                        "order this work behind the launch, and behind the node, that allocates the memory",
                    ),
                    AccessErrorKind::NoAccess => {
                        ("no-access", "out of reach", "call cuMemMap and then cuMemSetAccess for the range first")
                    }
                    _ => ("use-after-free", "gone", "keep the memory until the last launch that touches it is done"),
                };
                let what = format!("a {what} touches memory that is {state}: {error}");
                let finding = Finding::new(code, Ending::YourProgram, what).help(help);
                self.break_device(key, CUresult::CUDA_ERROR_LAUNCH_FAILED, finding);
            }
        }
    }

    /// A fault: the task's device is broken from here on. Work that waits is dropped; callbacks are still called.
    pub(crate) fn break_device(&mut self, key: Key<Task>, code: CUresult, finding: Finding) {
        let by = self.tasks.get_mut(key).and_then(|task| task.by.clone());
        self.find(finding.by(by.as_ref()));
        let device = self.device_of_task(key);
        if !self.has_several_devices() {
            self.tasks.finish(key);
        } else if let Some(task) = self.tasks.get_mut(key) {
            // Dropped with those behind it: what other devices wait for has not been done.
            task.work = Work::Nothing;
        }
        self.devices[device].fault = Some(FaultState::of_kernel(code));
        self.abandon_work(device);
    }
}

fn code_of(fault: Fault) -> CUresult {
    match fault {
        Fault::IllegalAddress => CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        Fault::MisalignedAddress => CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        Fault::Trap => CUresult::CUDA_ERROR_LAUNCH_FAILED,
        Fault::Assert => CUresult::CUDA_ERROR_ASSERT,
        Fault::InvalidAddressSpace => CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
        Fault::HardwareStack => CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
        Fault::InvalidPc => CUresult::CUDA_ERROR_INVALID_PC,
        Fault::IllegalInstruction => CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
        Fault::Timeout => CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    }
}
