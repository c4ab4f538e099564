//! One case while it runs: the driver it asks, the transcript it leaves, and what it has to give back.
//!
//! - Every driver call of a case goes through a verb (`verbs*.rs`), and every verb writes a line: the call, its arguments in
//!   the names of the case, its code, what it gave. Nothing in a case says what the answer should be.
//! - What a case made and did not destroy is destroyed when it ends, unrecorded, so that the next case finds the
//!   device as this one did.
//! - A gate holds a stream or a graph at a kernel that waits for a flag in pinned memory. Gates still closed at the end
//!   are opened before anything is destroyed.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};

use super::names::{Handle, Names, Told, code_name};
use crate::session::Refused;
use crate::session::checked;
use dacapo_driver::Call;

/// The kernels that cases launch, by module.
const MODULES: &[&str] = &[
    include_str!("kernels.ptx"),
    include_str!("conditions.ptx"),
    include_str!("dependents.ptx"),
    include_str!("texels.ptx"),
];

/// A case while it runs.
pub struct Case<'d> {
    pub(super) driver: &'d dyn Driver,
    pub(super) names: Names,
    pub(super) lines: Vec<String>,
    /// That of the device which the case is on.
    pub(super) context: CUcontext,
    /// The number of that device.
    pub(super) at: i32,
    /// The primary contexts of the devices that the case may use.
    contexts: Vec<CUcontext>,
    /// What the last call answered.
    pub(super) last: CUresult,
    kept: Vec<Kept>,
    /// By the device and the text of `MODULES`, loaded when first wanted.
    modules: HashMap<(i32, usize), CUmodule>,
    functions: HashMap<(i32, &'static str), CUfunction>,
    flags: Vec<u64>,
    pageable: Vec<Vec<u64>>,
    #[expect(clippy::vec_box, reason = "the driver holds their addresses, which must not move")]
    pub(super) jobs: Vec<Box<HostJob<'d>>>,
    pub(super) log: Arc<Mutex<Vec<u64>>>,
}

/// How something is given back.
type Discard = Box<dyn Fn(&dyn Driver) -> CUresult + Send>;

/// Something to give back at the end.
pub(super) struct Kept {
    kind: &'static str,
    number: u64,
    discard: Discard,
}

/// What a host function does when the driver calls it.
#[derive(Clone, Copy)]
pub(super) enum HostAct {
    /// Writes this number into the log.
    Note(u64),
    /// Writes what stands at this address of pinned memory into the log.
    Read(u64),
    /// Stores a number at this address of pinned memory.
    Store(u64, u32),
    /// Calls the driver and writes the codes into the log.
    CallDriver,
}

/// A host function's argument.
pub(super) struct HostJob<'d> {
    pub act: HostAct,
    pub log: Arc<Mutex<Vec<u64>>>,
    pub driver: &'d dyn Driver,
}

impl HostJob<'_> {
    fn perform(&self) {
        let log = |number| self.log.lock().unwrap_or_else(PoisonError::into_inner).push(number);
        match self.act {
            HostAct::Note(number) => log(number),
            // SAFETY: the address is four aligned bytes of pinned memory that the case keeps until its end; the device
            // may write there too, so the read is volatile.
            HostAct::Read(address) => log(u64::from(unsafe { (address as usize as *const u32).read_volatile() })),
            // SAFETY: as above.
            HostAct::Store(address, value) => unsafe { (address as usize as *mut u32).write_volatile(value) },
            HostAct::CallDriver => {
                let (mut stream, mut address) = (CUstream::NULL, 0);
                // SAFETY: both are valid for the write.
                let codes = unsafe {
                    [
                        self.driver.cuStreamCreate(&mut stream, 1),
                        self.driver.cuMemAlloc_v2(&mut address, 4),
                        self.driver.cuStreamQuery(CUstream::NULL),
                    ]
                };
                codes.iter().for_each(|code| log(u64::from(code.0)));
            }
        }
    }
}

