//! A replay under way.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use dacapo_ledger::Use;

use crate::device::{Cuda, Device};
use crate::error::{ErrorKind, Result};
use crate::graph::wake::Waiting;

/// Polls a launch: the first time asks to be woken.
fn poll(
    device: &Device,
    used: &Use<Cuda>,
    waiting: &mut Option<Arc<Waiting>>,
    context: &mut Context<'_>,
) -> Poll<Result<()>> {
    let waiting = match waiting {
        Some(waiting) => waiting,
        None => match Waiting::begin(device, used) {
            Ok(begun) => waiting.insert(begun),
            Err(error) => return Poll::Ready(Err(error)),
        },
    };
    waiting.poll(context)
}

/// Whether a launch is over. A refused question is no answer; a lost context is the end of everything.
fn is_done(device: &Device, used: &Use<Cuda>) -> bool {
    match device.enter().and_then(|()| device.is_done(used)) {
        Ok(done) => done,
        Err(error) => matches!(error.kind(), ErrorKind::Lost { .. }),
    }
}

/// A launch under way: drop it to go on, [`wait`](Launched::wait) for it, or `.await` it; either lends the outputs.
///
/// Dropping it is fire and forget: no safety rests on its drop, and no runtime is needed to await it.
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

    /// Waits for the launch, and lends the outputs.
    ///
    /// # Errors
    ///
    /// - What the work failed with.
    pub fn wait(self) -> Result<&'g T> {
        self.device.enter()?;
        self.device.wait_until(self.used)?;
        Ok(self.out)
    }

    /// Whether it is over. May answer late, never early.
    pub fn is_done(&self) -> bool {
        is_done(self.device, self.used)
    }
}

impl<'g, T> Future for Launched<'g, T> {
    type Output = Result<&'g T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Launched { out, device, used, waiting } = &mut *self;
        poll(device, used, waiting, context).map(|done| done.map(|()| *out))
    }
}

impl<T> fmt::Debug for Launched<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Launched({})", self.used.position())
    }
}

/// A launch under way that borrows nothing: it may be sent to any task, and awaited there.
#[must_use = "dropping it is fire and forget"]
pub struct Ticket {
    device: Device,
    used: Use<Cuda>,
    waiting: Option<Arc<Waiting>>,
}

impl Ticket {
    pub(crate) fn new(device: &Device, used: Use<Cuda>) -> Ticket {
        // An event of its own now: who waits later waits for this launch, not for what came behind it. Refused, it is
        // recorded when somebody waits: the launch is made in either case.
        let _ = device.ledger().event_for(&device.0.cuda, &used);
        Ticket { device: device.clone(), used, waiting: None }
    }

    /// Waits for the launch.
    ///
    /// # Errors
    ///
    /// - What the work failed with.
    pub fn wait(self) -> Result<()> {
        self.device.enter()?;
        self.device.wait_until(&self.used)
    }

    /// Whether it is over. May answer late, never early.
    pub fn is_done(&self) -> bool {
        is_done(&self.device, &self.used)
    }
}

impl Future for Ticket {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let Ticket { device, used, waiting } = &mut *self;
        poll(device, used, waiting, context)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({})", self.used.position())
    }
}
