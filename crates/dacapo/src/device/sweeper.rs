//! A thread that empties the queue of drops of devices that nobody else looks after.
//!
//! Values of the user's that wait in the queue may hold the device, and the device holds the queue: a buffer that a graph
//! kept, a device in a closure of foreign work. As long as somebody uses the device, the queue is emptied on the way. When
//! everyone has let go of it, only this thread can: it asks whether the work is over, and lets go of the values. With the
//! last of them the device goes.
//!
//! - It exists while there is a device with such values in its queue, and ends with the last one.
//! - It leaves a device alone that somebody has used since its last round, so it does not mix with a program's own calls.
//! - Where there are ranks it also makes the releases that may wait for the whole context, of any device: nobody waits for it.
//! - It holds devices weakly between its rounds.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::device::{Device, Inner};

/// The time between two rounds.
const ROUND: Duration = Duration::from_millis(200);

/// The devices that are looked after, and whether the thread runs: as long as there are some.
static WATCHED: Mutex<Watched> = Mutex::new(Watched { devices: Vec::new(), is_running: false });

struct Watched {
    devices: Vec<Weak<Inner>>,
    is_running: bool,
}

fn watched() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// Whether releases on this thread may wait for work of other ranks.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a release may wait here: on the sweeper's own thread, and where a caller would rather wait than go without.
pub(super) fn may_wait() -> bool {
    WAITS.get()
}

/// Releases inside may wait.
pub(super) fn waiting<T>(body: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            WAITS.set(self.0);
        }
    }
    let _before = Before(WAITS.replace(true));
    body()
}

/// From now on this device is looked after, until no value of the user's is in its queue. Called by drops.
pub(crate) fn watch(device: &Device) {
    if device.0.is_watched.swap(true, Ordering::AcqRel) {
        return;
    }
    let mut watched = watched();
    watched.devices.push(Arc::downgrade(&device.0));
    if !watched.is_running {
        // If no thread can be made, the next device tries again; until then whoever uses this one empties its queue.
        watched.is_running = std::thread::Builder::new().name("dacapo-sweeper".into()).spawn(sweep_all).is_ok();
    }
}

/// Runs what may be the user's code, and goes on whatever comes of it. A panic's payload is the user's too: it is forgotten.
fn undisturbed(body: impl FnOnce()) {
    if let Err(panic) = std::panic::catch_unwind(AssertUnwindSafe(body)) {
        std::mem::forget(panic);
    }
}

fn sweep_all() {
    WAITS.set(true);
    loop {
        std::thread::sleep(ROUND);
        // Held until the list's lock is released: the last hold on a device gives it back, which may come here again.
        let round: Vec<Device> = watched().devices.iter().filter_map(Weak::upgrade).map(Device).collect();
        for device in &round {
            let is_alone = !device.0.was_drained.swap(false, Ordering::Relaxed);
            if is_alone || device.0.apart_waiting.load(Ordering::Acquire) {
                undisturbed(|| device.sweep());
            }
        }
        let is_over = {
            let mut watched = watched();
            watched.devices.retain(|weak| match round.iter().find(|device| Arc::as_ptr(&device.0) == weak.as_ptr()) {
                Some(device) => !is_left(&device.0),
                None => weak.strong_count() > 0,
            });
            watched.is_running = !watched.devices.is_empty();
            !watched.is_running
        };
        // The last hold on a device drops what is left in its queue.
        round.into_iter().for_each(|device| undisturbed(|| drop(device)));
        if is_over {
            return;
        }
    }
}

/// Whether no value of the user's is in a device's queue any more: then it is not watched from here on.
fn is_left(device: &Inner) -> bool {
    let holds_none =
        || device.values_waiting.load(Ordering::Acquire) == 0 && !device.apart_waiting.load(Ordering::Acquire);
    if !holds_none() {
        return false;
    }
    // Not a store: where this reads that a value came just now, the question below sees it.
    device.is_watched.swap(false, Ordering::AcqRel);
    // A value that came just now may have found the device watched: then it still is. If it did not, it waits for the
    // list's lock, and finds the place empty.
    holds_none() || device.is_watched.swap(true, Ordering::AcqRel)
}
