//! Decodes one text: eagerly, as replays of a recorded step, or all of it in one launch.
//!
//! Tokens come as they are chosen. So that the device never waits for the host, steps are launched some ahead of the last
//! token that was read; those behind the end of a text find nothing to do.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use dacapo::profile::Profile;
use dacapo::{Device, Graph, Result, Stream};

use super::kernels::Weight;
use super::model::{Model, Sequence};

/// Steps whose tokens are read together.
const BURST: usize = 4;
/// Bursts that are launched before the first is read.
const AHEAD: usize = 2;

/// How steps reach the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Every step as launches of its own.
    Eager,
    /// A launch of a recorded graph a step.
    Replayed,
    /// The steps behind the prompt are a loop on the device, in one launch.
    OneLaunch,
}

impl How {
    /// As a table has it.
    pub fn name(self) -> &'static str {
        match self {
            How::Eager => "eager",
            How::Replayed => "replayed",
            How::OneLaunch => "one launch",
        }
    }
}

/// A sequence with a way to step it.
pub struct Decoder<'m, T: Weight> {
    model: &'m Model<T>,
    /// The sequence.
    pub sequence: Sequence<T>,
    /// Where everything runs.
    pub stream: Stream,
    given: usize,
    new: usize,
    ends: Vec<u32>,
    opt_graphs: Option<Graphs>,
    how: How,
}

/// A recorded step that feeds a given token, and one that chooses: or all of these.
struct Graphs {
    feed: Graph<()>,
    choose: Graph<()>,
}

impl<'m, T: Weight> Decoder<'m, T> {
    /// For a sequence that begins with `given` tokens and goes on for `new` at most. Graphs are recorded now.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn new(
        device: &Device,
        model: &'m Model<T>,
        mut sequence: Sequence<T>,
        given: usize,
        how: How,
    ) -> Result<Decoder<'m, T>> {
        let stream = device.stream()?;
        let opt_graphs = match how {
            How::Eager => None,
            How::Replayed | How::OneLaunch => {
                let feed = device.graph().label("feed").record(model.feed(&mut sequence))?;
                let choose = match how {
                    How::OneLaunch => device.graph().label("text").record(model.text(&mut sequence))?,
                    _ => device.graph().label("step").record(model.step(&mut sequence))?,
                };
                let mut graphs = Graphs { feed, choose };
                graphs.feed.preload(&stream)?;
                graphs.choose.preload(&stream)?;
                Some(graphs)
            }
        };
        stream.synchronize()?;
        let new = sequence.history().len() - given;
        let ends = model.config().ends.clone();
        Ok(Decoder { model, sequence, stream, given, new, ends, opt_graphs, how })
    }

    /// Feeds the given tokens but the last, with which the first new one is chosen. Waits for them.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn prompt(&mut self) -> Result<Duration> {
        let begin = Instant::now();
        for _ in 1..self.given {
            match &mut self.opt_graphs {
                Some(Graphs { feed, .. }) => feed.launch(&self.stream).map(drop)?,
                None => self.stream.run(self.model.feed(&mut self.sequence))?,
            }
        }
        self.stream.synchronize()?;
        Ok(begin.elapsed())
    }

    /// One more token, or with [`How::OneLaunch`] all of them. Does not wait.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn step(&mut self) -> Result<()> {
        match &mut self.opt_graphs {
            Some(Graphs { choose, .. }) => choose.launch(&self.stream).map(drop),
            None => self.stream.run(self.model.step(&mut self.sequence)),
        }
    }

    /// The new tokens, to the end of the text; `each` hears of every one as it comes, also of the one that ends it.
    ///
    /// # Errors
    ///
    /// - What the device answered, and what `each` does.
    pub fn generate<E: From<dacapo::Error>>(
        &mut self,
        mut each: impl FnMut(u32) -> std::result::Result<(), E>,
    ) -> std::result::Result<Duration, E> {
        let begin = Instant::now();
        if self.how == How::OneLaunch {
            self.step()?;
            let reached = self.sequence.reached(&self.stream)?;
            let tokens = self.stream.read(&self.sequence.history()[self.given..reached])?;
            let elapsed = begin.elapsed();
            tokens.into_iter().try_for_each(each)?;
            return Ok(elapsed);
        }
        let (mut readings, mut launched) = (VecDeque::new(), 0);
        loop {
            while launched < self.new && readings.len() < AHEAD {
                let burst = BURST.min(self.new - launched);
                (0..burst).try_for_each(|_| self.step())?;
                let from = self.given + launched;
                readings.push_back(self.stream.read_later(&self.sequence.history()[from..from + burst])?);
                launched += burst;
            }
            let Some(reading) = readings.pop_front() else { break };
            for token in reading.wait()? {
                each(token)?;
                if self.ends.contains(&token) || token == super::model::NO_TOKEN {
                    let elapsed = begin.elapsed();
                    self.stream.synchronize()?;
                    return Ok(elapsed);
                }
            }
        }
        Ok(begin.elapsed())
    }

    /// A timed step, as a replay: how long each operation took. None where there is no graph, or its time is not that of a step.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn profile(&mut self) -> Result<Option<Profile>> {
        match (&mut self.opt_graphs, self.how) {
            (Some(Graphs { choose, .. }), How::Replayed) => choose.profile(&self.stream).map(Some),
            _ => Ok(None),
        }
    }

    /// How steps reach the device.
    pub fn how(&self) -> How {
        self.how
    }
}
