//! The same training on several ranks: each has an equal part of every batch, and one graph for its whole step.
//!
//! A rank is driven by a thread of its own, or by a process of its own that a launcher has started. What ranks ask each other
//! beside the step (whether their parameters are the same) is collectives too, run between the replays.

use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Join, Launcher, Reduce};
use dacapo::{Device, Error, Graph, Result, Scalar, Slot, Software, copy};

use crate::kernels::Kernels;
use crate::reference::Apart;
use crate::shape::Shape;
use crate::training::{Outcome, Training};
use crate::verdict::is_same;

/// The ranks of a training.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// Where they are.
    pub whereabouts: Whereabouts,
    /// How long one of them may be waited for.
    pub patience: Duration,
}

/// Where the ranks are.
#[derive(Clone, Debug)]
pub enum Whereabouts {
    /// So many threads of this process, each with a software device of one machine.
    Software(usize),
    /// So many threads of this process, each with a GPU.
    Cuda(usize),
    /// This process is one of them; a launcher has started it, and says where it stands.
    Process {
        /// What the launcher says.
        launcher: Launcher,
        /// On a software device of its own, not on a GPU.
        software: bool,
    },
}

/// How a step is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// As launches on a stream.
    Eager,
    /// As replays of one graph.
    Replayed,
}

/// Any seed but the one that software devices have by themselves.
const OTHER_SEED: u64 = 0x5eed_cafe;

/// A training on several ranks, in all ways that must agree.
#[derive(Clone, Debug)]
pub struct RanksRuns {
    /// What the devices are.
    pub device: String,
    /// Launch by launch.
    pub eager: RanksOutcome,
    /// As replays.
    pub replayed: RanksOutcome,
    /// Once more.
    pub again: RanksOutcome,
    /// Once more, on software devices of another seed, which decides the order of blocks, what overtakes what, and addresses.
    pub other_seed: Option<RanksOutcome>,
    /// As replays on one device, without ranks, with the whole batches.
    pub plain: Outcome,
}

/// How one training on several ranks went.
#[derive(Clone, Debug)]
pub struct RanksOutcome {
    /// That of the first rank of this process.
    pub outcome: Outcome,
    /// Nodes and edges of a rank's graph; none of an eager run.
    pub graph: [usize; 2],
    /// The first step after which a rank had other parameters than rank 0.
    pub differs: Option<usize>,
    /// How far the worst step was from one rank with the whole batch; only the process of rank 0 knows, of replays.
    pub apart: Option<Apart>,
    /// What the software devices of this process found.
    pub findings: Vec<String>,
}

impl From<Whereabouts> for Ranks {
    /// With five minutes of patience.
    fn from(whereabouts: Whereabouts) -> Ranks {
        Ranks { whereabouts, patience: Duration::from_secs(300) }
    }
}

impl Ranks {
    /// How many there are.
    pub fn size(&self) -> usize {
        match &self.whereabouts {
            Whereabouts::Software(size) | Whereabouts::Cuda(size) => *size,
            Whereabouts::Process { launcher, .. } => launcher.size,
        }
    }

    /// Whether this process has rank 0.
    pub fn is_first(&self) -> bool {
        !matches!(&self.whereabouts, Whereabouts::Process { launcher, .. } if launcher.rank != 0)
    }

    /// Why so many ranks cannot share these batches, if so.
    pub fn refused(&self, shape: Shape) -> Option<String> {
        let size = self.size();
        match () {
            // Then the average divides exactly: see `reference/apart.rs`.
            () if !size.is_power_of_two() => Some(format!("{size} ranks: their number must be a power of two")),
            () if !shape.batch.is_multiple_of(size) => {
                Some(format!("a batch of {} has no {size} equal parts: give a multiple with --batch", shape.batch))
            }
            () => None,
        }
    }

    /// Steps of all runs of [`runs`](Ranks::runs) in this process.
    pub fn steps(&self, training: &Training) -> usize {
        let here = if matches!(self.whereabouts, Whereabouts::Process { .. }) { 1 } else { self.size() };
        (4 * here + 1) * training.steps
    }

