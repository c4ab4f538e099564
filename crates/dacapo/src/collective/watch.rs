//! Two threads for each communicator that notice when it hangs.
//!
//! - One asks NCCL every [`TICK`] what was noticed in the background: a rank that has ended; sees calls that do not return; and asks
//!   whether another rank in this process is dead.
//! - The other looks now and then at the streams on which launches of this communicator are in flight: whether what was the newest
//!   there at one look is over at a later one. A launch itself does nothing for it, so it costs nothing.
//! - They end with the communicator, which they do not hold.
//!
//! # Why two?
//!
//! An eager call of NCCL is made under the lock of its stream, and a look at the stream wants that lock. So whoever looks may wait
//! for the very call that hangs, and cannot be the one who ends it.

use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use dacapo_ledger::{Lane, Use};

use crate::collective::member::Member;
use crate::device::{Cuda, Partner, is_over};

/// How often NCCL is asked.
const TICK: Duration = Duration::from_millis(50);
/// How many looks at the streams there are in one timeout.
const LOOKS: u32 = 8;

/// Starts the threads. Without them, only what NCCL's calls answer is noticed.
pub(super) fn watch(member: &Arc<Member>) {
    for (name, serve) in [("dacapo-watch", ask as fn(&Weak<Member>, Duration)), ("dacapo-look", look_on)] {
        let (weak, timeout) = (Arc::downgrade(member), member.timeout);
        let made = std::thread::Builder::new().name(name.into()).spawn(move || serve(&weak, timeout));
        drop(made);
    }
}

/// How long to sleep between two looks at the streams.
fn pause(timeout: Duration) -> Duration {
    (timeout / LOOKS).clamp(Duration::from_millis(5), Duration::from_secs(5))
}

/// The member, after a while, as long as it lives.
fn later(member: &Weak<Member>, sleep: Duration) -> Option<Arc<Member>> {
    std::thread::sleep(sleep);
    member.upgrade().filter(|member| member.death().is_none())
}

/// Asks NCCL, and sees calls that do not return. Takes no lock of a stream.
fn ask(member: &Weak<Member>, timeout: Duration) {
    while let Some(member) = later(member, TICK.min(pause(timeout))) {
        if let Some(why) = member.async_error() {
            return member.die(why);
        }
        if member.is_stuck() {
            return member.die(format!("a call of NCCL has not returned for {timeout:?}"));
        }
        if let Some(why) = member.fallen_sibling() {
            return member.die(why.to_string());
        }
    }
}

/// Looks at the streams.
fn look_on(member: &Weak<Member>, timeout: Duration) {
    let (mut seen, tick, mut looked): (Vec<Seen>, _, _) = (Vec::new(), TICK.min(pause(timeout)), Instant::now());
    while let Some(member) = later(member, tick) {
        if looked.elapsed() < pause(timeout) {
            continue;
        }
        looked = Instant::now();
        look(&member, &mut seen);
        if seen.iter().any(|seen| seen.since.elapsed() > timeout) {
            return member.die_saying(late(timeout, member.size));
        }
    }
}

/// Why what was launched is not over.
fn late(timeout: Duration, size: usize) -> String {
    let cause = match size {
        1 => "something else holds up its stream",
        _ => "another rank has not come",
    };
    format!("what was launched is not over after {timeout:?}: {cause}")
}

/// Something in flight, and since when it has been known.
struct Seen {
    lane: Lane<Cuda>,
    used: Use<Cuda>,
    since: Instant,
}

/// Looks at the streams: what is over goes, and what is new comes.
fn look(member: &Arc<Member>, seen: &mut Vec<Seen>) {
    let device = &member.device;
    // A refused question is asked again at the next look.
    if device.enter().is_err() {
        return;
    }
    // Over is also what ended because another communicator died.
    seen.retain(|seen| !is_over(device, &seen.used));
    let lanes = device.0.lanes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for lane in lanes {
        let in_flight = lane.stream().notes.in_flight(lane.finished_up_to());
        let is_new =
            !seen.iter().any(|seen| seen.lane == lane) && in_flight.iter().any(|name| name.needs(member.life()));
        let Some(used) = is_new.then(|| device.ledger().last_use(&lane)).flatten() else { continue };
        if matches!(device.is_done(&used), Ok(false)) {
            seen.push(Seen { lane, used, since: Instant::now() });
        }
    }
}
