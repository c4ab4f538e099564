//! The machine: one device in software, its state behind one lock, its rules in [`crate::model`].

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dacapo_driver::CUresult;
use dacapo_driver::types::{CU_STREAM_CAPTURE_MODE_GLOBAL, CUgraphEdgeData, CUgraphNode, CUstreamCaptureMode};

use crate::detect::declared::Announced;
use crate::detect::order::Order;
use crate::exec::Image;
use crate::finding::{Ending, Finding};
use crate::live::HandedOver;
use crate::memory::texture::Texture;
use crate::memory::{Memory, MemoryOptions};
use crate::model::array::Array;
use crate::model::capture::Capture;
use crate::model::executable::Executable;
use crate::model::graph::Graphs;
use crate::model::graph_memory::GraphMemory;
use crate::model::library::{Kernel, Library, Link};
use crate::model::managed::Managed;
use crate::model::objects::{Context, Event, Function, Module, Pool, PoolPlace, Stream, Visible};
use crate::model::table::{Key, Table};
use crate::model::tasks::Tasks;
use crate::model::virtual_memory::VirtualMemory;
use crate::nccl::Ranks;
use crate::options::{OnFinding, Options, Time};
use crate::random::Random;

/// A CUDA device in software. It implements [`dacapo_driver::Driver`]; any number may be alive in one process.
///
/// Cloning gives another handle to the same machine.
///
/// ```
/// use dacapo_driver::{CUresult, Driver};
///
/// let machine = dacapo_sim::Machine::new(dacapo_sim::Options { seed: 7, ..Default::default() });
/// let mut version = 0;
/// // SAFETY: the pointer is valid for the write.
/// let code = unsafe { machine.cuDriverGetVersion(&mut version) };
/// assert_eq!((code, version), (CUresult::CUDA_SUCCESS, 13_000));
/// ```
#[derive(Clone)]
pub struct Machine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) state: Mutex<State>,
    /// Signalled when work was finished or submitted.
    pub(crate) changed: Condvar,
    /// Threads that want the lock; the worker lets them go first.
    pub(crate) callers: AtomicUsize,
    pub(crate) worker_runs: AtomicBool,
    pub(crate) live: bool,
    pub(crate) on_finding: Option<OnFinding>,
    /// The thread that calls host functions in live time.
    pub(crate) caller: Mutex<Option<Sender<HandedOver>>>,
}

/// Everything there is.
pub(crate) struct State {
    pub(crate) options: Options,
    pub(crate) random: Random,
    pub(crate) is_initialised: bool,
    pub(crate) memory: Memory,
    /// Allocations as the API shows them, by address.
    pub(crate) visible: BTreeMap<u64, Visible>,
    /// Advice and prefetches, by the start of the managed memory they are about.
    pub(crate) managed: BTreeMap<u64, Managed>,
    pub(crate) contexts: Table<Context>,
    pub(crate) primary: Key<Context>,
    pub(crate) primary_retains: u32,
    pub(crate) streams: Table<Stream>,
    pub(crate) events: Table<Event>,
    pub(crate) arrays: Table<Array>,
    pub(crate) modules: Table<Module>,
    /// How many were ever loaded: they are named by that in reports.
    pub(crate) modules_loaded: u64,
    pub(crate) functions: Table<Arc<Function>>,
    pub(crate) libraries: Table<Library>,
    pub(crate) kernels: Table<Kernel>,
    pub(crate) links: Table<Link>,
    pub(crate) pools: Table<Pool>,
    pub(crate) default_pool: Key<Pool>,
    /// Where `cuMemAllocAsync` takes memory from.
    pub(crate) current_pool: Key<Pool>,
    /// The default pools of other places, as they are asked for, and which of them are current.
    pub(crate) other_pools: BTreeMap<PoolPlace, (Key<Pool>, Key<Pool>)>,
    pub(crate) textures: Table<Arc<Texture>>,
    pub(crate) graph_memory: GraphMemory,
    pub(crate) virtual_memory: VirtualMemory,
    pub(crate) captures: Table<Capture>,
    pub(crate) graphs: Graphs,
    pub(crate) executables: Table<Executable>,
    pub(crate) tasks: Tasks,
    /// Ranks of communicators, and where they meet.
    pub(crate) ranks: Ranks,
    pub(crate) threads: HashMap<u64, Thread>,
    pub(crate) fault: Option<FaultState>,
    pub(crate) findings: Vec<Finding>,
    /// Findings that whoever wants to know has not been told yet: that is code of the program, and so waits for the lock to be free.
    pub(crate) untold: Vec<Finding>,
    /// Bytes that pools have handed out and that streams have yet to map.
    pub(crate) promised: u64,
    pub(crate) journal: Vec<String>,
    /// Images of unloaded modules that running work or executables still hold.
    pub(crate) retired: Vec<Arc<Image>>,
    /// What `cuStreamGetCaptureInfo` has handed out, by stream; valid until its next question.
    pub(crate) lent_to_stream: HashMap<Key<Stream>, (Vec<CUgraphNode>, Vec<CUgraphEdgeData>)>,
    pub(crate) time_ns: u64,
    pub(crate) started: std::time::Instant,
    /// Steps in a row in which everything that could run only polled.
    pub(crate) polls: u64,
    last_number: u64,
}

