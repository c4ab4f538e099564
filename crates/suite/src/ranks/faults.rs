//! What goes wrong between ranks: a call that fails, a rank that dies. Everybody must end, and be told.
//!
//! - *A call of NCCL fails* on one rank, each in turn: that rank gets an error or goes on, the others end too.
//! - *A driver call fails* somewhere, with a lawful fault, each in turn.
//! - *A rank dies* at every step of one scenario: it lets go of everything without a word.
//!
//! After each: nobody hangs, nobody panics, nothing is left on devices that are whole, and who fails because of another rank is
//! told which rank it is, and which op was in flight or refused.

use std::sync::Arc;
use std::time::Duration;

use dacapo::collective::{Join, Reduce};
use dacapo::{Device, Recorder, Software, fill};
use dacapo_driver::{Hooked, lawful};
use dacapo_nccl::types::ncclResult;
use dacapo_nccl::{CountNccl, FaultNccl, HookedNccl, NcclHook};

use super::run::{Ended, all_ranks, left};
use super::{Rank, RankForm, all};
use crate::faults::Injected;
use crate::forms::{Failure, Outcome};

/// What another rank may take here.
const TIMEOUT: Duration = Duration::from_millis(400);
/// What a hang looks like.
const PATIENCE: Duration = Duration::from_secs(30);
/// The rank that it happens to.
const VICTIM: usize = 0;
/// Ranks of each scenario.
const SIZE: usize = 2;

/// The codes that calls fail with, in turn.
const CODES: [ncclResult; 4] = [
    ncclResult::ncclSystemError,
    ncclResult::ncclUnhandledCudaError,
    ncclResult::ncclInternalError,
    ncclResult::ncclRemoteError,
];

/// Forms that make fine scenarios: each kind of call, groups, several graphs, drops, copies between devices.
const SCENARIOS: [&str; 16] = [
    "reductions/sum",
    "reductions/reduce_scatter",
    "collectives/all_gather",
    "collectives/broadcast",
    "collectives/all_to_all",
    "collectives/one_behind_the_other",
    "pairs/chain",
    "pairs/ring",
    "groups/of_every_kind",
    "buckets/joined_by_size",
    "graphs/two_communicators",
    "drops/everything_but_the_result",
    "copies/there_and_back",
    "copies/around_the_ring",
    "copies/behind_a_collective",
    "copies/graph_and_memory_dropped_in_flight",
];

/// The scenarios.
pub fn scenarios() -> Vec<RankForm> {
    all().into_iter().filter(|form| SCENARIOS.contains(&form.name)).collect()
}

/// What came of some faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Faults that struck.
    pub struck: u64,
    /// Ranks that did not end.
    pub hangs: u64,
    /// Panics.
    pub panics: u64,
    /// Runs after which something was left.
    pub leaked: u64,
    /// Ranks that were told of another one's end without its number or an op.
    pub unnamed: u64,
}

impl Tally {
    /// Both together.
    pub fn and(self, other: Tally) -> Tally {
        Tally {
            struck: self.struck + other.struck,
            hangs: self.hangs + other.hangs,
            panics: self.panics + other.panics,
            leaked: self.leaked + other.leaked,
            unnamed: self.unnamed + other.unnamed,
        }
    }

    /// Whether all is well.
    pub fn is_good(&self) -> bool {
        (self.hangs, self.panics, self.leaked, self.unnamed) == (0, 0, 0, 0)
    }

    fn of(ended: &[Ended], devices: &[Device], told: &mut Vec<String>) -> Tally {
        let count = |is: fn(&Ended) -> bool| ended.iter().filter(|ended| is(ended)).count() as u64;
        let left = left(devices);
        let unnamed = ended.iter().filter_map(Ended::said).filter(|said| !names(said)).count() as u64;
        let tally = Tally {
            struck: 1,
            hangs: count(|ended| matches!(ended, Ended::Hangs)),
            panics: count(|ended| matches!(ended, Ended::Panicked(_))),
            leaked: u64::from(!left.is_empty()),
            unnamed,
        };
        if !tally.is_good() {
            told.extend(ended.iter().filter_map(Ended::said).chain(left));
        }
        tally
    }
}

/// Whether who is told of another rank's end is told which, and at what.
fn names(said: &str) -> bool {
    let is_of_another = said.contains("rank_failed");
    !is_of_another
        || said.contains("rank ") && (said.contains("in flight:") || said.contains("waits at") || said.contains('`'))
}

fn joins(hook: Arc<dyn NcclHook>, devices: &[Device]) -> Vec<Join> {
    let join = |(rank, device): (usize, &Device)| {
        let plain = Join::new().timeout(TIMEOUT);
        match device.machine().filter(|_| rank == VICTIM) {
            // SAFETY: it is the device's own, of which some calls are refused without having been made.
            Some(machine) => unsafe { plain.library(Arc::new(HookedNccl::new(machine.nccl(), hook.clone()))) },
            None => plain,
        }
    };
    devices.iter().enumerate().map(join).collect()
}

fn group(seed: u64) -> Result<Vec<Device>, String> {
    Software::new().seed(seed).open_group(SIZE).map_err(|error| format!("no group: {error:?}"))
}

