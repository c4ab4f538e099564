//! What the program shows with `--until-end`, as data: whole texts against plain Rust, the same tokens in every way to run the
//! loop, where each text ends, and that one launch is all that the host does.

use std::fmt;

use dacapo::{Device, Result};

use crate::calls::{Calls, counted};
use crate::end_token;
use crate::ending::Until;
use crate::model::{Model, Sampling};
use crate::reference::{Reference, TOLERANCE, distance, likeliest};
use crate::shape::Shape;
use crate::show::Plan;
use crate::steady::{first_token, median};
use crate::verdict::{self, Check};
use crate::ways::{Task, Way, Writer};
use crate::weights::Weights;

/// What shall be written.
#[derive(Clone, Debug)]
pub struct UntilEnd<'p> {
    /// The transformer, how tokens are chosen, rounds and seed; its steps are the new tokens of a text at most.
    pub plan: &'p Plan,
    /// A text that chooses it ends with it.
    pub end_token: u32,
    /// When the loop ends.
    pub until: Until,
}

/// The texts, and how long each way took.
#[derive(Clone, Debug)]
pub struct Texts {
    /// Tokens of each text, and whether it ended with the end token.
    pub lengths: Vec<(usize, bool)>,
    /// Tokens of all texts that were chosen and not given.
    pub chosen: usize,
    /// Steps of the loop.
    pub steps: usize,
    /// Seconds a step of each round, in ascending order, for each way.
    pub times: Vec<(Way, Vec<f64>)>,
}

impl<'p> UntilEnd<'p> {
    /// With this end token; where none is given, with the one that ends the texts farthest from each other.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn new(
        device: &Device,
        model: &Model,
        plan: &'p Plan,
        until: Until,
        end_token: Option<u32>,
    ) -> Result<UntilEnd<'p>> {
        let endless = UntilEnd { plan, end_token: u32::MAX, until };
        let end_token = match end_token {
            Some(token) => token,
            None => {
                let mut writer = Writer::new(device, model, endless.sampling(), endless.task())?;
                end_token::spread(&writer.write(Way::BackToBack, plan.steps)?.texts, plan.shape.vocabulary)
            }
        };
        Ok(UntilEnd { end_token, ..endless })
    }

    fn task(&self) -> Task {
        let Plan { steps, seed, .. } = *self.plan;
        Task { rows: self.plan.batch(), new_max: steps, end_token: self.end_token, until: self.until, seed }
    }

    fn sampling(&self) -> Sampling {
        Sampling::new(self.plan.temperature, self.plan.top_k)
    }

    /// Some greedy steps of two sequences against plain Rust: logits, tokens, the ends, and the count after each step. The end
    /// token is one that plain Rust chooses on the way. `progress` hears of every step.
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
        progress: impl Fn(),
    ) -> Result<Check> {
        let (shape, rows) = (self.plan.shape, 2.min(self.plan.batch()));
        let mut plain: Vec<Greedy> = (0..rows).map(|place| Greedy::new(shape, weights, place, steps)).collect();
        let end_token = plain[0].text[steps.div_ceil(2)];
        plain.iter_mut().for_each(|greedy| greedy.end_with(end_token));
        let task = Task { rows, new_max: steps, end_token, until: Until::All, seed: self.plan.seed };
        let mut writer = Writer::new(device, model, Sampling::new(0.0, 0), task)?;
        writer.begin()?;
        let longest = plain.iter().map(|greedy| greedy.thoughts.len()).max().unwrap_or(0);
        let (mut worst, mut counts) = (0.0_f64, true);
        for step in 0..longest {
            writer.step()?;
            let logits = writer.state.logits(&writer.stream, rows)?;
            for (greedy, logits) in plain.iter().zip(&logits) {
                let apart = greedy.thoughts.get(step).map_or(0.0, |thought| distance(logits, thought));
                worst = worst.max(apart);
            }
            counts &= writer.running()? == plain.iter().filter(|greedy| greedy.thoughts.len() > step + 1).count();
            progress();
        }
        (longest..steps).for_each(|_| progress());
        let expected: Vec<Vec<u32>> = plain.into_iter().map(|greedy| greedy.text).collect();
        let by_step = verdict::same_texts("texts are those of plain Rust", &writer.texts()?, &expected);
        let launched = writer.write(Way::OneLaunch, 0)?;
        let by_launch = verdict::same_texts("in one launch", &launched.texts, &expected);
        let counted = if counts && launched.steps == longest { "and so are the counts" } else { "but NOT the counts" };
        let what = format!(
            "logits are at most {worst:.1e} of the largest from plain Rust's, may be {TOLERANCE:.0e}; {}, {}, {counted}",
            by_step.what, by_launch.what
        );
        let held = worst <= TOLERANCE && by_step.held && by_launch.held && counts && launched.steps == longest;
        Ok(Check { what, held })
    }

    /// The texts in every way, in turn. `progress` hears of every run.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn texts(&self, device: &Device, model: &Model, progress: impl Fn()) -> Result<(Texts, Vec<Check>)> {
        let mut writer = Writer::new(device, model, self.sampling(), self.task())?;
        let first = writer.write(Way::OneLaunch, 0)?;
        let mut runs: Vec<_> = Way::ALL.iter().map(|&way| (way, Vec::new(), Vec::new(), true)).collect();
        // One round more than is counted, which warms up.
        for round in 0..=self.plan.rounds {
            for (way, times, texts, same_steps) in &mut runs {
                let written = writer.write(*way, first.steps)?;
                *same_steps &= written.steps == first.steps;
                texts.extend(written.texts);
                if round > 0 {
                    times.push(written.seconds / written.steps as f64);
                }
                progress();
            }
        }
        let expected: Vec<Vec<u32>> = (0..=self.plan.rounds).flat_map(|_| first.texts.clone()).collect();
        let mut checks = vec![verdict::ends(&first.texts, &self.task(), first.steps)];
        let mut times = Vec::new();
        for (way, mut seconds, texts, same_steps) in runs {
            let Check { what, held } =
                verdict::same_texts(&format!("{}: the same tokens", way.name()), &texts, &expected);
            let steps = if same_steps { "in as many steps" } else { "in ANOTHER number of steps" };
            checks.push(Check { what: format!("{what}, {steps}"), held: held && same_steps });
            seconds.sort_by(f64::total_cmp);
            times.push((way, seconds));
        }
        let lengths = first.texts.iter().map(|text| (text.len(), text[1..].last() == Some(&self.end_token))).collect();
        let chosen = first.texts.iter().map(|text| text.len() - 1).sum();
        Ok((Texts { lengths, chosen, steps: first.steps, times }, checks))
    }

    /// The driver calls for whole texts, on a device of the same kind whose calls are counted.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn calls(&self, like: &Device, weights: &Weights<Vec<f32>>) -> Result<(Calls, Check)> {
        let (device, count) = counted(like, self.plan.seed)?;
        let model = Model::new(&device, self.plan.shape, weights)?;
        let mut writer = Writer::new(&device, &model, self.sampling(), self.task())?;
        // What was dropped on the way here is released by the next launch: not by the one that is counted.
        writer.write(Way::OneLaunch, 0)?;
        writer.begin()?;
        let calls = Calls::of(&*count, format!("{} whole texts", self.plan.batch()), || writer.launch())?;
        writer.stream.synchronize()?;
        let check = verdict::only_launches(&calls, 1, 0);
        Ok((calls, check))
    }
}