/// What the driver calls for a [`HostJob`].
pub(super) unsafe extern "C" fn host_function(job: *mut c_void) {
    // SAFETY: the case passes a pointer to a job in a box that it keeps until the device has come to rest.
    unsafe { (*job.cast::<HostJob<'_>>()).perform() };
}

/// The same, as `cuStreamAddCallback` wants it.
pub(super) unsafe extern "C" fn callback(_: CUstream, status: CUresult, job: *mut c_void) {
    // SAFETY: as in `host_function`.
    let job = unsafe { &*job.cast::<HostJob<'_>>() };
    job.log.lock().unwrap_or_else(PoisonError::into_inner).push(u64::from(status.0));
    job.perform();
}

impl<'d> Case<'d> {
    /// A new case; the first of the contexts is current on this thread.
    pub(super) fn new(driver: &'d dyn Driver, contexts: Vec<CUcontext>) -> Case<'d> {
        let mut names = Names::default();
        for (device, context) in contexts.iter().enumerate() {
            let whose = if device == 0 { String::new() } else { format!(" of device {device}") };
            names.call_it("context", context.bits(), &format!("the primary context{whose}"));
        }
        Case {
            driver,
            names,
            lines: Vec::new(),
            context: contexts.first().copied().unwrap_or(CUcontext::NULL),
            at: 0,
            contexts,
            last: CUresult::CUDA_SUCCESS,
            kept: Vec::new(),
            modules: HashMap::new(),
            functions: HashMap::new(),
            flags: Vec::new(),
            pageable: Vec::new(),
            jobs: Vec::new(),
            log: Arc::default(),
        }
    }

    /// Goes to another device: what the case makes from here on is that one's.
    pub(super) fn on(&mut self, device: i32) {
        self.at = device;
        self.context = self.contexts[device as usize];
        self.set_current(self.context);
    }

    /// The primary context of a device of the case.
    pub(super) fn context_of(&self, device: i32) -> CUcontext {
        self.contexts[device as usize]
    }

    /// Writes a line of the case's own.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// Writes the line of a call.
    pub(super) fn said(&mut self, call: &str, arguments: &[String], code: CUresult, gave: &str) -> CUresult {
        self.last = code;
        let gave = if gave.is_empty() || !code.is_success() { String::new() } else { format!(": {gave}") };
        self.lines.push(format!("{}({}) = {}{gave}", call, arguments.join(", "), code_name(code)));
        code
    }

    /// Names a new handle and keeps it until the end of the case.
    pub(super) fn keep<H: Handle + Send + 'static>(&mut self, handle: H) -> String {
        self.keep_raw(H::KIND, handle.number(), move |driver| handle.discard(driver));
        self.names.new_handle(H::KIND, handle.number())
    }

    /// Something to give back at the end, unless [`Case::gone`] comes first.
    pub(super) fn keep_raw(
        &mut self,
        kind: &'static str,
        number: u64,
        discard: impl Fn(&dyn Driver) -> CUresult + Send + 'static,
    ) {
        self.kept.push(Kept { kind, number, discard: Box::new(discard) });
    }

    /// Given back already.
    pub(super) fn gone(&mut self, kind: &str, number: u64) {
        if let Some(at) = self.kept.iter().rposition(|kept| kept.kind == kind && kept.number == number) {
            self.kept.remove(at);
        }
    }

    /// A kernel of this folder's modules; not recorded, since every case would begin with it.
    pub(super) fn function(&mut self, kernel: &'static str) -> CUfunction {
        if let Some(&function) = self.functions.get(&(self.at, kernel)) {
            return function;
        }
        let entry = format!(".entry {kernel}(");
        let Some(at) = MODULES.iter().position(|text| text.contains(&entry)) else {
            unreachable!("no kernel `{kernel}` in the modules of this folder");
        };
        let module = match self.modules.get(&(self.at, at)) {
            Some(module) => *module,
            None => {
                let mut module = CUmodule::NULL;
                let text = CString::new(MODULES[at]).unwrap_or_default();
                // SAFETY: a text with a NUL at its end; `module` is valid for the write.
                let code = unsafe { self.driver.cuModuleLoadData(&mut module, text.as_ptr().cast()) };
                if !code.is_success() {
                    self.say(format!("the module of `{kernel}` does not load: {}", code_name(code)));
                }
                self.modules.insert((self.at, at), module);
                self.load_all(module, MODULES[at]);
                module
            }
        };
        let (name, mut function) = (CString::new(kernel).unwrap_or_default(), CUfunction::NULL);
        if !module.is_null() {
            // SAFETY: the module was loaded above and stays until the case ends; the name ends with a NUL.
            unsafe { self.driver.cuModuleGetFunction(&mut function, module, name.as_ptr()) };
        }
        self.functions.insert((self.at, kernel), function);
        self.names.call_it("function", function.bits(), kernel);
        function
    }

    /// Loads every kernel of a module now: loading one later may wait for the device, and so for a closed gate.
    fn load_all(&self, module: CUmodule, text: &str) {
        let entries = text.split(".entry ").skip(1).filter_map(|rest| rest.split('(').next());
        for name in entries.filter(|_| !module.is_null()).filter_map(|name| CString::new(name).ok()) {
            let mut function = CUfunction::NULL;
            // SAFETY: the module is loaded; the name ends with a NUL; `function` is valid for the write.
            unsafe {
                if self.driver.cuModuleGetFunction(&mut function, module, name.as_ptr()).is_success() {
                    self.driver.cuFuncLoad(function);
                }
            }
        }
    }

    /// A flag in pinned memory, 0 at first: what a gate waits for.
    pub(super) fn flag(&mut self) -> u64 {
        let mut pointer = std::ptr::null_mut();
        // SAFETY: `pointer` is valid for the write.
        let code = unsafe { self.driver.cuMemHostAlloc(&mut pointer, 4, 0) };
        if !code.is_success() {
            self.say(format!("no memory for a flag: {}", code_name(code)));
            return 0;
        }
        let address = pointer as usize as u64;
        self.names.new_region("flag", address, 4);
        store(address, 0);
        self.flags.push(address);
        self.keep_raw("pinned", address, free_host(address));
        address
    }

    /// Holds a stream until the flag that is returned is opened.
    pub(super) fn gate(&mut self, stream: CUstream) -> u64 {
        let flag = self.flag();
        let gate = self.kernel("gate", &[super::verbs::Arg::P(flag)]);
        self.launch(&gate, stream);
        flag
    }

    /// Opens a gate.
    pub(super) fn open(&mut self, flag: u64) {
        let name = flag.told(&mut self.names);
        self.say(format!("open {name}"));
        if flag != 0 {
            store(flag, 1);
        }
    }

    /// Pageable memory of the case, by its address.
    pub(super) fn pageable(&mut self, bytes: usize) -> u64 {
        // Begins with a page of its own, so that what shares its pages does not depend on the run.
        let memory = vec![0u64; bytes.next_multiple_of(4096) / 8 + 512];
        let address = (memory.as_ptr().addr() as u64).next_multiple_of(4096);
        self.pageable.push(memory);
        self.names.new_region("pageable", address, bytes as u64);
        address
    }

    /// Writes words into host memory of the case.
    pub(super) fn poke(&mut self, address: u64, words: &[u32]) {
        let name = address.told(&mut self.names);
        self.say(format!("{name} becomes {}", runs(words)));
        for (at, word) in words.iter().enumerate() {
            store(address + 4 * at as u64, *word);
        }
    }

    /// Reads words of host memory of the case into the transcript.
    pub(super) fn peek(&mut self, address: u64, words: usize) -> Vec<u32> {
        let at = |at: usize| (address as usize + 4 * at) as *const u32;
        // SAFETY: the case reads only pinned or pageable memory that it holds; volatile, because the device writes it too.
        let found: Vec<u32> = (0..words).map(|word| unsafe { at(word).read_volatile() }).collect();
        let name = address.told(&mut self.names);
        self.say(format!("{name} holds {}", runs(&found)));
        found
    }

    /// Writes the log of the host functions into the transcript and empties it.
    pub(super) fn log(&mut self, what: &str) {
        let log = std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        self.say(format!("{what}: {log:?}"));
    }

    /// The same, once it has at least so many entries: a destructor or callback may come a little later.
    pub(super) fn log_comes(&mut self, what: &str, entries: usize) {
        for _ in 0..400 {
            if self.log.lock().unwrap_or_else(PoisonError::into_inner).len() >= entries {
                break;
            }
            // SAFETY: a query changes nothing; it lets work move on.
            unsafe { self.driver.cuStreamQuery(CUstream::NULL) };
            std::thread::sleep(Duration::from_micros(500));
        }
        self.log(what);
    }

    /// A pointer to a job for a host function; it lives as long as the case.
    pub(super) fn job(&mut self, act: HostAct) -> *mut c_void {
        self.jobs.push(Box::new(HostJob { act, log: self.log.clone(), driver: self.driver }));
        let job: &HostJob<'_> = self.jobs.last().unwrap_or_else(|| unreachable!("pushed above"));
        std::ptr::from_ref(job).cast_mut().cast()
    }

    /// Asks again and again until the answer is success; says whether it came within a good while.
    pub(super) fn comes(&mut self, what: &str, mut ask: impl FnMut(&dyn Driver) -> CUresult) {
        for round in 0..400 {
            match ask(self.driver) {
                CUresult::CUDA_ERROR_NOT_READY if round < 399 => std::thread::sleep(Duration::from_micros(500)),
                code => return self.say(format!("{what}: {}", code_name(code))),
            }
        }
    }

    /// Runs a part of the case on another thread, with the same context current there.
    pub(super) fn on_another_thread(&mut self, part: impl FnOnce(&mut Case<'d>) + Send) {
        self.say("on another thread:");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: the context lives until the session ends.
                unsafe { self.driver.cuCtxSetCurrent(self.context) };
                part(self);
            });
        });
        self.say("back:");
    }

    /// Gives everything back and returns the transcript.
    pub(super) fn end(self, broken: bool) -> Vec<String> {
        for &flag in &self.flags {
            store(flag, 1);
        }
        if !broken {
            // SAFETY: the context lives until the session ends; a capture that the case left open is ended, so that the
            // calls below are allowed, and its graph is destroyed.
            unsafe {
                self.driver.cuCtxSetCurrent(self.contexts[0]);
                let streams = self.kept.iter().filter(|kept| kept.kind == "stream");
                for stream in streams.map(|kept| CUstream::from_bits(kept.number)) {
                    let (mut status, mut graph) = (0, CUgraph::NULL);
                    self.driver.cuStreamIsCapturing(stream, &mut status);
                    if status != 0 {
                        self.driver.cuStreamEndCapture(stream, &mut graph);
                    }
                    if !graph.is_null() {
                        self.driver.cuGraphDestroy(graph);
                    }
                }
                for context in self.contexts.iter().rev() {
                    self.driver.cuCtxSetCurrent(*context);
                    self.driver.cuCtxSynchronize();
                }
            }
        }
        // Memory last: what uses it goes first.
        for wanted in [false, true] {
            for kept in self.kept.iter().rev() {
                let is_memory = matches!(kept.kind, "memory" | "pinned" | "pool");
                if is_memory == wanted {
                    (kept.discard)(self.driver);
                }
            }
        }
        for ((device, _), module) in self.modules.iter().filter(|(_, module)| !module.is_null()) {
            // SAFETY: loaded by this case in this context, and nothing of it is used any more.
            unsafe {
                self.driver.cuCtxSetCurrent(self.contexts[*device as usize]);
                self.driver.cuModuleUnload(*module);
            }
        }
        if !broken {
            settle(self.driver, &self.contexts);
        }
        self.lines
    }
}

