//! What `--gpt2` shows: the step against plain Rust, and eager against replayed, with the same tokens from both.

use std::fmt;
use std::time::Instant;

use dacapo::half::bf16;
use dacapo::{Device, Result};

use super::model::{Advance, Model, State};
use super::reference::{Reference, TOLERANCE, likeliest};
use super::shape::Shape;
use super::weights::Weights;
use crate::reference::distance;
use crate::steady::{first_token, median};
use crate::verdict::{Check, same_texts};

/// What shall be decoded.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The transformer, and how many sequences.
    pub shape: Shape,
    /// Tokens that follow the first of each text.
    pub steps: usize,
    /// Rounds of that many steps, for each way.
    pub rounds: usize,
    /// Decides the weights.
    pub seed: u32,
}

/// Both ways at the same work.
#[derive(Clone, Debug)]
pub struct Pace {
    shape: Shape,
    steps: usize,
    /// Operations of a step.
    pub operations: usize,
    /// Seconds a step of each round, in ascending order: eagerly and replayed.
    pub seconds: [Vec<f64>; 2],
}

impl Plan {
    /// Refuses what cannot be decoded.
    ///
    /// # Errors
    ///
    /// - As [`Shape::check`]; no step or round, or more steps than fit the context.
    pub fn check(&self) -> Result<(), String> {
        self.shape.check()?;
        if self.rounds == 0 || !(1..self.shape.context).contains(&self.steps) {
            return Err(format!("1 to {} steps, and at least one round", self.shape.context - 1));
        }
        Ok(())
    }

    /// Everything: what was measured, and whether the checks held.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn run(&self, device: &Device) -> Result<(Pace, Vec<Check>)> {
        let weights = Weights::new(&self.shape, self.seed);
        let model = Model::new(device, self.shape, &weights)?;
        let held = self.against_reference(device, &model, &weights)?;
        let (pace, same) = self.pace(device, &model)?;
        let mut checks = vec![held, same];
        checks.extend(device.findings().into_iter().map(|what| Check { what, held: false }));
        Ok((pace, checks))
    }

    fn state(&self, device: &Device, stream: &dacapo::Stream, model: &Model) -> Result<State> {
        let Shape { sequences, vocabulary, .. } = self.shape;
        let first: Vec<[u32; 1]> = (0..sequences).map(|text| [first_token(text, vocabulary)]).collect();
        State::new(device, stream, model, &first.iter().map(<[u32; 1]>::as_slice).collect::<Vec<_>>())
    }

    /// Some steps of the first and the last sequence. Plain Rust is given the device's tokens, so that one choice between two
    /// that are about as likely does not make all that follow differ.
    fn against_reference(&self, device: &Device, model: &Model, weights: &Weights<Vec<bf16>>) -> Result<Check> {
        let stream = device.stream()?;
        let mut state = self.state(device, &stream, model)?;
        let mut graph = device.record(model.step(&mut state, Advance::Next))?;
        let mut sequences = vec![0, self.shape.sequences - 1];
        sequences.dedup();
        let mut references: Vec<_> = sequences.iter().map(|_| Reference::new(self.shape, weights)).collect();
        let (mut worst, mut clear, mut other) = (0.0_f64, 0, 0);
        for step in 0..self.steps.min(8) {
            graph.launch(&stream)?;
            let logits = state.logits(&stream)?;
            for (&sequence, reference) in sequences.iter().zip(&mut references) {
                let tokens = state.tokens(&stream, sequence)?;
                let thought = reference.step(tokens[step]);
                worst = worst.max(distance(&logits[sequence], &thought));
                let (token, margin) = likeliest(&thought);
                if margin > 2.0 * TOLERANCE {
                    clear += 1;
                    other += usize::from(tokens[step + 1] != token);
                }
            }
        }
        let what = format!(
            "logits are at most {worst:.1e} of the largest from plain Rust's, may be {TOLERANCE:.0e}; \
             {other} of {clear} choices that are clear by twice that differ"
        );
        Ok(Check { what, held: worst <= TOLERANCE && other == 0 })
    }

    /// Texts from their first token on, eagerly and replayed in turn.
    fn pace(&self, device: &Device, model: &Model) -> Result<(Pace, Check)> {
        let stream = device.stream()?;
        let (mut eager, mut replayed) = (self.state(device, &stream, model)?, self.state(device, &stream, model)?);
        let mut graph = device.record(model.step(&mut replayed, Advance::Next))?;
        let mut seconds = [Vec::new(), Vec::new()];
        // One round more than is counted, which warms up.
        for round in 0..=self.rounds {
            for (way, seconds) in seconds.iter_mut().enumerate() {
                [&mut eager, &mut replayed][way].stand_at(&stream, model, 0)?;
                stream.synchronize()?;
                let started = Instant::now();
                for _ in 0..self.steps {
                    if way == 0 {
                        stream.run(model.step(&mut eager, Advance::Next))?;
                    } else {
                        graph.launch(&stream)?;
                    }
                }
                stream.synchronize()?;
                if round > 0 {
                    seconds.push(started.elapsed().as_secs_f64() / self.steps as f64);
                }
            }
        }
        let texts = [&eager, &replayed].map(|state| {
            (0..self.shape.sequences).map(|sequence| state.tokens(&stream, sequence)).collect::<Result<Vec<_>>>()
        });
        let [eager, replayed] = texts;
        let same = same_texts("the replayed steps choose the tokens of the eager ones", &replayed?, &eager?);
        seconds.iter_mut().for_each(|seconds| seconds.sort_by(f64::total_cmp));
        let operations = device.graph().inspect(model.step(&mut self.state(device, &stream, model)?, Advance::Next))?;
        Ok((Pace { shape: self.shape, steps: self.steps, operations: operations.nodes.len(), seconds }, same))
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { layers, dim, hidden, vocabulary, context, sequences } = self.shape;
        writeln!(
            f,
            "{layers} layers of {dim} with {} heads and {hidden} inside, vocabulary {vocabulary}, context {context}: {} weights in bf16",
            self.shape.heads(),
            self.shape.parameters()
        )?;
        // Keys and values are counted at the middle of the texts.
        let bytes = self.shape.bytes_read(self.steps / 2) as f64;
        writeln!(
            f,
            "{sequences} sequences, {} operations a step, which reads {:.1} MB at least",
            self.operations,
            bytes / 1e6
        )?;
        for (name, seconds) in ["eager", "replayed"].into_iter().zip(&self.seconds) {
            let step = median(seconds);
            writeln!(
                f,
                "{name:<10} {:>9.1} us a step {:>9.0} tokens a second {:>6.2} TB/s",
                1e6 * step,
                sequences as f64 / step,
                bytes / step / 1e12
            )?;
        }
        Ok(())
    }
}
