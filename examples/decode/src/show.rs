//! Everything that the program shows, each part as data: decoding against plain Rust, eager against replayed, the driver calls
//! of the steady state, and traffic through buckets.

use dacapo::profile::Profile;
use dacapo::shapes::Buckets;
use dacapo::{Device, Result};

use crate::calls::{Calls, counted};
use crate::engine::{Engine, How};
use crate::model::{Model, Sampling};
use crate::reference::{Reference, TOLERANCE, distance, likeliest};
use crate::shape::Shape;
use crate::steady;
use crate::traffic::{self, Served};
use crate::verdict::{self, Check};
use crate::weights::Weights;

/// What shall be decoded.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The transformer.
    pub shape: Shape,
    /// Batch sizes that have graphs.
    pub buckets: Vec<usize>,
    /// How many graphs there may be at a time.
    pub graphs_max: usize,
    /// Steps of the steady state.
    pub steps: usize,
    /// Rounds of that many steps, for each way.
    pub rounds: usize,
    /// Requests of the traffic.
    pub requests: usize,
    /// How tokens are chosen.
    pub temperature: f32,
    /// Among how many of the likeliest; 0 is all.
    pub top_k: u32,
    /// Decides weights, prompts, arrivals and the device's generator.
    pub seed: u64,
}

/// Both ways at the same work.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Sequences of the batch.
    pub batch: usize,
    /// Operations of a step.
    pub operations: usize,
    /// Seconds a step of each round, eagerly, in ascending order.
    pub eager: Vec<f64>,
    /// The same, replayed.
    pub replayed: Vec<f64>,
}

impl Plan {
    /// How tokens are chosen, as slots.
    pub fn sampling(&self) -> Sampling {
        Sampling::new(self.temperature, self.top_k)
    }

    /// The sequences of a full batch.
    pub fn batch(&self) -> usize {
        self.shape.sequences
    }

