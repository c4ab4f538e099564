//! A replay under way.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use dacapo_ledger::Use;

use crate::device::{Cuda, Stream, StreamInner};
use crate::error::Result;
use crate::graph::wake::Waiting;

/// One launch, and the stream it is on.
pub(crate) struct Pending {
    stream: Arc<StreamInner>,
    used: Use<Cuda>,
    waiting: Option<Arc<Waiting>>,
}

impl Pending {
    pub(crate) fn new(stream: &Stream, used: Use<Cuda>) -> Pending {
        Pending { stream: stream.0.clone(), used, waiting: None }
    }

    fn wait(&self) -> Result<()> {
        self.stream.device.enter()?;
        self.stream.wait_until(&self.used)
    }

    fn is_done(&self) -> Result<bool> {
        self.stream.device.enter()?;
        self.stream.is_done(&self.used)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        match &self.waiting {
            Some(waiting) => waiting.poll(context),
            None => {
                let waiting = match Waiting::begin(&self.stream, &self.used) {
                    Ok(waiting) => waiting,
                    Err(error) => return Poll::Ready(Err(error)),
                };
                let polled = waiting.poll(context);
                self.waiting = Some(waiting);
                polled
            }
        }
    }
}

/// A launch under way: drop it to go on, [`wait`](Launched::wait) for it, or `.await` it; either lends the outputs.
///
/// Dropping it is fire and forget: no safety rests on its drop, and no runtime is needed to await it.
pub struct Launched<'g, T> {
    out: &'g T,
    pending: Pending,
}

impl<'g, T> Launched<'g, T> {
    pub(crate) fn new(out: &'g T, pending: Pending) -> Launched<'g, T> {
        Launched { out, pending }
    }

    /// Waits for the launch, and lends the outputs.
    ///
    /// # Errors
    ///
    /// - What the work failed with.
    pub fn wait(self) -> Result<&'g T> {
        self.pending.wait()?;
        Ok(self.out)
    }

    /// Whether it is over. May answer late, never early.
    pub fn is_done(&self) -> bool {
        self.pending.is_done().unwrap_or(true)
    }
}

impl<'g, T> Future for Launched<'g, T> {
    type Output = Result<&'g T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let out = self.out;
        self.pending.poll(context).map(|done| done.map(|()| out))
    }
}

impl<T> fmt::Debug for Launched<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Launched({})", self.pending.used.position())
    }
}

/// A launch under way that borrows nothing: it may be sent to any task, and awaited there.
#[must_use = "dropping it is fire and forget"]
pub struct Ticket(Pending);

impl Ticket {
    pub(crate) fn new(pending: Pending) -> Result<Ticket> {
        // An event of its own now: who waits later waits for this launch, not for what came behind it.
        let device = &pending.stream.device;
        let event = device.ledger().event_for(&device.0.cuda, &pending.used);
        event.map_err(|error| device.refused(error))?;
        Ok(Ticket(pending))
    }

    /// Waits for the launch.
    ///
    /// # Errors
    ///
    /// - What the work failed with.
    pub fn wait(self) -> Result<()> {
        self.0.wait()
    }

    /// Whether it is over. May answer late, never early.
    pub fn is_done(&self) -> bool {
        self.0.is_done().unwrap_or(true)
    }
}

impl Future for Ticket {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.0.poll(context)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({})", self.0.used.position())
    }
}