    /// Trains in all ways. `done` is told of each step of each rank of this process, and of which run it is.
    ///
    /// # Errors
    ///
    /// - As [`train`](Ranks::train); or so many ranks cannot share these batches.
    pub fn runs(&self, training: &Training, done: impl Fn(&'static str) + Sync) -> Result<RanksRuns> {
        if let Some(why) = self.refused(training.shape) {
            return Err(Error::msg(why));
        }
        let device = self.device()?;
        let run = |what, mode, seed| self.train(training, mode, seed, || done(what));
        let eager = run("eager", Mode::Eager, None)?;
        let replayed = run("replayed", Mode::Replayed, None)?;
        let again = run("again", Mode::Replayed, None)?;
        let other_seed = || run("another seed", Mode::Replayed, Some(OTHER_SEED));
        let other_seed = device.is_software().then(other_seed).transpose()?;
        let (plain, _) = training.replayed(&device, || done("without ranks"))?;
        Ok(RanksRuns { device: device.properties().name.clone(), eager, replayed, again, other_seed, plain })
    }

    /// A device of this process for a run without other ranks.
    fn device(&self) -> Result<Device> {
        match &self.whereabouts {
            Whereabouts::Software(_) | Whereabouts::Process { software: true, .. } => Device::software(),
            Whereabouts::Cuda(_) => Device::cuda(0),
            Whereabouts::Process { launcher, .. } => Device::cuda(launcher.local_rank),
        }
    }

    /// New devices, as this seed makes them where they are software, and the ranks of this process on them.
    fn join(&self, seed: Option<u64>) -> Result<Vec<Communicator>> {
        // Rank 0 compares each step with plain Rust, and the others wait for it.
        let patience = self.patience;
        let patient = || Software::new().options(|options| options.rank_patience = patience);
        let software = || seed.map_or_else(patient, |seed| patient().seed(seed));
        let join = Join::new().timeout(patience);
        match &self.whereabouts {
            Whereabouts::Software(size) => join.all(&software().open_group(*size)?),
            Whereabouts::Cuda(size) => join.all(&(0..*size).map(Device::cuda).collect::<Result<Vec<_>>>()?),
            Whereabouts::Process { launcher, software: is_software } => {
                let device = if *is_software { software().open()? } else { Device::cuda(launcher.local_rank)? };
                Ok(vec![launcher.join_with(&device, &join, patience)?])
            }
        }
    }

    /// Trains, on new devices. `done` is told of each step of each rank of this process.
    ///
    /// # Errors
    ///
    /// - What a device answered, or another rank's end.
    pub fn train(
        &self,
        training: &Training,
        mode: Mode,
        seed: Option<u64>,
        done: impl Fn() + Sync,
    ) -> Result<RanksOutcome> {
        let comms = self.join(seed)?;
        let devices: Vec<Device> = comms.iter().map(|comm| comm.device().clone()).collect();
        let each: Vec<Result<RanksOutcome>> = std::thread::scope(|scope| {
            let spawn = |comm: Communicator| {
                let done = &done;
                scope.spawn(move || {
                    // The others are told why this rank no longer comes, and do not wait for it.
                    one(training, mode, &comm, done).inspect_err(|error| comm.abort(&error.to_string()))
                })
            };
            let threads: Vec<_> = comms.into_iter().map(spawn).collect();
            let panicked = |_| Err(Error::msg("a rank's thread panicked"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
        });
        // Of several errors the one that is not about another rank says more.
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
        if let Some(error) = failed {
            return Err(error);
        }
        let mut first = ranks.swap_remove(0);
        for finding in devices.iter().flat_map(Device::findings) {
            if !first.findings.contains(&finding) {
                first.findings.push(finding);
            }
        }
        Ok(first)
    }
}

/// What one rank does.
fn one(training: &Training, mode: Mode, comm: &Communicator, done: &impl Fn()) -> Result<RanksOutcome> {
    let device = comm.device();
    let (kernels, stream, rate) = (Kernels::load(device)?, device.stream()?, Slot::new(0.0));
    let (rank, size) = (comm.rank(), comm.size());
    let mine = Shape { batch: training.shape.batch / size, ..training.shape };
    let mut network = training.start_as(device, mine)?;
    let mut graph: Option<Graph<Scalar<f32>>> = match mode {
        Mode::Eager => None,
        Mode::Replayed => Some(device.graph().label("train").record(network.step_among(&kernels, &rate, comm))?),
    };
    let is_compared = rank == 0 && graph.is_some();
    let mut shown = device.zeros::<f32>(mine.parameters())?;
    let (mut losses, mut elapsed) = (Vec::new(), Duration::ZERO);
    let (mut apart, mut differs) = (Apart::default(), u32::MAX);
    for step in 0..training.steps {
        rate.set(training.rate(step));
        let batch = training.batch(step);
        let before = is_compared.then(|| network.to_reference(&stream, training.shape)).transpose()?;
        let started = Instant::now();
        network.feed(&stream, &batch.part(training.shape, rank, size))?;
        let loss = match &mut graph {
            Some(graph) => graph.launch_sync(&stream)?.get(&stream)?,
            None => stream.run(network.step_among(&kernels, &rate, comm))?.get(&stream)?,
        };
        elapsed += started.elapsed();
        losses.push(loss);

        let parameters = network.parameters(&stream)?;
        stream.run(copy(&network.parameters, &mut shown))?;
        stream.run(comm.broadcast(&mut shown, 0))?;
        if differs == u32::MAX && !is_same(&stream.read(&shown)?, &parameters) {
            differs = step as u32;
        }
        if let Some(before) = before {
            apart = apart.or_worse(before.apart(training.rate(step), &batch, size, (loss, &parameters)));
        }
        done();
    }
    // Every rank learns of the first difference, so every process can say it.
    let mut first = device.buffer(&[differs])?;
    stream.run(comm.all_reduce_in_place(&mut first, Reduce::Min))?;
    let differs = stream.read(&first)?.first().copied().filter(|step| *step != u32::MAX);
    let parameters = network.parameters(&stream)?;
    device.synchronize()?;
    Ok(RanksOutcome {
        outcome: Outcome { losses, parameters, elapsed },
        graph: graph.map_or([0; 2], |graph| [graph.len(), graph.dependencies().len()]),
        differs: differs.map(|step| step as usize),
        apart: is_compared.then_some(apart),
        findings: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Adam, Model};

    /// No way leads from a layer's bucket to the way back through the layers below, so they may run side by side.
    #[test]
    fn buckets_are_beside_the_way_back() {
        for (model, label) in [(Model::Mlp, "backward"), (Model::Gru, "backward/cell")] {
            let device = Device::software().unwrap();
            let (comm, kernels) = (Communicator::alone(&device).unwrap(), Kernels::load(&device).unwrap());
            let shape = Shape { model, hidden: 8, batch: 2, time: 2, layers: 3 };
            let training = Training { shape, adam: Adam::default(), steps: 1, seed: 1 };
            let (mut network, rate) = (training.start_as(&device, shape).unwrap(), Slot::new(0.0));
            let graph = device.record(network.step_among(&kernels, &rate, &comm)).unwrap();
            let (nodes, edges) = (graph.inspect().nodes, graph.dependencies());
            let buckets: Vec<usize> =
                nodes.iter().filter(|node| node.name == "bucket").map(|node| node.index).collect();
            let back: Vec<usize> = nodes.iter().filter(|node| node.label == label).map(|node| node.index).collect();
            assert_eq!((buckets.len(), back.len()), (3, 2), "{model:?}: {nodes:?}");
            assert!(buckets[0] < back[1], "the first bucket is recorded before the way back ends");
            let mut behind = vec![buckets[0]];
            while let Some(at) = behind.pop() {
                assert!(!back.contains(&at), "{model:?}: {edges:?}");
                behind.extend(edges.iter().filter(|(before, _)| *before == at).map(|(_, after)| *after));
            }
        }
    }

    #[test]
    fn a_batch_that_cannot_be_shared_is_refused() {
        let shape = Shape { model: Model::Mlp, hidden: 8, batch: 6, time: 2, layers: 3 };
        let training = Training { shape, adam: Adam::default(), steps: 1, seed: 1 };
        for (size, why) in [(4, "--batch"), (3, "power of two")] {
            let refused = Ranks::from(Whereabouts::Software(size)).runs(&training, |_| ()).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
