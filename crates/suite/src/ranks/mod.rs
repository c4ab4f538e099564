//! Forms of work that several ranks do together: each is one body that every rank runs, on a thread and a device of its own.
//!
//! A form runs its ops eagerly and as a graph that is replayed, and compares both with plain Rust ([`kit`]). It runs on 1, 2, 4
//! and 8 software devices of one machine, under many seeds, with every detector on; a finding is a failure. The devices of odd
//! seeds cannot be peers.

mod buckets;
mod collectives;
mod copies;
mod drops;
mod errors;
pub mod faults;
mod graphs;
mod groups;
mod kit;
pub mod mistakes;
mod pairs;
mod reductions;
mod run;

use std::time::Duration;

use dacapo::collective::{Communicator, Join};
use dacapo::{Device, Software, Stream};

use crate::forms::{Failure, Outcome};

/// One body, and how many ranks it wants.
#[derive(Clone, Copy)]
pub struct RankForm {
    /// Its area and name.
    pub name: &'static str,
    /// The fewest ranks that it makes sense for.
    pub ranks_min: usize,
    /// What each rank does.
    pub body: fn(&Rank) -> Outcome,
}

/// Where a body runs.
pub struct Rank {
    /// This rank.
    pub comm: Communicator,
    /// The same ranks once more.
    pub other: Communicator,
    /// The rank's device.
    pub device: Device,
    /// A stream of it.
    pub stream: Stream,
    /// The devices of all ranks of this process.
    pub devices: Vec<Device>,
}

impl Rank {
    /// Its number.
    pub fn number(&self) -> usize {
        self.comm.rank()
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.comm.size()
    }
}

/// How many ranks forms are run with.
pub const SIZES: [usize; 4] = [1, 2, 4, 8];

/// Every form.
pub fn all() -> Vec<RankForm> {
    [
        reductions::FORMS,
        collectives::FORMS,
        pairs::FORMS,
        groups::FORMS,
        buckets::FORMS,
        graphs::FORMS,
        copies::FORMS,
        drops::FORMS,
        errors::FORMS,
    ]
    .concat()
}

/// What a hang looks like: no form takes nearly as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs one rank's side of a form on this thread, and waits for its device.
///
/// # Errors
///
/// - What it failed with, or the text of its panic; with the rank's number.
pub fn run_here(form: &RankForm, rank: Rank) -> Result<(), String> {
    let number = rank.number();
    let run = || -> Outcome {
        (form.body)(&rank)?;
        rank.device.synchronize().map_err(Failure::from)
    };
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    match ran {
        Ok(Ok(())) => Ok(()),
        Ok(Err(failure)) => Err(format!("rank {number}: {}", failure.0)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Err(format!("rank {number}: a panic: {}", text.unwrap_or("without a text")))
        }
    }
}

/// Runs a form on so many software devices of one machine.
///
/// # Errors
///
/// - What a rank failed with, every finding, and what is left when all are done.
pub fn on_software(form: &RankForm, size: usize, seed: u64) -> Result<(), String> {
    // Half of the machines have devices that cannot be peers.
    let software = Software::new().seed(seed).options(|options| options.peers = seed.is_multiple_of(2));
    let devices = software.open_group(size).map_err(|error| format!("no group of {size}: {error:?}"))?;
    on_devices(form, &devices)
}

/// Runs a form on these devices, one rank on each.
///
/// # Errors
///
/// - As [`on_software`]; GPUs have no findings.
pub fn on_devices(form: &RankForm, devices: &[Device]) -> Result<(), String> {
    let joins = vec![Join::new().timeout(PATIENCE); devices.len()];
    let mut failures: Vec<String> = run::all_ranks(form.body, devices, joins, PATIENCE)
        .into_iter()
        .enumerate()
        .filter_map(|(rank, ended)| ended.said().map(|said| format!("rank {rank}: {said}")))
        .collect();
    failures
        .extend(devices.first().into_iter().flat_map(Device::findings).map(|finding| format!("a finding: {finding}")));
    failures.extend(run::left(devices));
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures.join("\n")),
    }
}
