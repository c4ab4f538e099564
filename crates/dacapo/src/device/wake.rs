//! Waking futures: one thread a device, made when the first launch is awaited.
//!
//! The thread waits for events and wakes tasks. A host callback behind each launch would do it too, but it holds up the
//! stream behind it, and on the software device nothing moves unless somebody asks: the thread does ask.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use dacapo_driver::Call;
use dacapo_ledger::{Queues, Use};

use crate::device::{Counted, Cuda, Device, Guest};
use crate::error::Result;

type Event = <Cuda as Queues>::Event;

/// So long the thread looks again at once after something was asked for or over; then it sleeps between two looks. A sleep of
/// any length takes some 70 us on Linux, which is as long as many launches.
const AWAKE: Duration = Duration::from_micros(200);

/// One awaited launch.
pub(crate) struct Waiting(Mutex<State>);

struct State {
    /// Until the outcome is known.
    held: Option<Held>,
    outcome: Option<Result<()>>,
    waker: Option<Waker>,
}

/// What a wait holds of its device, in the order in which it is let go of: an event and a use come back to a device that is
/// there, and the device outlives the wait.
#[derive(Clone)]
struct Held {
    event: Event,
    used: Use<Cuda>,
    device: Device,
}

impl Waiting {
    /// Begins to wait for a use.
    pub(crate) fn begin(device: &Device, used: &Use<Cuda>) -> Result<Arc<Waiting>> {
        device.enter()?;
        let event = {
            let _relaxed = device.relaxed()?;
            device.ledger().event_for(&device.0.cuda, used).map_err(|error| device.refused(error))?
        };
        let held = Held { event, used: used.clone(), device: device.clone() };
        let waiting = Arc::new(Waiting(Mutex::new(State { held: Some(held), outcome: None, waker: None })));
        let thread = device.guest().unwrap_or_else(|| device.take_in(WakerThread::start()));
        thread.add(waiting.clone());
        Ok(waiting)
    }

    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Result<()>> {
        // Cloned before the lock and dropped after it: both are the user's code.
        let waker = context.waker().clone();
        let mut state = self.state();
        if let Some(outcome) = &state.outcome {
            return Poll::Ready(outcome.clone());
        }
        let before = state.waker.replace(waker);
        drop(state);
        drop(before);
        Poll::Pending
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it holds, as long as it waits.
    fn held(&self) -> Option<Held> {
        self.state().held.clone()
    }

    fn finish(&self, outcome: Result<()>) {
        // Let go before anyone can know: who sees the outcome finds nothing of the wait left. And outside of the lock:
        // the last handle on a device drops values of the user's.
        let held = self.state().held.take();
        alone(move || drop(held));
        let waker = {
            let mut state = self.state();
            state.outcome = Some(outcome);
            state.waker.take()
        };
        alone(move || waker.map_or((), Waker::wake));
    }
}

/// Runs what may be the user's code: its panic must not end the thread that wakes the others.
fn alone(body: impl FnOnce()) {
    if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)) {
        // Dropping it may panic again.
        std::mem::forget(panic);
    }
}

/// The thread's mailbox. The thread ends when the device does.
pub(crate) struct WakerThread(Arc<Mailbox>);

struct Mailbox {
    letters: Mutex<Letters>,
    arrived: Condvar,
}

#[derive(Default)]
struct Letters {
    new: VecDeque<Arc<Waiting>>,
    closed: bool,
}

impl Guest for WakerThread {}

impl WakerThread {
    fn start() -> WakerThread {
        let mailbox = Arc::new(Mailbox { letters: Mutex::default(), arrived: Condvar::new() });
        let inside = mailbox.clone();
        // If no thread can be made, every awaited launch is waited for where it is polled: see `add`.
        let made = std::thread::Builder::new().name("dacapo-waker".into()).spawn(move || serve(&inside));
        if made.is_err() {
            mailbox.letters.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        }
        WakerThread(mailbox)
    }

    fn add(&self, waiting: Arc<Waiting>) {
        let mut letters = self.0.letters.lock().unwrap_or_else(PoisonError::into_inner);
        if letters.closed {
            drop(letters);
            let outcome = waiting.held().map_or(Ok(()), |held| held.device.wait_until(&held.used));
            waiting.finish(outcome);
            return;
        }
        letters.new.push_back(waiting);
        self.0.arrived.notify_one();
    }
}

impl Drop for WakerThread {
    fn drop(&mut self) {
        self.0.letters.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.0.arrived.notify_one();
    }
}

/// Takes letters, waits for their events, wakes their tasks.
fn serve(mailbox: &Mailbox) {
    let mut open: Vec<Arc<Waiting>> = Vec::new();
    // When something was last asked for or over.
    let mut moved = Instant::now();
    loop {
        {
            let mut letters = mailbox.letters.lock().unwrap_or_else(PoisonError::into_inner);
            while open.is_empty() && letters.new.is_empty() {
                if letters.closed {
                    return;
                }
                letters = mailbox.arrived.wait(letters).unwrap_or_else(PoisonError::into_inner);
            }
            if !letters.new.is_empty() {
                moved = Instant::now();
            }
            open.extend(letters.new.drain(..));
        }
        let (alone, before) = (open.len() == 1, open.len());
        // The device is let go of before anyone is told: who is told may drop its own handle, and that is the last one then.
        open.retain(|waiting| match waiting.held().map_or(Some(Ok(())), |held| look(&held, alone)) {
            Some(outcome) => {
                waiting.finish(outcome);
                false
            }
            None => true,
        });
        if open.len() < before {
            moved = Instant::now();
        }
        match open.is_empty() {
            true => {}
            false if moved.elapsed() < AWAKE => std::thread::yield_now(),
            false => std::thread::sleep(Duration::from_micros(20)),
        }
    }
}

/// Whether an awaited launch is over. With nothing else to look after, waits for it; not where there are ranks, of which another one
/// may come only after something else has been awaited here.
fn look(held: &Held, alone: bool) -> Option<Result<()>> {
    let device = &held.device;
    // Each time: who was woken on this thread may have made another context current.
    let _relaxed = match device.enter().and_then(|()| device.relaxed()) {
        Ok(relaxed) => relaxed,
        Err(error) => return Some(Err(error)),
    };
    if alone && device.is_software() && !Counted::are_any() {
        // SAFETY: the event is of this driver and held.
        let code = unsafe { device.driver().cuEventSynchronize(held.event.raw()) };
        return Some(device.check(code, Call::cuEventSynchronize).and_then(|()| over(held)));
    }
    match device.0.cuda.has_passed(&held.event) {
        Ok(false) => None,
        Ok(true) => Some(over(held)),
        Err(error) => Some(Err(device.refused(error))),
    }
}

/// The event has passed. Whether the work was done: it also ends when a partner dies.
fn over(held: &Held) -> Result<()> {
    held.device.ledger().finished(&held.used);
    held.device.expect_partners_of(held.used.lane())
}