/// What the machine knows of a thread that called it.
pub(crate) struct Thread {
    /// Machine-local number, in order of first call: the same in every run of a seed.
    pub(crate) number: u64,
    pub(crate) contexts: Vec<Key<Context>>,
    pub(crate) capture_mode: CUstreamCaptureMode,
    /// Whose work it is that it hands over now, and what the kernels of it may touch.
    pub(crate) announced: Announced,
}

/// A fault that broke the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultState {
    pub(crate) code: CUresult,
    /// Some call has answered with it; captures know of it from then on.
    pub(crate) reported: bool,
    /// From when on calls that neither wait nor ask answer with it, in live time.
    known: Instant,
}

impl FaultState {
    /// A kernel's fault, just now. A GPU needs a while to tell the host and meanwhile takes work: a program is right to expect
    /// the fault of a kernel that it has just launched where it waits, and not at the event that it records behind it.
    pub(crate) fn of_kernel(code: CUresult) -> FaultState {
        FaultState { known: Instant::now() + UNTIL_KNOWN, ..FaultState::known(code) }
    }

    /// A fault that everybody knows of at once.
    pub(crate) fn known(code: CUresult) -> FaultState {
        FaultState { code, reported: false, known: Instant::now() }
    }

    pub(crate) fn is_known(&self) -> bool {
        self.reported || self.known <= Instant::now()
    }
}

/// How long a kernel's fault is not known yet. On an H200 (580.159.04) it took 100 to 600 ms until such a call answered with it;
/// this is enough for a program that goes on.
const UNTIL_KNOWN: Duration = Duration::from_millis(20);

/// The memory that these options ask for.
fn memory_of(options: &Options) -> Memory {
    let mut memory = Memory::new(MemoryOptions { capacity: options.capacity, seed: options.seed });
    if !options.strict {
        memory.let_pass();
    }
    memory
}

impl Machine {
    /// A machine with nothing in it.
    pub fn new(options: Options) -> Machine {
        let mut contexts = Table::new(1);
        let primary = contexts.insert(Context {
            is_primary: true,
            is_active: false,
            flags: 0,
            legacy: None,
            per_thread: HashMap::new(),
            limits: BTreeMap::new(),
            cache_config: 0,
            attached: 1,
            left_behind: Vec::new(),
            held: Vec::new(),
            id: 1,
        });
        let mut pools = Table::new(5);
        let default_pool = pools.insert(Pool::new(true, 0));
        let state = State {
            random: Random::new(options.seed),
            is_initialised: false,
            memory: memory_of(&options),
            visible: BTreeMap::new(),
            managed: BTreeMap::new(),
            contexts,
            primary,
            primary_retains: 0,
            streams: Table::new(2),
            events: Table::new(3),
            arrays: Table::new(16),
            modules: Table::new(4),
            modules_loaded: 0,
            functions: Table::new(8),
            libraries: Table::new(11),
            kernels: Table::new(12),
            links: Table::new(13),
            pools,
            default_pool,
            current_pool: default_pool,
            other_pools: BTreeMap::new(),
            textures: Table::new(17),
            graph_memory: GraphMemory::default(),
            virtual_memory: VirtualMemory::new(),
            captures: Table::new(9),
            graphs: Graphs::new(),
            executables: Table::new(10),
            tasks: {
                let mut tasks = Tasks::new();
                tasks.order = options.detectors.unordered.then(|| Box::new(Order::new()));
                tasks
            },
            ranks: Ranks::new(),
            threads: HashMap::new(),
            fault: None,
            findings: Vec::new(),
            untold: Vec::new(),
            promised: 0,
            journal: Vec::new(),
            retired: Vec::new(),
            lent_to_stream: HashMap::new(),
            time_ns: 1_000_000_000,
            started: std::time::Instant::now(),
            polls: 0,
            last_number: 1,
            options,
        };
        let (live, on_finding) = (state.options.time == Time::Live, state.options.on_finding.clone());
        Machine {
            inner: Arc::new(Inner {
                state: Mutex::new(state),
                changed: Condvar::new(),
                callers: AtomicUsize::new(0),
                worker_runs: AtomicBool::new(false),
                live,
                on_finding,
                caller: Mutex::new(None),
            }),
        }
    }

    /// As many rounds of a loop as its options allow; never 0.
    pub fn rounds_max(&self) -> u64 {
        self.lock().options.rounds_max.max(1)
    }

    /// Everything found so far, in order.
    pub fn findings(&self) -> Vec<Finding> {
        self.lock().findings.clone()
    }

    /// Everything found so far; the list starts anew.
    pub fn take_findings(&self) -> Vec<Finding> {
        std::mem::take(&mut self.lock().findings)
    }

