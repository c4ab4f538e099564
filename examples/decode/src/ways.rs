//! The loop that writes whole texts, in more than one way. All of them choose the same tokens.
//!
//! | way | after each step |
//! |---|---|
//! | [`Way::OneLaunch`] | the device looks at the count itself: the whole loop is one launch |
//! | [`Way::ReadBack`] | the host reads the count and launches the next step, a graph |
//! | [`Way::BackToBack`] | nobody looks: the host was told how many steps there are. No loop can be faster |
//! | [`Way::Eager`] | as the first, but run on a stream: kernel by kernel, and the host reads |

use std::time::Instant;

use dacapo::{Device, Graph, Result, Stream};

use crate::ending::{Ending, Until};
use crate::model::{Model, Sampling, State};
use crate::steady;

/// Which of the ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The whole loop is one graph, launched once.
    OneLaunch,
    /// A graph a step, and the count of running sequences is read after each.
    ReadBack,
    /// A graph a step, so many times, without a look at the count.
    BackToBack,
    /// The whole loop on a stream, without a graph.
    Eager,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 4] = [Way::OneLaunch, Way::BackToBack, Way::ReadBack, Way::Eager];

    /// Its name, as tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Way::OneLaunch => "one launch",
            Way::ReadBack => "read back",
            Way::BackToBack => "back to back",
            Way::Eager => "eager",
        }
    }
}

/// What was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text of each sequence, with what was given and, where it came, the end token.
    pub texts: Vec<Vec<u32>>,
    /// How many steps it took.
    pub steps: usize,
    /// Seconds from the first launch to the end of the last step.
    pub seconds: f64,
}

/// What a [`Writer`] writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// Sequences of the batch.
    pub rows: usize,
    /// New tokens of a text at most.
    pub new_max: usize,
    /// A text that chooses it ends with it.
    pub end_token: u32,
    /// When the loop ends.
    pub until: Until,
    /// Decides what is drawn: every text begins at its beginning.
    pub seed: u64,
}

/// A batch of sequences that is written from its beginning as often as asked, in any of the ways. Both graphs work on the same
/// memory.
pub struct Writer<'m> {
    model: &'m Model,
    task: Task,
    /// The sequences.
    pub state: State,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// Where texts end.
    pub ending: Ending,
    /// Where everything runs.
    pub stream: Stream,
    whole: Graph<()>,
    step: Graph<()>,
}

impl<'m> Writer<'m> {
    /// Records both graphs.
    ///
    /// # Errors
    ///
    /// - What the device answered; a driver that has no loops in graphs among it.
    pub fn new(device: &Device, model: &'m Model, sampling: Sampling, task: Task) -> Result<Writer<'m>> {
        let (mut state, stream) = (State::of_part(device, model.shape(), model.split(), task.seed)?, device.stream()?);
        let mut ending = Ending::new(device, task.end_token, task.until)?;
        let whole = model.texts(&mut state, &sampling, task.rows, &mut ending);
        let mut whole = device.graph().label("texts").record(whole)?;
        let step = model.step_until(&mut state, &sampling, task.rows, &mut ending);
        let mut step = device.graph().label("step").record(step)?;
        whole.preload(&stream)?;
        step.preload(&stream)?;
        Ok(Writer { model, task, state, sampling, ending, stream, whole, step })
    }

    /// Brings every sequence to its beginning, and the generator. Waits until they are there.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn begin(&mut self) -> Result<()> {
        self.state.seed(&self.stream, self.task.seed)?;
        let vocabulary = self.model.shape().vocabulary;
        steady::admit(&mut self.state, &self.stream, vocabulary, self.task.rows, self.task.new_max)?;
        self.stream.synchronize()
    }

    /// All texts to their end, in one launch.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn launch(&mut self) -> Result<()> {
        self.whole.launch(&self.stream).map(drop)
    }

    /// One step.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn step(&mut self) -> Result<()> {
        self.step.launch(&self.stream).map(drop)
    }

    /// How many sequences had not ended after the last step. Waits for it.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn running(&self) -> Result<usize> {
        let mut running = [0];
        self.stream.read_into(self.ending.running.as_slice(), &mut running)?;
        Ok(running[0] as usize)
    }

    /// From the beginning to the end, in one of the ways; `steps` is for the one that must know. Says how many steps there
    /// were, and how many seconds from the first launch to the end of the last step.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn run(&mut self, way: Way, steps: usize) -> Result<(usize, f64)> {
        self.begin()?;
        let started = Instant::now();
        let counted = match way {
            Way::OneLaunch => {
                self.launch()?;
                None
            }
            Way::ReadBack => Some(self.read_back()?),
            Way::BackToBack => {
                (0..steps).try_for_each(|_| self.step())?;
                Some(steps)
            }
            Way::Eager => {
                let Writer { model, task, state, sampling, ending, stream, .. } = self;
                stream.run(model.texts(state, sampling, task.rows, ending))?;
                None
            }
        };
        self.stream.synchronize()?;
        let seconds = started.elapsed().as_secs_f64();
        let counted = match counted {
            Some(counted) => counted,
            None => self.ending.steps.get(&self.stream)? as usize,
        };
        Ok((counted, seconds))
    }

    /// [`run`](Writer::run), and the texts.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn write(&mut self, way: Way, steps: usize) -> Result<Written> {
        let (steps, seconds) = self.run(way, steps)?;
        Ok(Written { texts: self.texts()?, steps, seconds })
    }

    /// The texts as they are now.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn texts(&self) -> Result<Vec<Vec<u32>>> {
        (0..self.task.rows).map(|place| self.state.tokens(&self.stream, place)).collect()
    }

    /// The loop of a host that reads the count after each step. Says how many there were.
    fn read_back(&mut self) -> Result<usize> {
        for steps in 1.. {
            self.step()?;
            if !self.task.until.goes_on(self.running()?, self.task.rows) {
                return Ok(steps);
            }
        }
        unreachable!("a text ends at its limit")
    }
}
