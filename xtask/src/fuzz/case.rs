//! One case: a machine, what the program holds of it, and calls drawn from a seed.
//!
//! - A case is polite for most calls: arguments of the right kind, live and small. About a third of the calls are rude: each
//!   argument may be null, stale, of another kind, freed before, garbage, huge, misaligned or out of range.
//! - Each case has two chapters of the API that it likes; half its calls come from them, so that state is built there.
//! - Now and then a case goes through a script (`scripts.rs`): calls that need each other.
//! - After a fault the device is broken for good: some calls more, and the case is over.

use std::collections::HashMap;
use std::ffi::c_void;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call, Driver, Family};
use dacapo_sim::{Detectors, Machine, Options, Time, with_per_thread_default_stream};

use super::draw::{Draw, ELEMENTS, Slot};
use super::scripts::SCRIPTS;
use super::{callbacks, images, journal};

/// Host memory of the program that copies, kernels and answers may touch; it is never given back, because a machine's
/// threads may outlive the case.
const HOST_BYTES: usize = 1 << 20;
/// Room for one call's arguments.
const WORDS: usize = 1 << 16;
/// Device addresses lie below this, as the software driver documents.
const DEVICE_HIGH: u64 = 0x5000_0000_0000;

/// Things of a kind that are remembered: few, so that calls meet the same ones again.
fn remembered(kind: &str) -> usize {
    match kind {
        "CUgraph" | "CUgraphExec" => 2,
        "CUcontext" | "CUmodule" => 4,
        "CUstream" | "CUevent" | "CUmemoryPool" => 5,
        "CUgraphNode" => 32,
        _ => 12,
    }
}
/// Calls after a fault.
const AFTERMATH: u32 = 12;

/// What the program holds of one kind.
#[derive(Default)]
struct Held {
    live: Vec<u64>,
    gone: Vec<u64>,
    newest: u64,
}