/// Each call of NCCL that the victim makes in a scenario fails in turn; only every `stride`-th.
///
/// # Errors
///
/// - The scenario does not hold without a fault.
pub fn nccl_calls(scenario: &RankForm, stride: u64, told: &mut Vec<String>) -> Result<Tally, String> {
    let (count, devices) = (Arc::new(CountNccl::new()), group(1)?);
    let ended = all_ranks(scenario.body, &devices, joins(count.clone(), &devices), PATIENCE);
    if let Some(said) = ended.iter().find_map(Ended::said) {
        return Err(format!("{} does not hold without a fault: {said}", scenario.name));
    }
    let mut tally = Tally::default();
    for nth in (1..=count.all()).step_by(stride.max(1) as usize) {
        let fault = Arc::new(FaultNccl::new(None, nth, CODES[nth as usize % CODES.len()]));
        let devices = group(nth)?;
        let ended = all_ranks(scenario.body, &devices, joins(fault.clone(), &devices), PATIENCE);
        if fault.fired() {
            let mut lines = Vec::new();
            tally = tally.and(Tally::of(&ended, &devices, &mut lines));
            told.extend(lines.into_iter().map(|line| format!("{}, call {nth} of NCCL: {line}", scenario.name)));
        }
    }
    Ok(tally)
}

/// Each driver call of a scenario fails in turn, with one of its lawful faults; only every `stride`-th.
///
/// # Errors
///
/// - The devices do not open.
pub fn driver_calls(scenario: &RankForm, stride: u64, told: &mut Vec<String>) -> Result<Tally, String> {
    let (calls, _) = with_driver_fault(scenario, None, &mut Vec::new())?;
    let mut tally = Tally::default();
    for nth in (0..calls.len() as u64).step_by(stride.max(1) as usize) {
        let faults = lawful(calls[nth as usize]).len();
        if faults == 0 {
            continue;
        }
        let mut lines = Vec::new();
        let (_, came) = with_driver_fault(scenario, Some((nth, nth as usize % faults)), &mut lines)?;
        tally = tally.and(came);
        told.extend(lines.into_iter().map(|line| format!("{}, driver call {nth}: {line}", scenario.name)));
    }
    Ok(tally)
}

fn with_driver_fault(
    scenario: &RankForm,
    aim: Option<(u64, usize)>,
    told: &mut Vec<String>,
) -> Result<(Vec<dacapo_driver::Call>, Tally), String> {
    let injected = Arc::new(Injected::default());
    let hook = injected.clone();
    // SAFETY: a fault refuses a call, or answers an error for one that was made: it claims no success.
    let devices = unsafe {
        Software::new().seed(1).open_group_hooked(SIZE, move |machine| {
            hook.over(&machine);
            Arc::new(Hooked::new(machine, hook.hook()))
        })
    };
    let devices = devices.map_err(|error| format!("no group: {error:?}"))?;
    injected.arm(aim);
    let joins = vec![Join::new().timeout(TIMEOUT); SIZE];
    let ended = all_ranks(scenario.body, &devices, joins, PATIENCE);
    injected.disarm();
    let tally = if injected.has_struck() { Tally::of(&ended, &devices, told) } else { Tally::default() };
    Ok((injected.calls(), tally))
}

/// Steps of the scenario in which ranks die.
pub const STEPS: usize = 9;

/// A rank dies at every step of one scenario, on each number of ranks.
///
/// # Errors
///
/// - The devices do not open.
pub fn deaths(told: &mut Vec<String>) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for size in [2, 4] {
        for victim in 0..size {
            for step in 0..STEPS {
                let devices = Software::new().seed(step as u64).open_group(size);
                let devices = devices.map_err(|error| format!("no group: {error:?}"))?;
                let body = move |rank: &Rank| dying(rank, (rank.number() == victim).then_some(step));
                let ended = all_ranks(body, &devices, vec![Join::new().timeout(TIMEOUT); size], PATIENCE);
                let mut lines = Vec::new();
                tally = tally.and(Tally::of(&ended, &devices, &mut lines));
                let survivors = ended.iter().enumerate().filter(|(rank, _)| *rank != victim);
                // Who had already got all that it wanted from the victim ends well; nobody else does before the last step.
                let unharmed = survivors.filter(|(_, ended)| **ended == Ended::Well).count();
                if step + 2 < STEPS && unharmed > 0 {
                    tally.unnamed += 1;
                    lines.push(format!("{unharmed} ranks did not notice"));
                }
                told.extend(
                    lines.into_iter().map(|line| format!("rank {victim} of {size} dies at step {step}: {line}")),
                );
            }
        }
    }
    Ok(tally)
}

/// A small training: what each rank does, up to the step at which it dies.
fn dying(rank: &Rank, dies_at: Option<usize>) -> Outcome {
    let mut step = 0;
    let mut pause = || {
        step += 1;
        match dies_at == Some(step - 1) {
            true => Err(Failure(format!("this rank dies at step {}", step - 1))),
            false => Ok(()),
        }
    };
    let (device, stream) = (&rank.device, &rank.stream);
    pause()?;
    let value = dacapo::Slot::new(1.0f32);
    let (mut x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
    stream.run(rank.comm.broadcast(&mut x, 0))?;
    pause()?;
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        r.run(fill(&mut x, &value))?;
        r.run(rank.comm.all_reduce(&x, &mut y, Reduce::Average))
    })?;
    pause()?;
    for round in 0..4 {
        value.set(round as f32);
        graph.launch(stream)?;
        pause()?;
        stream.synchronize()?;
    }
    let mut all = device.zeros::<f32>(64 * rank.size())?;
    pause()?;
    stream.run(rank.other.all_gather(&y, &mut all))?;
    stream.synchronize()?;
    pause()
}
