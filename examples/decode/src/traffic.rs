//! Sequences that come and go: requests, and the loop that serves them.
//!
//! A request waits until a place is free, then joins the batch; its batch row is whatever row is left. The host touches the
//! device's state only when the batch changes: between two changes a step is a step and nothing else.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use dacapo::Result;
use dacapo::shapes::CacheCounters;

use crate::engine::Engine;
use crate::random::Random;
use crate::shape::Shape;

/// A text to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The step before which it arrives.
    pub arrives: usize,
    /// What is given.
    pub prompt: Vec<u32>,
    /// How many tokens shall follow.
    pub new: usize,
}

/// What became of the requests.
#[derive(Clone, Debug)]
pub struct Served {
    /// The whole text of each.
    pub texts: Vec<Vec<u32>>,
    /// How many steps there were.
    pub steps: usize,
    /// How many of them had so many real rows, and ran with so many.
    pub batches: BTreeMap<(usize, usize), usize>,
    /// How often the host told the device of another batch.
    pub changes: usize,
    /// What the cache of graphs has done, where there is one.
    pub cache: Option<CacheCounters>,
    /// Bytes that the graphs share for what a step needs in between.
    pub arena_bytes: usize,
    /// From the first request to the last text.
    pub elapsed: Duration,
}

impl Served {
    /// Tokens that were computed, given ones included.
    pub fn tokens(&self) -> usize {
        self.batches.iter().map(|((rows, _), steps)| rows * steps).sum()
    }

    /// Rows that ran, padding included.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(|((_, rows), steps)| rows * steps).sum()
    }
}

/// As many requests as asked for: prompts and lengths by the seed, a new one every other step or so.
pub fn requests(shape: &Shape, count: usize, seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let (mut arrives, longest) = (0, (shape.context / 2).min(32));
    (0..count)
        .map(|_| {
            arrives += random.below(5);
            let length = 1 + random.below(longest.div_ceil(4));
            let prompt = (0..length).map(|_| random.below(shape.vocabulary) as u32).collect();
            Request { arrives, prompt, new: 1 + random.below(longest) }
        })
        .collect()
}

/// A request that has a place.
struct Running {
    request: usize,
    place: u32,
    /// Steps until its text is complete.
    left: usize,
}

/// Serves the requests; `progress` hears of every text that is complete.
///
/// # Errors
///
/// - What the device answered.
pub fn serve(engine: &mut Engine<'_>, requests: &[Request], mut progress: impl FnMut()) -> Result<Served> {
    let started = Instant::now();
    let mut waiting: VecDeque<usize> = (0..requests.len()).collect();
    let mut free: Vec<u32> = (0..engine.places() as u32).rev().collect();
    let mut running: Vec<Running> = Vec::new();
    let (mut texts, mut batches) = (vec![Vec::new(); requests.len()], BTreeMap::new());
    let (mut step, mut steps, mut changes, mut changed) = (0, 0, 0, false);
    while !waiting.is_empty() || !running.is_empty() {
        while let Some(&next) = waiting.front().filter(|&&next| requests[next].arrives <= step) {
            let Some(place) = free.pop() else { break };
            let Request { prompt, new, .. } = &requests[next];
            engine.state.admit(&engine.stream, place as usize, prompt, *new)?;
            running.push(Running { request: next, place, left: prompt.len() + new - 1 });
            waiting.pop_front();
            changed = true;
        }
        if running.is_empty() {
            step += 1;
            continue;
        }
        if std::mem::take(&mut changed) {
            let places: Vec<u32> = running.iter().map(|running| running.place).collect();
            engine.state.batch(&engine.stream, &places)?;
            changes += 1;
        }
        let ran = engine.step(running.len())?;
        *batches.entry((running.len(), ran)).or_insert(0) += 1;
        (step, steps) = (step + 1, steps + 1);
        running.iter_mut().for_each(|running| running.left -= 1);
        for at in (0..running.len()).rev().filter(|&at| running[at].left == 0).collect::<Vec<_>>() {
            // The last row takes the place of the one that goes.
            let Running { request, place, .. } = running.swap_remove(at);
            texts[request] = engine.state.tokens(&engine.stream, place as usize)?;
            free.push(place);
            changed = true;
            progress();
        }
    }
    let (cache, arena_bytes) = (engine.counters(), engine.arena_bytes());
    Ok(Served { texts, steps, batches, changes, cache, arena_bytes, elapsed: started.elapsed() })
}
