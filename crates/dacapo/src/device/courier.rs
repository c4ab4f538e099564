//! Findings of the software device on their way to the program's callback.
//!
//! A finding is made inside a driver call, and the library makes its calls under locks of its own: a stream's, a host
//! buffer's. A callback that asked a stream from there would wait for itself. So it runs on a thread of its own, which
//! holds nothing; each finding is told once, in order, soon after it was made.
//! [`Device::findings`](crate::Device::findings) has it at once.

use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use dacapo_sim::{Finding, OnFinding};

/// What tells `callback`, from a thread of its own. The thread ends with the machine. None if there can be no thread.
pub(super) fn courier(callback: OnFinding) -> Option<OnFinding> {
    let (sender, findings) = channel::<Finding>();
    let tell = move || {
        for finding in findings {
            // The program's code: its panic was reported, and must not keep the next finding from being told.
            if let Err(panic) = std::panic::catch_unwind(AssertUnwindSafe(|| callback(&finding))) {
                std::mem::forget(panic);
            }
        }
    };
    std::thread::Builder::new().name("dacapo-findings".into()).spawn(tell).ok()?;
    // A lock, because a machine tells from any thread. Nothing is done under it but sending, which does not wait.
    let sender: Mutex<Sender<Finding>> = Mutex::new(sender);
    Some(Arc::new(move |finding| {
        let sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody is left to be told only when the callback is gone, too.
        let _ = sender.send(finding.clone());
    }))
}