    /// Some greedy steps of two sequences against plain Rust: logits and tokens. `progress` hears of every step.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn against_reference(
        &self,
        device: &Device,
        model: &Model,
        weights: &Weights<Vec<f32>>,
        steps: usize,
        mut progress: impl FnMut(),
    ) -> Result<Check> {
        let how = How::replayed(self.buckets.iter().copied())?;
        let mut engine = Engine::new(device, model, &how, Sampling::new(0.0, 0), self.seed)?;
        let rows = 2.min(self.batch());
        steady::begin(&mut engine, rows, steps)?;
        let mut references: Vec<_> = (0..rows).map(|_| Reference::new(self.shape, weights)).collect();
        let mut expected: Vec<Vec<u32>> =
            (0..rows).map(|place| engine.state.tokens(&engine.stream, place)).collect::<Result<_>>()?;
        let mut worst = 0.0_f64;
        for _ in 0..steps {
            engine.step(rows)?;
            let logits = engine.state.logits(&engine.stream, rows)?;
            for ((reference, text), logits) in references.iter_mut().zip(&mut expected).zip(&logits) {
                let last = text.last().copied().unwrap_or(0);
                let thought = reference.step(last);
                worst = worst.max(distance(logits, &thought));
                text.push(likeliest(&thought));
            }
            progress();
        }
        let texts: Vec<Vec<u32>> =
            (0..rows).map(|place| engine.state.tokens(&engine.stream, place)).collect::<Result<_>>()?;
        let same = verdict::same_texts("the likeliest tokens are those of plain Rust", &texts, &expected);
        let what = format!(
            "logits are at most {worst:.1e} of the largest from plain Rust's, may be {TOLERANCE:.0e}; {}",
            same.what
        );
        Ok(Check { what, held: same.held && worst <= TOLERANCE })
    }

    /// A full batch, eagerly and replayed in turn. `progress` hears of every round.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn pace(&self, device: &Device, model: &Model, mut progress: impl FnMut()) -> Result<(Pace, Check)> {
        let batch = self.batch();
        let mut eager = Engine::new(device, model, &How::Eager, self.sampling(), self.seed)?;
        let mut replayed = Engine::new(device, model, &How::replayed([batch])?, self.sampling(), self.seed)?;
        let (mut times, mut texts) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        // One round more than is counted, which warms up.
        for round in 0..=self.rounds {
            for (way, engine) in [&mut eager, &mut replayed].into_iter().enumerate() {
                let done = steady::round(engine, batch, self.steps)?;
                texts[way].extend(done.texts);
                if round > 0 {
                    times[way].push(done.seconds / self.steps as f64);
                }
                progress();
            }
        }
        let operations = replayed.operations(batch)?;
        let [eager, replayed] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times
        });
        let pace = Pace { batch, operations, eager, replayed };
        let same = verdict::same_texts("the replayed steps choose the tokens of the eager ones", &texts[1], &texts[0]);
        Ok((pace, same))
    }

    /// One timed step of a full batch, in the middle of its context.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn profile(&self, device: &Device, model: &Model) -> Result<Option<Profile>> {
        let (batch, steps) = (self.batch(), self.steps);
        let mut engine = Engine::new(device, model, &How::replayed([batch])?, self.sampling(), self.seed)?;
        steady::begin(&mut engine, batch, steps)?;
        run(&mut engine, batch, steps / 2, |_, _| ())?;
        engine.profile(batch)
    }

    /// The driver calls of steady steps, on a device of the same kind whose calls are counted.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn steady_calls(&self, like: &Device, weights: &Weights<Vec<f32>>) -> Result<(Vec<Calls>, Vec<Check>)> {
        let (device, count) = counted(like, self.seed)?;
        let model = Model::new(&device, self.shape, weights)?;
        let (batch, steps) = (self.batch(), self.steps);
        let how = How::replayed([batch])?;
        let mut engine = Engine::new(&device, &model, &how, self.sampling(), self.seed)?;
        // What was dropped on the way here is released by the next launches: not by those that are counted.
        steady::round(&mut engine, batch, steps)?;
        steady::begin(&mut engine, batch, steps)?;
        let plain = Calls::of(&*count, format!("{steps} steps"), || run(&mut engine, batch, steps, |_, _| ()))?;
        engine.stream.synchronize()?;
        let patches = (steps.saturating_sub(1) / 4) as u64;
        let mut checks = vec![verdict::only_launches(&plain, steps as u64, 0)];
        if patches == 0 {
            // Too few steps for a change: nothing would be shown.
            return Ok((vec![plain], checks));
        }
        steady::begin(&mut engine, batch, steps)?;
        // Another temperature every fourth step; the first is the one that the graph knows.
        let change = |step: usize, sampling: &Sampling| {
            if step > 0 && step.is_multiple_of(4) {
                sampling.temperature.set(0.5 + step as f32 / 1000.0);
            }
        };
        let what = format!("{steps} steps, another temperature every fourth");
        let patched = Calls::of(&*count, what, || run(&mut engine, batch, steps, change))?;
        engine.stream.synchronize()?;
        checks.push(verdict::only_launches(&patched, steps as u64, patches));
        Ok((vec![plain, patched], checks))
    }

    /// The same requests eagerly, batch by batch as they come, and replayed in buckets. `progress` hears of every text that
    /// is complete, of either way.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn traffic(
        &self,
        device: &Device,
        model: &Model,
        mut progress: impl FnMut(),
    ) -> Result<([Served; 2], Vec<Check>)> {
        let requests = traffic::requests(&self.shape, self.requests, self.seed);
        let mut serve = |how: &How| {
            let mut engine = Engine::new(device, model, how, self.sampling(), self.seed)?;
            traffic::serve(&mut engine, &requests, &mut progress)
        };
        let buckets = Buckets::new(self.buckets.iter().copied())?;
        let graphs_max = self.graphs_max;
        let (eager, replayed) = (serve(&How::Eager)?, serve(&How::Replayed { buckets, graphs_max })?);
        let what = "padded to buckets, the same requests get the same tokens";
        let same = verdict::same_texts(what, &replayed.texts, &eager.texts);
        let adds_up = verdict::counters_add_up(&replayed, graphs_max as u64);
        Ok(([eager, replayed], vec![same, adds_up]))
    }
}

fn run(engine: &mut Engine<'_>, batch: usize, steps: usize, before: impl Fn(usize, &Sampling)) -> Result<()> {
    for step in 0..steps {
        before(step, &engine.sampling);
        engine.step(batch)?;
    }
    Ok(())
}
