//! What the programs are written against: a device, the driver calls as short methods, and a report of everything that
//! went wrong.
//!
//! - A [`Program`] is made for one of the two ways, and its body asks `p.way` where they part. The near miss's numbers
//!   are compared; with the mistake they may be anything, and nobody looks.
//! - On the software driver each program gets a machine of its own, with counted time and the seed that it is given: the
//!   run is reproducible. On NVIDIA's driver there are no findings, and no names for memory.
//! - The report is in the order of events: a call that did not answer success, a finding with its whole text.
//! - The driver is called with what the program says, mistakes included: nothing is checked here first.
//!
//! The methods stand in a file a family: `stream`, `memory`, `module`, `link`, `graph`, `texture`,
//! `devices`. They are this crate's own,
//! because some rely on how the programs use them.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dacapo_driver::types::*;
use dacapo_driver::{Argument, CUresult, Call, Driver, Hook, Hooked};
use dacapo_sim::{Detectors, Machine, Options};

use super::way::Way;

mod devices;
mod graph;
pub(crate) mod kernels;
pub(crate) mod link;
mod memory;
mod module;
pub mod report;
mod stream;
mod texture;

pub(crate) use memory::Buffer;
pub(crate) use stream::Mode;

/// What a driver call gives: a value, or the code it was refused with.
pub type Answer<T = ()> = Result<T, CUresult>;

/// Warp instructions of a launch before it counts as endless: enough for every program here, and soon used up.
const BUDGET: u64 = 1 << 20;

/// Rounds of a WHILE node before it counts as endless: likewise.
const ROUNDS_MAX: u64 = 1000;

/// How often a kernel may look at host memory in vain: likewise.
const POLLS_MAX: u64 = 10_000;

/// A program's view of the device.
pub struct Program {
    /// Whether it makes its mistake.
    pub way: Way,
    /// The software driver, if that is what it runs on.
    machine: Option<Machine>,
    driver: Hooked<Arc<dyn Driver>, Log>,
    log: Log,
    context: CUcontext,
    comparisons: AtomicUsize,
    /// Devices whose primary contexts it has retained, once for each time.
    retains: Mutex<Vec<usize>>,
}

impl Program {
    /// A fresh software device whose primary context is current on this thread.
    pub fn software(seed: u64, way: Way) -> Program {
        Program::software_devices(1, seed, way)
    }

    /// As [`Program::software`], with so many devices of one machine; the first one's context is current.
    pub fn software_devices(devices: usize, seed: u64, way: Way) -> Program {
        let log = Log::default();
        let finding_log = log.clone();
        let on_finding = Arc::new(move |finding: &dacapo_sim::Finding| finding_log.push(finding.to_string()));
        let machine = Machine::new(Options {
            seed,
            devices,
            budget: BUDGET,
            rounds_max: ROUNDS_MAX,
            polls_max: POLLS_MAX,
            detectors: Detectors::all(),
            on_finding: Some(on_finding),
            ..Options::default()
        });
        Program::open(Arc::new(machine.clone()), Some(machine), log, way)
    }

    /// Device 0 of any driver, with its primary context current on this thread.
    pub fn on(driver: Arc<dyn Driver>, way: Way) -> Program {
        Program::open(driver, None, Log::default(), way)
    }

    fn open(driver: Arc<dyn Driver>, machine: Option<Machine>, log: Log, way: Way) -> Program {
        let driver = Hooked::new(driver, log.clone());
        let mut context = CUcontext::NULL;
        // SAFETY: device 0 exists, and the pointer is valid for the write.
        let codes = unsafe {
            [driver.cuInit(0), driver.cuDevicePrimaryCtxRetain(&mut context, 0), driver.cuCtxSetCurrent(context)]
        };
        assert_eq!(codes, [CUresult::CUDA_SUCCESS; 3], "the driver has a device");
        let (comparisons, retains) = (AtomicUsize::new(0), Mutex::new(vec![0]));
        Program { way, machine, driver, log, context, comparisons, retains }
    }

    /// A primary context was retained, and is to be released.
    fn retained(&self, device: usize) {
        self.retains.lock().unwrap_or_else(PoisonError::into_inner).push(device);
    }

    /// Gives memory a name for reports, where there are any.
    fn label(&self, address: CUdeviceptr, label: &str) {
        if let Some(machine) = &self.machine {
            machine.label(address, label);
        }
    }

