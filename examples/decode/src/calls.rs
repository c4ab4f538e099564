//! Which driver calls were made between two moments, by the count hook, and why each is there.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use dacapo::{Device, Result, Software};
use dacapo_driver::{Argument, CUresult, Call, Count, Hook, Hooked, Nvidia};

/// A device of the same kind as another, with every driver call counted. Times on it are those of the counting, too.
///
/// # Errors
///
/// - What the driver refused.
pub fn counted(like: &Device, seed: u64) -> Result<(Device, Arc<Count>)> {
    let count = Arc::new(Count::new());
    let hook = count.clone();
    let device = if like.is_software() {
        // SAFETY: the hook passes every call on and answers what the driver did.
        unsafe { Software::new().seed(seed).open_hooked(|machine| Arc::new(Hooked::new(machine, hook))) }
    } else {
        counted_gpu(0, hook)
    };
    Ok((device?, count))
}

/// A GPU, with every driver call counted.
///
/// # Errors
///
/// - What the driver refused.
pub fn counted_gpu(ordinal: usize, hook: impl Hook + 'static) -> Result<Device> {
    let nvidia = Nvidia::open().map_err(|error| dacapo::Error::msg(error.to_string()))?;
    // SAFETY: the hook passes every call on and answers what the driver did.
    unsafe { Device::from_driver(Arc::new(Hooked::new(nvidia, hook)), ordinal) }
}

/// Software devices of one machine, with every driver call counted.
///
/// # Errors
///
/// - What the driver refused.
pub fn counted_group(software: Software, size: usize, hook: impl Hook + 'static) -> Result<Vec<Device>> {
    // SAFETY: as above.
    unsafe { software.open_group_hooked(size, |machine| Arc::new(Hooked::new(machine, hook))) }
}

/// Counts the calls of every thread by itself. Ranks are threads that share a driver; and threads of the library, which look
/// now and then whether the other ranks still come, make calls beside them.
#[derive(Debug, Default)]
pub struct ByThread {
    made: Mutex<HashMap<(ThreadId, Call), u64>>,
}

impl Hook for ByThread {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let result = run();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        *made.entry((std::thread::current().id(), call)).or_default() += 1;
        result
    }
}

/// What knows how often a call was made so far.
pub trait Counts {
    /// How often this one was.
    fn so_far(&self, call: Call) -> u64;
}

impl Counts for Count {
    fn so_far(&self, call: Call) -> u64 {
        self.of(call).calls
    }
}

impl Counts for ByThread {
    /// By the thread that asks.
    fn so_far(&self, call: Call) -> u64 {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.get(&(std::thread::current().id(), call)).copied().unwrap_or(0)
    }
}

/// The calls of a stretch of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// What the program did.
    pub what: String,
    /// Each call with how often it was made.
    pub made: Vec<(Call, u64)>,
}

impl Calls {
    /// Counts what `body` does.
    ///
    /// # Errors
    ///
    /// - What `body` answers.
    pub fn of<C: Counts>(count: &C, what: impl Into<String>, body: impl FnOnce() -> Result<()>) -> Result<Calls> {
        let before: Vec<u64> = Call::ALL.iter().map(|&call| count.so_far(call)).collect();
        body()?;
        let after = Call::ALL.iter().map(|&call| count.so_far(call));
        let made =
            Call::ALL.iter().zip(before.iter().zip(after)).map(|(&call, (before, after))| (call, after - before));
        Ok(Calls { what: what.into(), made: made.filter(|(_, times)| *times > 0).collect() })
    }

    /// How often one was made.
    pub fn times(&self, call: Call) -> u64 {
        self.made.iter().find(|(made, _)| *made == call).map_or(0, |(_, times)| *times)
    }
}

impl fmt::Display for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        self.made.iter().try_for_each(|(call, times)| write!(f, "\n  {times:>8}  {:<36} {}", call.symbol(), why(*call)))
    }
}

/// What a call is for, among those that decoding makes.
fn why(call: Call) -> &'static str {
    match call {
        Call::cuGraphLaunch => "all of a step, or of whole texts",
        Call::cuGraphExecKernelNodeSetParams_v2 => "a slot with another value: the node that reads it is told",
        Call::cuMemcpyHtoDAsync_v2 => "the host tells of another batch or another sequence",
        Call::cuMemcpyDtoHAsync_v2 => "the host reads a text",
        Call::cuLaunchKernel | Call::cuLaunchKernelEx => "an operation of an eager step",
        Call::cuMemAllocAsync | Call::cuMemFreeAsync => "memory of an eager step",
        Call::cuStreamSynchronize | Call::cuEventSynchronize => "the host waits",
        Call::cuEventRecord | Call::cuEventQuery | Call::cuStreamQuery => "is the work before over?",
        Call::cuCtxGetCurrent | Call::cuCtxSetCurrent => {
            "which context the thread has: parameters are understood in that one"
        }
        _ => "",
    }
}