    /// What ran in which order, if [`Options::journal`] is set: one line for each piece of work that was begun.
    pub fn journal(&self) -> Vec<String> {
        self.lock().journal.clone()
    }

    /// Gives the allocation that begins at `address` a name for reports.
    pub fn label(&self, address: u64, label: &str) {
        self.lock().memory.set_label(address, label);
    }

    /// A program called a symbol that the table of calls does not know: unsupported, with a finding that names it.
    pub fn unknown_symbol(&self, symbol: &str) -> CUresult {
        self.find_and_tell(
            Finding::new("unsupported", Ending::Unsupported, format!("{symbol} is not there yet"))
                .at(symbol, "answered CUDA_ERROR_NOT_SUPPORTED")
                .help("run this on a GPU, or see docs/driver-calls.md for what the software driver knows"),
        );
        CUresult::CUDA_ERROR_NOT_SUPPORTED
    }

    /// A program asked `cuGetProcAddress` for a name that no driver of CUDA 13.0 has: a finding, because a program that is
    /// told so often goes on without a word, and fails or skips something much later.
    pub fn unknown_name(&self, name: &str) {
        self.find_and_tell(
            Finding::new("unknown-name", Ending::Remark, format!("no entry point is called `{name}`"))
                .at("cuGetProcAddress", "gave no address for it, as a GPU's driver of CUDA 13.0 would not")
                .note("CUDA 13.0 has no call of this name: it is misspelt, or newer than that, or not public")
                .help(
                    "look at its spelling; a program that asks for newer calls must do without them on such a driver",
                ),
        );
    }

    fn find_and_tell(&self, finding: Finding) {
        let untold = {
            let mut state = self.lock();
            state.find(finding);
            std::mem::take(&mut state.untold)
        };
        self.tell(untold);
    }

    /// Tells whoever wants to know of findings; no lock is held.
    pub(crate) fn tell(&self, findings: Vec<Finding>) {
        if let Some(on_finding) = &self.inner.on_finding {
            findings.iter().for_each(|finding| on_finding(finding));
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.callers.fetch_add(1, Ordering::Relaxed);
        // A panic under the lock is a bug of ours that was reported where it happened; the state is plain data and
        // going on is better than a second panic in every later call.
        let state = self.inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.inner.callers.fetch_sub(1, Ordering::Relaxed);
        state
    }
}

impl State {
    /// A number that was not used before.
    pub(crate) fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// What is known of a thread.
    pub(crate) fn thread_of(&mut self, thread: u64) -> &mut Thread {
        let number = self.threads.len() as u64 + 1;
        self.threads.entry(thread).or_insert(Thread {
            number,
            contexts: Vec::new(),
            capture_mode: CU_STREAM_CAPTURE_MODE_GLOBAL,
            announced: Announced::default(),
        })
    }

    /// Notes a finding and tells whoever wants to know.
    pub(crate) fn find(&mut self, finding: Finding) {
        if self.options.on_finding.is_some() {
            self.untold.push(finding.clone());
        }
        self.findings.push(finding);
    }

    /// Nanoseconds since some beginning.
    pub(crate) fn now_ns(&self) -> u64 {
        match self.options.time {
            Time::Counted => self.time_ns,
            Time::Live => 1_000_000_000 + self.started.elapsed().as_nanos() as u64,
        }
    }

    /// One line for the journal.
    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        if self.options.journal {
            let line = line();
            self.journal.push(line);
        }
    }

    /// Gives back the memory of modules that were unloaded and that nothing holds any more.
    pub(crate) fn retire_images(&mut self) {
        let retired = std::mem::take(&mut self.retired);
        for image in retired {
            if Arc::strong_count(&image) == 1 {
                image.remove(&mut self.memory);
            } else {
                self.retired.push(image);
            }
        }
    }
}

impl Pool {
    /// An empty pool.
    pub(crate) fn new(is_default: bool, bytes_max: u64) -> Pool {
        Pool {
            is_default,
            place: PoolPlace::DEVICE,
            device_access: false,
            blocks: Vec::new(),
            threshold: 0,
            reuse: [1; 3],
            bytes_max,
            used: 0,
            room: 0,
            used_high: 0,
            reserved: 0,
            reserved_high: 0,
        }
    }
}

thread_local! {
    static THREAD: Cell<u64> = const { Cell::new(0) };
    static PER_THREAD_DEFAULT: Cell<bool> = const { Cell::new(false) };
}

/// A number for the calling thread that no other thread of the process has.
pub(crate) fn this_thread() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    if THREAD.get() == 0 {
        THREAD.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    }
    THREAD.get()
}

/// Runs `body` with the null stream meaning the calling thread's own stream: the `_ptsz` and `_ptds` symbols.
pub fn with_per_thread_default_stream<R>(body: impl FnOnce() -> R) -> R {
    let before = PER_THREAD_DEFAULT.replace(true);
    let result = body();
    PER_THREAD_DEFAULT.set(before);
    result
}

/// What the null stream means on this thread now.
pub(crate) fn null_stream_is_per_thread() -> bool {
    PER_THREAD_DEFAULT.get()
}
