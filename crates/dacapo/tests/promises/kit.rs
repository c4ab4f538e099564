//! Devices, kernels and small questions that the promises' tests share.

use std::sync::Arc;

use dacapo::raw::{RawSlice, RawStream};
use dacapo::{Device, Error, ErrorKind, Graph, Result, Software};
use dacapo_driver::{CUresult, Driver, Hook, Hooked};
use dacapo_sim::{Detectors, Machine};

dacapo::kernels! {
    /// Kernels of these tests.
    pub unsafe struct Kernels(include_str!("kernels.ptx")) {
        /// y ← x[offset ..]
        fn window(offset: u32, n: u32 = y.len(), x: &[f32], y: &out [f32]) {
            requires: within(offset, y.len(), x.len());
            grid: linear(y.len(), 64);
        }
        /// y ← value
        fn put(value: u32, n: u32 = y.len(), y: &out [u32]) {
            grid: linear(y.len(), 32);
        }
        /// y ← value in its first `len` elements
        fn put_first(value: u32, len: u32, y: &mut [u32]) {
            entry: "put";
            requires: len as usize <= y.len();
            grid: linear(len as usize, 32);
        }
        /// y ← value in as many elements as `blocks` blocks have threads, or in all
        fn put_blocks(blocks: u32, n: u32 = y.len(), y: &mut [u32]) {
            entry: "put";
            grid: exact([1, blocks, 1], [32, 1, 1]);
        }
        /// y ← value, with any geometry
        fn put_any(value: u32, n: u32 = y.len(), y: &mut [u32]) {
            entry: "put";
            default_grid: linear(y.len(), 32);
        }
        /// y ← value, for at most 255 elements
        fn put_few(value: u32, n: u8 = y.len(), y: &mut [u32]) {
            grid: exact([1, 1, 1], [256, 1, 1]);
        }
        /// y ← x, four at once
        fn copy_four(x: &[f32], y: &mut [f32]) {
            requires: x.len() == 4, y.len() == 4, x.aligned(16), y.aligned(16);
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// Counts in a global of the module.
        fn count(out: &mut u32) {
            state: counter;
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// Counts by two in the same global.
        fn count_two(out: &mut u32) {
            state: counter;
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// v ← v + 1
        fn bump(v: &mut u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// Declared with a condition that is not enough: stores outside for an index past the end.
        fn store_at(index: u32, y: &mut [u32]) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

/// A software device that looks for everything it can, beyond what a GPU would report.
pub fn software(seed: u64) -> Software {
    Software::new().seed(seed).options(|options| options.detectors = Detectors::all())
}

/// What most tests need.
pub struct Bench {
    pub device: Device,
    pub stream: dacapo::Stream,
    pub k: Kernels,
}

impl Bench {
    pub fn new(device: Device) -> Bench {
        let stream = device.stream().unwrap();
        let k = Kernels::load(&device).unwrap();
        Bench { device, stream, k }
    }

    pub fn seeded(seed: u64) -> Bench {
        Bench::new(software(seed).open().unwrap())
    }

    /// The software driver has found nothing wrong.
    pub fn expect_no_findings(&self) {
        assert_eq!(self.device.findings(), [] as [String; 0]);
    }

    /// Everything is as usable as at first.
    pub fn expect_usable(&self) {
        let mut y = self.device.zeros::<u32>(3).unwrap();
        self.stream.run(self.k.put(dacapo::baked(5), &mut y)).unwrap();
        let mut graph: Graph<()> = self.device.record(self.k.bump(y.at_mut(1))).unwrap();
        graph.launch(&self.stream).unwrap();
        assert_eq!(self.stream.read(&y).unwrap(), [5, 6, 5]);
        let mut status = dacapo_driver::types::CU_STREAM_CAPTURE_STATUS_ACTIVE;
        // SAFETY: `status` is valid for the write, and the stream is alive.
        let asked = unsafe { self.machine().cuStreamIsCapturing(self.stream.raw().0, &mut status) };
        assert_eq!((asked, status), (CUresult::CUDA_SUCCESS, dacapo_driver::types::CU_STREAM_CAPTURE_STATUS_NONE));
    }

    pub fn machine(&self) -> &Machine {
        self.device.machine().expect("a software device")
    }
}

/// One device for each of a few seeds.
pub fn benches() -> impl Iterator<Item = Bench> {
    [0, 1, 7, 0x5eed].into_iter().map(Bench::seeded)
}

/// A device with a hook around its driver, and the hook.
pub fn hooked<H: Hook + 'static>(hook: H) -> (Bench, Arc<H>) {
    let hook = Arc::new(hook);
    let kept = hook.clone();
    // SAFETY: the hooks of these tests pass calls on, or refuse them without having made them.
    let opened = unsafe { software(0).open_hooked(move |machine| Arc::new(Hooked::new(machine, kept))) };
    (Bench::new(opened.unwrap()), hook)
}

/// Foreign work that sets device memory: what another library would enqueue.
pub fn set_all(
    machine: Machine,
    value: u32,
) -> impl Fn(RawStream, (), RawSlice<u32>) -> Result<()> + Clone + Send + Sync {
    move |stream, (), y| {
        // SAFETY: the memory was declared as written, and is this long.
        match unsafe { machine.cuMemsetD32Async(y.ptr, value, y.len, stream.0) } {
            CUresult::CUDA_SUCCESS => Ok(()),
            code => Err(Error::msg(format!("{code:?}"))),
        }
    }
}

/// The rule that was broken.
#[track_caller]
pub fn kind<T>(outcome: Result<T>) -> ErrorKind {
    match outcome {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error.kind().clone(),
    }
}

/// Panics on purpose inside `body`, without the noise, and gives what the panic said.
pub fn panics(body: impl FnOnce()) -> String {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).expect_err("it panics");
    caught.downcast_ref::<&str>().map(|text| text.to_string()).or(caught.downcast_ref::<String>().cloned()).unwrap()
}
