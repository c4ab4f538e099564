//! Which driver calls were made between two moments, by the count hook, and why each is there.

use std::fmt;
use std::sync::Arc;

use dacapo::{Device, Result, Software};
use dacapo_driver::{Call, Count, Hooked, Nvidia};

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
        let nvidia = Nvidia::open().map_err(|error| dacapo::Error::msg(error.to_string()))?;
        // SAFETY: as above.
        unsafe { Device::from_driver(Arc::new(Hooked::new(nvidia, hook)), 0) }
    };
    Ok((device?, count))
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
    pub fn of(count: &Count, what: impl Into<String>, body: impl FnOnce() -> Result<()>) -> Result<Calls> {
        let before: Vec<u64> = Call::ALL.iter().map(|&call| count.of(call).calls).collect();
        body()?;
        let after = Call::ALL.iter().map(|&call| count.of(call).calls);
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
