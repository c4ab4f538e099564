//! The steady state: a full batch, step after step, with nothing for the host to do but to launch.

use std::time::Instant;

use dacapo::{Result, Stream};

use crate::engine::Engine;
use crate::model::State;

/// One round of steps.
#[derive(Clone, Debug)]
pub struct Round {
    /// The text of each sequence.
    pub texts: Vec<Vec<u32>>,
    /// Seconds from the first launch to the end of the last step.
    pub seconds: f64,
}

/// Makes a batch of so many sequences, each at its beginning, with room for so many steps. Waits until it is there.
///
/// # Errors
///
/// - What the device answered.
pub fn begin(engine: &mut Engine<'_>, batch: usize, steps: usize) -> Result<()> {
    let vocabulary = engine.shape().vocabulary;
    admit(&mut engine.state, &engine.stream, vocabulary, batch, steps)?;
    engine.stream.synchronize()
}

/// Makes that batch without waiting for it.
///
/// # Errors
///
/// - What the device answered.
pub fn admit(state: &mut State, stream: &Stream, vocabulary: usize, batch: usize, steps: usize) -> Result<()> {
    for place in 0..batch {
        state.admit(stream, place, &[first_token(place, vocabulary)], steps)?;
    }
    let places: Vec<u32> = (0..batch as u32).collect();
    state.batch(stream, &places)
}

/// The token that is given to the sequence at a place.
pub fn first_token(place: usize, vocabulary: usize) -> u32 {
    (17 * place as u32 + 3) % vocabulary as u32
}

/// One round: so many steps of a batch from its beginning, timed, and the texts.
///
/// # Errors
///
/// - What the device answered.
pub fn round(engine: &mut Engine<'_>, batch: usize, steps: usize) -> Result<Round> {
    begin(engine, batch, steps)?;
    let started = Instant::now();
    for _ in 0..steps {
        engine.step(batch)?;
    }
    engine.stream.synchronize()?;
    let seconds = started.elapsed().as_secs_f64();
    let texts = (0..batch).map(|place| engine.state.tokens(&engine.stream, place)).collect::<Result<_>>()?;
    Ok(Round { texts, seconds })
}

/// The middle one of values in ascending order.
pub fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
