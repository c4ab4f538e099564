//! Contexts, streams, events, modules and pools.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use dacapo_driver::CUresult;

use super::capture::Capture;
use super::device::On;
use super::graph::Edge;
use super::table::Key;
use super::tasks::Task;
use crate::exec::{Image, KernelId};

/// A context: a device's primary one, or one made by `cuCtxCreate`.
pub(crate) struct Context {
    pub(crate) device: usize,
    pub(crate) is_primary: bool,
    /// The primary context exists before it is retained and after it is reset, without anything in it.
    pub(crate) is_active: bool,
    pub(crate) flags: u32,
    pub(crate) legacy: Option<Key<Stream>>,
    /// A thread's own default stream, by thread.
    pub(crate) per_thread: HashMap<u64, Key<Stream>>,
    pub(crate) limits: BTreeMap<u32, usize>,
    /// What `cuCtxSetCacheConfig` asked for; nothing here has a cache to divide.
    pub(crate) cache_config: u32,
    /// How many times it was made or attached to: `cuCtxAttach`.
    pub(crate) attached: u32,
    /// The last work of blocking streams that were destroyed: the legacy stream still waits for it.
    pub(crate) left_behind: Vec<Key<Task>>,
    /// What all that comes waits for: `cuCtxWaitEvent`.
    pub(crate) held: Vec<Key<Task>>,
    /// The numbers of contexts of other devices whose memory it may touch: `cuCtxEnablePeerAccess`.
    pub(crate) peers: BTreeSet<u64>,
    pub(crate) id: u64,
}

/// What kind of stream it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamKind {
    Legacy,
    PerThread,
    Created,
}

/// A stream.
pub(crate) struct Stream {
    pub(crate) context: Key<Context>,
    pub(crate) kind: StreamKind,
    /// Orders itself against the legacy stream.
    pub(crate) blocking: bool,
    pub(crate) priority: i32,
    /// How host threads wait for it, if that was set.
    pub(crate) sync_policy: Option<u32>,
    /// The last work submitted to it.
    pub(crate) tail: Option<Key<Task>>,
    /// The kernel that the last work is, with the tail that it was: a later one may begin early behind it.
    pub(crate) kernel: Option<(Key<Task>, Key<Task>)>,
    pub(crate) capture: Option<Key<Capture>>,
    /// Its last work was dropped, because another device broke: what it answers from then on.
    pub(crate) lost: Option<CUresult>,
    pub(crate) id: u64,
}

/// What an event stands for.
#[derive(Clone, Debug)]
pub(crate) enum EventState {
    /// Never recorded: every wait for it is over at once.
    Never,
    /// Work on a stream: which record it is, the task that marks it, and when it happened.
    Stream { number: u64, task: Key<Task>, time_ns: Option<u64> },
    /// Nodes of a capture.
    Capture { capture: Key<Capture>, nodes: Vec<Edge> },
    /// Marked by a graph's node: which record, and when it happened.
    Graph { number: u64, task: Option<Key<Task>>, time_ns: Option<u64> },
}

/// An event.
pub(crate) struct Event {
    pub(crate) context: Key<Context>,
    pub(crate) timing: bool,
    pub(crate) recorded: EventState,
}

/// A loaded module.
pub(crate) struct Module {
    pub(crate) context: Key<Context>,
    pub(crate) image: Arc<Image>,
    /// By name, in that order: what is freed first is handed out again first.
    pub(crate) functions: BTreeMap<String, Key<Arc<Function>>>,
    /// Loaded as a library: its kernels are named by kernel handles.
    pub(crate) is_library: bool,
}

/// A kernel of a loaded module. Graphs and running launches hold it after the module is gone.
pub(crate) struct Function {
    pub(crate) module: Key<Module>,
    pub(crate) context: Key<Context>,
    pub(crate) device: usize,
    pub(crate) image: Arc<Image>,
    pub(crate) kernel: KernelId,
    pub(crate) name: CString,
    pub(crate) handle: std::sync::atomic::AtomicU64,
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
    pub(crate) max_dynamic_shared: AtomicU32,
    /// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`, as its bits.
    pub(crate) carveout: AtomicU32,
    /// What a program has asked of clusters: attributes 11 to 15.
    pub(crate) clusters: [AtomicU32; 5],
}

impl Function {
    /// Where it runs.
    pub(crate) fn on(&self) -> On {
        On { device: self.device, context: self.context }
    }
}

/// An allocation as the API shows it: from the call that makes it to the call that frees it, whatever the
/// streams have done by then.
#[derive(Clone, Debug)]
pub(crate) struct Visible {
    pub(crate) bytes: u64,
    pub(crate) owner: Owner,
    pub(crate) context: Key<Context>,
    pub(crate) device: usize,
    pub(crate) id: u64,
}

/// Where an allocation came from, and so how it may be freed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// `cuMemAlloc` and its kin.
    Plain,
    /// `cuMemAllocManaged`.
    Managed,
    /// A pool.
    Pool(Key<Pool>),
    /// An allocation node of a graph.
    Graph,
    /// Memory mapped at a reserved address.
    Mapped,
    /// A variable of a module.
    Module,
    /// `cuMemHostAlloc`, with its flags and the layout to give back.
    HostAllocated { flags: u32 },
    /// `cuMemHostRegister`.
    HostRegistered { flags: u32 },
}

/// Where a pool takes memory from: `CU_MEM_ALLOCATION_TYPE_*` and `CU_MEM_LOCATION_TYPE_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PoolPlace {
    pub(crate) allocation: u32,
    pub(crate) location: u32,
}

impl PoolPlace {
    /// Device memory.
    pub(crate) const DEVICE: PoolPlace = PoolPlace { allocation: 1, location: 1 };

    /// Whether its memory is managed.
    pub(crate) fn is_managed(self) -> bool {
        self.allocation == 2
    }

    /// Whether its memory is the host's, locked in place.
    pub(crate) fn is_host(self) -> bool {
        !self.is_managed() && self.location != 1
    }
}

/// A memory pool.
pub(crate) struct Pool {
    pub(crate) is_default: bool,
    pub(crate) place: PoolPlace,
    /// The device whose memory it hands out; of a pool of the host's the first.
    pub(crate) device: usize,
    /// The devices that may touch its memory, a bit for each.
    pub(crate) reach: u64,
    /// Blocks that were freed and may be handed out again.
    pub(crate) blocks: Vec<FreeBlock>,
    pub(crate) threshold: u64,
    pub(crate) reuse: [u64; 3],
    /// The most that may be in use; 0 for no bound of its own.
    pub(crate) bytes_max: u64,
    pub(crate) used: u64,
    /// What its allocations take, each rounded up.
    pub(crate) room: u64,
    pub(crate) used_high: u64,
    /// What it has taken from the device and not given back.
    pub(crate) reserved: u64,
    pub(crate) reserved_high: u64,
}

/// A freed block of a pool.
pub(crate) struct FreeBlock {
    pub(crate) address: u64,
    /// Room at that address.
    pub(crate) room: u64,
    /// The stream that freed it; it may take it again at once.
    pub(crate) stream: Key<Stream>,
    /// When this is done, anyone may take it.
    pub(crate) freed: Key<Task>,
}
