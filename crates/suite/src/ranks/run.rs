//! Every rank on a thread of its own, with a limit of time for all of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use dacapo::Device;
use dacapo::collective::{Join, UniqueId};

use super::Rank;
use crate::forms::{Failure, Outcome};

/// How a rank ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// All held.
    Well,
    /// What did not, or what it was told.
    Failed(String),
    /// A panic.
    Panicked(String),
    /// It has not.
    Hangs,
}

impl Ended {
    /// What is wrong with it.
    pub(super) fn said(&self) -> Option<String> {
        match self {
            Ended::Well => None,
            Ended::Failed(said) => Some(said.clone()),
            Ended::Panicked(said) => Some(format!("a panic: {said}")),
            Ended::Hangs => Some("it has not ended".to_string()),
        }
    }
}

/// Runs a body on every device, each joined with the others by its own options.
pub(super) fn all_ranks(
    body: impl Fn(&Rank) -> Outcome + Clone + Send + 'static,
    devices: &[Device],
    joins: Vec<Join>,
    patience: Duration,
) -> Vec<Ended> {
    let size = devices.len();
    let ids = joins.first().zip(devices.first()).map(|(join, device)| (join.unique_id(device), join.unique_id(device)));
    let ids = match ids {
        Some((Ok(first), Ok(second))) => [first, second],
        Some((Err(error), _) | (_, Err(error))) => return vec![Ended::Failed(format!("{error:?}")); size],
        None => return Vec::new(),
    };
    let (tell, told) = mpsc::channel();
    for (rank, (device, join)) in devices.iter().cloned().zip(joins).enumerate() {
        let (tell, body, all) = (tell.clone(), body.clone(), devices.to_vec());
        let run = move || {
            let ran = catch_unwind(AssertUnwindSafe(|| one(&body, device, &join, ids, (rank, all))));
            let ended = match ran {
                Ok(Ok(())) => Ended::Well,
                Ok(Err(failure)) => Ended::Failed(failure.0),
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().map(String::as_str);
                    let text = text.or(panic.downcast_ref::<&str>().copied());
                    Ended::Panicked(text.unwrap_or("without a text").to_string())
                }
            };
            // Whoever runs the form may have given up.
            let _ = tell.send((rank, ended));
        };
        if let Err(error) = thread::Builder::new().name(format!("rank {rank}")).spawn(run) {
            return vec![Ended::Failed(format!("no thread: {error}")); size];
        }
    }
    drop(tell);
    let (until, mut ended) = (Instant::now() + patience, vec![Ended::Hangs; size]);
    for _ in 0..size {
        match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok((rank, how)) => ended[rank] = how,
            Err(_) => break,
        }
    }
    ended
}

fn one(
    body: &impl Fn(&Rank) -> Outcome,
    device: Device,
    join: &Join,
    ids: [UniqueId; 2],
    (rank, devices): (usize, Vec<Device>),
) -> Outcome {
    let size = devices.len();
    let comm = join.join(&device, &ids[0], rank, size)?;
    let other = join.join(&device, &ids[1], rank, size)?;
    let stream = device.stream()?;
    let rank = Rank { comm, other, device, stream, devices };
    body(&rank)?;
    rank.device.synchronize().map_err(Failure::from)
}

/// What is still there on these devices when all is over. A communicator leaves on a thread of its own, so a while is given.
pub(super) fn left(devices: &[Device]) -> Vec<String> {
    let until = Instant::now() + Duration::from_secs(10);
    let of = |device: &Device| {
        // A device that is lost lets go of nothing, and has nothing that could be counted.
        device.synchronize().ok()?;
        device.synchronize().ok()?;
        let left = device.counters();
        let lasting = [left.allocations, left.graphs, left.streams, left.waiting];
        lasting.iter().any(|left| *left > 0).then(|| format!("left on {device:?}: {left:?}"))
    };
    loop {
        let left: Vec<String> = devices.iter().filter_map(of).collect();
        if left.is_empty() || Instant::now() > until {
            return left;
        }
        thread::sleep(Duration::from_millis(1));
    }
}