/// A case.
pub(super) struct Case {
    pub(super) machine: Machine,
    pub(super) call: Call,
    random: u64,
    rude: bool,
    live: bool,
    families: [Family; 2],
    held: Vec<(&'static str, Held)>,
    /// The graph that a node or an executable was made of.
    graph_of: HashMap<u64, u64>,
    /// What kind of node it was made as.
    word_of: HashMap<u64, &'static str>,
    /// The graph that this call is about, if it names one.
    graph: u64,
    words: Box<[u64]>,
    words_used: usize,
    host: *mut u8,
    /// How many devices the machine has.
    pub(super) devices: usize,
    /// Calls left once a device is broken.
    aftermath: Option<u32>,
    /// A call that ends something has ended its first handle.
    has_ended: bool,
    /// What is left of the script that the case goes through.
    script: &'static [Call],
    /// This call is part of one: it takes the newest of what there is.
    scripted: bool,
    /// Bytes of the text that this call was given.
    pub(super) text_bytes: u64,
}

// SAFETY: `host` is memory that is never given back, and `words` is the case's own; a case is used by one thread at a time.
unsafe impl Send for Case {}

/// Host memory for the cases of one process.
pub(super) fn host_memory() -> *mut u8 {
    Box::leak(vec![0u64; HOST_BYTES / 8].into_boxed_slice()).as_mut_ptr().cast()
}

/// How a case is made from its seed.
pub(super) struct Kind {
    /// Time is the wall clock's, and a thread of the machine moves work.
    pub(super) live: bool,
    /// The calls come from this many threads in turns.
    pub(super) threads: usize,
    /// How many calls.
    pub(super) calls: u64,
}

/// How many devices the machine of a case has: drawn apart, so that what else a seed says stays.
fn devices(seed: u64) -> usize {
    let mut random = seed ^ 0x6465_7669;
    [1, 1, 2, 3][(next(&mut random) % 4) as usize]
}

/// What the seed says of a case.
pub(super) fn kind(seed: u64) -> Kind {
    let mut random = seed ^ 0x6b69_6e64;
    let mut below = |bound: u64| next(&mut random) % bound;
    Kind {
        live: below(24) == 0,
        threads: if below(4) == 0 { 2 + below(2) as usize } else { 1 },
        calls: 100 + below(500),
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Case {
    pub(super) fn new(seed: u64, live: bool, host: *mut u8) -> Case {
        let mut random = seed;
        let mut below = |bound: u64| next(&mut random) % bound;
        let detectors = [Detectors::default(), Detectors::none(), Detectors::all()][below(3) as usize];
        let devices = devices(seed);
        let machine = Machine::new(Options {
            seed,
            devices,
            capacity: [1 << 20, 16 << 20, 64 << 20, 256 << 20][below(4) as usize],
            time: if live { Time::Live } else { Time::Counted },
            budget: 20_000,
            rounds_max: 4,
            polls_max: 300,
            journal: below(8) == 0,
            detectors,
            ..Options::default()
        });
        let mut chapters: Vec<Family> = Call::ALL.iter().map(|call| call.family()).collect();
        chapters.dedup();
        let first = chapters[below(chapters.len() as u64) as usize];
        // Most of what executables, captures and user objects do needs graphs.
        let with_graphs =
            [Family::GraphExec, Family::GraphMemory, Family::UserObject, Family::Capture].contains(&first);
        let second =
            if with_graphs && below(4) != 0 { Family::Graph } else { chapters[below(chapters.len() as u64) as usize] };
        let families = [first, second];
        callbacks::ask(Some(machine.clone()));
        Case {
            machine,
            call: Call::cuInit,
            random,
            rude: false,
            live,
            families,
            held: Vec::new(),
            graph_of: HashMap::new(),
            word_of: HashMap::new(),
            graph: 0,
            words: vec![0; WORDS].into_boxed_slice(),
            words_used: 0,
            host,
            devices,
            aftermath: None,
            has_ended: false,
            script: &[],
            scripted: false,
            text_bytes: 0,
        }
    }

    /// What most programs begin with; some cases do without.
    pub(super) fn prelude(&mut self) {
        if self.one_in(16) {
            return;
        }
        let text = self.text(images::PTX.as_bytes());
        let machine = self.machine.clone();
        let (mut context, mut module, mut pointer) = (CUcontext::NULL, CUmodule::NULL, 0);
        // SAFETY: every out pointer is valid, and the image ends with a NUL.
        unsafe {
            machine.cuInit(0);
            machine.cuDevicePrimaryCtxRetain(&mut context, 0);
            for other in 1..self.devices {
                let mut context = CUcontext::NULL;
                machine.cuDevicePrimaryCtxRetain(&mut context, other as CUdevice);
                self.keep("CUcontext", context.bits());
            }
            machine.cuCtxSetCurrent(context);
            machine.cuModuleLoadData(&mut module, text.cast());
            self.keep("CUcontext", context.bits());
            self.keep("CUmodule", module.bits());
            for name in images::NAMES.iter().take(7) {
                let name = self.text(name.as_bytes());
                let mut function = CUfunction::NULL;
                machine.cuModuleGetFunction(&mut function, module, name.cast());
                self.keep("CUfunction", function.bits());
            }
            for bytes in [4096, 1 << 16] {
                machine.cuMemAlloc_v2(&mut pointer, bytes);
                self.keep("CUdeviceptr", pointer);
            }
            let mut stream = CUstream::NULL;
            machine.cuStreamCreate(&mut stream, 1);
            self.keep("CUstream", stream.bits());
        }
    }

    /// Makes this the context of the calling thread, as a program's thread does first.
    pub(super) fn enter_thread(&mut self) {
        if let Some(context) = self.of("CUcontext").live.first().copied() {
            // SAFETY: takes a handle, of whatever worth.
            unsafe { self.machine.cuCtxSetCurrent(CUcontext::from_bits(context)) };
        }
    }

    /// One call from the table. False when the case is over.
    pub(super) fn step(&mut self, reached: &mut [(u64, u64)]) -> bool {
        if self.script.is_empty() && self.one_in(80) {
            self.script = SCRIPTS[self.below(SCRIPTS.len() as u64) as usize];
        }
        let next = self.script.split_first();
        self.scripted = next.is_some();
        let call = match next {
            Some((call, rest)) => {
                self.script = rest;
                *call
            }
            None => self.choose(),
        };
        self.call = call;
        self.rude = !self.scripted && self.one_in(3);
        self.words_used = 0;
        self.text_bytes = 0;
        self.has_ended = false;
        self.graph = 0;
        self.refill();
        // Now and then a program begins anew: what others have ended is there again.
        if self.one_in(60) {
            self.prelude();
            self.words_used = 0;
        }
        let code =
            if self.one_in(8) { with_per_thread_default_stream(|| perform(self, call)) } else { perform(self, call) };
        let row = &mut reached[call as usize];
        row.0 += 1;
        row.1 += u64::from(code.is_success());
        let is_fault = (700..=720).contains(&code.0) && ![702, 704, 705, 708, 709, 712, 713].contains(&code.0);
        if is_fault || code == CUresult::CUDA_ERROR_LAUNCH_TIMEOUT || code == CUresult::CUDA_ERROR_UNKNOWN {
            self.aftermath.get_or_insert(AFTERMATH);
        }
        match &mut self.aftermath {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        }
    }

    /// Which call is next.
    fn choose(&mut self) -> Call {
        loop {
            let call = Call::ALL[self.below(Call::ALL.len() as u64) as usize];
            let liked = self.families.contains(&call.family());
            // Half the calls come from the chapters that the case likes; those are a tenth of the table.
            if !liked && !self.one_in(10) {
                continue;
            }
            // Graphs grow: a call that adds a node is worth two that ask about one.
            if call.family() == Family::Graph && !call.symbol().contains("Add") && self.one_in(2) {
                continue;
            }
            // And things live for a while.
            if call.symbol().contains("Destroy") && !self.one_in(4) {
                continue;
            }
            let ends_all = matches!(
                call,
                Call::cuCtxDestroy
                    | Call::cuCtxDestroy_v2
                    | Call::cuCtxDetach
                    | Call::cuDevicePrimaryCtxReset
                    | Call::cuDevicePrimaryCtxReset_v2
                    | Call::cuDevicePrimaryCtxRelease
                    | Call::cuDevicePrimaryCtxRelease_v2
            );
            // What a program waits for and nobody writes is waited for: for ever, in live time.
            let may_wait = matches!(call, Call::cuStreamWaitValue32_v2 | Call::cuStreamWaitValue64_v2);
            // A call for which the program has nothing yet would only be refused.
            let lacks = |(_, ty): &(&str, &'static str)| {
                ty.starts_with("CUgraph") && self.held.iter().all(|(kind, held)| kind != ty || held.live.is_empty())
            };
            if call.arguments().iter().any(lacks) && !self.one_in(6) {
                continue;
            }
            if ends_all && !self.one_in(12) || may_wait && (self.live || !self.one_in(4)) {
                continue;
            }
            return call;
        }
    }

    /// Notes a call, before it is made.
    fn note(&self, call: Call, arguments: &[(&'static str, u64)]) {
        journal::begin(call, arguments);
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        next(&mut self.random) % bound.max(1)
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Whether this argument is to be a bad one.
    pub(super) fn is_rude(&mut self) -> bool {
        self.rude && self.one_in(3)
    }

    /// Whether an argument that may be null is: once in so many, of a rude call and of a polite one.
    pub(super) fn leaves_out(&mut self, rude: u64, polite: u64) -> bool {
        let n = if self.rude { rude } else { polite };
        self.one_in(n)
    }

    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Whether an address may be anything: not where it may be followed as the program's own.
    pub(super) fn may_be_wild(&self) -> bool {
        !matches!(self.call, Call::cuMemcpy | Call::cuMemcpyAsync)
    }

    /// Numbers that mean trouble.
    pub(super) fn wild(&mut self) -> u64 {
        match self.below(12) {
            0 => u64::MAX,
            1 => i64::MAX as u64,
            2 => 1 << self.below(64),
            3 => (1 << self.below(64)) - 1,
            4 => self.below(u64::MAX),
            5 => 0xdeed_beef_0000_0001,
            _ => self.below(64),
        }
    }

    /// How many elements an array has; more than `ELEMENTS` only where no array could.
    pub(super) fn count(&mut self) -> u64 {
        match self.is_rude() {
            true => [0, ELEMENTS as u64, 1 << 25, u64::from(u32::MAX), u64::MAX][self.below(5) as usize],
            // Nothing of this graph is known that another node could come after.
            false if self.graph != 0 && !self.graph_of.values().any(|graph| *graph == self.graph) => 0,
            false => [0, 0, 0, 1, 1, 2][self.below(6) as usize],
        }
    }

    /// A size in bytes, or a number of elements.
    pub(super) fn size(&mut self, name: &str) -> u64 {
        let small = [1, 3, 4, 8, 16, 64, 256, 512, 1000, 4096, 1 << 16];
        let wide = [1 << 20, 2 << 20, 4 << 20, 16 << 20];
        let huge = [1 << 33, 1 << 40, 1 << 62, i64::MAX as u64, u64::MAX - 511, u64::MAX];
        // There is as much room for an answer as is said.
        if name == "dataSize" {
            return [4, 4, 4, 8, 0, 3, 16][self.below(7) as usize];
        }
        if self.is_rude() {
            return match self.call {
                Call::cuMemcpy | Call::cuMemcpyAsync => [0, 1 << 17][self.below(2) as usize],
                // A block of host memory is as large as it is said to be, or ends nowhere.
                Call::cuMemHostRegister | Call::cuMemHostRegister_v2 => {
                    [0, u64::MAX, u64::MAX - 4096][self.below(3) as usize]
                }
                // Text is as long as it is said to be, or longer.
                Call::cuLinkAddData | Call::cuLinkAddData_v2 => self.below(self.text_bytes + 1),
                _ => [0, 0, huge[self.below(6) as usize], huge[self.below(6) as usize], 5][self.below(5) as usize],
            };
        }
        let is_virtual = matches!(self.call.family(), Family::VirtualMemory);
        let allocates = matches!(self.call.family(), Family::Memory | Family::Pool) && !registers(self.call);
        match name {
            "size" if self.text_bytes > 0 => self.text_bytes,
            // Managed memory is attached as a whole.
            "length" if !self.one_in(4) => 0,
            "paramIndex" | "offset" | "alignment" | "maxSize" => [0, 0, 0, 1][self.below(4) as usize],
            _ if is_virtual => wide[if self.one_in(4) { 2 } else { 1 }],
            _ if allocates && self.one_in(4) => wide[self.below(4) as usize],
            _ => small[self.below(small.len() as u64) as usize],
        }
    }

    fn of(&mut self, kind: &'static str) -> &mut Held {
        let at = self.held.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            self.held.push((kind, Held::default()));
            self.held.len() - 1
        });
        &mut self.held[at].1
    }

    /// Remembers a thing.
    pub(super) fn keep(&mut self, kind: &'static str, bits: u64) {
        // Host memory by its device address is host memory: it is not followed once it may be gone.
        let kind = match (kind, self.call) {
            ("CUdeviceptr", _) if bits >= DEVICE_HIGH => "pinned",
            ("CUdeviceptr", Call::cuMemAddressReserve) => "reserved",
            _ => kind,
        };
        // Managed memory is host memory to whoever keeps addresses, and something else to a few calls.
        if self.call == Call::cuMemAllocManaged && kind == "pinned" {
            self.keep("managed", bits);
        }
        let at = self.below(remembered(kind) as u64) as usize;
        if matches!(kind, "CUgraphNode" | "CUgraphExec") && self.graph != 0 {
            self.graph_of.insert(bits, self.graph);
        }
        if let Some(word) = node_word(self.call).filter(|_| kind == "CUgraphNode") {
            self.word_of.insert(bits, word);
        }
        let held = self.of(kind);
        if bits == 0 {
            return;
        }
        held.newest = bits;
        if held.live.contains(&bits) {
            return;
        }
        held.gone.retain(|gone| *gone != bits);
        if held.live.len() < remembered(kind) {
            held.live.push(bits);
        } else {
            held.live[at] = bits;
        }
    }

    /// A call has ended the thing that its first handle names, if it is a call that ends things.
    pub(super) fn ended(&mut self, kind: &'static str, bits: u64) {
        let symbol = self.call.symbol();
        let ends = ["Destroy", "Unload", "MemFree", "cuMemRelease", "UserObjectRelease", "AddressFree"];
        if self.has_ended || !ends.iter().any(|word| symbol.contains(word)) {
            return;
        }
        self.has_ended = true;
        self.of("managed").live.retain(|live| *live != bits);
        let at = self.below(remembered(kind) as u64) as usize;
        let held = self.of(kind);
        held.live.retain(|live| *live != bits);
        if held.gone.len() < remembered(kind) {
            held.gone.push(bits);
        } else {
            held.gone[at] = bits;
        }
    }

    fn pick(&mut self, kind: &'static str, live: bool) -> Option<u64> {
        let all = self.of(kind);
        let len = if live { all.live.len() } else { all.gone.len() } as u64;
        if len == 0 {
            return None;
        }
        let at = self.below(len) as usize;
        let takes_newest = self.scripted && live && kind != "CUgraphNode" && !self.one_in(8);
        let all = self.of(kind);
        if takes_newest && all.live.contains(&all.newest) {
            return Some(all.newest);
        }
        Some(if live { all.live[at] } else { all.gone[at] })
    }

    /// A handle of a kind, or what passes for one.
    pub(super) fn handle(&mut self, kind: &'static str) -> u64 {
        if self.is_rude() {
            return match self.below(5) {
                0 => 0,
                1 => self.pick(kind, false).unwrap_or(0),
                2 => {
                    let kinds = self.held.len() as u64;
                    let other = self.below(kinds) as usize;
                    self.held.get(other).and_then(|(_, held)| held.live.first().copied()).unwrap_or(3)
                }
                3 => self.pick(kind, true).unwrap_or(1) ^ (1 << self.below(64)),
                _ => self.wild(),
            };
        }
        if kind == "CUstream" && !self.scripted && self.one_in(4) {
            return self.below(3);
        }
        // Nodes of the graph that the call is about, where it is about one.
        for _ in 0..16 {
            let found = self.pick(kind, true).unwrap_or(0);
            let graph = self.graph_of.get(&found).copied().unwrap_or(0);
            match kind {
                "CUgraphNode" if self.graph != 0 && graph != self.graph && !self.one_in(8) => continue,
                // A call about kernel nodes wants a kernel node, and so on.
                "CUgraphNode" if !self.call.symbol().contains("Add") && !self.one_in(8) => {
                    let symbol = self.call.symbol();
                    let is_about = |word: &&str| symbol.contains(&format!("{word}Node"));
                    if WORDS_OF_NODES.iter().any(is_about) && !self.word_of.get(&found).is_some_and(is_about) {
                        continue;
                    }
                }
                _ => {}
            }
            return found;
        }
        0
    }

    /// A graph that this call is not about already.
    pub(super) fn other_graph(&mut self) -> u64 {
        let about = self.graph;
        self.of("CUgraph").live.iter().copied().find(|graph| *graph != about).unwrap_or(0)
    }

    /// The call names this: nodes are drawn from the same graph.
    pub(super) fn is_about(&mut self, kind: &str, bits: u64) {
        match kind {
            "CUgraph" if self.graph == 0 => self.graph = bits,
            "CUgraphExec" => self.graph = self.graph_of.get(&bits).copied().unwrap_or(0),
            _ => {}
        }
    }

    /// An address of the device's. If it may not be wild, it is one that nobody follows as the program's own.
    pub(super) fn device_pointer(&mut self, may_be_wild: bool) -> u64 {
        if self.is_rude() {
            return match self.below(6) {
                0 => 0,
                // Freed before: device memory only, because host memory that is gone would be followed by some calls.
                1 => self.pick("CUdeviceptr", false).unwrap_or(0),
                2 => self.pick("CUdeviceptr", true).unwrap_or(0) + self.below(8192),
                3 => 0x0003_0000_0000 + self.below(0x4000_0000_0000),
                _ if may_be_wild => self.wild(),
                _ => self.below(4096),
            };
        }
        if may_be_wild && self.one_in(12) {
            return self.pick("pinned", true).unwrap_or(0);
        }
        let symbol = self.call.symbol();
        let of_managed = ["Prefetch", "Discard", "cuMemAdvise", "cuMemRange", "AttachMem"];
        if of_managed.iter().any(|word| symbol.contains(word)) && !self.one_in(4) {
            return self.pick("managed", true).unwrap_or(0);
        }
        let frees = self.call == Call::cuGraphAddMemFreeNode || self.call == Call::cuMemFreeAsync && self.one_in(2);
        if frees || self.one_in(10) {
            return self.pick("graph memory", true).unwrap_or(0);
        }
        if self.call.family() == Family::VirtualMemory || self.one_in(16) {
            return self.pick("reserved", true).unwrap_or(0);
        }
        if self.one_in(12) {
            return self.host() as u64;
        }
        let offset = if self.one_in(4) { [4, 8, 512][self.below(3) as usize] } else { 0 };
        self.pick("CUdeviceptr", true).map_or(0, |at| at + offset)
    }

    /// Memory of `cuMemAllocHost`, or a number; never followed.
    pub(super) fn pinned(&mut self) -> u64 {
        if self.is_rude() {
            return if self.one_in(2) { self.pick("pinned", false).unwrap_or(0) } else { self.wild() };
        }
        if self.one_in(2) { self.host() as u64 } else { self.pick("pinned", true).unwrap_or(0) }
    }

    /// Host memory of the program, with at least half a mebibyte behind it.
    pub(super) fn host(&mut self) -> *mut u8 {
        let offset = [0, 4096, 8192, 65_536, 65_540, 65_537][self.below(6) as usize] + 65_536;
        // SAFETY: inside the block of `HOST_BYTES`.
        unsafe { self.host.add(offset) }
    }

    /// Where a kernel's argument lies: a page that is filled anew for each call.
    pub(super) fn parameters(&mut self) -> *mut c_void {
        let offset = 8 * self.below(64) as usize;
        // SAFETY: inside the block.
        unsafe { self.host.add(offset) }.cast()
    }

    /// Good pointers, small numbers, condition handles: what kernels are given.
    fn refill(&mut self) {
        for at in 0..64 {
            let value = match self.below(8) {
                0 => self.below(4),
                1 => self.pick("CUgraphConditionalHandle", true).unwrap_or(1),
                2 if self.rude => self.wild(),
                3 => self.pick("pinned", true).unwrap_or(0),
                _ => self.pick("CUdeviceptr", true).unwrap_or(0),
            };
            // SAFETY: inside the block, and aligned: it is made of words.
            unsafe { self.host.cast::<u64>().add(at).write(value) };
        }
    }

    /// Room for `count` of `T` until the next call, all zero.
    pub(super) fn room<T>(&mut self, count: usize) -> *mut T {
        let words = (size_of::<T>() * count).div_ceil(8) + 1;
        if self.words_used + words > self.words.len() {
            // A call whose arguments need more than this does not exist; older ones may be overwritten.
            self.words_used = 0;
        }
        let start = self.words_used;
        self.words_used += words;
        self.words[start..start + words].fill(0);
        self.words[start..].as_mut_ptr().cast()
    }

    /// A text with its NUL, and zeros behind it, until the next call.
    pub(super) fn text(&mut self, text: &[u8]) -> *mut u8 {
        let at = self.room::<u8>(text.len() + 64);
        // SAFETY: room for that many and 64 more.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), at, text.len()) };
        at
    }

    /// A path: of a file that is there, of one that may be written, or of none.
    pub(super) fn path(&mut self) -> String {
        let folder = std::env::temp_dir().join(format!("dacapo-fuzz-{}", std::process::id()));
        let _ = std::fs::create_dir_all(&folder);
        let writes = self.call == Call::cuGraphDebugDotPrint;
        let file = folder.join(if writes { "graph.dot" } else { "kernels.ptx" });
        if !writes && !file.exists() {
            let _ = std::fs::write(&file, images::PTX);
        }
        match self.below(4) {
            0 => folder.join("nowhere/nothing").to_string_lossy().into_owned(),
            1 if !writes => folder.to_string_lossy().into_owned(),
            _ => file.to_string_lossy().into_owned(),
        }
    }
}

/// The kinds of nodes that have calls of their own.
const WORDS_OF_NODES: &[&str] = &[
    "Kernel",
    "Memcpy",
    "Memset",
    "Host",
    "ChildGraph",
    "EventRecord",
    "EventWait",
    "MemAlloc",
    "MemFree",
    "BatchMemOp",
];

/// The kind of node that a call makes.
fn node_word(call: Call) -> Option<&'static str> {
    call.symbol().strip_prefix("cuGraphAdd")?.split("Node").next()
}

/// Whether a call makes the driver use memory of the program's for as long as the program does not take it back.
pub(super) fn registers(call: Call) -> bool {
    matches!(call, Call::cuMemHostRegister | Call::cuMemHostRegister_v2)
}

macro_rules! define_perform {
    ($($symbol:ident [$name:ident, $family:ident, $since:literal, $on:ident, $beside:ident, $twin:ident] ($($arg:ident: $ty:ty),*);)*) => {
        /// Draws the arguments of `call`, makes it, and remembers what it has handed out.
        #[allow(non_snake_case, reason = "C's names")]
        fn perform(case: &mut Case, call: Call) -> CUresult {
            match call {
                $(Call::$symbol => {
                    $(let $arg = <$ty as Draw>::draw(case, Slot::new(stringify!($arg), stringify!($ty)));)*
                    case.note(call, &[$((stringify!($arg), Draw::bits($arg))),*]);
                    let machine = case.machine.clone();
                    // SAFETY: `draw` gives pointers that are null or valid for what the call's page says, and keeps
                    // the other promises of a caller that it lists.
                    let code = unsafe { machine.$symbol($($arg),*) };
                    journal::end(code);
                    if code.is_success() {
                        $(Draw::harvest($arg, case, Slot::new(stringify!($arg), stringify!($ty)));)*
                    }
                    code
                })*
            }
        }
    };
}
dacapo_driver::for_each_call!(define_perform);
