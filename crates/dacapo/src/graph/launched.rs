//! A replay under way.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use dacapo_ledger::Use;

use crate::device::{Cuda, Device, Waiting, is_over, poll_use};
use crate::error::Result;

/// A launch in flight: drop it to carry on, [`wait`](Launched::wait) for it, or `.await` it. The last two lend the
/// outputs.
///
/// Dropping it is fire and forget. Awaiting needs no particular runtime.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Launched, baked, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<u32>(2)?;
/// let mut graph = device.record(fill(&mut y, baked(7)))?;
/// let launched: Launched<'_, ()> = graph.launch(&stream)?;
/// launched.wait()?; // or `.await`
/// assert_eq!(stream.read(&y)?, [7, 7]);
/// # Ok(()) }
/// ```
#[doc(alias = "event")]
#[doc(alias = "async")]
#[doc(alias = "await")]
#[doc(alias = "future")]
pub struct Launched<'g, T> {
    out: &'g T,
    device: &'g Device,
    used: &'g Use<Cuda>,
    waiting: Option<Arc<Waiting>>,
}

impl<'g, T> Launched<'g, T> {
    pub(crate) fn new(out: &'g T, device: &'g Device, used: &'g Use<Cuda>) -> Launched<'g, T> {
        Launched { out, device, used, waiting: None }
    }

    /// Waits for the launch and lends the outputs.
    ///
    /// # Errors
    ///
    /// - Any error from the work.
    pub fn wait(self) -> Result<&'g T> {
        self.device.enter()?;
        self.device.wait_until(self.used)?;
        Ok(self.out)
    }

    /// Whether the launch is done. May answer late, never early.
    pub fn is_done(&self) -> bool {
        is_over(self.device, self.used)
    }
}

impl<'g, T> Future for Launched<'g, T> {
    type Output = Result<&'g T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Launched { out, device, used, waiting } = &mut *self;
        poll_use(device, used, waiting, context).map(|done| done.map(|()| *out))
    }
}

impl<T> fmt::Debug for Launched<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Launched({})", self.used.position())
    }
}