/// Every device as a case wants to find it: no memory kept for graphs or in the default pool, high marks at their lowest. The first
/// one's context is current afterwards.
pub(super) fn settle(driver: &dyn Driver, contexts: &[CUcontext]) {
    for (device, context) in (0..contexts.len() as i32).zip(contexts).rev() {
        let (mut pool, mut zero) = (CUmemoryPool::NULL, 0u64);
        // SAFETY: the context lives until the session ends; `pool` and `zero` are valid for what these calls read and write.
        unsafe {
            driver.cuCtxSetCurrent(*context);
            driver.cuCtxSynchronize();
            driver.cuDeviceGraphMemTrim(device);
            let zero = std::ptr::from_mut(&mut zero).cast();
            for high in [CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH] {
                driver.cuDeviceSetGraphMemAttribute(device, high, zero);
            }
            if driver.cuDeviceGetDefaultMemPool(&mut pool, device).is_success() {
                driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, zero);
                driver.cuMemPoolTrimTo(pool, 0);
                driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, zero);
                driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, zero);
            }
        }
    }
}

/// Retains the primary contexts of the first devices and makes that of device 0 current, as a case wants to find it.
pub(super) fn open(driver: &dyn Driver, devices: i32) -> Result<Vec<CUcontext>, Refused> {
    let mut context = CUcontext::NULL;
    // SAFETY: `context` is valid for the write.
    unsafe {
        checked(driver.cuInit(0), Call::cuInit, "")?;
        // The stack of contexts is the thread's, and a case before this one may have left some.
        while driver.cuCtxPopCurrent_v2(&mut context).is_success() {}
    }
    let retain = |device| {
        let mut context = CUcontext::NULL;
        // SAFETY: `context` is valid for the write; the driver checks the number.
        let code = unsafe { driver.cuDevicePrimaryCtxRetain(&mut context, device) };
        checked(code, Call::cuDevicePrimaryCtxRetain, "a device of the case").map(|()| context)
    };
    let contexts = (0..devices).map(retain).collect::<Result<Vec<_>, _>>()?;
    // SAFETY: retained above.
    checked(unsafe { driver.cuCtxSetCurrent(contexts[0]) }, Call::cuCtxSetCurrent, "the primary context")?;
    Ok(contexts)
}

/// How pinned memory is given back.
pub(super) fn free_host(address: u64) -> impl Fn(&dyn Driver) -> CUresult + Send + 'static {
    // SAFETY: allocated by the case that says this, and freed only here.
    move |driver| unsafe { driver.cuMemFreeHost(address as usize as *mut c_void) }
}

fn store(address: u64, word: u32) {
    // SAFETY: the cases hand over aligned addresses in pinned or pageable memory that they hold; volatile, because a kernel
    // may be reading there.
    unsafe { (address as usize as *mut u32).write_volatile(word) };
}

/// Words with repetitions counted: `[1, 2 x 3]` is 1, 2, 2, 2.
pub(super) fn runs(words: &[u32]) -> String {
    let parts: Vec<String> = words
        .chunk_by(|a, b| a == b)
        .map(|run| {
            if run.len() > 2 {
                format!("{} x {}", run[0], run.len())
            } else {
                vec![run[0].to_string(); run.len()].join(", ")
            }
        })
        .collect();
    format!("[{}]", parts.join(", "))
}
