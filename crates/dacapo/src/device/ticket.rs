//! Work under way that borrows nothing.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use dacapo_ledger::Use;

use crate::device::wake::Waiting;
use crate::device::{Cuda, Device};
use crate::error::{ErrorKind, Result};

/// Whether it is over; if not, asks to be woken the first time.
pub(crate) fn poll_use(
    device: &Device,
    used: &Use<Cuda>,
    waiting: &mut Option<Arc<Waiting>>,
    context: &mut Context<'_>,
) -> Poll<Result<()>> {
    let waiting = match waiting {
        Some(waiting) => waiting,
        // What is over needs no thread to say so: a program with several requests under way mostly awaits such.
        None if device.enter().and_then(|()| device.is_done(used)).is_ok_and(|done| done) => {
            return Poll::Ready(Ok(()));
        }
        None => match Waiting::begin(device, used) {
            Ok(begun) => waiting.insert(begun),
            Err(error) => return Poll::Ready(Err(error)),
        },
    };
    waiting.poll(context)
}

/// Whether a use is over. A refused question is no answer; a lost context is the end of everything, another one the end of what was
/// to come behind it, and a partner's death is told of what is over.
pub(crate) fn is_over(device: &Device, used: &Use<Cuda>) -> bool {
    match device.enter().and_then(|()| device.is_done(used)) {
        Ok(done) => done,
        Err(error) => {
            matches!(error.kind(), ErrorKind::Lost { .. } | ErrorKind::OtherLost { .. } | ErrorKind::RankFailed { .. })
        }
    }
}

/// Work in flight that borrows nothing: send it to any task, and wait for it or await it there.
///
/// It yields what the work returns: `()` for a launch, the op's result for [`Stream::submit`](crate::Stream::submit).
/// Dropping it is fire and forget. Awaiting needs no particular runtime.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<f32>(4)?;
/// let mut graph = device.record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
/// let ticket = graph.submit(&stream)?;
/// std::thread::spawn(move || ticket.wait()).join().unwrap()?;
/// assert_eq!(stream.read(&y)?, [1.0; 4]);
/// # Ok(()) }
/// ```
#[doc(alias = "event")]
#[doc(alias = "async")]
#[doc(alias = "await")]
#[doc(alias = "future")]
#[must_use = "dropping it is fire and forget"]
pub struct Ticket<T = ()> {
    device: Device,
    /// None if there was nothing to do.
    used: Option<Use<Cuda>>,
    waiting: Option<Arc<Waiting>>,
    /// Until it is given out.
    value: Option<T>,
}

/// What it holds for the caller is never pinned.
impl<T> Unpin for Ticket<T> {}

impl<T> Ticket<T> {
    pub(crate) fn new(device: &Device, used: Option<Use<Cuda>>, value: T) -> Ticket<T> {
        if let Some(used) = &used {
            // An event of its own now: who waits later waits for this work, not for what came behind it. Refused, it is
            // recorded when somebody waits: the work is enqueued in either case.
            let _ = device.ledger().event_for(&device.0.cuda, used);
        }
        Ticket { device: device.clone(), used, waiting: None, value: Some(value) }
    }

    /// Waits for the work.
    ///
    /// # Errors
    ///
    /// - Any error from the work.
    ///
    /// # Panics
    ///
    /// - It was already awaited to completion.
    pub fn wait(mut self) -> Result<T> {
        if let Some(used) = &self.used {
            self.device.enter()?;
            self.device.wait_until(used)?;
        }
        Ok(self.take())
    }

    /// Whether the work is done. May answer late, never early.
    pub fn is_done(&self) -> bool {
        self.used.as_ref().is_none_or(|used| is_over(&self.device, used))
    }

    fn take(&mut self) -> T {
        self.value.take().expect("a ticket gives its value once")
    }
}

impl<T> Future for Ticket<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let Ticket { device, used, waiting, .. } = &mut *self;
        let done = match used {
            Some(used) => poll_use(device, used, waiting, context),
            None => Poll::Ready(Ok(())),
        };
        done.map(|done| done.map(|()| self.take()))
    }
}

impl<T> fmt::Debug for Ticket<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.used {
            Some(used) => write!(f, "Ticket({})", used.position()),
            None => f.write_str("Ticket(done)"),
        }
    }
}
