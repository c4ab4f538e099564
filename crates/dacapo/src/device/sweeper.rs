//! A thread that empties the queue of drops of devices that nobody else looks after.
//!
//! Values of the user's that wait in the queue may hold the device, and the device holds the queue: a buffer that a graph
//! kept, a device in a closure of foreign work. As long as somebody uses the device, the queue is emptied on the way. When
//! everyone has let go of it, only this thread can: it asks whether the work is over, and lets go of the values. With the
//! last of them the device goes.
//!
//! - It exists while there is a device with such values in its queue, and ends with the last one.
//! - It leaves a device alone that somebody has used since its last round, so it does not mix with a program's own calls.
//! - It holds devices weakly between its rounds.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::device::{Device, Inner};

/// The time between two rounds.
const ROUND: Duration = Duration::from_millis(200);

/// The devices that are looked after. The thread runs as long as there are some.
static WATCHED: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

fn watched() -> MutexGuard<'static, Vec<Weak<Inner>>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on this device is looked after, until no value of the user's is in its queue. Called by drops.
pub(crate) fn watch(device: &Device) {
    if device.0.is_watched.swap(true, Ordering::AcqRel) {
        return;
    }
    let mut devices = watched();
    devices.push(Arc::downgrade(&device.0));
    if devices.len() == 1 {
        let made = std::thread::Builder::new().name("dacapo-sweeper".into()).spawn(sweep_all);
        if made.is_err() {
            // The next value tries again; until then whoever uses the device empties its queue.
            devices.clear();
            device.0.is_watched.store(false, Ordering::Release);
        }
    }
}

fn sweep_all() {
    loop {
        std::thread::sleep(ROUND);
        // Held until the list's lock is released: the last hold on a device gives it back, which may come here again.
        let round: Vec<Device> = watched().iter().filter_map(Weak::upgrade).map(Device).collect();
        for device in &round {
            if !device.0.was_drained.swap(false, Ordering::Relaxed) {
                // The values' own drops are the user's code.
                let _ = std::panic::catch_unwind(AssertUnwindSafe(|| device.sweep()));
            }
        }
        let is_over = {
            let mut devices = watched();
            devices.retain(|weak| match round.iter().find(|device| Arc::as_ptr(&device.0) == weak.as_ptr()) {
                Some(device) => !is_left(&device.0),
                None => weak.strong_count() > 0,
            });
            devices.is_empty()
        };
        drop(round);
        if is_over {
            return;
        }
    }
}

/// Whether no value of the user's is in a device's queue any more: then it is not watched from here on.
fn is_left(device: &Inner) -> bool {
    let holds_none = || device.values_waiting.load(Ordering::Acquire) == 0;
    if !holds_none() {
        return false;
    }
    device.is_watched.store(false, Ordering::Release);
    // A value that came just now may have found the device watched: then it still is. If it did not, it waits for the
    // list's lock, and finds the place empty.
    holds_none() || device.is_watched.swap(true, Ordering::AcqRel)
}
