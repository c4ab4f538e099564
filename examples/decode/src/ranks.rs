//! The same decoding on several ranks: each has an equal part of every layer, and one graph for its whole step.
//!
//! A rank is driven by a thread of its own, or by a process of its own that a launcher has started. What ranks ask each other
//! beside the step (whether they thought and chose the same) is collectives too, run between the replays.

use std::sync::Arc;
use std::time::Duration;

use dacapo::collective::{Communicator, Join, Launcher, Reduce};
use dacapo::{Buffer, Device, Error, Result, Software};

use crate::apart::Apart;
use crate::calls::{ByThread, Calls, counted_gpu, counted_group};
use crate::decoded::Decoded;
use crate::engine::{Engine, How};
use crate::model::{Model, Sampling};
use crate::show::Plan;
use crate::split::Split;
use crate::steady;
use crate::weights::Weights;

/// Where the ranks are.
#[derive(Clone, Debug)]
pub enum Ranks {
    /// So many threads of this process, each with a software device of one machine.
    Software(usize),
    /// So many threads of this process, each with a GPU.
    Cuda(usize),
    /// This process is one of them; a launcher has started it, and says where it stands.
    Process {
        /// What the launcher says.
        place: Launcher,
        /// On a software device of its own, not on a GPU.
        software: bool,
    },
}

/// How long a rank may be waited for.
const PATIENCE: Duration = Duration::from_secs(300);
/// Any seed but the one that software devices have by themselves.
const OTHER_SEED: u64 = 0x5eed_cafe;
/// How many sequences and steps are compared with plain Rust, which is slow.
const REFERENCE: [usize; 2] = [2, 16];

/// A decoding on several ranks, in all ways that must agree.
pub struct RanksRuns {
    /// Of the run without ranks.
    pub device: Device,
    /// Launch by launch.
    pub eager: RanksOutcome,
    /// As replays.
    pub replayed: RanksOutcome,
    /// Once more, and then steady steps whose driver calls are counted.
    pub again: RanksOutcome,
    /// As replays, on software devices of another seed, which decides the order of blocks, what overtakes what, and addresses.
    pub other_seed: Option<RanksOutcome>,
    /// As replays on one device, without ranks.
    pub plain: Outcome,
    /// How far the replays were from plain Rust; only the process of rank 0 looks.
    pub apart: Option<Apart>,
}

/// How one decoding went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was decoded.
    pub decoded: Decoded,
    /// Nodes and edges of the graph, and all-reduces among the nodes; `None` where there is no graph.
    pub graph: Option<[usize; 3]>,
    /// Bytes of weights, and of keys and values.
    pub bytes: [usize; 2],
}

/// How one decoding on several ranks went.
#[derive(Clone, Debug)]
pub struct RanksOutcome {
    /// That of the first rank of this process.
    pub outcome: Outcome,
    /// The first steps after which a rank had other logits, and after which it had chosen other tokens, than rank 0.
    pub differs: [Option<usize>; 2],
    /// Driver calls of a rank's steady steps, and how many patches must be among them; of each rank that differs, where calls
    /// were counted.
    pub calls: Vec<(Calls, u64)>,
    /// What the software devices of this process found.
    pub findings: Vec<String>,
}

impl Ranks {
    /// How many there are.
    pub fn size(&self) -> usize {
        match self {
            Ranks::Software(size) | Ranks::Cuda(size) => *size,
            Ranks::Process { place, .. } => place.size,
        }
    }

    /// Whether this process has rank 0.
    pub fn is_first(&self) -> bool {
        !matches!(self, Ranks::Process { place, .. } if place.rank != 0)
    }

    /// Refuses so many ranks where they cannot share these layers.
    ///
    /// # Errors
    ///
    /// - As [`Split::check`].
    pub fn check(&self, plan: &Plan) -> Result<()> {
        Split { rank: 0, size: self.size() }.check(&plan.shape).map_err(Error::msg)
    }