/// What plain Rust makes of one given token, and what it thought of every token before each choice.
struct Greedy {
    text: Vec<u32>,
    thoughts: Vec<Vec<f64>>,
}

impl Greedy {
    fn new(shape: Shape, weights: &Weights<Vec<f32>>, place: usize, steps: usize) -> Greedy {
        let mut reference = Reference::new(shape, weights);
        let mut greedy = Greedy { text: vec![first_token(place, shape.vocabulary)], thoughts: Vec::new() };
        for at in 0..steps {
            let thought = reference.step(greedy.text[at]);
            greedy.text.push(likeliest(&thought));
            greedy.thoughts.push(thought);
        }
        greedy
    }

    /// Ends it with the first end token that was chosen.
    fn end_with(&mut self, end_token: u32) {
        if let Some(at) = self.text[1..].iter().position(|&token| token == end_token) {
            self.text.truncate(at + 2);
            self.thoughts.truncate(at + 1);
        }
    }
}

/// Lengths of the texts, then a line for each way.
impl fmt::Display for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Texts { lengths, chosen, steps, times } = self;
        let length = |(tokens, ended): &(usize, bool)| format!("{tokens}{}", if *ended { "" } else { "+" });
        let listed: Vec<String> = lengths.iter().map(length).collect();
        writeln!(f, "{steps} steps; tokens of each text (+: without an end token): {}", listed.join(" "))?;
        let rounds = times.first().map_or(0, |(_, times)| times.len());
        write!(f, "{:<13} {:>30} {:>16}   of {rounds} rounds", "", "us a step: median (all)", "tokens a second")?;
        for (way, times) in times {
            let (least, most) = (times.first().copied().unwrap_or(f64::NAN), times.last().copied().unwrap_or(f64::NAN));
            let spread = format!("{:.1} ({:.1} .. {:.1})", 1e6 * median(times), 1e6 * least, 1e6 * most);
            let a_second = *chosen as f64 / *steps as f64 / median(times);
            write!(f, "\n{:<13} {spread:>30} {a_second:>16.0}", way.name())?;
        }
        Ok(())
    }
}
