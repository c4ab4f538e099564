//! Where texts end: the end token, how many of a batch still go on, and the loop around a step as one operation.
//!
//! A sequence ends with the end token or at its limit; then it stands still, whatever the others do. Who runs the loop is
//! not said here: recorded, it is one graph whose loop the device runs; on a stream, the host reads the count after each
//! step.

use dacapo::flow::{Condition, at_least, nonzero, up_to};
use dacapo::{Device, Op, Result, Scalar, Slot, baked, copy};

use crate::model::{Model, Sampling, State};

/// When the loop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When every sequence of the batch has ended.
    All,
    /// As soon as one has.
    First,
}

/// Where texts end by themselves, and what the device finds out about it.
pub struct Ending {
    /// A sequence that chooses this token ends with it. A slot: a change acts on the next launch.
    pub token: Slot<u32>,
    /// When the loop ends.
    pub until: Until,
    /// How many sequences of the batch had not ended after the last step.
    pub running: Scalar<u32>,
    /// How many steps the last loop took.
    pub steps: Scalar<u32>,
}

impl Until {
    /// Whether there is another step: so many of so many rows have not ended.
    pub fn goes_on(self, running: usize, rows: usize) -> bool {
        match self {
            Until::All => running > 0,
            Until::First => running >= rows,
        }
    }
}

impl Ending {
    /// With this token, and nothing running.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    pub fn new(device: &Device, token: u32, until: Until) -> Result<Ending> {
        let (running, steps) = (device.scalar(0)?.named("running"), device.scalar(0)?.named("steps"));
        Ok(Ending { token: Slot::new(token), until, running, steps })
    }

    /// [`Until::goes_on`], as the device finds out.
    fn goes_on(&self, rows: usize) -> Condition {
        match self.until {
            Until::All => nonzero(&self.running),
            Until::First => at_least(&self.running, baked(rows as u32)),
        }
    }
}

impl Model {
    /// Whole texts: steps of the first `batch` rows until they have ended. At least one, and no more than the context has.
    pub fn texts(
        &self,
        state: &mut State,
        sampling: &Sampling,
        batch: usize,
        ending: &mut Ending,
    ) -> impl Op<Out = ()> {
        move |r| {
            // Nobody gets beyond the context: the bound is there for the reader, and for a mistake in a kernel.
            let at_most = up_to(baked(self.shape().context as u32));
            let rounds = r.repeat(at_most, |r| {
                r.run(self.step_until(state, sampling, batch, ending))?;
                Ok(ending.goes_on(batch))
            })?;
            r.run(copy(rounds.count().as_slice(), ending.steps.as_mut_slice()))
        }
    }
}