    /// Steps of all runs of [`runs`](Ranks::runs) in this process that are looked at.
    pub fn steps(&self, plan: &Plan) -> usize {
        let here = if matches!(self, Ranks::Process { .. }) { 1 } else { self.size() };
        (4 * here + 1) * 2 * plan.steps
    }

    /// Decodes in all ways. `done` is told of each step of each rank of this process, and of which run it is.
    ///
    /// # Errors
    ///
    /// - As [`decode`](Ranks::decode); or so many ranks cannot share these layers.
    pub fn runs(
        &self,
        plan: &Plan,
        weights: &Weights<Vec<f32>>,
        done: impl Fn(&'static str) + Sync,
    ) -> Result<RanksRuns> {
        self.check(plan)?;
        let device = self.device()?;
        let graph = How::replayed([plan.batch()])?;
        let run = |what, how, seed, is_counted| self.decode(plan, weights, how, seed, is_counted, || done(what));
        let eager = run("eager", &How::Eager, None, false)?;
        let replayed = run("replayed", &graph, None, false)?;
        let again = run("again", &graph, None, true)?;
        let other_seed = || run("another seed", &graph, Some(OTHER_SEED), false);
        let other_seed = device.is_software().then(other_seed).transpose()?;
        let model = Model::new(&device, plan.shape, weights)?;
        let mut engine = Engine::new(&device, &model, &graph, plan.sampling(), plan.seed)?;
        let plain = Outcome::of(&mut engine, plan, |_, _| {
            done("without ranks");
            Ok(())
        })?;
        drop(engine);
        let against = || Apart::from_reference(&replayed.outcome.decoded.greedy, plan.shape, weights, REFERENCE);
        let apart = self.is_first().then(against);
        Ok(RanksRuns { device, eager, replayed, again, other_seed, plain, apart })
    }

    /// A device of this process for a run without other ranks.
    fn device(&self) -> Result<Device> {
        match self {
            Ranks::Software(_) | Ranks::Process { software: true, .. } => Device::software(),
            Ranks::Cuda(_) => Device::cuda(0),
            Ranks::Process { place, .. } => Device::cuda(place.local_rank),
        }
    }

    /// New devices, as this seed makes them where they are software, and the ranks of this process on them.
    fn join(&self, seed: Option<u64>, opt_count: Option<&Arc<ByThread>>) -> Result<Vec<Communicator>> {
        let patient = || Software::new().options(|options| options.rank_patience = PATIENCE);
        let software = || seed.map_or_else(patient, |seed| patient().seed(seed));
        let group = |size| match opt_count {
            Some(count) => counted_group(software(), size, count.clone()),
            None => software().open_group(size),
        };
        let gpu = |ordinal| match opt_count {
            Some(count) => counted_gpu(ordinal, count.clone()),
            None => Device::cuda(ordinal),
        };
        let join = Join::new().timeout(PATIENCE);
        match self {
            Ranks::Software(size) => join.all(&group(*size)?),
            Ranks::Cuda(size) => join.all(&(0..*size).map(gpu).collect::<Result<Vec<_>>>()?),
            Ranks::Process { place, software } => {
                let device = if *software { group(1)?.swap_remove(0) } else { gpu(place.local_rank)? };
                Ok(vec![place.join_with(&device, &join, PATIENCE)?])
            }
        }
    }

    /// Decodes, on new devices, whose driver calls may be counted. `done` is told of each step of each rank of this process.
    ///
    /// # Errors
    ///
    /// - What a device answered, or another rank's end.
    pub fn decode(
        &self,
        plan: &Plan,
        weights: &Weights<Vec<f32>>,
        how: &How,
        seed: Option<u64>,
        is_counted: bool,
        done: impl Fn() + Sync,
    ) -> Result<RanksOutcome> {
        let opt_count = is_counted.then(Arc::<ByThread>::default);
        let comms = self.join(seed, opt_count.as_ref())?;
        let devices: Vec<Device> = comms.iter().map(|comm| comm.device().clone()).collect();
        let each: Vec<Result<RanksOutcome>> = std::thread::scope(|scope| {
            let spawn = |comm: Communicator| {
                let (count, done) = (opt_count.as_deref(), &done);
                scope.spawn(move || {
                    // The others are told why this rank no longer comes, and do not wait for it.
                    one(plan, weights, how, &comm, count, done).inspect_err(|error| comm.abort(&error.to_string()))
                })
            };
            let threads: Vec<_> = comms.into_iter().map(spawn).collect();
            let panicked = |_| Err(Error::msg("a rank's thread panicked"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
        });
        let mut ranks = all_or_error(each)?;
        let mut first = ranks.remove(0);
        for calls in ranks.into_iter().flat_map(|rank| rank.calls) {
            if !first.calls.contains(&calls) {
                first.calls.push(calls);
            }
        }
        for finding in devices.iter().flat_map(Device::findings) {
            if !first.findings.contains(&finding) {
                first.findings.push(finding);
            }
        }
        Ok(first)
    }
}

/// What all ranks answered, or what one did: of several errors the one that is not about another rank says more.
fn all_or_error(each: Vec<Result<RanksOutcome>>) -> Result<Vec<RanksOutcome>> {
    let is_about_another = |error: &Error| matches!(error.kind(), dacapo::ErrorKind::RankFailed { .. });
    let mut ranks = Vec::new();
    let mut failed: Option<Error> = None;
    for rank in each {
        match rank {
            Ok(rank) => ranks.push(rank),
            Err(error) if failed.as_ref().is_none_or(is_about_another) => failed = Some(error),
            Err(_) => {}
        }
    }
    failed.map_or(Ok(ranks), Err)
}

impl Outcome {
    fn of(
        engine: &mut Engine<'_>,
        plan: &Plan,
        look: impl FnMut(&Engine<'_>, &[Vec<f32>]) -> Result<()>,
    ) -> Result<Outcome> {
        let decoded = Decoded::of(engine, plan, look)?;
        Ok(Outcome { decoded, graph: engine.graph(plan.batch()), bytes: engine.bytes() })
    }
}

/// What one rank does.
fn one(
    plan: &Plan,
    weights: &Weights<Vec<f32>>,
    how: &How,
    comm: &Communicator,
    opt_count: Option<&ByThread>,
    done: &impl Fn(),
) -> Result<RanksOutcome> {
    let model = Model::of_rank(comm, plan.shape, weights)?;
    let mut engine = Engine::new(comm.device(), &model, how, plan.sampling(), plan.seed)?;
    let mut witness = Witness::new(comm, plan)?;
    let outcome = Outcome::of(&mut engine, plan, |engine, logits| {
        witness.look(engine, logits)?;
        done();
        Ok(())
    })?;
    let calls = opt_count.map_or(Ok(Vec::new()), |count| steady_calls(&mut engine, plan, count))?;
    let differs = witness.first(&engine)?;
    comm.device().synchronize()?;
    Ok(RanksOutcome { outcome, differs, calls, findings: Vec::new() })
}

/// The driver calls that a rank makes for steady steps: alone, and with another temperature every fourth.
fn steady_calls(engine: &mut Engine<'_>, plan: &Plan, count: &ByThread) -> Result<Vec<(Calls, u64)>> {
    let (batch, steps) = (plan.batch(), plan.steps);
    let patches = (steps.saturating_sub(1) / 4) as u64;
    let mut run = |what: String, change: fn(usize, &Sampling)| {
        steady::begin(engine, batch, steps)?;
        let calls = Calls::of(count, what, || {
            (0..steps).try_for_each(|step| {
                change(step, &engine.sampling);
                engine.step(batch).map(drop)
            })
        })?;
        engine.stream.synchronize()?;
        Ok::<_, Error>(calls)
    };
    let mut all = vec![(run(format!("{steps} steps of each rank"), |_, _| ())?, 0)];
    if patches > 0 {
        // The first is the one that the graph knows.
        let change = |step: usize, sampling: &Sampling| {
            if step > 0 && step.is_multiple_of(4) {
                sampling.temperature.set(0.5 + step as f32 / 1000.0);
            }
        };
        all.push((run(format!("{steps} steps of each rank, another temperature every fourth"), change)?, patches));
    }
    Ok(all)
}

/// Compares what a rank thought and chose with what rank 0 did, after each step.
///
/// Both, because neither says the other: a rank that has chosen another token begins the next step with another vector, and
/// the first sum of that step gives it the residual of rank 0.
struct Witness<'c> {
    comm: &'c Communicator,
    rows: usize,
    /// The bits of the logits, then the tokens.
    shown: Buffer<u32>,
    step: u32,
    differs: [u32; 2],
}

impl<'c> Witness<'c> {
    fn new(comm: &'c Communicator, plan: &Plan) -> Result<Witness<'c>> {
        let rows = plan.batch();
        let shown = comm.device().zeros(rows * (plan.shape.vocabulary + 1))?;
        Ok(Witness { comm, rows, shown, step: 0, differs: [u32::MAX; 2] })
    }

    fn look(&mut self, engine: &Engine<'_>, logits: &[Vec<f32>]) -> Result<()> {
        let stream = &engine.stream;
        let mut mine: Vec<u32> = logits.iter().flatten().map(|logit| logit.to_bits()).collect();
        for place in 0..self.rows {
            mine.extend(engine.state.tokens(stream, place)?.last());
        }
        stream.write(&mut self.shown, &mine)?;
        stream.run(self.comm.broadcast(&mut self.shown, 0))?;
        let theirs = stream.read(&self.shown)?;
        let tokens_at = theirs.len() - self.rows;
        let is_same = [mine[..tokens_at] == theirs[..tokens_at], mine[tokens_at..] == theirs[tokens_at..]];
        for (first, is_same) in self.differs.iter_mut().zip(is_same) {
            if !is_same && *first == u32::MAX {
                *first = self.step;
            }
        }
        self.step += 1;
        Ok(())
    }

    /// Every rank learns of the first differences, so every process can say them.
    fn first(&self, engine: &Engine<'_>) -> Result<[Option<usize>; 2]> {
        let mut first = self.comm.device().buffer(&self.differs)?;
        engine.stream.run(self.comm.all_reduce_in_place(&mut first, Reduce::Min))?;
        let first = engine.stream.read(&first)?;
        Ok([0, 1].map(|at| first.get(at).filter(|step| **step != u32::MAX).map(|step| *step as usize)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    fn plan() -> Plan {
        Plan {
            shape: Shape::TINY,
            buckets: vec![4],
            graphs_max: 1,
            steps: 5,
            rounds: 1,
            requests: 1,
            temperature: 0.8,
            top_k: 0,
            seed: 1,
        }
    }

    /// Where two ranks differ whose generators begin at these seeds.
    fn differs(seeds: [u64; 2]) -> [Option<usize>; 2] {
        let weights = Weights::new(&Shape::TINY, 1);
        let comms = Ranks::Software(2).join(None, None).unwrap();
        let found: Vec<_> = std::thread::scope(|scope| {
            let spawn = |(comm, seed): (Communicator, u64)| {
                let (plan, weights) = (Plan { seed, ..plan() }, &weights);
                scope.spawn(move || one(&plan, weights, &How::Eager, &comm, None, &|| ()).unwrap().differs)
            };
            let threads: Vec<_> = comms.into_iter().zip(seeds).map(spawn).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(found[0], found[1], "every rank says it");
        found[0]
    }

    /// The logits say nothing of it: the first sum of a step gives every rank what rank 0 has of the token.
    #[test]
    fn a_rank_that_draws_other_numbers_is_known_by_its_tokens() {
        assert_eq!(differs([1, 1]), [None, None]);
        assert_eq!(differs([1, 2]), [None, Some(0)]);
    }

    #[test]
    fn layers_that_cannot_be_shared_are_refused() {
        let weights = Weights::new(&Shape::TINY, 1);
        let refused = Ranks::Software(3).runs(&plan(), &weights, |_| ()).err().map(|error| error.to_string());
        assert!(refused.as_ref().is_some_and(|why| why.contains("2 heads cannot be shared")), "{refused:?}");
    }
}