    /// Runs `body` on a thread of its own, with the same context current, and waits for it.
    pub(crate) fn on_another_thread<T: Send>(&self, body: impl FnOnce(&Program) -> T + Send) -> T {
        let elsewhere = Elsewhere(self, self.context);
        let run = move || {
            let Elsewhere(program, context) = elsewhere.whole();
            // SAFETY: the context is the primary one, retained for as long as the machine lives.
            let set = unsafe { program.driver.cuCtxSetCurrent(context) };
            assert_eq!(set, CUresult::CUDA_SUCCESS);
            body(program)
        };
        std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Compares the numbers in a buffer with what they should be. With the mistake it makes no call.
    #[track_caller]
    pub(crate) fn expect(&self, buffer: &Buffer, want: &[u32]) -> Answer {
        if self.way == Way::Mistake { Ok(()) } else { self.expect_both_ways(buffer, want) }
    }

    /// As [`Program::expect`], for numbers that are known with the mistake too.
    #[track_caller]
    pub(crate) fn expect_both_ways(&self, buffer: &Buffer, want: &[u32]) -> Answer {
        let got = self.read(buffer)?;
        assert_eq!(got, want, "`{}` does not hold what it should", buffer.label());
        self.comparisons.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Compares one number with what it should be, if this is the near miss.
    #[track_caller]
    pub(crate) fn expect_number(&self, what: &str, got: u32, want: u32) {
        if self.way == Way::NearMiss {
            assert_eq!(got, want, "{what} is not what it should be");
            self.comparisons.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How often numbers were compared.
    pub fn comparisons(&self) -> usize {
        self.comparisons.load(Ordering::Relaxed)
    }

    /// How many driver calls were made.
    pub fn calls(&self) -> usize {
        self.log.calls.load(Ordering::Relaxed)
    }

    /// `cuCtxSynchronize`: what everything that was submitted comes to.
    pub fn end(&self) -> CUresult {
        // SAFETY: no pointers.
        unsafe { self.driver.cuCtxSynchronize() }
    }

    /// What went wrong, in order.
    pub fn events(&self) -> Vec<String> {
        self.log.lines().clone()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The last release takes everything with it that the program has left. Its answer is of no use: after a fault
        // every call answers the fault.
        let retains = std::mem::take(self.retains.get_mut().unwrap_or_else(PoisonError::into_inner));
        for device in retains {
            // SAFETY: retained once for each, in `open` and in `context_of`.
            let _ = unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(device as CUdevice) };
        }
    }
}

/// A program on its way to another thread.
struct Elsewhere<'p>(&'p Program, CUcontext);

impl<'p> Elsewhere<'p> {
    /// A method, so that a closure takes the whole and not its fields.
    fn whole(self) -> Elsewhere<'p> {
        self
    }
}

// SAFETY: the driver is called from any thread by design (`Driver` is `Sync`), the log is behind a lock, and the
// context is a number that the driver looks up.
unsafe impl Send for Elsewhere<'_> {}

/// Everything that went wrong: written by the hook around every call and by the machine for every finding.
#[derive(Clone, Default)]
struct Log {
    events: Arc<Mutex<Vec<String>>>,
    calls: Arc<AtomicUsize>,
}

impl Log {
    fn push(&self, event: String) {
        self.lines().push(event);
    }

    fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hook for Log {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let code = run();
        self.calls.fetch_add(1, Ordering::Relaxed);
        if !code.is_success() {
            self.push(format!("{} -> {code}", call.symbol()));
        }
        code
    }
}

/// A code as a `Result`.
fn answer(code: CUresult) -> Answer {
    if code.is_success() { Ok(()) } else { Err(code) }
}

/// Arguments as `cuLaunchKernel` wants them: a pointer to each, or null if there is none.
///
/// A 32-bit parameter takes the low half of its number: the driver reads as many bytes as the parameter has.
struct Arguments {
    _numbers: Vec<u64>,
    pointers: Vec<*mut c_void>,
}

impl Arguments {
    fn new(numbers: &[u64]) -> Arguments {
        let numbers = numbers.to_vec();
        let pointers = numbers.iter().map(|number| std::ptr::from_ref(number).cast_mut().cast()).collect();
        Arguments { _numbers: numbers, pointers }
    }

    fn as_mut_ptr(&mut self) -> *mut *mut c_void {
        if self.pointers.is_empty() { std::ptr::null_mut() } else { self.pointers.as_mut_ptr() }
    }
}
